package show_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	_ "image/png"
	"io"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format/npy"
	"github.com/ashlar-go/ashlar/format/safetensors"
	"github.com/ashlar-go/ashlar/format/zarr"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/ashlar-go/ashlar/web/show"
)

func Example() {
	var file bytes.Buffer
	if err := npy.Write(&file, tensor.Arange[int32](0, 24, 1).Any().Reshape(2, 3, 4), nil); err != nil {
		panic(err)
	}
	f, list, err := show.Open("a.npy", bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		panic(err)
	}
	fmt.Println(list.Kind, list.Tensors[0].Shape, list.Tensors[0].Layout)
	v, err := f.Tensor("array", []int{1})
	if err != nil {
		panic(err)
	}
	fmt.Println(v.Table[0], v.Stats.Least, v.Stats.Mean, v.Stats.Most)
	fmt.Println(v.Bytes[0].Coord, v.Bytes[0].Hex, v.Bytes[0].Value)
	// Output:
	// npy [2 3 4] (2,3,4):(12,4,1)
	// [12 13 14 15] 12 17.5 23
	// (1,0,0) 0c 00 00 00 12
}

// A counted reader knows how many bytes were read.
type counted struct {
	r *bytes.Reader
	n int
}

func (c *counted) ReadAt(b []byte, at int64) (int, error) {
	c.n += len(b)
	return c.r.ReadAt(b, at)
}

