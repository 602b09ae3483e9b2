package steps

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/format/csv"
	"github.com/ashlar-go/ashlar/format/gguf"
	"github.com/ashlar-go/ashlar/format/npy"
	"github.com/ashlar-go/ashlar/format/pytorch"
	"github.com/ashlar-go/ashlar/format/raw"
	"github.com/ashlar-go/ashlar/format/safetensors"
	"github.com/ashlar-go/ashlar/format/zarr"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

// A storing is a way to write a value and read it.
type storing struct {
	name  string
	lacks func(v *value) bool // the format has no such arrays
	turn  func(a array) array // what a reader gets, if that is another array
	do    func(r *running, v *value, idx []tensor.Index) (tensor.Any, error)
	whole bool // it takes no index
}

func noFixed(d dtype.DType) bool {
	return d.IsFixed() || partial(d) > 0 || d == dtype.Float4E2M1
}

func ggufLacks(v *value) bool {
	return !slices.Contains([]dtype.DType{dtype.Float16, dtype.BFloat16, dtype.Float32, dtype.Float64, dtype.Int8, dtype.Int16, dtype.Int32, dtype.Int64}, v.d) || len(v.shape) > 4
}

func safeLacks(v *value) bool {
	return v.d == dtype.Complex128 || partial(v.d) > 0 || v.d == dtype.Float4E2M1 && len(v.at)%2 == 1 // F4 fills whole bytes
}

func csvLacks(v *value) bool { return len(v.shape) == 0 || len(v.shape) > 2 || len(v.at) == 0 }

func zarrLacks(v *value) bool { return noFixed(v.d) }

func never(*value) bool { return false }

// column gives an array of rank 1 as a column, and NaNs as the canonical one.
func column(a array) array {
	if len(a.shape) == 1 {
		a.shape = []int{a.shape[0], 1}
	}
	return build(a.d, a.shape, func(c []int) []byte {
		b, half := a.at(c), a.d
		if a.d == dtype.Complex64 {
			half = dtype.Float32
		} else if a.d == dtype.Complex128 {
			half = dtype.Float64
		}
		if !half.IsFloat() {
			return b
		}
		var out []byte
		for ; len(b) > 0; b = b[half.Size():] {
			out = append(out, canon(half, b[:half.Size()])...)
		}
		return out
	})
}

