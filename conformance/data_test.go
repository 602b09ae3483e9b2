package main

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format/npy"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

// proto returns the bytes of a TensorProto: dims, data_type FLOAT and raw_data.
func proto(t tensor.Tensor[float32]) string {
	var b []byte
	for _, e := range t.Shape() {
		b = binary.AppendUvarint(append(b, 1<<3), uint64(e))
	}
	b = append(b, 2<<3, 1)
	b = binary.AppendUvarint(append(b, 9<<3|2), uint64(4*t.Len()))
	for v := range t.Values() {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return string(b)
}

func floats(shape []int, v ...float32) tensor.Tensor[float32] { return tensor.FromSlice(v, shape...) }

// graph returns a model's file.
func graph(t *testing.T, build func(b *onnx.Builder)) string {
	t.Helper()
	b := onnx.NewBuilder("test")
	build(b)
	m, err := b.Model(13)
	if err != nil {
		t.Fatal(err)
	}
	text, err := onnx.Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// binaryGraph is a model of one node of two inputs a and b of shape 3.
func binaryGraph(t *testing.T, op string) string {
	return graph(t, func(b *onnx.Builder) {
		y := b.Node(op, []string{b.Input("a", dtype.Float32, 3), b.Input("b", dtype.Float32, 3)})
		b.Output(b.Rename(y, "y"), dtype.Float32, 3)
	})
}

func TestONNXRunner(t *testing.T) {
	checkout(t, nil)
	dir := t.TempDir()
	var text bytes.Buffer
	z := zip.NewWriter(&text)
	add := func(name, body string) {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(body))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	a, b := floats([]int{3}, 1, 2, 3), floats([]int{3}, 10, 20, 30)
	node := func(name, op string, want tensor.Tensor[float32]) {
		add(name+"/model.onnx", binaryGraph(t, op))
		add(name+"/test_data_set_0/input_0.pb", proto(a))
		add(name+"/test_data_set_0/input_1.pb", proto(b))
		add(name+"/test_data_set_0/output_0.pb", proto(want))
	}
	node("test_add", "Add", floats([]int{3}, 11, 22, 33))
	node("test_add_near", "Add", floats([]int{3}, 11.01, 22, 33))
	node("test_add_far", "Add", floats([]int{3}, 11.02, 22, 33))
	node("test_add_shape", "Add", floats([]int{1, 3}, 11, 22, 33))
	node("test_sub", "Sub", floats([]int{3}, -9, -18, -27))
	node("test_frobnicate", "Frobnicate", a)
	add("test_empty/model.onnx", binaryGraph(t, "Max"))
	add("test_broken/model.onnx", "no model")
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "onnx", "nodes.zip"), text.String())
	for arg, want := range map[string]string{
		"onnx/Add":        "2 passed, 2 failed, 0 unsupported, 0 skipped",
		"onnx/Sub":        "1 passed, 0 failed, 0 unsupported, 0 skipped",
		"onnx/Frobnicate": "0 passed, 0 failed, 1 unsupported, 0 skipped",
		"onnx/Max":        "0 passed, 1 failed, 0 unsupported, 0 skipped", // has no data
		"onnx":            "3 passed, 4 failed, 1 unsupported, 0 skipped", // nothing besides the zip is read
	} {
		status, out, errs := conform(t, dir, "-v", arg)
		if last(out) != want || (status == 0) != (arg == "onnx/Sub") {
			t.Errorf("%s: status %d, want %s\n%s%s", arg, status, want, out, errs)
		}
	}
}

