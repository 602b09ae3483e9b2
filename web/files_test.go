package web_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ashlar-go/ashlar/format/npy"
	"github.com/ashlar-go/ashlar/format/safetensors"
	"github.com/ashlar-go/ashlar/format/zarr"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/receipt"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// samples are files that tests open, made once; the server has them under files/.
var samples = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "ashlar-samples")
	if err != nil {
		return "", err
	}
	samplesMade = dir
	write := func(name string, f func(*os.File) error) {
		if err != nil {
			return
		}
		var out *os.File
		if out, err = os.Create(filepath.Join(dir, name)); err != nil {
			return
		}
		if err = f(out); err == nil {
			err = out.Close()
		}
	}
	wave := make([]float32, 24*32)
	for i := range wave {
		x, y := float64(i%32)/4, float64(i/32)/4
		wave[i] = float32(math.Sin(x) * math.Cos(y))
	}
	w := tensor.FromSlice(wave, 24, 32).Any()
	deep := tensor.Arange[int64](0, 120, 1).Any().Reshape(2, 3, 4, 5)
	holes := tensor.FromSlice([]float64{1, math.NaN(), math.Inf(1), -2, 0, 0}, 6).Any()
	hierarchy := zarr.Memory()
	if err = hierarchy.Set(context.Background(), ".zgroup", []byte(`{"zarr_format": 2}`)); err == nil {
		err = put(hierarchy, map[string]tensor.Any{"wave": w, "inner/deep": deep})
	}
	write("wave.npy", func(f *os.File) error { return npy.Write(f, w, nil) })
	write("columns.npy", func(f *os.File) error { return npy.Write(f, w, &npy.WriteOptions{Fortran: true}) })
	write("several.npz", func(f *os.File) error {
		return npy.WriteZip(f, []string{"wave", "deep", "holes"}, []tensor.Any{w, deep, holes}, nil)
	})
	write("weights.safetensors", func(f *os.File) error {
		return safetensors.Write(f, []string{"layer.0.weight", "layer.0.bias", "deep"}, []tensor.Any{w, holes, deep}, map[string]string{"format": "pt"})
	})
	write("large.safetensors", func(f *os.File) error { // 2 GB, of which the disk has nothing
		header := `{"w":{"dtype":"F32","shape":[16384,32768],"data_offsets":[0,2147483648]}}`
		header += strings.Repeat(" ", (8-len(header)%8)%8)
		if _, err := f.Write(append([]byte{byte(len(header)), 0, 0, 0, 0, 0, 0, 0}, header...)); err != nil {
			return err
		}
		return f.Truncate(int64(8 + len(header) + 1<<31))
	})
	write("hierarchy.zarr.zip", func(f *os.File) error { return zarr.WriteZip(context.Background(), f, hierarchy) })
	if err == nil {
		var folder zarr.Store
		if err = os.Mkdir(filepath.Join(dir, "hierarchy.zarr"), 0o755); err == nil {
			folder, err = zarr.Dir(filepath.Join(dir, "hierarchy.zarr"))
		}
		keys, _ := hierarchy.List(context.Background(), "")
		for _, key := range keys {
			if v, bad := hierarchy.Get(context.Background(), key, 1<<30); err == nil && bad == nil {
				err = folder.Set(context.Background(), key, v)
			}
		}
	}
	write("lies.safetensors", func(f *os.File) error {
		_, err := f.WriteString("\x40\x00\x00\x00\x00\x00\x00\x00" + `{"w":{"dtype":"F32","shape":[1099511627776],"data_offsets":[0,4398]}}`)
		return err
	})
	write("lies.npy", func(f *os.File) error {
		header := "{'descr': '<f8', 'fortran_order': False, 'shape': (1152921504606846976,), }\n"
		_, err := f.WriteString("\x93NUMPY\x01\x00" + string([]byte{byte(len(header)), 0}) + header)
		return err
	})
	write("lies.npz", func(f *os.File) error { _, err := f.WriteString("PK\x03\x04nothing"); return err })
	write("lies.onnx", func(f *os.File) error { _, err := f.WriteString("\x08\x07\x3a\xff\xff\xff\xff\x0f"); return err })
	write("empty.npy", func(f *os.File) error { return nil })
	for _, name := range []string{"digits.onnx", "digits.txt", "seven.png"} {
		write(name, func(f *os.File) error {
			b, err := os.ReadFile(filepath.Join("..", "testdata", name))
			if err == nil {
				_, err = f.Write(b)
			}
			return err
		})
	}
	image := tensor.RandomUniform[float32](1, 0, 1, 2, 1, 8, 8).Any()
	write("image.npy", func(f *os.File) error { return npy.Write(f, image, nil) })
	write("receipt.json", func(f *os.File) error {
		b, err := receiptOf(image)
		if err == nil {
			_, err = f.Write(b)
		}
		return err
	})
	return dir, err
})

