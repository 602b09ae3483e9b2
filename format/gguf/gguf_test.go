package gguf

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/disk"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
)

func randomBytes(seed uint64, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		seed = seed*6364136223846793005 + 1442695040888963407
		b[i] = byte(seed >> 56)
	}
	return b
}

// of makes a tensor of a type of random bytes.
func of(t *testing.T, code uint32, shape ...int) tensor.Any {
	t.Helper()
	k := kindOf(code)
	n := 1
	for _, e := range shape {
		n *= e
	}
	buf := mem.Borrow(randomBytes(uint64(code), n/k.block*k.size), nil)
	var a tensor.Any
	lay, err := layout.RowMajor(shape...)
	switch {
	case err != nil:
	case k.format == nil:
		a, _, err = disk.SliceBytes(k.d, buf, 0, lay, conv.BigEndian)
	default:
		var s pack.Spec
		if s, err = pack.NewSpec(k.d, shape, &pack.Options{Format: k.format}); err == nil {
			var p pack.Tensor
			p, err = pack.FromBytes(s, buf, 0)
			a = p.Any()
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// model is what ggml's functions were given for the file of TestAsGGML.
func model(t *testing.T) (names []string, ts []tensor.Any, metadata []KV) {
	metadata = []KV{{"general.architecture", "llama"}, {"a.u8", uint8(200)}, {"a.i8", int8(-5)}, {"a.u16", uint16(60000)}, {"a.i16", int16(-300)},
		{"a.u32", uint32(4000000000)}, {"a.i32", int32(-70000)}, {"a.f32", float32(0.1)}, {"a.bool", true}, {"a.u64", uint64(1) << 63},
		{"a.i64", int64(-1) << 40}, {"a.f64", 0.1}, {"tokenizer.ggml.tokens", []string{"<s>", "", "▁the"}}, {"a.scores", []float32{0, -1, .5}},
		{"a.bools", []bool{true, false}}, {blocksKey, blocksVersion}}
	for _, code := range []uint32{0, 1, 2, 8, 12, 14, 26, 24, 25, 27, 28, 30, 19, 34, 39} {
		row := 5
		if k := kindOf(code); k.block > 1 {
			row = 2 * k.block
		}
		names, ts = append(names, fmt.Sprintf("t%d", code)), append(ts, of(t, code, 3, row))
	}
	return append(names, "v", "r4"), append(ts, of(t, 0, 7), of(t, 0, 2, 3, 1, 2)), metadata
}

func written(t *testing.T, names []string, ts []tensor.Any, metadata []KV) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, names, ts, metadata); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// raw are the bytes of a tensor, of one of blocks its own.
func raw(t *testing.T, a tensor.Any) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := encode(&b, a); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestAsGGML compares a file with that of ggml's gguf_write_to_file for the same metadata and tensors, byte by byte, and reads
// it.
//
// Source of the sum: libggml-base.so of llama.cpp v0.5.0, from the npm package @node-llama-cpp/linux-x64 3.22.1.
func TestAsGGML(t *testing.T) {
	names, ts, metadata := model(t)
	b := written(t, names, ts, metadata)
	sum := sha256.Sum256(b)
	if got, want := hex.EncodeToString(sum[:8]), "9e88add20ec5d0b7"; got != want {
		t.Errorf("%d bytes, %s, want %s", len(b), got, want)
	}
	f, err := New(mem.Borrow(b, nil))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(f.Names(), names) || f.Version() != 3 || f.Files() != nil {
		t.Errorf("%v, version %d", f.Names(), f.Version())
	}
	for i, kv := range metadata {
		if v, err := f.Value(kv.Key); err != nil || !reflect.DeepEqual(v, kv.Value) || f.Keys()[i] != kv.Key {
			t.Errorf("%s: %v, %v, want %v", kv.Key, v, err, kv.Value)
		}
	}
	for i, name := range names {
		a, err := f.Tensor(name)
		if err != nil {
			t.Fatal(err)
		}
		info, err := f.Info(name)
		if err != nil || info.Type != TypeOf(ts[i]) || info.Offset%32 != 0 || info.Bytes != len(raw(t, a)) {
			t.Errorf("%s: %+v, %v", name, info, err)
		}
		if !slices.Equal(a.Shape(), ts[i].Shape()) || !bytes.Equal(raw(t, a), raw(t, ts[i])) {
			t.Errorf("%s: %v, want %v", name, a, ts[i])
		}
	}
}

// TestAlignments reads what is written with multiples of 8, powers of two and others.
func TestAlignments(t *testing.T) {
	for _, align := range []uint32{8, 16, 24, 40, 56, 64, 1000, 4104, 1<<20 + 8} {
		var ts []tensor.Any
		var names []string
		for n := range 5 {
			names, ts = append(names, strconv.Itoa(n)), append(ts, of(t, 24, 7*n))
		}
		b := written(t, names, ts, []KV{{alignKey, align}})
		f, err := New(mem.Borrow(b, nil))
		if err != nil {
			t.Fatalf("%d: %v", align, err)
		}
		for i, name := range names {
			if a, err := f.Tensor(name); err != nil || !bytes.Equal(raw(t, a), raw(t, ts[i])) {
				t.Errorf("%d, %s: %v, %v", align, name, a, err)
			}
			if i, err := f.Info(name); err != nil || i.Offset%int(align) != 0 {
				t.Errorf("%d, %s: %+v, %v", align, name, i, err)
			}
		}
		if len(b)%int(align) != 0 {
			t.Errorf("%d: a file of %d bytes", align, len(b))
		}
	}
}

func TestTypes(t *testing.T) {
	if len(kinds) != 9+26 {
		t.Errorf("%d types", len(kinds))
	}
	for _, k := range kinds {
		if k.d == dtype.Invalid {
			continue
		}
		names, ts := []string{"y", "x"}, []tensor.Any{of(t, 24, 3), of(t, k.code, 2, k.block)}
		f, err := New(mem.Borrow(written(t, names, ts, []KV{{alignKey, uint32(64)}}), nil))
		if err != nil {
			t.Fatal(err)
		}
		if a, err := f.Tensor("x"); err != nil || !bytes.Equal(raw(t, a), raw(t, ts[1])) || TypeOf(a) != k.name {
			t.Errorf("%s: %v, %v", k.name, a, err)
		}
		if i, err := f.Info("x"); err != nil || i.Offset%64 != 0 {
			t.Errorf("%+v, %v", i, err)
		}
	}
}

// TestSlice compares parts with those of all values.
func TestSlice(t *testing.T) {
	ts := []tensor.Any{of(t, 0, 4, 3, 64), of(t, 2, 4, 3, 64), of(t, 12, 2, 2, 512)}
	f, err := New(mem.Borrow(written(t, []string{"f", "q4", "k"}, ts, nil), nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range f.Names() {
		a, err := f.Tensor(name)
		if p, ok := a.Foreign().(pack.Tensor); ok && err == nil {
			a, err = p.Unpack()
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"...", "1", "0, 1, 2:40:3", "::-1", "..., ::-5", "1:1", "None, 1, :, 33", "-1, -1, -1", "3:0:-1, 2, 7"} {
			idx, err := layout.ParseSlice(text)
			if err != nil {
				t.Fatal(err)
			}
			want, wrong := tensor.Slice(a, idx...)
			got, err := f.Tensor(name, idx...)
			if wrong != nil || err != nil {
				if wrong == nil || err == nil || !errors.Is(err, tensor.ErrIndex) || err.Error() != fmt.Sprintf("gguf: %q%s", name, strings.TrimPrefix(wrong.Error(), "tensor.Slice")) {
					t.Errorf("%s[%s]: %v, want %v", name, text, err, wrong)
				}
				continue
			}
			if !slices.Equal(got.Shape(), want.Shape()) || !bytes.Equal(raw(t, got), raw(t, want)) {
				t.Errorf("%s[%s]: %v, want %v", name, text, got, want)
			}
		}
	}
}

func TestNested(t *testing.T) {
	want := []any{[]string{"a"}, []any{[]uint8{1, 2}, []any{}}, []float64{}}
	f, err := New(mem.Borrow(written(t, nil, nil, []KV{{"k", want}}), nil))
	if err != nil {
		t.Fatal(err)
	}
	if v, err := f.Value("k"); err != nil || !reflect.DeepEqual(v, any(want)) {
		t.Errorf("%#v, %v", v, err)
	}
	if got := (opened{f}).Metadata()["k"]; got != "3 of array" {
		t.Error(got)
	}
	deep := any([]uint8{1})
	for range MaxDepth {
		deep = []any{deep}
	}
	if err := Write(io.Discard, nil, nil, []KV{{"k", deep}}); !errors.Is(err, format.ErrType) {
		t.Error(err)
	}
}

// A builder makes files by hand.
type builder struct{ b []byte }

func (x builder) u32(n uint32) builder {
	return builder{append(x.b, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))}
}
func (x builder) u64(n uint64) builder   { return x.u32(uint32(n)).u32(uint32(n >> 32)) }
func (x builder) text(s string) builder  { return x.u64(uint64(len(s))).bytes(s) }
func (x builder) bytes(s string) builder { return builder{append(slices.Clip(x.b), s...)} }
func (x builder) pad(n int) builder      { return x.bytes(strings.Repeat("\x00", (n-len(x.b)%n)%n)) }
func head(tensors, keys uint64) builder  { return builder{}.bytes(magic).u32(3).u64(tensors).u64(keys) }
func (x builder) tensor(name string, code uint32, offset uint64, ne ...uint64) builder {
	x = x.text(name).u32(uint32(len(ne)))
	for _, n := range ne {
		x = x.u64(n)
	}
	return x.u32(code).u64(offset)
}

func TestErrors(t *testing.T) {
	zeros := strings.Repeat("\x00", 64)
	deep := head(0, 1).text("k").u32(typeArray)
	for range MaxDepth {
		deep = deep.u32(typeArray).u64(1)
	}
	for _, c := range []struct {
		b    builder
		is   error
		want string
	}{
		{builder{}.bytes("GGU"), format.ErrShort, "gguf: byte 0: the beginning of 8 bytes, where the file has 3 left"},
		{builder{}.bytes("GGML1234"), format.ErrFormat, `gguf: byte 0: it begins with "GGML", not "GGUF"`},
		{builder{}.bytes(magic).u32(1), ErrVersion, "gguf: byte 4: version 1, whose lengths have 32 bits; versions 2 and 3 are read: convert the model again"},
		{builder{}.bytes(magic).u32(3 << 24), ErrVersion, "gguf: byte 4: version 3 in big-endian order; little-endian files are read: gguf-py's gguf_convert_endian makes one"},
		{builder{}.bytes(magic).u32(4), ErrVersion, "gguf: byte 4: version 4; versions 2 and 3 are read"},
		{head(1<<60, 0), format.ErrLimit, "gguf: byte 8: 1152921504606846976 tensors; the most accepted is 131072"},
		{head(100, 0), format.ErrShort, "gguf: byte 8: 100 tensors in a file of 24 bytes"},
		{head(0, 1<<60), format.ErrLimit, "gguf: byte 16: 1152921504606846976 keys of metadata; the most accepted is 65536"},
		{head(0, 1).u64(1 << 60).bytes(zeros), format.ErrLimit, "gguf: byte 24: a key of 1152921504606846976 bytes; the most accepted is 65536"},
		{head(0, 1).text("k").u32(13).bytes(zeros), format.ErrFormat, `gguf: byte 37: "k": a value of the unknown type 13`},
		{head(0, 1).text("k").u32(typeBool).bytes("\x02"), format.ErrFormat, `gguf: byte 37: "k": a bool of 2; it is 0 or 1`},
		{head(0, 1).text("k").u32(typeString).u64(1 << 63), format.ErrShort, `gguf: byte 45: "k": a text of 9223372036854775808 bytes, where the file has 0 left`},
		{head(0, 1).text("k").u32(typeArray).u32(99).u64(0), format.ErrFormat, `gguf: byte 37: "k": elements of the unknown type 99`},
		{head(0, 1).text("k").u32(typeArray).u32(typeInt64).u64(1 << 61), format.ErrShort, `gguf: byte 37: "k": an array of 2305843009213693952 elements of int64, where the file has 0 bytes left`},
		{head(0, 1).text("k").u32(typeArray).u32(typeString).u64(2).text("a").bytes("1234567"), format.ErrShort, `gguf: byte 58: "k": the length of a text of 8 bytes, where the file has 7 left`},
		{deep.u32(typeArray).u64(0), format.ErrLimit, `gguf: byte 133: "k": arrays in 8 arrays`},
		{head(0, 2).text("k").u32(typeUint8).bytes("1").text("k").u32(typeUint8).bytes("1"), format.ErrFormat, `gguf: byte 38: "k": the key a second time`},
		{head(0, 1).text(alignKey).u32(typeUint32).u32(0), format.ErrFormat, `gguf: byte 53: "general.alignment": 0; want a multiple of 8 from 8 to 2^30`},
		{head(0, 1).text(alignKey).u32(typeUint32).u32(20), format.ErrFormat, `gguf: byte 53: "general.alignment": 20; want a multiple of 8 from 8 to 2^30`},
		{head(0, 1).text(alignKey).u32(typeUint32).u32(1<<30 + 8), format.ErrFormat, `gguf: byte 53: "general.alignment": 1073741832; want a multiple of 8 from 8 to 2^30`},
		{head(0, 1).text(alignKey).u32(typeUint8).bytes("\x20"), format.ErrFormat, `gguf: byte 53: "general.alignment": want a uint32, a multiple of 8 from 8 to 2^30`},
		{head(1, 0).tensor("x", 0, 0, 1, 1, 1, 1, 1), format.ErrLimit, `gguf: byte 37: "x": 5 axes; the format has at most 4`},
		{head(1, 0).tensor("x", 0, 0, 1<<63), format.ErrFormat, `gguf: byte 45: "x": an extent of 9223372036854775808`},
		{head(1, 0).tensor("x", 0, 0, 1<<40, 1<<40), format.ErrFormat, `gguf: byte 24: "x": shape [1099511627776 1099511627776] is larger than any memory`},
		{head(1, 0).tensor("x", 0, 16, 1).pad(32).bytes(zeros), format.ErrFormat, `gguf: byte 24: "x": its elements begin at 16, which is no multiple of 32`},
		{head(1, 0).tensor("x", 2, 0, 48).pad(32).bytes(zeros), format.ErrFormat, `gguf: byte 24: "x": rows of 48 elements of Q4_0, whose blocks have 32`},
		{head(1, 0).tensor("x", 2, 0, 32, 4).pad(32).bytes(zeros), format.ErrShort, `gguf: byte 24: "x": its 72 bytes from 0 on, where the file has 64 of elements`},
		{head(1, 0).tensor("x", 0, 0, 1), format.ErrShort, `gguf: byte 24: "x": its 4 bytes from 0 on, where the file has 0 of elements`},
		{head(2, 0).tensor("x", 0, 0, 9).tensor("y", 0, 32, 1).pad(32).bytes(zeros), format.ErrFormat, `gguf: byte 24: "x": its 36 bytes from 0 on reach into those of "y", from 32 on`},
		{head(1, 0).tensor("x", 77, math.MaxInt-31, 1).pad(32), format.ErrShort, `gguf: byte 24: "x": its 0 bytes from 9223372036854775776 on, where the file has 0 of elements`},
		{head(2, 0).tensor("x", 0, 0, 1).tensor("x", 0, 32, 1).pad(32).bytes(zeros), format.ErrFormat, `gguf: byte 57: "x": the tensor a second time`},
	} {
		_, err := New(mem.Borrow(c.b.b, nil))
		if !errors.Is(err, c.is) || err.Error() != c.want {
			t.Errorf("%v\nwant %s", err, c.want)
		}
	}
	// The number of files isn't looked for in a list as large as the file.
	b := head(0, 1).text(splitCount).u32(typeArray).u32(typeUint8).u64(1 << 20).bytes(strings.Repeat("1", 1<<20)).b
	list, err := New(mem.Borrow(b, nil))
	if err != nil {
		t.Fatal(err)
	}
	if n := allocated(func() { list.parts[0].whole(splitCount) }); n > 1<<16 {
		t.Errorf("whole took %d bytes", n)
	}
	// Types that no tensor holds are described.
	f, err := New(mem.Borrow(head(3, 0).tensor("old", 31, 0, 7).tensor("x", 24, 32).tensor("q", 9, 64, 0).pad(32).bytes(zeros).b, nil))
	if err != nil {
		t.Fatal(err)
	}
	if i, err := f.Info("old"); err != nil || i.Type != "type 31" || i.Bytes != 32 || i.DType != dtype.Invalid {
		t.Errorf("%+v, %v", i, err)
	}
	if _, err := f.Tensor("old"); !errors.Is(err, format.ErrType) || err.Error() != `gguf: byte 24: "old": no tensor holds elements of type 31` {
		t.Error(err)
	}
	if i, err := (opened{f}).Info("q"); err != nil || i.String() != "Q8_1 (no tensor holds it) [0]" {
		t.Error(i, err)
	}
	if a, err := f.Tensor("x"); err != nil || a.Rank() != 0 || a.At() != int8(0) {
		t.Error(a, err)
	}
	if _, err := f.Tensor("none"); !errors.Is(err, format.ErrName) {
		t.Error(err)
	}
	if _, err := f.Value("none"); !errors.Is(err, format.ErrName) {
		t.Error(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Tensor("x"); !errors.Is(err, tensor.ErrClosed) {
		t.Error(err)
	}
	if _, err := New(nil); !errors.Is(err, format.ErrShort) {
		t.Error(err)
	}
}

func TestWriteErrors(t *testing.T) {
	x := tensor.New[float32](2, 2).Any()
	q, err := pack.FormatNamed("q8_0")
	if err != nil {
		t.Fatal(err)
	}
	padded, err := pack.Pack(x, &pack.Options{Format: q, Align: []int{32}})
	if err != nil {
		t.Fatal(err)
	}
	closed := tensor.New[float32](2)
	closed.Close()
	for _, c := range []struct {
		names    []string
		ts       []tensor.Any
		metadata []KV
		is       error
		want     string
	}{
		{[]string{"x"}, nil, nil, format.ErrName, "gguf: 1 names for 0 tensors"},
		{[]string{"x"}, []tensor.Any{{}}, nil, format.ErrType, "gguf: the writer is nil or a tensor the zero value"},
		{[]string{"x", "x"}, []tensor.Any{x, x}, nil, format.ErrName, `gguf: "x": the name is given twice, or is longer than 65536 bytes`},
		{[]string{"x"}, []tensor.Any{tensor.New[bool](2).Any()}, nil, format.ErrType, `gguf: "x": bool[2] is no type of the format; convert the tensor first`},
		{[]string{"x"}, []tensor.Any{padded.Any()}, nil, format.ErrType, `gguf: "x": q8_0[2,2], padded to [2,32] is no type of the format; convert the tensor first`},
		{[]string{"x"}, []tensor.Any{x.Reshape(1, 1, 1, 2, 2)}, nil, format.ErrLimit, `gguf: "x": rank 5; the largest is 4: reshape the tensor`},
		{[]string{"x"}, []tensor.Any{closed.Any()}, nil, tensor.ErrClosed, ""},
		{nil, nil, []KV{{"k", 1}}, format.ErrType, `gguf: "k": a value of Go type int; want a number of a size, a bool, a string, or a slice of them`},
		{nil, nil, []KV{{"k", nil}}, format.ErrType, `gguf: "k": a value of Go type <nil>; want a number of a size, a bool, a string, or a slice of them`},
		{nil, nil, []KV{{"k", []any{"a"}}}, format.ErrType, `gguf: "k": an array of arrays with an element of Go type string`},
		{nil, nil, []KV{{"k", "a"}, {"k", "b"}}, format.ErrName, `gguf: "k": the key is given twice, or is longer than 65536 bytes`},
		{nil, nil, []KV{{alignKey, uint32(3)}}, format.ErrFormat, `gguf: "general.alignment": 3 of Go type uint32; want a uint32, a multiple of 8 from 8 to 2^30`},
	} {
		if err := Write(io.Discard, c.names, c.ts, c.metadata); !errors.Is(err, c.is) || c.want != "" && err.Error() != c.want {
			t.Errorf("%v\nwant %s", err, c.want)
		}
	}
	if err := Write(nil, nil, nil, nil); !errors.Is(err, format.ErrType) {
		t.Error(err)
	}
	if TypeOf(tensor.Any{}) != "" || TypeOf(padded.Any()) != "" || TypeOf(x) != "F32" {
		t.Error("TypeOf")
	}
}

// split writes a model of n files, of which change may change the metadata.
func split(t *testing.T, dir string, n int, change func(i int, kv []KV) []KV) (paths []string) {
	t.Helper()
	for i := range n {
		kv := []KV{{splitNumber, uint16(i)}, {splitCount, uint16(n)}, {splitTensors, int32(n)}}
		if change != nil {
			kv = change(i, kv)
		}
		b := written(t, []string{fmt.Sprintf("x%d", i)}, []tensor.Any{tensor.Full(float32(i), 3).Any()}, kv)
		path := filepath.Join(dir, fmt.Sprintf("m-%05d-of-%05d.gguf", i+1, n))
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

func TestSplit(t *testing.T) {
	paths := split(t, t.TempDir(), 3, nil)
	for _, path := range paths { // any of them
		f, err := format.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Names(); !slices.Equal(got, []string{"x0", "x1", "x2"}) || f.About() != "GGUF version 3, 3 files" || !slices.Equal(f.(opened).Files(), paths) {
			t.Error(got, f.About())
		}
		for i, name := range f.Names() {
			if a, err := f.Tensor(name, tensor.I(1)); err != nil || a.At() != float32(i) {
				t.Error(a, err)
			}
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	named := filepath.Join(filepath.Dir(paths[0]), "m.gguf")
	if err := os.Rename(paths[1], named); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(named); !errors.Is(err, format.ErrName) || !strings.HasSuffix(err.Error(), "m.gguf: it is one of 3 files of a model, whose names end in -00001-of-00003.gguf and so on, and its name doesn't: call it so") {
		t.Error(err)
	}
	if _, err := Open(paths[2]); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "m-00002-of-00003.gguf: ") || !strings.Contains(err.Error(), "it is one of the 3 files of the model of ") {
		t.Error(err)
	}
	for _, c := range []struct {
		change func(i int, kv []KV) []KV
		want   string
	}{
		{func(i int, kv []KV) []KV { kv[0].Value = uint16(0); return kv }, "it says that it is file 0 of 2, from 0 on, and by its name it is 1 of 2"},
		{func(i int, kv []KV) []KV { return kv[:2+i-1] }, ""},
		{func(i int, kv []KV) []KV { kv[2].Value = int32(9); return kv }, "the model has 9 tensors, and its 2 files have 2"},
		{func(i int, kv []KV) []KV { kv[2].Value = int32(0); return kv }, "the model has 0 tensors, and its 2 files have 2"},
		{func(i int, kv []KV) []KV { kv[2].Value = int32(-1); return kv }, "the model has -1 tensors, and its 2 files have 2"},
	} {
		paths := split(t, t.TempDir(), 2, func(i int, kv []KV) []KV {
			if c.want == "" && i == 0 {
				return kv[:1]
			}
			return c.change(i, kv)
		})
		f, err := Open(paths[1])
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Error(f, err)
		}
	}
}

// TestShrunk reads a file that became shorter: an error, and no end of the program.
func TestShrunk(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a mapped file can't be truncated there")
	}
	path := filepath.Join(t.TempDir(), "x.gguf")
	ts := []tensor.Any{of(t, 8, 1<<10, 1<<10), of(t, 0, 1<<18)}
	if err := os.WriteFile(path, written(t, []string{"q", "f"}, ts, []KV{{"long", strings.Repeat("x", 1<<20)}}), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	q, err := f.Tensor("q")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 1<<12); err != nil {
		t.Fatal(err)
	}
	if _, err := q.Foreign().(pack.Tensor).Unpack(); !errors.Is(err, mem.ErrShrunk) {
		t.Error(err)
	}
	if _, err := f.Tensor("q", tensor.I(-1)); !errors.Is(err, mem.ErrShrunk) {
		t.Error(err)
	}
	if _, err := f.Value("long"); !errors.Is(err, mem.ErrShrunk) {
		t.Error(err)
	}
	if got := f.text("long"); !strings.Contains(got, mem.ErrShrunk.Error()) {
		t.Error(got)
	}
	if err := Write(io.Discard, []string{"q"}, []tensor.Any{q}, nil); !errors.Is(err, mem.ErrShrunk) {
		t.Error(err)
	}
}