// modelData writes a folder of models and their data.
func modelData(t *testing.T, folder string) {
	save := func(name string, a tensor.Any) {
		var b bytes.Buffer
		if err := npy.Write(&b, a, nil); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(folder, name), b.String())
	}
	write(t, filepath.Join(folder, "sum.onnx"), graph(t, func(b *onnx.Builder) {
		y := b.Node("Sum", []string{b.Input("a", dtype.Float32, 2, 3), b.Input("b", dtype.Float32, 2, 3), b.Input("c", dtype.Float32, 2, 3)})
		b.Output(b.Rename(y, "y"), dtype.Float32, 2, 3)
	}))
	write(t, filepath.Join(folder, "same.onnx"), graph(t, func(b *onnx.Builder) {
		b.Output(b.Rename(b.Node("Identity", []string{b.Input("x", dtype.Float32, 2, 4)}), "y"), dtype.Float32, 2, 4)
	}))
	// state' = state + x, twice = 2·state'.
	write(t, filepath.Join(folder, "stream.onnx"), graph(t, func(b *onnx.Builder) {
		s := b.Node("Add", []string{b.Input("x", dtype.Float32, 2), b.Input("state", dtype.Float32, 2)})
		b.Output(b.Rename(s, "next"), dtype.Float32, 2)
		b.Output(b.Rename(b.Node("Add", []string{"next", "next"}), "twice"), dtype.Float32, 2)
	}))
	save("a.npy", floats([]int{2, 3}, 0, 1, 2, 3, 4, 5).Any())
	write(t, filepath.Join(folder, "c.pb"), proto(floats([]int{2, 3}, 0, 0, 0, 0, 0, 100)))
	var z bytes.Buffer
	if err := npy.WriteZip(&z, []string{"b", "other"}, []tensor.Any{floats([]int{2, 3}, 10, 10, 10, 10, 10, 10).Any(), floats(nil, 1).Any()}, nil); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(folder, "in.npz"), z.String())
	save("sum.npy", floats([]int{2, 3}, 10, 11, 12, 13, 14, 115).Any())
	save("notsum.npy", floats([]int{2, 3}, 10, 11, 12, 13, 14, 116).Any())
	save("places.npy", tensor.FromSlice([]int64{2, 2}, 2).Any())
	save("notplaces.npy", tensor.FromSlice([]int64{2, 1}, 2).Any())
	save("largest.npy", floats([]int{2}, 12, 115).Any())
	save("eighths.npy", floats([]int{2, 4}, 0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875).Any())
	save("x.npy", floats([]int{3, 2}, 1, 2, 3, 4, 5, 6).Any())
	save("zero.npy", floats([]int{2}, 0, 0).Any())
	save("twice.npy", floats([]int{3, 1, 2}, 2, 4, 8, 12, 18, 24).Any())
	save("nottwice.npy", floats([]int{3, 1, 2}, 2, 4, 8, 12, 18, 25).Any())
	save("fewtwice.npy", floats([]int{2, 1, 2}, 2, 4, 8, 12).Any())
	save("end.npy", floats([]int{2}, 9, 12).Any())
	save("start.npy", floats([]int{2}, 1, 2).Any())
	save("none.npy", floats([]int{0, 2}).Any())
}

func TestModelsRunner(t *testing.T) {
	dir := t.TempDir()
	modelData(t, filepath.Join(dir, "models", "m"))
	checkout(t, nil)
	const sum = `"model":"sum.onnx","inputs":{"a":"a.npy","b":"in.npz#b","c":"c.pb"}`
	const stream = `"model":"stream.onnx","stream":{"x":"x.npy"},"state":{"state":{"initial":"zero.npy","from":"next"}}`
	for _, tc := range []struct{ name, text, want string }{
		{"outputs", sum + `,"outputs":{"y":"sum.npy"}`, "passed"},
		{"the only output", sum + `,"outputs":{"*":"sum.npy"}`, "passed"},
		{"other elements", sum + `,"outputs":{"y":"notsum.npy"}`, "failed"},
		{"within the tolerance", sum + `,"outputs":{"y":"notsum.npy"},"atol":1`, "passed"},
		{"another shape", sum + `,"outputs":{"y":"zero.npy"}`, "failed"},
		{"no such output", sum + `,"outputs":{"z":"sum.npy"}`, "failed"},
		{"nothing to compare", sum, "failed"},
		{"places", sum + `,"argmax":{"y":"places.npy"}`, "passed"},
		{"other places", sum + `,"argmax":{"y":"notplaces.npy"}`, "failed"},
		{"places and values", sum + `,"argmax":{"y":"places.npy"},"max":{"y":"largest.npy"}`, "passed"},
		{"other values", sum + `,"max":{"y":"zero.npy"}`, "failed"},
		{"arange", `"model":"same.onnx","inputs":{"*":"arange/n"},"outputs":{"*":"eighths.npy"}`, "passed"},
		{"arange of several inputs", `"model":"sum.onnx","inputs":{"*":"arange/n"},"outputs":{"*":"eighths.npy"}`, "failed"},
		{"a missing input", `"model":"sum.onnx","inputs":{"a":"a.npy"},"outputs":{"y":"sum.npy"}`, "failed"},
		{"no such file", `"model":"same.onnx","inputs":{"x":"absent.npy"},"outputs":{"*":"eighths.npy"}`, "failed"},
		{"stream", stream + `,"collect":{"twice":"twice.npy"},"final":{"next":"end.npy"}`, "passed"},
		{"another value on the way", stream + `,"collect":{"twice":"nottwice.npy"}`, "failed"},
		{"a value for two runs of three", stream + `,"collect":{"twice":"fewtwice.npy"}`, "failed"},
		{"another value at the end", stream + `,"final":{"next":"start.npy"}`, "failed"},
		{"no state", `"model":"stream.onnx","inputs":{"state":"zero.npy"},"stream":{"x":"x.npy"},"final":{"next":"end.npy"}`, "failed"},
		{"an empty stream", strings.Replace(stream, "x.npy", "none.npy", 1) + `,"final":{"next":"end.npy"}`, "failed"},
		{"a final value without a stream", sum + `,"outputs":{"y":"sum.npy"},"final":{"y":"sum.npy"}`, "failed"},
		{"outputs of a stream", stream + `,"outputs":{"twice":"twice.npy"}`, "failed"},
		{"long", sum + `,"outputs":{"y":"notsum.npy"},"long":true`, "skipped"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			write(t, filepath.Join(dir, "models", "m", "case.json"), `{"cases":[{"name":"it",`+tc.text+`}]}`)
			status, out, errs := conform(t, dir, "-v", "models")
			if !strings.Contains(last(out), "1 "+tc.want) || (status != 0) != (tc.want == "failed") {
				t.Errorf("status %d, want 1 %s\n%s%s", status, tc.want, out, errs)
			}
		})
	}
	t.Run("-long", func(t *testing.T) {
		write(t, filepath.Join(dir, "models", "m", "case.json"), `{"model":"sum.onnx","cases":[{"name":"it",`+sum+`,"outputs":{"y":"sum.npy"},"long":true}]}`)
		if status, out, _ := conform(t, dir, "-long", "models"); status != 0 || last(out) != "1 passed, 0 failed, 0 unsupported, 0 skipped" {
			t.Errorf("status %d\n%s", status, out)
		}
	})
}