var samplesMade string

// receiptOf makes the receipt of a run of the digits model, with all nodes.
func receiptOf(image tensor.Any) ([]byte, error) {
	m, err := onnx.Open(filepath.Join("..", "testdata", "digits.onnx"))
	if err != nil {
		return nil, err
	}
	defer m.Close()
	s, err := onnx.NewSession(m)
	if err != nil {
		return nil, err
	}
	var r receipt.Receipt
	if _, err := s.Run(context.Background(), map[string]tensor.Any{"image": image}, &onnx.Options{Receipt: &r, ReceiptNodes: true}); err != nil {
		return nil, err
	}
	return r.Encode()
}

// put writes arrays of version 2 to a store, in chunks of at most two along each axis but the last.
func put(s zarr.Store, arrays map[string]tensor.Any) error {
	for name, t := range arrays {
		chunks := t.Shape()
		for i := range chunks[:len(chunks)-1] {
			chunks[i] = min(chunks[i], 2)
		}
		a, err := zarr.Create(context.Background(), s, name, zarr.Metadata{Version: 2, DType: t.DType(), Shape: t.Shape(), Chunks: chunks}, nil)
		if err == nil {
			err = a.Write(context.Background(), make([]int, t.Rank()), t)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// drop gives the page a file, as the dialogue for files does.
func (b *browser) drop(name string) {
	b.t.Helper()
	b.do(chromedp.SetUploadFiles("#file", []string{filepath.Join(sampleFolder(b.t), name)}, chromedp.ByQuery))
}

func sampleFolder(t *testing.T) string {
	t.Helper()
	dir, err := samples()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestDrop drops a folder, as the file manager does, then a file.
func TestDrop(t *testing.T) {
	b := open(t, 1280, 900)
	b.visit("#tab=layout")
	for name, want := range map[string]string{"hierarchy.zarr": "20 elements read", "wave.npy": "768 elements read"} {
		data := &input.DragData{Items: []*input.DragDataItem{}, Files: []string{filepath.Join(sampleFolder(t), name)}, DragOperationsMask: 1}
		for _, kind := range []input.DispatchDragEventType{input.DragEnter, input.DragOver, input.Drop} {
			b.do(input.DispatchDragEvent(kind, 400, 500, data))
		}
		b.until(`document.querySelector("#tensors h2")?.innerText === ` + quoted(name) + ` && document.querySelector("#tensor").innerText.includes(` + quoted(want) + `)`)
	}
}

func TestFiles(t *testing.T) {
	b := open(t, 1280, 900)
	b.visit("#tab=tensors")
	says := func(parts ...string) {
		t.Helper()
		for _, p := range parts {
			b.until(`document.querySelector('[data-panel="tensors"]').innerText.includes(` + quoted(p) + `)`)
		}
	}
	b.drop("wave.npy")
	says("npy, 3.1 KiB", "(24,32)", "768 elements read", "Heatmap", "Histogram", "0.2474")
	b.drop("columns.npy")
	says("columns.npy", "768 elements read")
	b.click("#tensor button") // its layout
	if got := b.text("#facts"); !strings.Contains(got, "(24,32):(1,24)") {
		t.Errorf("the layout of a file in column order: %q", got)
	}
	b.visit("#tab=tensors")
	b.drop("digits.onnx")
	says("10 nodes", "Graph", "float32")
	b.until(`document.querySelector("#graph img")?.naturalWidth > 100`)
	b.drop("seven.png")
	says("Run on seven.png", "10 nodes in 7 steps took", "Conv", "class 7", "100.00 %")
	t.Log(b.text("#ran .lead")) // how long the run took
	b.drop("digits.txt")
	says("digits.txt names the classes", "seven")
	if !*long {
		return
	}
	b.drop("several.npz")
	says("npz", "deep", "holes")
	b.do(chromedp.Click(`tr[data-name="holes"]`, chromedp.ByQuery))
	says("-2   1", "2   1   1")
	b.do(chromedp.Click(`tr[data-name="deep"]`, chromedp.ByQuery))
	says("axis 0", "(0,0,0,0)", "19")
	b.drop("weights.safetensors")
	says("layer.0.weight", "format: pt")
	b.drop("hierarchy.zarr.zip")
	says("zarr,", "inner/deep", "chunks [", "version 2", "20 elements read")
	b.do(chromedp.Click(`tr[data-name="wave"]`, chromedp.ByQuery))
	says("768 elements read", "0.2474")
	b.do(chromedp.SetUploadFiles("#folder", []string{filepath.Join(sampleFolder(t), "hierarchy.zarr")}, chromedp.ByQuery))
	says("zarr, 4.0 KiB", "(0,0,0,0)", "20 elements read")
	b.drop("large.safetensors")
	says("2.00 GiB", "elements read, the first")
	for name, why := range map[string]string{"lies.safetensors": "header", "lies.npy": "address space", "lies.npz": "zip archive", "lies.onnx": "ONNX", "empty.npy": "ONNX"} {
		b.drop(name)
		b.until(`document.querySelector("#fault-file").innerText.includes(` + quoted(why) + `)`)
	}
	says("large.safetensors") // what was open still is
}

// TestFileByLink opens a file of the page's own server, by parts.
func TestFileByLink(t *testing.T) {
	b := open(t, 1280, 900)
	b.visit("#tab=tensors&file=files/large.safetensors")
	b.until(`document.querySelector("#tensor")?.innerText.includes("elements read")`)
	b.visit("#tab=tensors&file=files/digits.onnx&labels=files/digits.txt")
	b.ranOn("seven.png")
	b.until(`document.querySelector("#ran").innerText.includes("seven\n100.00 %")`)
}

// TestReceipt verifies a receipt in the page: with its model and its input, in any order, and with another input.
func TestReceipt(t *testing.T) {
	b := open(t, 1280, 900)
	b.visit("#tab=tensors")
	dir := sampleFolder(t)
	says := func(parts ...string) {
		t.Helper()
		for _, p := range parts {
			b.until(`document.querySelector('[data-panel="tensors"]').innerText.includes(` + quoted(p) + `)`)
		}
	}
	b.drop("receipt.json")
	says("Drop the model of the receipt.")
	b.drop("digits.onnx")
	says("The model is the receipt’s. To run it again, drop 1 input: image float32[2,1,8,8].", "1 input, 8 weights, 1 output, 10 nodes")
	b.drop("image.npy")
	says("Equal. The model gives what the receipt says, bit for bit.")
	b.drop("wave.npy")
	says("Equal. The model") // it's an input that the model doesn't take, and image.npy still is there
	b.click("#ran button")
	b.drop("wave.npy")
	says("768 elements read")
	b.do(chromedp.SetUploadFiles("#file", []string{filepath.Join(dir, "image.npy"), filepath.Join(dir, "digits.onnx"), filepath.Join(dir, "receipt.json")}, chromedp.ByQuery))
	says("Equal. The model gives what the receipt says, bit for bit.", "10 nodes")
}
