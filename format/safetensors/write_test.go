package safetensors

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	_ "github.com/ashlar-go/ashlar/internal/seeded"
	"github.com/ashlar-go/ashlar/tensor"
	"pgregory.net/rapid"
)

func written(t testing.TB, names []string, ts []tensor.Any, metadata map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, names, ts, metadata); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestWriteBytes compares with files of the reference implementation, from the
// tests in its safetensors/src/tensor.rs.
func TestWriteBytes(t *testing.T) {
	six := "\x00\x00\x00\x00\x00\x00\x80\x3f\x00\x00\x00\x40\x00\x00\x40\x40\x00\x00\x80\x40\x00\x00\xa0\x40"
	values := []float32{0, 1, 2, 3, 4, 5}
	for _, c := range []struct {
		names    []string
		ts       []tensor.Any
		metadata map[string]string
		want     string
	}{
		{nil, nil, nil, "\x08\x00\x00\x00\x00\x00\x00\x00{}      "},
		{nil, nil, map[string]string{"framework": "pt"}, "\x28\x00\x00\x00\x00\x00\x00\x00" + `{"__metadata__":{"framework":"pt"}}` + "     "},
		{[]string{"attn.0"}, []tensor.Any{tensor.FromSlice(values, 1, 2, 3).Any()}, nil,
			"\x40\x00\x00\x00\x00\x00\x00\x00" + `{"attn.0":{"dtype":"F32","shape":[1,2,3],"data_offsets":[0,24]}}` + six},
		{[]string{"attn0"}, []tensor.Any{tensor.FromSlice(values, 1, 1, 2, 3).Any()}, nil,
			"\x48\x00\x00\x00\x00\x00\x00\x00" + `{"attn0":{"dtype":"F32","shape":[1,1,2,3],"data_offsets":[0,24]}}` + "       " + six},
	} {
		if got := written(t, c.names, c.ts, c.metadata); got != c.want {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
	}
}

// TestWriteOrder: whatever the order of the call, types go by falling alignment,
// then names rise.
func TestWriteOrder(t *testing.T) {
	names := []string{"b", "a", "u8", "bool", "bf16", "f16", "i64", "u64", "f64", "c64", "f32", "e4", "e5"}
	var ts []tensor.Any
	for _, d := range []dtype.DType{dtype.Float32, dtype.Float32, dtype.Uint8, dtype.Bool, dtype.BFloat16, dtype.Float16, dtype.Int64, dtype.Uint64,
		dtype.Float64, dtype.Complex64, dtype.Float32, dtype.Float8E4M3, dtype.Float8E5M2} {
		a, err := tensor.Make(d, 3)
		if err != nil {
			t.Fatal(err)
		}
		ts = append(ts, a)
	}
	metadata := map[string]string{"z": "\"\\/\b\f\n\r\t\x01\x7f<é😀", "a": ""}
	first := written(t, names, ts, metadata)
	f := open(t, first)
	if got, want := fmt.Sprint(f.Names()), "[u64 i64 f64 c64 a b f32 bf16 f16 e4 e5 u8 bool]"; got != want {
		t.Errorf("order %s, want %s", got, want)
	}
	if !maps.Equal(f.Metadata(), metadata) {
		t.Errorf("metadata %q", f.Metadata())
	}
	const text = `{"__metadata__":{"a":"","z":"\"\\/\b\f\n\r\t\u0001` + "\x7f<é😀" + `"},"u64":{"dtype":"U64","shape":[3],"data_offsets":[0,24]},`
	if !strings.HasPrefix(first[8:], text) || !json.Valid([]byte(first[8:f.header.start])) {
		t.Errorf("header %s\nwant   %s", first[8:f.header.start], text)
	}
	for _, name := range f.Names() {
		info, err := f.Info(name)
		if err != nil || info.Offset%info.DType.Size() != 0 {
			t.Errorf("%s begins at byte %d", name, info.Offset)
		}
	}
	for range 5 {
		rand.Shuffle(len(names), func(i, j int) {
			names[i], names[j] = names[j], names[i]
			ts[i], ts[j] = ts[j], ts[i]
		})
		if written(t, names, ts, metadata) != first {
			t.Fatal("another order of the call gives other bytes")
		}
	}
}

// drawTensor draws a tensor of any type that the format has, perhaps permuted,
// turned around or broadcast.
func drawTensor(t *rapid.T) tensor.Any {
	all := slices.DeleteFunc(dtype.All(), func(d dtype.DType) bool { return typeOf(d) < 0 })
	d := rapid.SampledFrom(all).Draw(t, "dtype")
	shape := rapid.SliceOfN(rapid.IntRange(0, 4), 0, 4).Draw(t, "shape")
	if d.Bits() < 8 { // the format wants whole bytes
		shape = append(shape, 2)
	}
	a, err := tensor.Make(d, shape...)
	if err != nil {
		t.Fatal(err)
	}
	b, ok := tensor.Bytes(a)
	if !ok {
		t.Fatalf("%s is not contiguous", tensor.Describe(a))
	}
	for i := range b {
		b[i] = byte(i*37 + 11)
	}
	d.Mend(b)
	if a.Rank() > 0 {
		switch rapid.IntRange(0, 3).Draw(t, "view") {
		case 0:
			axes := make([]int, a.Rank())
			for i := range axes {
				axes[i] = i
			}
			a, err = tensor.Permute(a, rapid.Permutation(axes).Draw(t, "axes")...)
		case 1:
			a, err = tensor.Slice(a, tensor.R(tensor.None, tensor.None, -1))
		case 2:
			a, err = tensor.BroadcastTo(a, append([]int{3}, a.Shape()...)...)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return a
}

// rowMajor returns a's elements in row-major order as bytes, one at a time.
func rowMajor(t testing.TB, a tensor.Any) []byte {
	t.Helper()
	var all []byte
	idx := make([]tensor.Index, a.Rank())
	var walk func(axis int)
	walk = func(axis int) {
		if axis == a.Rank() {
			e, err := tensor.Slice(a, idx...)
			if err != nil {
				t.Fatal(err)
			}
			b, ok := tensor.Bytes(e)
			if !ok {
				t.Fatal("an element is not contiguous")
			}
			all = append(all, b...)
			return
		}
		for i := range a.Dim(axis) {
			idx[axis] = tensor.I(i)
			walk(axis + 1)
		}
	}
	walk(0)
	runtime.KeepAlive(a)
	return all
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.OneOf(rapid.String(), rapid.StringN(0, 3, 8)), 0, 5, rapid.ID[string]).Draw(rt, "names")
		ts := make([]tensor.Any, len(names))
		for i := range ts {
			ts[i] = drawTensor(rt)
		}
		metadata := rapid.MapOfN(rapid.String(), rapid.String(), 0, 3).Draw(rt, "metadata")
		s := written(t, names, ts, metadata)
		f, err := New(memory(s))
		if err != nil {
			rt.Fatal(err)
		}
		for i, name := range names {
			if d := ts[i].DType(); d.IsFixed() {
				metadata[TypeKey+name] = d.String()
			}
		}
		if !maps.Equal(f.Metadata(), metadata) {
			rt.Fatalf("metadata %q, want %q", f.Metadata(), metadata)
		}
		if len(f.Names()) != len(names) {
			rt.Fatalf("names %q, want %q", f.Names(), names)
		}
		for i, name := range names {
			a, err := f.Tensor(name)
			if err != nil {
				rt.Fatal(err)
			}
			if a.DType() != ts[i].DType() || !slices.Equal(a.Shape(), ts[i].Shape()) || !bytes.Equal(rowMajor(t, a), rowMajor(t, ts[i])) {
				rt.Fatalf("%q: %v, want %v", name, a, ts[i])
			}
		}
		// Go's own decoder agrees about the header.
		var header map[string]json.RawMessage
		if err := json.Unmarshal([]byte(s[8:f.header.start]), &header); err != nil {
			rt.Fatal(err)
		}
		for _, name := range names {
			if _, ok := header[name]; !ok {
				rt.Fatalf("%q is not in the header %s", name, s[8:f.header.start])
			}
		}
	})
}

