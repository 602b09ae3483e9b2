package onnx

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/onnx/internal/wire"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
)

// pb builds messages by hand, so that the decoder is tested against the wire format and not against the encoder.
type pb []byte

func (p pb) int(num protowire.Number, v int64) pb {
	return protowire.AppendVarint(protowire.AppendTag(p, num, protowire.VarintType), uint64(v))
}

func (p pb) bytes(num protowire.Number, v []byte) pb {
	return protowire.AppendBytes(protowire.AppendTag(p, num, protowire.BytesType), v)
}

func (p pb) str(num protowire.Number, v string) pb { return p.bytes(num, []byte(v)) }

func (p pb) f32(num protowire.Number, v float32) pb {
	return protowire.AppendFixed32(protowire.AppendTag(p, num, protowire.Fixed32Type), math.Float32bits(v))
}

// packed is a list of varints in one field.
func (p pb) packed(num protowire.Number, vs ...int64) pb {
	var b []byte
	for _, v := range vs {
		b = protowire.AppendVarint(b, uint64(v))
	}
	return p.bytes(num, b)
}

// modelOf wraps a graph into a file.
func modelOf(graph pb) pb {
	return pb{}.int(1, 8).bytes(8, pb{}.int(2, 13)).bytes(7, graph)
}

func nodeOf(op string, in, out string, attrs ...pb) pb {
	p := pb{}.str(1, in).str(2, out).str(4, op)
	for _, a := range attrs {
		p = p.bytes(5, a)
	}
	return p
}

func tensorType(elem int64, dims ...int64) pb {
	var shape pb
	for _, d := range dims {
		shape = shape.bytes(1, pb{}.int(1, d))
	}
	return pb{}.bytes(1, pb{}.int(1, elem).bytes(2, shape))
}

func valueOf(name string, typ pb) pb { return pb{}.str(1, name).bytes(2, typ) }