// storings are the ways through files, and through bytes.
var storings = []storing{
	{"npy read", never, nil, func(r *running, v *value, _ []tensor.Index) (tensor.Any, error) {
		var b bytes.Buffer
		if err := npy.Write(&b, v.t, &npy.WriteOptions{Fortran: r.s.pick(2) == 1}); err != nil {
			return v.t, err
		}
		return npy.Read(&b, &npy.Options{As: v.d})
	}, true},
	{"npy mapped", never, nil, func(r *running, v *value, idx []tensor.Index) (tensor.Any, error) {
		path := r.path("a.npy")
		if err := npy.WriteFile(path, v.t, &npy.WriteOptions{Fortran: r.s.pick(2) == 1}); err != nil {
			return v.t, err
		}
		return npy.Open(path, &npy.Options{As: v.d}, idx...)
	}, false},
	{"npz", never, nil, func(r *running, v *value, idx []tensor.Index) (tensor.Any, error) {
		path := r.path("a.npz")
		other := r.ref(anyValue)
		if err := npy.WriteZipFile(path, []string{"b", "a"}, []tensor.Any{other.t, v.t}, &npy.WriteOptions{Deflate: r.s.pick(2) == 1, Fortran: r.s.pick(2) == 1}); err != nil {
			return v.t, err
		}
		z, err := npy.OpenZip(path, &npy.Options{As: v.d})
		if err != nil {
			return v.t, err
		}
		r.ends = append(r.ends, func() { z.Close() })
		return z.Tensor("a", idx...)
	}, false},
	{"raw read", never, nil, func(r *running, v *value, _ []tensor.Index) (tensor.Any, error) {
		var b bytes.Buffer
		if err := tensor.Encode(&b, v.t); err != nil {
			return v.t, err
		}
		lay, _ := layout.RowMajor(v.shape...)
		return raw.Read(&b, v.d, lay)
	}, true},
	{"raw mapped", never, nil, func(r *running, v *value, idx []tensor.Index) (tensor.Any, error) {
		path := r.path("a.bin")
		if err := raw.WriteFile(path, v.t); err != nil {
			return v.t, err
		}
		lay, _ := layout.RowMajor(v.shape...)
		return raw.Open(path, v.d, lay, idx...)
	}, false},
	{"csv", csvLacks, column, func(r *running, v *value, _ []tensor.Index) (tensor.Any, error) {
		var b bytes.Buffer
		if err := csv.Write(&b, v.t, nil, nil); err != nil {
			return v.t, err
		}
		t, _, err := csv.Read(&b, &csv.Options{DType: v.d})
		return t, err
	}, true},
	{"safetensors", safeLacks, nil, throughFile(".safetensors"), false},
	{"safetensors read", safeLacks, nil, func(r *running, v *value, idx []tensor.Index) (tensor.Any, error) {
		var b bytes.Buffer
		if err := safetensors.Write(&b, []string{"a"}, []tensor.Any{v.t}, nil); err != nil {
			return v.t, err
		}
		f, err := safetensors.New(mem.Borrow(b.Bytes(), nil))
		if err != nil {
			return v.t, err
		}
		return f.Tensor("a", idx...)
	}, false},
	{"gguf", ggufLacks, nil, throughFile(".gguf"), false},
	{"gguf read", ggufLacks, nil, func(r *running, v *value, idx []tensor.Index) (tensor.Any, error) {
		var b bytes.Buffer
		if err := gguf.Write(&b, []string{"a"}, []tensor.Any{v.t}, nil); err != nil {
			return v.t, err
		}
		f, err := gguf.New(mem.Borrow(b.Bytes(), nil))
		if err != nil {
			return v.t, err
		}
		return f.Tensor("a", idx...)
	}, false},
	{"zarr", zarrLacks, nil, throughFile(".zarr"), false},
	{"onnx", func(v *value) bool { return v.d.IsFixed() }, nil, func(r *running, v *value, _ []tensor.Index) (tensor.Any, error) {
		p, err := onnx.NewTensorProto("a", v.t)
		if err != nil {
			return v.t, err
		}
		b, err := onnx.Encode(&onnx.Model{IR: 10, Opsets: []onnx.Opset{{Version: 21}}, Graph: &onnx.Graph{Name: "g", Initializers: []onnx.TensorProto{p}}})
		if err != nil {
			return v.t, err
		}
		m, err := onnx.Decode(b)
		if err != nil {
			return v.t, err
		}
		return m.Tensor(&m.Graph.Initializers[0])
	}, true},
	{"pytorch", func(v *value) bool { return torchNames[v.d] == "" }, nil, torched, false},
}

// path is a new file's.
func (r *running) path(end string) string {
	return filepath.Join(r.folder(), fmt.Sprintf("%d%s", r.step, end))
}

// throughFile writes and opens a file as package format does.
func throughFile(end string) func(r *running, v *value, idx []tensor.Index) (tensor.Any, error) {
	return func(r *running, v *value, idx []tensor.Index) (tensor.Any, error) {
		path := r.path(end)
		arrays := []format.Array{{Name: "a", Tensor: v.t}}
		o := &format.WriteOptions{}
		switch end {
		case ".zarr":
			for _, e := range v.shape {
				o.Chunks = append(o.Chunks, 1+r.s.pick(max(e, 1)))
			}
		default:
			if other := r.ref(func(u *value) bool { return u.d == v.d && len(u.at)%2 == 0 && len(u.shape) <= 4 }); other != nil && r.s.pick(2) == 1 {
				arrays = append(arrays, format.Array{Name: "b", Tensor: other.t})
			}
		}
		if err := format.WriteFile(path, o, arrays...); err != nil {
			return v.t, err
		}
		f, err := format.Open(path)
		if err != nil {
			return v.t, err
		}
		r.ends = append(r.ends, func() { f.Close() })
		name := "a"
		if end == ".zarr" {
			name = f.Names()[0] // an array alone has the name of the folder
		}
		return f.Tensor(name, idx...)
	}
}