// Recorded values outside the tolerance pass if the graph in float64 is nearer to
// ours, but they must be near it, and few.
func TestRecorded(t *testing.T) {
	checkout(t, nil)
	right := []float32{1, 2, 3, 4, 5, 6, 7, 8}
	for _, tc := range []struct {
		name   string
		off    map[int]float32 // row → how far the recorded value is off
		status int
	}{
		{"none", nil, 0},
		{"within the tolerance", map[int]float32{3: 0.005}, 0},
		{"a little", map[int]float32{3: 0.2}, 0},
		{"a quarter", map[int]float32{3: 0.2, 4: -0.2}, 0},
		{"more than a quarter", map[int]float32{3: 0.2, 4: -0.2, 5: 0.2}, 1},
		{"too much", map[int]float32{3: 0.6}, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			folder := filepath.Join(dir, "models", "m")
			modelData(t, folder)
			write(t, filepath.Join(folder, "rows.onnx"), graph(t, func(b *onnx.Builder) {
				b.Output(b.Rename(b.Node("Identity", []string{b.Input("x", dtype.Float32, 8, 1)}), "y"), dtype.Float32, 8, 1)
			}))
			write(t, filepath.Join(folder, "rows.pb"), proto(floats([]int{8, 1}, right...)))
			recorded := append([]float32(nil), right...)
			for i, d := range tc.off {
				recorded[i] += d
			}
			write(t, filepath.Join(folder, "recorded.pb"), proto(floats([]int{8}, recorded...)))
			write(t, filepath.Join(folder, "case.json"), `{"cases":[{"name":"it","model":"rows.onnx","inputs":{"x":"rows.pb"},"max":{"y":"recorded.pb"},"atol":0.01}]}`)
			status, out, errs := conform(t, dir, "-v", "models")
			said := strings.Contains(out, "recorded values of \"y\" are farther than the tolerance")
			if status != tc.status || said != (status == 0 && len(tc.off) > 0 && tc.name != "within the tolerance") {
				t.Errorf("status %d\n%s%s", status, out, errs)
			}
		})
	}
}