// TestWritePieces writes views that are gathered in several pieces.
func TestWritePieces(t *testing.T) {
	const n = 1500
	a := tensor.New[int32](n, n)
	flat := a.Elems()
	for i := range flat {
		flat[i] = int32(i)
	}
	f := open(t, written(t, []string{"t", "r"}, []tensor.Any{a.Transpose().Any(), a.Reshape(1, n*n).Flip(1).Any()}, nil))
	for i, v := range elements[int32](t, f, "t") {
		if v != int32(i%n*n+i/n) {
			t.Fatalf("element %d of t is %d", i, v)
		}
	}
	for i, v := range elements[int32](t, f, "r") {
		if v != int32(n*n-1-i) {
			t.Fatalf("element %d of r is %d", i, v)
		}
	}
}

// TestOtherMachine writes and reads as a machine of the other byte order would.
func TestOtherMachine(t *testing.T) {
	a := tensor.FromSlice([]complex64{1 + 2i, 3 - 4i}, 2)
	big := tensor.New[int16]((1 << 20)) // more than is turned around at a time
	big.Set(0x102, (1<<20)-1)
	as := written(t, []string{"a"}, []tensor.Any{a.Any()}, nil)
	conv.BigEndian = !conv.BigEndian
	defer func() { conv.BigEndian = !conv.BigEndian }()
	s := written(t, []string{"a"}, []tensor.Any{a.Any()}, nil)
	for i := open(t, s).header.start; i < len(s); i += 4 {
		if s[i] != as[i+3] || s[i+1] != as[i+2] || s[i+2] != as[i+1] || s[i+3] != as[i] {
			t.Fatalf("%q and %q", s, as)
		}
	}
	if got := elements[complex64](t, open(t, s), "a"); !slices.Equal(got, a.Elems()) {
		t.Errorf("got %v", got)
	}
	if got := elements[int16](t, open(t, written(t, []string{"b"}, []tensor.Any{big.Any()}, nil)), "b"); !slices.Equal(got, big.Elems()) {
		t.Error("the elements differ")
	}
}