// filed writes a value in a format, and reads it, or a part of it.
func (r *running) filed() {
	v := r.subject(anyValue)
	k := r.s.pick(len(storings))
	for storings[k].lacks(v) {
		k = (k + 1) % len(storings)
	}
	w := storings[k]
	a := v.array()
	var idx []tensor.Index
	text := ""
	if !w.whole && len(v.shape) > 0 && r.s.pick(3) == 2 {
		n := v.shape[0]
		start, stop, step := r.bound(n), r.bound(n), of1(r.s, 1, 2, -1, -2)
		at := positions(n, start, stop, step)
		idx = []tensor.Index{tensor.R(start, stop, step)}
		text = fmt.Sprintf(", R(%s)", list([]int{start, stop, step}))
		a = along(v.d, a, 0, at).array
	}
	r.met("file " + w.name)
	r.say("v%d := %s of %s%s", r.step, w.name, v.name, text)
	var t tensor.Any
	var err error
	r.try(func() { t, err = w.do(r, v, idx) })
	if err != nil {
		r.fail("%v", err)
	}
	if w.turn != nil {
		a = w.turn(a)
	}
	r.fresh(t, a)
}

// torchNames are the storages and element types of PyTorch.
var torchNames = map[dtype.DType]string{dtype.Bool: "BoolStorage", dtype.Uint8: "ByteStorage", dtype.Int8: "CharStorage", dtype.Int16: "ShortStorage", dtype.Int32: "IntStorage", dtype.Int64: "LongStorage",
	dtype.Float16: "HalfStorage", dtype.BFloat16: "BFloat16Storage", dtype.Float32: "FloatStorage", dtype.Float64: "DoubleStorage", dtype.Complex64: "ComplexFloatStorage", dtype.Complex128: "ComplexDoubleStorage"}

// torched puts the elements into a storage with the strides of an order of axes and gaps, as PyTorch saves a view, and reads it.
func torched(r *running, v *value, idx []tensor.Index) (tensor.Any, error) {
	strides, step := make([]int, len(v.shape)), 1
	for _, k := range r.s.perm(len(v.shape)) {
		strides[k] = step * (1 + r.s.pick(2))
		step = strides[k] * max(v.shape[k], 1)
	}
	offset, es := r.s.pick(4), v.d.Size()
	storage := make([]byte, (offset+step)*es)
	if v.d != dtype.Bool {
		for i := range storage {
			storage[i] = byte(i)
		}
	}
	a := v.array()
	for i, c := range coords(v.shape) {
		at := offset
		for k, x := range c {
			at += x * strides[k]
		}
		part := es
		if v.d.IsComplex() {
			part = es / 2
		}
		for e := 0; e < es; e += part { // each number in ascending byte order
			b := slices.Clone(a.elem(i)[e:][:part])
			if binary.NativeEndian.Uint16([]byte{0, 1}) == 1 {
				slices.Reverse(b)
			}
			copy(storage[at*es+e:], b)
		}
	}
	number := func(n int) string {
		return "\x8a\x08" + string(binary.LittleEndian.AppendUint64(nil, uint64(n)))
	}
	text := func(s string) string { return "X" + string(binary.LittleEndian.AppendUint32(nil, uint32(len(s)))) + s }
	tuple := func(parts ...string) string { return "(" + strings.Join(parts, "") + "t" }
	ints := func(list []int) string {
		var parts []string
		for _, n := range list {
			parts = append(parts, number(n))
		}
		return tuple(parts...)
	}
	id := tuple(text("storage"), "ctorch\n"+torchNames[v.d]+"\n", text("0"), text("cpu"), number(offset+step)) + "Q"
	pickle := "\x80\x02}(" + text("a") + "ctorch._utils\n_rebuild_tensor_v2\n" + tuple(id, number(offset), ints(v.shape), ints(strides), "\x89", "ccollections\nOrderedDict\n)R") + "Ru."
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, e := range [][2]string{{"x/data.pkl", pickle}, {"x/data/0", string(storage)}} {
		w, err := z.CreateHeader(&zip.FileHeader{Name: e[0], Method: zip.Store})
		if err == nil {
			_, err = io.WriteString(w, e[1])
		}
		if err != nil {
			return v.t, err
		}
	}
	if err := z.Close(); err != nil {
		return v.t, err
	}
	f, err := pytorch.New(mem.Borrow(b.Bytes(), nil))
	if err != nil {
		return v.t, err
	}
	return f.Tensor("a", idx...)
}