func TestViewsRunner(t *testing.T) {
	checkout(t, nil)
	const passed, failed = "1 passed, 0 failed, 0 unsupported, 0 skipped", "0 passed, 1 failed, 0 unsupported, 0 skipped"
	const made = `{"op":"arange","out":"a","args":{"shape":[2,2]}}`
	const a = `{"at":0,"tensor":"a","shape":[2,2],"contiguous":true,"elements":[0,1,2,3],"strides":[2,1]}`
	const permuted = made + `,{"op":"permute","in":"a","out":"b","args":{"axes":[1,0]}}`
	const b = a + `,{"at":1,"tensor":"b","shape":[2,2],"contiguous":false,"elements":[0,2,1,3],"strides":[1,2]}`
	const set = permuted + `,{"op":"set","in":"b","args":{"index":[0,1],"value":9}}`
	for _, tc := range []struct{ name, steps, facts, want string }{
		{"right", permuted, b + `,{"at":1,"pair":["a","b"],"same_data":true}`, passed},
		{"another shape", made, strings.Replace(a, "[2,2]", "[4]", 1), failed},
		{"other elements", made, strings.Replace(a, "3]", "4]", 1), failed},
		{"not contiguous", made, strings.Replace(a, "true", "false", 1), failed},
		{"other strides", made, strings.Replace(a, "[2,1]", "[1,2]", 1), failed},
		{"a free stride", made, strings.Replace(a, "[2,1]", "[null,1]", 1), passed},
		{"no facts of a tensor", permuted, a, failed},
		{"the pair shares", permuted, b + `,{"at":1,"pair":["a","b"],"same_data":false}`, failed},
		{"the pair overlaps", permuted, b + `,{"at":1,"pair":["a","b"],"same_data":true,"overlap":false}`, failed},
		{"a write shows", set, b + `,{"at":2,"tensor":"a","elements":[0,1,9,3]},{"at":2,"tensor":"b","elements":[0,9,1,3]}`, passed},
		{"a write shows where no fact says so", set, b + `,{"at":2,"tensor":"b","elements":[0,9,1,3]}`, failed},
		{"storage", permuted, b + `,{"at":1,"storage":"b","order":[0,1,2,3]}`, passed},
		{"another storage", permuted, b + `,{"at":1,"storage":"b","order":[0,2,1,3]}`, failed},
		{"an error", made + `,{"op":"permute","in":"a","out":"b","args":{"axes":[0,0]}}`, a + `,{"at":1,"error":"bad_permutation","unchanged":true}`, passed},
		{"another error", made + `,{"op":"permute","in":"a","out":"b","args":{"axes":[0,0]}}`, a + `,{"at":1,"error":"read_only","unchanged":true}`, failed},
		{"an unknown error", made + `,{"op":"permute","in":"a","out":"b","args":{"axes":[0,0]}}`, a + `,{"at":1,"error":"bad","unchanged":true}`, failed},
		{"no error", permuted, a + `,{"at":1,"error":"bad_permutation","unchanged":true}`, failed},
		{"an unexpected error", made + `,{"op":"permute","in":"a","out":"b","args":{"axes":[0,0]}}`, a, failed},
		{"item", `{"op":"full","out":"a","args":{"shape":[1],"v":4}},{"op":"item","in":"a"}`, `{"at":0,"tensor":"a","shape":[1],"contiguous":true,"elements":[4],"strides":[null]},{"at":1,"item":true,"value":5}`, failed},
		{"an alias", made + `,{"op":"alias","in":"a","out":"b"},{"op":"permute_","in":"a","args":{"axes":[1,0]}}`,
			a + `,{"at":2,"tensor":"a","shape":[2,2],"contiguous":false,"elements":[0,2,1,3],"strides":[1,2]}`, passed},
		{"a fact after the end", made, a + `,{"at":1,"tensor":"a","shape":[4]}`, failed},
		{"an unknown step", made + `,{"op":"frobnicate","in":"a"}`, a, "0 passed, 0 failed, 1 unsupported, 0 skipped"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "views", "cases.json"), `{"cases":[{"id":"it","category":"x","steps":[`+tc.steps+`],"expect":[`+tc.facts+`]}]}`)
			status, out, errs := conform(t, dir, "-v", "views")
			if last(out) != tc.want || (status == 0) != (tc.want == passed) {
				t.Errorf("status %d, want %s\n%s%s", status, tc.want, out, errs)
			}
		})
	}
}