func mustDecode(t *testing.T, b []byte) *Model {
	t.Helper()
	m, err := Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestDecodeAttributes(t *testing.T) {
	inner := pb{}.str(2, "inner")
	weight := pb{}.packed(1, 2).int(2, 1).bytes(9, []byte{0, 0, 128, 63, 0, 0, 0, 64})
	node := nodeOf("Op", "x", "y",
		pb{}.str(1, "f").f32(2, 1.5).int(20, 1),
		pb{}.str(1, "i").int(3, -7).int(20, 2),
		pb{}.str(1, "zero").int(20, 2), // a zero left out, as proto3 writers do
		pb{}.str(1, "s").str(4, "SAME_UPPER").int(20, 3),
		pb{}.str(1, "t").bytes(5, weight).int(20, 4),
		pb{}.str(1, "g").bytes(6, inner).int(20, 5),
		pb{}.str(1, "floats unpacked").f32(7, 1).f32(7, 2).int(20, 6),
		pb{}.str(1, "floats packed").bytes(7, []byte{0, 0, 128, 63, 0, 0, 0, 64}).int(20, 6),
		pb{}.str(1, "ints mixed").packed(8, 1, -2).int(8, 3).packed(8, 1<<40).int(20, 7),
		pb{}.str(1, "no ints").int(20, 7),
		pb{}.str(1, "strings").str(9, "a").str(9, "").int(20, 8),
		pb{}.str(1, "tensors").bytes(10, weight).bytes(10, weight).int(20, 9),
		pb{}.str(1, "graphs").bytes(11, inner).int(20, 10),
		pb{}.str(1, "sparse").bytes(22, pb{}.bytes(1, weight).int(3, 9)).int(20, 11),
		pb{}.str(1, "type").bytes(14, tensorType(7, 3)).int(20, 13),
		pb{}.str(1, "ref").str(21, "outer").int(20, 7),
		pb{}.str(1, "untyped").packed(8, 5), // IR version 1
	)
	m := mustDecode(t, modelOf(pb{}.bytes(1, node)))
	n := &m.Graph.Nodes[0]
	want := map[string]any{"f": float32(1.5), "i": int64(-7), "zero": int64(0), "s": "SAME_UPPER", "floats unpacked": []float32{1, 2}, "floats packed": []float32{1, 2},
		"ints mixed": []int64{1, -2, 3, 1 << 40}, "no ints": []int64(nil), "strings": []string{"a", ""}, "untyped": []int64{5}, "ref": nil}
	for name, v := range want {
		if got := n.Attr(name); got == nil || !reflect.DeepEqual(got.Value, v) {
			t.Errorf("%s: got %#v, want %#v", name, got, v)
		}
	}
	if got := n.Attr("t").Value.(*TensorProto).String(); got != "float32[2]" {
		t.Errorf("t: %s", got)
	}
	if got := n.Attr("g").Value.(*Graph).Name; got != "inner" {
		t.Errorf("g: %q", got)
	}
	if got := len(n.Attr("tensors").Value.([]TensorProto)); got != 2 {
		t.Errorf("tensors: %d", got)
	}
	if got := n.Attr("graphs").Value.([]Graph)[0].Name; got != "inner" {
		t.Errorf("graphs: %q", got)
	}
	if got := n.Attr("sparse").Value.(*SparseTensor).Dims; !slices.Equal(got, []int64{9}) {
		t.Errorf("sparse: %v", got)
	}
	if got := n.Attr("type").Value.(*Type).String(); got != "int64[3]" {
		t.Errorf("type: %s", got)
	}
	if got := n.Attr("ref").Ref; got != "outer" {
		t.Errorf("ref: %q", got)
	}
	if n.Attr("absent") != nil {
		t.Error("an attribute that isn't there was found")
	}
}

func TestDecodeTypes(t *testing.T) {
	named := pb{}.bytes(1, pb{}.int(1, 1).bytes(2, pb{}.bytes(1, pb{}.str(2, "N")).bytes(1, nil).bytes(1, pb{}.int(1, -1)).bytes(1, pb{}.int(1, 0))))
	for _, c := range []struct {
		typ  pb
		want string
	}{
		{tensorType(1, 2, 3), "float32[2,3]"},
		{tensorType(9), "bool[]"},
		{named, "float32[N,?,?,0]"},
		{pb{}.bytes(1, pb{}.int(1, 16)), "bfloat16[...]"},
		{pb{}.bytes(1, pb{}.int(1, 99)), "element type 99[...]"},
		{pb{}.bytes(4, pb{}.bytes(1, tensorType(7))), "sequence(int64[])"},
		{pb{}.bytes(9, pb{}.bytes(1, pb{}.bytes(4, pb{}.bytes(1, tensorType(8, 1))))), "optional(sequence(string[1]))"},
		{pb{}.bytes(5, pb{}.int(1, 7).bytes(2, tensorType(1))), "map(int64,float32[])"},
		{pb{}.bytes(8, pb{}.int(1, 1)), "sparse(float32[...])"},
		{pb{}.bytes(7, nil), "opaque"},
		{nil, "unknown"},
		{pb{}.bytes(4, nil), "sequence(?)"},
	} {
		m := mustDecode(t, modelOf(pb{}.bytes(11, valueOf("x", c.typ))))
		if got := m.Graph.Inputs[0].Type.String(); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

// Every way the elements of a tensor can be stored gives the same tensor.
func TestTensorStorage(t *testing.T) {
	le := func(width int, vs ...uint64) []byte {
		var b []byte
		for _, v := range vs {
			for i := range width {
				b = append(b, byte(v>>(8*i)))
			}
		}
		return b
	}
	f32, f64 := func(v float32) uint64 { return uint64(math.Float32bits(v)) }, math.Float64bits
	head := func(elem int64) pb { return pb{}.packed(1, 2).int(2, elem) }
	const big = math.MaxUint64
	for _, c := range []struct {
		name    string
		proto   pb
		storage string
		want    any
	}{
		{"float raw", head(1).bytes(9, le(4, f32(1), f32(-2))), "raw_data", []float32{1, -2}},
		{"float packed", head(1).bytes(4, le(4, f32(1), f32(-2))), "float_data", []float32{1, -2}},
		{"float unpacked", head(1).f32(4, 1).f32(4, -2), "float_data", []float32{1, -2}},
		{"double", head(11).bytes(10, le(8, f64(1), f64(-2))), "double_data", []float64{1, -2}},
		{"int64", head(7).packed(7, -1, math.MaxInt64), "int64_data", []int64{-1, math.MaxInt64}},
		{"int64 raw", head(7).bytes(9, le(8, big, math.MaxInt64)), "raw_data", []int64{-1, math.MaxInt64}},
		{"int32", head(6).packed(5, -1, math.MaxInt32), "int32_data", []int32{-1, math.MaxInt32}},
		{"int16", head(5).packed(5, math.MinInt16, 7), "int32_data", []int16{math.MinInt16, 7}},
		{"int8", head(3).packed(5, -128, 127), "int32_data", []int8{-128, 127}},
		{"uint8", head(2).packed(5, 255, 0), "int32_data", []uint8{255, 0}},
		{"uint16", head(4).packed(5, 65535, 1), "int32_data", []uint16{65535, 1}},
		{"bool", head(9).packed(5, 1, 0), "int32_data", []bool{true, false}},
		{"bool raw", head(9).bytes(9, []byte{0, 1}), "raw_data", []bool{false, true}},
		{"float16", head(10).packed(5, 0x3c00, 0xc000), "int32_data", []num.F16{num.FromFloat64[num.F16](1), num.FromFloat64[num.F16](-2)}},
		{"bfloat16", head(16).bytes(9, le(2, 0x3f80, 0xc000)), "raw_data", []num.BF16{num.FromFloat64[num.BF16](1), num.FromFloat64[num.BF16](-2)}},
		{"float8e4m3", head(17).packed(5, 0x38, 0xb8), "int32_data", []num.F8E4M3{num.FromFloat64[num.F8E4M3](1), num.FromFloat64[num.F8E4M3](-1)}},
		{"uint32", head(12).packed(11, math.MaxUint32, 1), "uint64_data", []uint32{math.MaxUint32, 1}},
		{"uint64", head(13).packed(11, -1, 1), "uint64_data", []uint64{big, 1}},
		{"complex64", head(14).f32(4, 1).f32(4, 2).f32(4, 3).f32(4, 4), "float_data", []complex64{1 + 2i, 3 + 4i}},
		{"complex128 raw", head(15).bytes(9, le(8, f64(1), f64(2), f64(3), f64(4))), "raw_data", []complex128{1 + 2i, 3 + 4i}},
		{"empty", pb{}.packed(1, 0).int(2, 1), "", []float32{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := DecodeTensor(c.proto)
			if err != nil {
				t.Fatal(err)
			}
			if got := elements(t, a); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
			m := mustDecode(t, modelOf(pb{}.bytes(5, append(c.proto, pb{}.str(8, "w")...))))
			if got := m.Graph.Initializers[0].Storage(); got != c.storage {
				t.Errorf("stored in %q, want %q", got, c.storage)
			}
			a, err = m.Tensor(&m.Graph.Initializers[0])
			if err != nil {
				t.Fatal(err)
			}
			if got := elements(t, a); !reflect.DeepEqual(got, c.want) {
				t.Errorf("in a model: got %v, want %v", got, c.want)
			}
		})
	}
}

// elements returns a tensor's elements in order, as a slice of its type.
func elements(t *testing.T, a tensor.Any) any {
	t.Helper()
	if a.Rank() == 0 {
		a = a.Reshape(1)
	}
	return a.Reshape(-1).Nested()
}

// Files that are wrong, and the errors about them.
func TestDecodeErrors(t *testing.T) {
	good := modelOf(pb{}.str(2, "g").bytes(1, nodeOf("Relu", "x", "y")))
	attr := func(a pb) pb {
		return modelOf(pb{}.bytes(1, nodeOf("Add", "a", "b")).bytes(1, pb{}.str(4, "Conv").str(3, "conv3").bytes(5, a)).str(2, "g"))
	}
	weight := func(w pb) pb { return modelOf(pb{}.str(2, "g").bytes(5, w.str(8, "w"))) }
	deep := pb{}
	for range 200 {
		deep = pb{}.bytes(4, pb{}.bytes(1, deep))
	}
	for _, c := range []struct {
		name string
		file pb
		want string // of the error
	}{
		{"empty file", nil, `onnx: 0 graphs in the file, so it is no whole ONNX model (they have one)`},
		{"text", pb("this is not a model at all\n"), `onnx: byte 0: field 14 has wire type 4`},
		{"two graphs", append(good[:len(good):len(good)], good...), `onnx: 2 graphs in the file`},
		{"cut", good[:len(good)-3], `are left: the file is cut short`},
		{"cut in a varint", pb{}.int(1, 8)[:1], `onnx: byte 0: field 1: unexpected EOF`},
		{"graph is a number", pb{}.int(7, 1), `onnx: byte 0: field 7 holds a varint, not a message`},
		{"version is a string", append(pb{}.str(1, "8"), good...), `onnx: byte 0: field 1 holds bytes, not a varint`},
		{"attribute type", attr(pb{}.str(1, "pads").int(8, 1).int(20, 77)), `onnx: graph "g": node 1 "conv3" (Conv): attribute "pads": its type is 77, which ONNX doesn't have`},
		{"attribute holds another", attr(pb{}.str(1, "pads").f32(7, 1).int(20, 7)), `onnx: graph "g": node 1 "conv3" (Conv): attribute "pads": its type is ints, but it holds floats`},
		{"cut list", attr(pb{}.str(1, "pads").bytes(8, []byte{1, 0x80}).int(20, 7)), `attribute "pads": byte 47: field 8: element 1: unexpected EOF`},
		{"cut floats", attr(pb{}.str(1, "scales").bytes(7, []byte{1, 2, 3}).int(20, 6)), `attribute "scales": byte 46: field 7: 3 bytes don't make whole elements of 4`},
		{"two tensors in one", attr(pb{}.str(1, "value").bytes(5, nil).bytes(5, nil).int(20, 4)), `attribute "value": its value is there 2 times`},
		{"stored twice", weight(pb{}.int(2, 1).f32(4, 1).bytes(9, []byte{1, 2, 3, 4})), `onnx: graph "g": initializer "w": elements stand both in raw_data and in float_data`},
		{"stored in two lists", weight(pb{}.int(2, 1).f32(4, 1).packed(5, 1)), `initializer "w": elements stand both in float_data and in int32_data`},
		{"external without a place", weight(pb{}.int(2, 1).int(14, 1)), `initializer "w": external_data names no location`},
		{"external offset", weight(pb{}.int(2, 1).int(14, 1).bytes(13, pb{}.str(1, "offset").str(2, "-5"))), `external_data: offset is "-5", not a count of bytes`},
		{"deep type", modelOf(pb{}.str(2, "g").bytes(11, valueOf("x", deep))), `graph "g": input "x": byte`},
		{"function", append(good[:len(good):len(good)], pb{}.bytes(25, pb{}.str(1, "f").bytes(7, []byte{0xff}))...), `onnx: function "f": node 0: byte 33: field tag: unexpected EOF`},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := Decode(c.file)
			if err == nil {
				t.Fatalf("decoded as %+v", m)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %s\nwant %s", err, c.want)
			}
			var e *Error
			if !errors.As(err, &e) {
				t.Errorf("a %T, not an *Error", err)
			}
		})
	}
}

// Tensors that are wrong in a file that is right: found by Check, and by Tensor, before anything is allocated for them.
func TestTensorErrors(t *testing.T) {
	for _, c := range []struct {
		name  string
		proto pb
		want  string
	}{
		{"2^40 elements", pb{}.packed(1, 1<<40).int(2, 1), "raw_data has 0 bytes; float32[1099511627776] needs 4 for each of 1099511627776 elements"},
		{"2^66 elements", pb{}.packed(1, 1<<33, 1<<33).int(2, 1), "more elements than fit an int"},
		{"negative", pb{}.packed(1, 2, -3).int(2, 1), "dimension 1 of [2 -3] is negative"},
		{"too few bytes", pb{}.packed(1, 2).int(2, 1).bytes(9, make([]byte, 7)), "raw_data has 7 bytes; float32[2] needs 4 for each of 2 elements"},
		{"too many bytes", pb{}.int(2, 1).bytes(9, make([]byte, 8)), "raw_data has 8 bytes; float32[] needs 4 for each of 1 elements"},
		{"too few entries", pb{}.packed(1, 3).int(2, 7).packed(7, 1, 2), "int64_data has 2 entries; int64[3] needs 1 for each of 3 elements"},
		{"another list", pb{}.packed(1, 2).int(2, 1).packed(7, 1, 2), "elements of type float32 stand in int64_data; their place is float_data"},
		{"too large for a byte", pb{}.packed(1, 2).int(2, 2).packed(5, 1, 256), "int32_data: element 1 is 256, which uint8 can't hold"},
		{"too small for a byte", pb{}.packed(1, 2).int(2, 3).packed(5, -129, 1), "int32_data: element 0 is -129, which int8 can't hold"},
		{"a bool of 2", pb{}.packed(1, 2).int(2, 9).bytes(9, []byte{1, 2}), "raw_data: element 1 is 2; a bool is 0 or 1"},
		{"a listed bool of 2", pb{}.packed(1, 1).int(2, 9).packed(5, 2), "int32_data: element 0 is 2, which bool can't hold"},
		{"uint32 of 33 bits", pb{}.packed(1, 1).int(2, 12).packed(11, 1<<32), "uint64_data: element 0 is 4294967296, which uint32 can't hold"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := DecodeTensor(c.proto); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
	for _, c := range []struct {
		name  string
		proto pb
		want  string
	}{
		{"strings", pb{}.packed(1, 1).int(2, 8).str(6, "hello"), "unsupported: element type string"},
		{"unheard of", pb{}.int(2, 77), "unsupported: element type element type 77"},
		{"external", pb{}.int(2, 1).int(14, 1).bytes(13, pb{}.str(1, "location").str(2, "../../etc/passwd")), `unsupported: elements in another file ("../../etc/passwd")`},
		{"in pieces", pb{}.int(2, 1).bytes(3, nil), "unsupported: elements in several pieces"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := DecodeTensor(c.proto)
			if !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

// Small files that would be large in memory. Each is as long as makes its effect plain.
func TestMemoryWhileDecoding(t *testing.T) {
	repeat := func(p pb, n int) pb { return pb(slices.Repeat(p, n)) }
	names := func(n int) (p pb) {
		for i := range n {
			p = p.bytes(1, pb{}.str(2, fmt.Sprintf("%x", i)))
		}
		return p
	}
	relus := func(n int) (p pb) {
		for i := range n {
			p = p.bytes(1, nodeOf("Relu", fmt.Sprintf("%x", i), fmt.Sprintf("%x", i+1)))
		}
		return p.bytes(11, valueOf("0", tensorType(1, 3))).bytes(12, valueOf(fmt.Sprintf("%x", n), tensorType(1, 3)))
	}
	captures := func(n, depth int) (p pb) { // the innermost of depth graphs reads n values of the outermost
		for i := range n {
			p = p.str(1, fmt.Sprintf("%x", i))
		}
		p = pb{}.bytes(1, p.str(2, "y").str(4, "Sum")).bytes(12, valueOf("y", nil))
		for range depth {
			p = pb{}.bytes(1, nodeOf("If", "c", "y", pb{}.str(1, "then_branch").bytes(6, p).int(20, 5), pb{}.str(1, "else_branch").bytes(6, pb{}.bytes(12, valueOf("c", nil))).int(20, 5))).bytes(12, valueOf("y", nil))
		}
		for i := range n {
			p = p.bytes(11, valueOf(fmt.Sprintf("%x", i), tensorType(9)))
		}
		return p.bytes(11, valueOf("c", tensorType(9)))
	}
	for _, c := range []struct {
		name string
		file pb
	}{
		{"captures", modelOf(captures(5000, 20))},
		{"many captures", modelOf(captures(100_000, 20))},
		{"nodes", modelOf(repeat(pb{}.bytes(1, nil), 1<<20))},
		{"attributes", modelOf(pb{}.bytes(1, repeat(pb{}.bytes(5, nil), 1<<20)))},
		{"names", modelOf(pb{}.bytes(1, repeat(pb{}.str(1, ""), 1<<21)))},
		{"values", modelOf(names(1 << 18))},
		{"weights", modelOf(repeat(pb{}.bytes(5, nil), 1<<20))},
		{"dims", modelOf(pb{}.bytes(11, valueOf("x", pb{}.bytes(1, pb{}.bytes(2, repeat(pb{}.bytes(1, nil), 1<<21))))))},
		{"metadata", modelOf(nil).bytes(14, nil).bytes(14, repeat(pb{}.str(1, "a"), 1<<20))},
		{"ints", modelOf(pb{}.bytes(1, nodeOf("Op", "x", "y", pb{}.bytes(8, make([]byte, 16<<20)).int(20, 7))))},
		{"int64_data", modelOf(pb{}.bytes(5, pb{}.str(8, "w").int(1, 16<<20).int(2, 7).bytes(7, make([]byte, 16<<20))))},
		{"chain", modelOf(relus(1 << 17))},
		{"strangers", modelOf(pb(strings.ReplaceAll(string(relus(1<<15)), "Relu", "Xyzw")))},
		{"random types", modelOf(pb{}.bytes(11, valueOf("x", repeat(pb{}.bytes(4, pb{}.bytes(1, nil)), 1<<20))))},
	} {
		t.Run(c.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			m, err := Decode(c.file)
			runtime.ReadMemStats(&after)
			part := min(len(c.file), wire.BudgetPart)
			bound := uint64(64<<20 + (wire.BudgetNodes+wire.BudgetNodes/8)*part + 8*(len(c.file)-part))
			if got := after.TotalAlloc - before.TotalAlloc; got > bound {
				t.Errorf("decoding %d bytes allocated %d, more than %d (%v)", len(c.file), got, bound, err)
			}
			if err != nil {
				return
			}
			percent := debug.SetGCPercent(10) // the heap has little else than is in use, whenever the collector runs
			err = m.Check()
			runtime.ReadMemStats(&after)
			debug.SetGCPercent(percent)
			if got := after.HeapAlloc - min(before.HeapAlloc, after.HeapAlloc); got > bound {
				t.Errorf("after checking %d bytes the heap has grown by %d, more than %d (%.100v)", len(c.file), got, bound, err)
			}
			runtime.KeepAlive(m)
		})
	}
}

// Lists of messages without content, in each place of a model, are refused, or take at most 64 MiB + 8 × the file.
func TestTinyItems(t *testing.T) {
	list := func(num protowire.Number) pb { return bytes.Repeat(pb{}.bytes(num, nil), 1<<20) }
	attribute := func(num protowire.Number, kind int64) pb {
		return modelOf(pb{}.bytes(1, pb{}.str(1, "x").str(2, "y").str(4, "Abs").bytes(5, append(pb{}.str(1, "a").int(20, kind), list(num)...))))
	}
	for name, file := range map[string]pb{
		"opsets": append(modelOf(nil), list(8)...), "metadata": append(modelOf(nil), list(14)...), "functions": append(modelOf(nil), list(25)...),
		"quantization": modelOf(list(14)), "metadata of a graph": modelOf(list(16)), "metadata of a node": modelOf(pb{}.bytes(1, list(9))),
		"metadata of a value": modelOf(pb{}.bytes(11, list(4))), "places of elements": modelOf(pb{}.bytes(5, list(13))), "parameters": modelOf(pb{}.bytes(14, list(2))),
		"shape":   modelOf(pb{}.bytes(11, valueOf("x", pb{}.bytes(1, pb{}.int(1, 1).bytes(2, list(1)))))),
		"strings": attribute(9, 8), "tensors": attribute(10, 9), "graphs": attribute(11, 10), "types": attribute(15, 14), "sparse tensors": attribute(23, 12),
		"opsets of a function": append(modelOf(nil), pb{}.bytes(25, list(9))...), "defaults of a function": append(modelOf(nil), pb{}.bytes(25, list(11))...),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		m, err := Decode(file)
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 64<<20+8*uint64(len(file)) {
			t.Errorf("%s: decoding %d bytes allocated %d (%v)", name, len(file), got, err)
		}
		runtime.KeepAlive(m)
	}
}

// Models of many nodes of a few bytes each load; messages without content don't fill the memory.
func TestTinyNodes(t *testing.T) {
	const n = 200_000
	g := pb{}.str(2, "g").bytes(11, pb{}.str(1, "0")).bytes(12, pb{}.str(1, fmt.Sprint(n)))
	for i := range n {
		g = g.bytes(1, pb{}.str(1, fmt.Sprint(i)).str(2, fmt.Sprint(i+1)).str(4, "Abs"))
	}
	m, err := Decode(modelOf(g))
	if err != nil || len(m.Graph.Nodes) != n {
		t.Fatal(err)
	}
	if _, err := Decode(modelOf(pb(bytes.Repeat([]byte{1<<3 | 2, 0}, 1<<20)))); err == nil || !strings.Contains(err.Error(), "would take more than 48 MiB + 80 × the file's size") {
		t.Errorf("2^20 empty nodes: %v", err)
	}
}

// A filesystem whose file says it is larger than it is.
type liar struct{ fstest.MapFS }

func (l liar) Open(name string) (fs.File, error) {
	f, err := l.MapFS.Open(name)
	return liarFile{f}, err
}

type liarFile struct{ fs.File }

func (f liarFile) Stat() (fs.FileInfo, error) { i, err := f.File.Stat(); return liarInfo{i}, err }

type liarInfo struct{ fs.FileInfo }

func (liarInfo) Size() int64 { return 1 << 50 }

func TestOpen(t *testing.T) {
	file := modelOf(pb{}.str(2, "g"))
	dir := t.TempDir()
	path := filepath.Join(dir, "m.onnx")
	if err := os.WriteFile(path, file, 0o666); err != nil {
		t.Fatal(err)
	}
	fsys := fstest.MapFS{"a/m.onnx": {Data: file}, "bad.onnx": {Data: file[:len(file)-1]}}
	for name, open := range map[string]func() (*Model, error){
		"path": func() (*Model, error) { return Open(path) },
		"fs":   func() (*Model, error) { return OpenFS(fsys, "a/m.onnx") },
		"liar": func() (*Model, error) { return OpenFS(liar{fsys}, "a/m.onnx") },
	} {
		m, err := open()
		if err != nil || m.Graph.Name != "g" {
			t.Errorf("%s: %v, %v", name, m, err)
			continue
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		if err := m.Close(); err != nil {
			t.Errorf("closing again: %v", err)
		}
	}
	for _, c := range []struct {
		open func() (*Model, error)
		want string
	}{
		{func() (*Model, error) { return OpenFS(fsys, "bad.onnx") }, "onnx: bad.onnx: byte 6: field 7 is said to have 3 bytes, but 2 are left: the file is cut short"},
		{func() (*Model, error) { return OpenFS(fsys, "none.onnx") }, "onnx: none.onnx: file does not exist"},
		{func() (*Model, error) { return OpenFS(fsys, "a") }, "onnx: a: not a regular file"},
	} {
		if _, err := c.open(); err == nil || err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
	if _, err := Open(filepath.Join(dir, "none.onnx")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestElemTypes(t *testing.T) {
	for _, d := range dtype.All() {
		if d.IsFixed() { // ONNX has none
			if ElemOf(d) != ElemUndefined {
				t.Errorf("%v is code %d", d, ElemOf(d))
			}
			continue
		}
		back, ok := ElemOf(d).DType()
		if !ok || back != d {
			t.Errorf("%v is code %d, which is %v", d, ElemOf(d), back)
		}
		if ElemOf(d).String() != d.String() {
			t.Errorf("%v is called %v", d, ElemOf(d))
		}
	}
	if ElemOf(dtype.Invalid) != ElemUndefined {
		t.Error("the invalid type has a code")
	}
}

// sameModel compares models by their contents, wherever their bytes are.
func sameModel(a, b *Model) string {
	return cmp.Diff(a, b, cmp.AllowUnexported(TensorProto{}),
		cmp.FilterPath(func(p cmp.Path) bool {
			last := p.Last().String()
			return last == ".source" || last == ".from" || last == ".rawAt" || last == ".body"
		}, cmp.Ignore()),
		cmp.FilterValues(func(x, y []byte) bool { return x != nil && y != nil }, cmp.Comparer(bytes.Equal)),
		cmp.Comparer(func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) }))
}