// A stored is a Zarr array in memory, and the elements that it should have.
type stored struct {
	a    *zarr.Array
	want array
	name string
}

// parts writes a part of a Zarr array, or reads one, into a live value or new memory.
func (r *running) parts() {
	ctx := context.Background()
	v := r.subject(func(v *value) bool { return !zarrLacks(v) && len(v.shape) > 0 && !slices.Contains(v.shape, 0) })
	if zarrLacks(v) || len(v.at) == 0 || len(v.shape) == 0 {
		return
	}
	fits := func(z *stored) bool {
		if z.want.d != v.d || len(z.want.shape) != len(v.shape) {
			return false
		}
		for k, e := range v.shape {
			if e > z.want.shape[k] {
				return false
			}
		}
		return true
	}
	var z *stored
	for _, s := range r.arrays {
		if fits(s) {
			z = s
		}
	}
	if z == nil {
		m := zarr.Metadata{Version: 3 - r.s.pick(2), DType: v.d}
		if noV2(v.d) {
			m.Version = 3
		}
		z = &stored{want: array{d: v.d}, name: fmt.Sprintf("z%d", r.step)}
		for _, e := range v.shape {
			m.Shape, m.Chunks = append(m.Shape, e+r.s.pick(3)), append(m.Chunks, 1+r.s.pick(e+1))
		}
		if m.Version == 3 && r.s.rare(3) {
			m.Inner = slices.Clone(m.Chunks)
			for k := range m.Chunks {
				m.Chunks[k] *= 2
			}
		}
		z.want = build(v.d, m.Shape, func([]int) []byte { return make([]byte, v.d.Size()) })
		a, err := zarr.Create(ctx, zarr.Memory(), "a", m, nil)
		if err != nil {
			r.fail("%v", err)
		}
		z.a = a
		r.arrays = append(r.arrays, z)
		r.say("%s := zarr.Create(%v%v, chunks %v, inner %v, version %d)", z.name, v.d, m.Shape, m.Chunks, m.Inner, m.Version)
	}
	at := make([]int, len(v.shape))
	to := make([]int, len(v.shape))
	for k, e := range v.shape {
		at[k] = r.s.pick(z.want.shape[k] - e + 1)
		to[k] = at[k] + e
	}
	part := func(c []int) []byte {
		c = slices.Clone(c)
		for k := range c {
			c[k] += at[k]
		}
		return z.want.at(c)
	}
	done := func(err error) {
		if err != nil {
			r.fail("%v", err)
		}
	}
	switch r.s.pick(4) {
	case 0, 1:
		r.met("zarr write")
		r.say("%s.Write(%v, %s)", z.name, at, v.name)
		a := v.array()
		done(z.a.Write(ctx, at, v.t))
		for _, c := range coords(v.shape) {
			copy(part(c), a.at(c))
		}
	case 2:
		r.met("zarr slice")
		r.say("v%d := %s.Slice(%v, %v)", r.step, z.name, at, to)
		t, err := z.a.Slice(ctx, at, to)
		done(err)
		r.fresh(t, build(v.d, v.shape, part))
	case 3:
		r.met("zarr into")
		r.say("%s.ReadInto(%v, %s)", z.name, at, v.name)
		err := z.a.ReadInto(ctx, at, v.t)
		if v.frozen {
			if !errors.Is(err, zarr.ErrShape) {
				r.fail("%s is read-only, and the error %v", v.name, err)
			}
			return
		}
		done(err)
		v.put(build(v.d, v.shape, part))
	}
}

// noV2 reports whether version 2 of Zarr lacks a type.
func noV2(d dtype.DType) bool { return d == dtype.BFloat16 || smalls[d] != nil && d.Size() == 1 }