func TestNumPyRunner(t *testing.T) {
	checkout(t, nil)
	const base = `"id":"it","op":"view","tol":"exact","error":null,"base":{"dtype":"int32","shape":[2,3],"order":"C","fill":"arange in C index order"},`
	const flip = base + `"steps":[{"op":"transpose","axes":null}],"out":{"shape":[3,2],"data":[0,3,1,4,2,5],"shares_memory":true,"step_shares":[true],"strides":[1,3],"offset":0,"c_contiguous":false,"f_contiguous":true,"writeable":true}`
	const refuse = base + `"steps":[{"op":"reshape","shape":[4],"order":"C"}],"out":null`
	const print = `"id":"it","op":"format","tol":"exact","error":null,"in":[{"dtype":"float32","shape":[2],"data":[1.5,"NaN"]}],"args":{"printoptions":{"precision":3}},"out":{"repr":"array([1.5, nan], dtype=float32)","str":"[1.5 nan]"}`
	var file bytes.Buffer
	if err := npy.Write(&file, tensor.FromSlice([]float64{1, math.Copysign(0, -1)}, 2).Any(), nil); err != nil {
		t.Fatal(err)
	}
	const read = `"file":"npy/f.npy","bytes":144,"ok":true,"version":[1,0],"descr":"<f8","fortran_order":false,"array":{"dtype":"float64","shape":[2],"data":[1,"-0"]}`
	swap := func(text, old, new string) string {
		t.Helper()
		if !strings.Contains(text, old) {
			t.Fatalf("%q isn't in %q", old, text)
		}
		return strings.Replace(text, old, new, 1)
	}
	for _, tc := range []struct{ name, area, text, want string }{
		{"right", "views", flip, "passed"},
		{"other data", "views", swap(flip, "4,2,5", "4,2,6"), "failed"},
		{"another shape", "views", swap(flip, `"shape":[3,2]`, `"shape":[6]`), "failed"},
		{"a copy", "views", swap(flip, `"shares_memory":true`, `"shares_memory":false`), "failed"},
		{"a step that copies", "views", swap(flip, `"step_shares":[true]`, `"step_shares":[false]`), "failed"},
		{"other strides", "views", swap(flip, `[1,3]`, `[2,1]`), "failed"},
		{"another offset", "views", swap(flip, `"offset":0`, `"offset":1`), "failed"},
		{"contiguous", "views", swap(flip, `"c_contiguous":false`, `"c_contiguous":true`), "failed"},
		{"contiguous from the left", "views", swap(flip, `"f_contiguous":true`, `"f_contiguous":false`), "failed"},
		{"read-only", "views", swap(flip, `"writeable":true`, `"writeable":false`), "failed"},
		{"refused", "reshape", refuse, "passed"},
		{"refused before the last step", "reshape", swap(refuse, `"steps":[`, `"steps":[{"op":"reshape","shape":[5]},`), "failed"},
		{"accepted", "reshape", swap(refuse, `[4]`, `[6]`), "failed"},
		{"an unknown step", "views", swap(flip, `"transpose"`, `"frobnicate"`), "unsupported"},
		{"prints", "format", print, "passed"},
		{"prints otherwise", "format", swap(print, `"str":"[1.5 nan]"`, `"str":"[1.5  nan]"`), "failed"},
		{"another expression", "format", swap(print, `, dtype=float32`, ``), "failed"},
		{"file", "npy", read, "passed"},
		{"zero has a sign", "npy", swap(read, `"-0"`, `"0"`), "failed"},
		{"another element", "npy", swap(read, `[1,`, `[2,`), "failed"},
		{"another type", "npy", swap(read, `"dtype":"float64"`, `"dtype":"float32"`), "failed"},
		{"another descriptor", "npy", swap(read, `"<f8"`, `">f8"`), "failed"},
		{"another file", "npy", swap(read, `144`, `145`), "failed"},
		{"a file to be refused", "npy", `"file":"npy/f.npy","bytes":144,"ok":false`, "failed"},
		{"a refused file", "npy", `"file":"npy/bad.npy","bytes":3,"ok":false`, "passed"},
		{"a file that isn't there", "npy", `"file":"npy/absent.npy","bytes":0,"ok":false`, "failed"},
		{"a type without counterpart", "npy", swap(read, `"float64"`, `"<U2"`), "failed"}, // since the file is read
		{"no runner", "reduce", `"id":"it"`, "unsupported"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "numpy", tc.area+".json"), `{"cases":[{`+tc.text+`}]}`)
			write(t, filepath.Join(dir, "numpy", "npy", "f.npy"), file.String())
			write(t, filepath.Join(dir, "numpy", "npy", "bad.npy"), "bad")
			status, out, errs := conform(t, dir, "-v", "numpy")
			if !strings.Contains(last(out), "1 "+tc.want) || (status == 0) != (tc.want == "passed") {
				t.Errorf("status %d, want 1 %s\n%s%s", status, tc.want, out, errs)
			}
		})
	}
}