func TestWriteErrors(t *testing.T) {
	one := tensor.Scalar[int8](1)
	spec, err := tensor.NewSpec(dtype.Float32, 2)
	if err != nil {
		t.Fatal(err)
	}
	closed := tensor.New[int8](3)
	closed.Close()
	noSpace := errors.New("the disk is full")
	ok := &bytes.Buffer{}
	for _, c := range []struct {
		names    []string
		ts       []tensor.Any
		metadata map[string]string
		w        interface{ Write([]byte) (int, error) }
		is       error
		want     string
	}{
		{[]string{"x"}, nil, nil, ok, format.ErrName, "1 names for 0 tensors"},
		{[]string{"x", "x"}, []tensor.Any{one.Any(), one.Any()}, nil, ok, format.ErrName, `"x": the name is given twice`},
		{[]string{metadataKey}, []tensor.Any{one.Any()}, nil, ok, format.ErrName, `"__metadata__": the format keeps that name for its metadata`},
		{[]string{"\xff"}, []tensor.Any{one.Any()}, nil, ok, format.ErrName, `"\xff": a name must be UTF-8`},
		{[]string{"x"}, []tensor.Any{tensor.Scalar(1i).Any()}, nil, ok, format.ErrType, `"x": complex128 has no name in the format; convert the tensor first`},
		{[]string{"x"}, []tensor.Any{tensor.New[int8](slices.Repeat([]int{1}, MaxRank+1)...).Any()}, nil, ok, format.ErrLimit, `"x": rank 65; the largest is 64: reshape the tensor`},
		{nil, nil, map[string]string{"k": "\xff"}, ok, format.ErrName, `the metadata "k" is not UTF-8`},
		{[]string{"x"}, []tensor.Any{spec.Any()}, nil, ok, tensor.ErrDType, `"x": writing float32[2]: `},
		{[]string{"x"}, []tensor.Any{closed.Any()}, nil, ok, tensor.ErrClosed, `"x": writing int8[3]: `},
		{[]string{"x"}, []tensor.Any{one.Any()}, nil, full{noSpace}, noSpace, "writing: the disk is full"},
		{[]string{"x"}, []tensor.Any{tensor.New[int8](300_000).Any()}, nil, full{noSpace}, noSpace, `"x": writing int8[300000]: the disk is full`},
		{[]string{strings.Repeat("x", 70_000)}, []tensor.Any{one.Any()}, nil, full{noSpace}, noSpace, "byte 0: writing the header: the disk is full"},
	} {
		if err := Write(c.w, c.names, c.ts, c.metadata); !errors.Is(err, c.is) || !strings.HasPrefix(err.Error(), "safetensors: "+c.want) {
			t.Errorf("got  %v\nwant safetensors: %s", err, c.want)
		}
	}
}

type full struct{ err error }

func (f full) Write([]byte) (int, error) { return 0, f.err }