func TestStats(t *testing.T) {
	var file bytes.Buffer
	holes := tensor.FromSlice([]float64{1, math.NaN(), math.Inf(1), -2, 0, 0, math.MaxFloat64, -math.MaxFloat64}, 8)
	flat := tensor.FromSlice([]float32{3, 3, 3}, 3)
	none := tensor.New[float32](0, 4)
	if err := safetensors.Write(&file, []string{"holes", "flat", "none"}, []tensor.Any{holes.Any(), flat.Any(), none.Any()}, nil); err != nil {
		t.Fatal(err)
	}
	f, _, err := show.Open("x", bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"holes": "8 1 1 2 -1.79769e+308 1.79769e+308", "flat": "3 0 0 0 3 3", "none": "0 0 0 0  "} {
		v, err := f.Tensor(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		s := v.Stats
		if got := fmt.Sprint(s.Count, s.NaN, s.Infinite, s.Zero, " ", s.Least, " ", s.Most); got != want && strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(want), " ") {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		sum := 0
		for _, n := range s.Histogram {
			sum += n
		}
		if finite := s.Count - s.NaN - s.Infinite; sum != finite {
			t.Errorf("%s: the histogram has %d of %d elements", name, sum, finite)
		}
	}
}

// Of a large file only the header and a part are read.
func TestReadsParts(t *testing.T) {
	var file bytes.Buffer
	if err := safetensors.Write(&file, []string{"w"}, []tensor.Any{tensor.New[float32](64, 256, 256).Any()}, nil); err != nil {
		t.Fatal(err)
	}
	r := &counted{r: bytes.NewReader(file.Bytes())}
	f, _, err := show.Open("x", r, int64(file.Len()))
	if err != nil || r.n > 1000 {
		t.Fatalf("opening reads %d bytes: %v", r.n, err)
	}
	if _, err := f.Tensor("w", []int{63}); err != nil || r.n > 256*256*4+1000 {
		t.Errorf("a matrix reads %d bytes: %v", r.n, err)
	}
	for _, at := range [][]int{{64}, {-1}} {
		if _, err := f.Tensor("w", at); err == nil {
			t.Errorf("a matrix at %v", at)
		}
	}
	if _, err := f.Tensor("other", nil); err == nil {
		t.Error("a tensor that isn't there")
	}
}

func TestRun(t *testing.T) {
	b, err := os.ReadFile("../../testdata/digits.onnx")
	if err != nil {
		t.Fatal(err)
	}
	f, list, err := show.Open("digits.onnx", bytes.NewReader(b), int64(len(b)))
	if err != nil || list.Kind != "onnx" || !strings.Contains(list.Graph, "Conv") {
		t.Fatalf("%+v, %v", list, err)
	}
	want, err := f.Picture()
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Open("../../testdata/seven.png")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	img, _, err := image.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	pixels := make([]byte, 0, 4*want.Height*want.Width)
	for y := range want.Height {
		for x := range want.Width {
			size := img.Bounds().Size()
			r, g, b, _ := img.At(x*size.X/want.Width, y*size.Y/want.Height).RGBA()
			pixels = append(pixels, byte(r>>8), byte(g>>8), byte(b>>8), 255)
		}
	}
	labels, err := os.ReadFile("../../testdata/digits.txt")
	if err != nil {
		t.Fatal(err)
	}
	r, err := f.Run(context.Background(), pixels, string(labels))
	if err != nil || r.Count != 10 || !strings.HasPrefix(list.Notes[0], "10 nodes, ") || len(r.Nodes) != 7 || len(r.Outputs) != 1 || !strings.Contains(r.Graph, "µs") && !strings.Contains(r.Graph, "ms") {
		t.Fatalf("%+v, %v", r, err)
	}
	if best := r.Outputs[0].Classes; len(best) != 5 || best[0].Name != "seven" || best[0].Score != "100.00 %" || best[0].Part != 1 || best[1].Part > 0.01 {
		t.Errorf("the classes are %+v", best)
	}
	r, err = f.Run(context.Background(), pixels, "one\ntwo\n")
	if err != nil || r.Outputs[0].Classes[0].Name != "class 7" {
		t.Errorf("with labels of two classes: %+v, %v", r.Outputs, err)
	}
	if _, err := f.Run(context.Background(), pixels[:8], ""); err == nil {
		t.Error("a picture that is too small was taken")
	}
}

// hierarchies is a group of two arrays, as a zip file and as a folder, of both versions.
func hierarchies(t *testing.T, version int) (archive []byte, files map[string]*io.SectionReader) {
	t.Helper()
	ctx := context.Background()
	s := zarr.Memory()
	if version == 3 {
		if _, err := zarr.CreateGroup(ctx, s, "", nil); err != nil {
			t.Fatal(err)
		}
	} else if err := s.Set(ctx, ".zgroup", []byte(`{"zarr_format": 2}`)); err != nil {
		t.Fatal(err)
	}
	for name, shape := range map[string][]int{"a": {4, 100, 100}, "deep/b": {7}} {
		chunks := []int{1, 50, 50}
		if len(shape) == 1 {
			chunks = []int{3}
		}
		a, err := zarr.Create(ctx, s, name, zarr.Metadata{Version: version, DType: dtype.Float32, Shape: shape, Chunks: chunks}, nil)
		if err != nil {
			t.Fatal(err)
		}
		n := 1
		for _, e := range shape {
			n *= e
		}
		if err := a.Write(ctx, make([]int, len(shape)), tensor.Arange[float32](0, float32(n), 1).Any().Reshape(shape...)); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	if err := zarr.WriteZip(ctx, &b, s); err != nil {
		t.Fatal(err)
	}
	keys, err := s.List(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	files = map[string]*io.SectionReader{}
	for _, key := range keys {
		v, err := s.Get(ctx, key, 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		files[key] = io.NewSectionReader(bytes.NewReader(v), 0, int64(len(v)))
	}
	return b.Bytes(), files
}

// A Zarr hierarchy shows the same as a folder and as a zip file, and of a damaged one what is whole.
func TestZarr(t *testing.T) {
	for _, version := range []int{2, 3} {
		archive, files := hierarchies(t, version)
		for _, kind := range []string{"zip", "folder"} {
			f, list, err := show.Open("h.zip", bytes.NewReader(archive), int64(len(archive)))
			if kind == "folder" {
				f, list, err = show.OpenFolder("h", files)
			}
			if err != nil {
				t.Fatalf("version %d, %s: %v", version, kind, err)
			}
			if list.Kind != "zarr" || len(list.Tensors) != 2 || list.Tensors[1].Name != "deep/b" || list.Tensors[0].Bytes != 160000 || !strings.Contains(list.Tensors[0].Chunks, "[1,50,50]") {
				t.Errorf("version %d, %s: %+v", version, kind, list)
			}
			v, err := f.Tensor("a", []int{2})
			if err != nil || v.Stats.Least != "20000" || v.Stats.Most != "29999" || v.Table[1][1] != "20101.0" || v.Bytes[1].Coord != "(2,0,1)" {
				t.Errorf("version %d, %s: a is not what was written: %v", version, kind, err)
			}
			if v, err := f.Tensor("deep/b", nil); err != nil || v.Rows != 7 || v.Table[6][0] != "6.0" {
				t.Errorf("version %d, %s: b is not what was written: %v", version, kind, err)
			}
		}
	}
	_, files := hierarchies(t, 3)
	lie := `{"zarr_format": 3, "node_type": "array"}`
	files["a/zarr.json"] = io.NewSectionReader(strings.NewReader(lie), 0, int64(len(lie)))
	files["deep/b/c/1"] = io.NewSectionReader(strings.NewReader("no chunk"), 0, 8)
	f, list, err := show.OpenFolder("h", files)
	if err != nil || len(list.Tensors) != 2 || !strings.Contains(list.Tensors[0].Type, "zarr.json") {
		t.Errorf("damaged metadata: %+v, %v", list, err)
	}
	if _, err := f.Tensor("deep/b", nil); err == nil || !strings.Contains(err.Error(), "c/1") {
		t.Errorf("a damaged chunk: %v", err)
	}
	if _, err := f.Tensor("a", nil); err == nil {
		t.Error("an array without metadata was read")
	}
	large := `{"zarr_format":2,"shape":[1099511627776,1099511627776],"chunks":[2,2],"dtype":"<i2","compressor":null,"fill_value":0,"order":"C","filters":null}`
	f, list, err = show.OpenFolder("h", map[string]*io.SectionReader{".zarray": io.NewSectionReader(strings.NewReader(large), 0, int64(len(large)))})
	if err != nil || list.Tensors[0].Bytes != math.MaxInt {
		t.Errorf("2^80 elements: %+v, %v", list, err)
	} else if _, err := f.Tensor("array", nil); err == nil {
		t.Error("a row of 2^40 elements was read")
	}
	if _, _, err := show.OpenFolder("photos", map[string]*io.SectionReader{"x.jpg": files["deep/b/c/1"]}); err == nil || !strings.Contains(err.Error(), "photos is no Zarr") {
		t.Errorf("a folder of pictures: %v", err)
	}
}

type broken struct{}

func (broken) ReadAt(b []byte, at int64) (int, error) { return 0, errors.New("the disk is gone") }

func TestBrokenReader(t *testing.T) {
	if _, _, err := show.Open("x", broken{}, 100); err == nil || !strings.Contains(err.Error(), "the disk is gone") {
		t.Errorf("%v", err)
	}
}

func FuzzOpen(f *testing.F) {
	var a bytes.Buffer
	if err := npy.WriteZip(&a, []string{"x"}, []tensor.Any{tensor.Arange[int16](0, 6, 1).Any().Reshape(2, 3)}, nil); err != nil {
		f.Fatal(err)
	}
	f.Add(a.Bytes())
	a.Reset()
	if err := npy.Write(&a, tensor.Arange[float32](0, 6, 1).Any().Reshape(1, 2, 3), &npy.WriteOptions{Fortran: true}); err != nil {
		f.Fatal(err)
	}
	f.Add(a.Bytes())
	a.Reset()
	if err := safetensors.Write(&a, []string{"x"}, []tensor.Any{tensor.Arange[int64](0, 6, 1).Any()}, map[string]string{"k": "v"}); err != nil {
		f.Fatal(err)
	}
	f.Add(a.Bytes())
	if b, err := os.ReadFile("../../testdata/digits.onnx"); err == nil {
		f.Add(b)
	}
	a.Reset()
	group := zarr.Memory()
	if err := group.Set(context.Background(), ".zarray", []byte(`{"zarr_format":2,"shape":[2],"chunks":[2],"dtype":"<i2","compressor":null,"fill_value":0,"order":"C","filters":null}`)); err != nil {
		f.Fatal(err)
	}
	if err := zarr.WriteZip(context.Background(), &a, group); err != nil {
		f.Fatal(err)
	}
	f.Add(a.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		file, list, err := show.Open("x", bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		for _, e := range list.Tensors {
			if v, err := file.Tensor(e.Name, []int{0, 0, 0}); err == nil && v.Stats.Count > v.Read {
				t.Fatalf("%+v counts %d of %d elements", e, v.Stats.Count, v.Read)
			}
		}
	})
}
