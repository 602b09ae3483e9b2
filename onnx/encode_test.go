package onnx

import (
	"bytes"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime/metrics"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/onnx/internal/wire"
	"github.com/ashlar-go/ashlar/tensor"
	"pgregory.net/rapid"
)

// Encode then decode gives the same model; and bytes that were encoded once are encoded to themselves.
func checkRoundTrip(t testing.TB, m *Model) []byte {
	t.Helper()
	b, err := Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	back, err := Decode(b)
	if err != nil {
		t.Fatalf("decoding what was encoded: %v", err)
	}
	if d := sameModel(m, back); d != "" {
		t.Fatalf("encoded and decoded (-want +got):\n%s", d)
	}
	again, err := Encode(back)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b, again) {
		t.Fatal("encoding the decoded model gives other bytes")
	}
	return b
}

func TestRoundTripHandmade(t *testing.T) {
	weight := pb{}.packed(1, 2).int(2, 1).str(8, "w").str(12, "documented").bytes(9, []byte{0, 0, 128, 63, 0, 0, 0, 64}).bytes(16, pb{}.str(1, "k").str(2, "v"))
	listed := pb{}.packed(1, 3).int(2, 7).str(8, "l").packed(7, 1, 2).int(7, -3)
	text := pb{}.packed(1, 2).int(2, 8).str(8, "s").str(6, "a").str(6, "")
	outside := pb{}.packed(1, 2).int(2, 1).str(8, "e").bytes(13, pb{}.str(1, "location").str(2, "w.bin")).bytes(13, pb{}.str(1, "offset").str(2, "64")).int(14, 1)
	empty := pb{}.packed(1, 0).int(2, 1).str(8, "z")
	sub := pb{}.str(2, "inner").bytes(1, nodeOf("Relu", "x", "r")).bytes(5, weight)
	node := nodeOf("If", "c", "y", pb{}.str(1, "then_branch").bytes(6, sub).int(20, 5), pb{}.str(1, "gs").bytes(11, sub).bytes(11, sub).int(20, 10),
		pb{}.str(1, "nan").bytes(7, []byte{1, 0, 192, 127}).int(20, 6), pb{}.str(1, "t").bytes(5, listed).int(20, 4), pb{}.str(1, "ts").bytes(10, text).bytes(10, weight).int(20, 9),
		pb{}.str(1, "sp").bytes(22, pb{}.bytes(1, weight).bytes(2, listed).int(3, 9)).int(20, 11), pb{}.str(1, "r").str(21, "outer").int(20, 2),
		pb{}.str(1, "tp").bytes(14, tensorType(1, 2)).int(20, 13), pb{}.str(1, "tps").bytes(15, tensorType(1, 2)).bytes(15, nil).int(20, 14),
		pb{}.str(1, "sps").bytes(23, pb{}.int(3, 9)).int(20, 12), pb{}.str(1, "ss").str(9, "p").int(20, 8)).
		str(3, "n").str(6, "doc").str(7, "my.domain").str(8, "over").bytes(9, pb{}.str(1, "k"))
	graph := pb{}.str(2, "g").str(10, "graph doc").bytes(1, node).bytes(5, weight).bytes(5, listed).bytes(5, text).bytes(5, outside).bytes(5, empty).
		bytes(15, pb{}.bytes(1, weight).bytes(2, listed).int(3, 9)).
		bytes(11, valueOf("x", pb{}.bytes(1, pb{}.int(1, 1).bytes(2, pb{}.bytes(1, pb{}.str(2, "N").str(3, "DATA_BATCH")).bytes(1, nil).bytes(1, pb{}.int(1, 0)))).str(6, "TENSOR"))).
		bytes(11, valueOf("seq", pb{}.bytes(4, pb{}.bytes(1, tensorType(7))))).bytes(11, valueOf("map", pb{}.bytes(5, pb{}.int(1, 7).bytes(2, tensorType(1))))).
		bytes(11, valueOf("opt", pb{}.bytes(9, pb{}.bytes(1, tensorType(7))))).bytes(11, valueOf("sparse", pb{}.bytes(8, pb{}.int(1, 1)))).bytes(11, valueOf("opaque", pb{}.bytes(7, nil))).
		bytes(12, valueOf("y", nil).str(3, "doc")).bytes(13, valueOf("mid", tensorType(1)).bytes(4, pb{}.str(1, "k"))).
		bytes(14, pb{}.str(1, "w").bytes(2, pb{}.str(1, "SCALE_TENSOR").str(2, "s"))).bytes(16, pb{}.str(1, "gk").str(2, "gv"))
	function := pb{}.str(1, "f").str(4, "a").str(5, "b").str(6, "alpha").bytes(7, nodeOf("Relu", "a", "b")).str(8, "doc").bytes(9, pb{}.int(2, 13)).str(10, "my.domain").
		bytes(11, pb{}.str(1, "beta").f32(2, 1).int(20, 1)).bytes(12, valueOf("a", nil)).str(13, "over").bytes(14, pb{}.str(1, "fk"))
	file := pb{}.int(1, 8).str(2, "producer").str(3, "1.2").str(4, "org.example").int(5, 3).str(6, "doc").bytes(7, graph).bytes(8, pb{}.int(2, 13)).
		bytes(8, pb{}.str(1, "my.domain").int(2, 1)).bytes(14, pb{}.str(1, "mk").str(2, "mv")).bytes(25, function)
	m := mustDecode(t, file)
	// every field the encoder knows has been given, so a field it forgets shows
	if m.Graph.Nodes[0].Overload == "" || m.Functions[0].Overload == "" || m.Graph.Quantization[0].Params[0].Value != "s" || m.Graph.Inputs[0].Type.Shape[0].Denotation != "DATA_BATCH" {
		t.Fatalf("the decoder lost something: %+v", m)
	}
	checkRoundTrip(t, m)
}

// The weights of a file that Encode wrote are used in place, whatever the names around them are.
func TestWeightsAlign(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := NewBuilder(rapid.StringN(0, 300, -1).Draw(t, "graph"))
		x := b.Input("x", dtype.Float32, nil)
		for i := range rapid.IntRange(1, 5).Draw(t, "weights") {
			name := "w" + strings.Repeat("x", rapid.IntRange(0, 150).Draw(t, "name")) + string(rune('a'+i))
			n := rapid.IntRange(1, 5000).Draw(t, "len")
			switch rapid.IntRange(0, 3).Draw(t, "type") {
			case 0:
				b.Weight(name, tensor.New[float64](n).Any())
			case 1:
				b.Weight(name, tensor.New[uint8](n).Any())
			case 2:
				b.Weight(name, tensor.New[complex128](n).Any())
			case 3:
				b.Weight(name, tensor.Full[float32](float32(i), n).Any())
			}
			if rapid.Bool().Draw(t, "doc") {
				b.g.Initializers[i].Doc = "documented"
			}
		}
		b.Output(b.Node("Relu", []string{x}), dtype.Float32, nil)
		m, err := b.Model(13)
		if err != nil {
			t.Fatal(err)
		}
		file, err := Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Decode(file)
		if err != nil {
			t.Fatal(err)
		}
		if d := sameModel(m, back); d != "" {
			t.Fatal(d)
		}
		if inPlace, copied := back.Weights(); littleEndian && (copied != 0 || inPlace == 0) {
			t.Fatalf("%d bytes in place, %d copied", inPlace, copied)
		}
	})
}

func TestEncodeErrors(t *testing.T) {
	for _, c := range []struct {
		attr Attribute
		want string
	}{
		{Attribute{Name: "pads", Type: AttrInts, Value: []int{1}}, `onnx: graph "g": node 0 "conv1" (Conv): attribute "pads": its type is ints, but its value is a Go []int`},
		{Attribute{Name: "pads", Type: AttrInts, Value: int64(1)}, `its type is ints, but its value is a Go int64`},
		{Attribute{Name: "pads", Type: 50, Value: int64(1)}, `its type is 50, which ONNX doesn't have`},
		{Attribute{Name: "pads", Type: AttrInt}, `its type is int, but its value is a Go <nil>`},
	} {
		b := NewBuilder("g")
		b.Output(b.Node("Conv", []string{b.Input("x", dtype.Float32)}, c.attr), dtype.Float32)
		m, err := b.Model(13)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Encode(m); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
	if _, err := Encode(&Model{}); err == nil {
		t.Error("a model without a graph was encoded")
	}
}

func TestBuilderErrors(t *testing.T) {
	for _, c := range []struct {
		build func(b *Builder)
		want  string
	}{
		{func(b *Builder) { b.Input("x", dtype.Invalid) }, `onnx: input "x": ONNX has no invalid`},
		{func(b *Builder) { b.Input("x", dtype.Float32, -1) }, `onnx: input "x": dimension -1 is negative`},
		{func(b *Builder) { b.Input("x", dtype.Float32, 2.5) }, `onnx: input "x": a dimension is a float64`},
		{func(b *Builder) { b.Input("x", dtype.Float32) }, `onnx: graph "g": the graph has no outputs`},
		{func(b *Builder) { b.Output("y", dtype.Float32) }, `onnx: graph "g": output 0 "y" is given a value by no node, input or initializer`},
		{func(b *Builder) { b.Output(b.Node("Relu", []string{"x"}), dtype.Float32) }, `onnx: graph "g": node 0 "relu1" (Relu): input 0 "x" is given a value by no node, input or initializer`},
		{func(b *Builder) { spec, _ := tensor.NewSpec(dtype.Float32, 2); b.Weight("w", spec.Any()) }, `weight "w": tensor "w"`},
	} {
		b := NewBuilder("g")
		c.build(b)
		if _, err := b.Model(13); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
}

// realModels calls do for the models on this machine: the models of Debian's package libonnx-testdata, and the models below the
// folder that the variable ASHLAR_MODELS names.
func realModels(t *testing.T, do func(t *testing.T, path string)) {
	found := 0
	for _, dir := range []string{"/usr/share/libonnx-testdata/data", os.Getenv("ASHLAR_MODELS")} {
		if dir == "" {
			t.Log("ASHLAR_MODELS is not set: the models it would name are left out")
			continue
		}
		filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".onnx") {
				found++
				do(t, path)
			}
			return nil
		})
	}
	if found == 0 {
		t.Skip("no models on this machine: install libonnx-testdata, or set ASHLAR_MODELS to a folder of .onnx files")
	}
	t.Logf("%d models", found)
}

func TestRealModels(t *testing.T) {
	realModels(t, func(t *testing.T, path string) {
		m, err := Open(path)
		if err != nil {
			t.Error(err)
			return
		}
		defer m.Close()
		checkRoundTrip(t, m)
		if _, err := resolve(m.Graph); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	})
}

// FuzzDecode looks for bytes that make decoding, checking or writing panic, hang, or allocate out of proportion.
func FuzzDecode(f *testing.F) {
	weight := pb{}.packed(1, 1, 3).int(2, 1).str(8, "w").bytes(9, make([]byte, 12))
	graph := pb{}.str(2, "g").bytes(5, weight).bytes(5, pb{}.packed(1, 2).int(2, 7).str(8, "l").packed(7, 3, -1)).
		bytes(1, nodeOf("Constant", "", "c", pb{}.str(1, "value_ints").packed(8, 3, 1).int(20, 7))[2:]).
		bytes(1, pb{}.str(1, "x").str(1, "c").str(2, "r").str(4, "Reshape")).
		bytes(1, pb{}.str(1, "r").str(1, "w").str(2, "a").str(4, "Add")).
		bytes(1, nodeOf("Concat", "a", "y", pb{}.str(1, "axis").int(3, 1).int(20, 2))).
		bytes(11, valueOf("x", tensorType(1, 3, 1))).bytes(12, valueOf("y", tensorType(1, 3, 3)))
	f.Add([]byte(modelOf(graph)))
	f.Add([]byte(modelOf(pb{}.bytes(1, nodeOf("If", "c", "y", pb{}.str(1, "then_branch").bytes(6, graph).int(20, 5))).bytes(15, pb{}.bytes(1, weight)).bytes(13, valueOf("m", pb{}.bytes(4, nil))))))
	f.Add([]byte(weight))
	f.Add([]byte(modelOf(nil).bytes(25, pb{}.str(1, "f").bytes(7, nodeOf("Relu", "a", "b")))))
	b := NewBuilder("seed")
	x := b.Input("x", dtype.Float32, "n", 4)
	x = b.Node("MatMul", []string{x, b.Weight("w", tensor.New[float32](4, 2).Any())})
	b.Output(b.Node("Softmax", []string{x}, IntAttr("axis", 1)), dtype.Float32, "n", 2)
	if m, err := b.Model(13); err == nil {
		if file, err := Encode(m); err == nil {
			f.Add(file)
		}
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		before := allocated()
		_, terr := DecodeTensor(file)
		m, err := Decode(file)
		if err == nil {
			if err = m.Check(); err == nil {
				if _, err := NewSession(m); err != nil {
					t.Errorf("Check passes, NewSession refuses: %v", err)
				}
			}
		}
		if got, bound := allocated()-before, uint64(64<<20+2*wire.BudgetNodes*len(file)); got > bound {
			t.Errorf("%d bytes of file, %d allocated, more than %d (%v, %v)", len(file), got, bound, terr, err)
		}
		if m == nil {
			return
		}
		first, err := Encode(m)
		if err != nil {
			t.Fatalf("a decoded model can't be encoded: %v", err)
		}
		back, err := Decode(first)
		if err != nil {
			if strings.Contains(err.Error(), "would take more than") {
				return // an encoded file is sometimes shorter, and has a smaller allowance
			}
			t.Fatalf("an encoded model can't be decoded: %v", err)
		}
		second, err := Encode(back)
		if err != nil || !bytes.Equal(first, second) {
			t.Errorf("encoding twice gives %d and %d bytes, not the same (%v)", len(first), len(second), err)
		}
	})
}

func TestFloatAttributesKeepBits(t *testing.T) {
	nan := math.Float32frombits(0x7fc00123)
	m := mustDecode(t, modelOf(pb{}.bytes(1, nodeOf("Op", "x", "y", pb{}.str(1, "v").f32(2, nan).int(20, 1)))))
	back := mustDecode(t, checkRoundTrip(t, m))
	if got := math.Float32bits(back.Graph.Nodes[0].Attr("v").Value.(float32)); got != 0x7fc00123 {
		t.Errorf("bits %x", got)
	}
}

// allocated is the number of bytes allocated on the heap since the program began.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// A tensor of each type comes back from a file, packed or not, and from a list of bytes.
func TestStoredTypes(t *testing.T) {
	for _, d := range dtype.All() {
		if d.IsFixed() {
			continue
		}
		for n := range 10 {
			a, err := tensor.Make(d, n)
			if err != nil {
				t.Fatal(err)
			}
			b, _ := tensor.Bytes(a)
			for i := range b {
				b[i] = byte(37*i + 201)
			}
			d.Mend(b)
			p, err := NewTensorProto("x", a)
			if err != nil || len(p.Raw) != d.Packed(n) {
				t.Fatalf("%v: %d bytes for %d elements, %v", d, len(p.Raw), n, err)
			}
			got, err := (&Model{}).load(&p)
			if err != nil {
				t.Fatal(err)
			}
			if c, _ := tensor.Bytes(got); !bytes.Equal(b, c) {
				t.Errorf("%v: % x comes back as % x", d, b, c)
			}
			if d.Bits() < 8 && n > 0 {
				var list []int64
				for i, v := range p.Raw {
					if list = append(list, int64(v)); i%2 == 1 {
						list[i] = int64(int8(v)) // some writers have a sign
					}
				}
				got, err := DecodeTensor(pb{}.packed(1, int64(n)).int(2, int64(ElemOf(d))).packed(5, list...))
				if err != nil {
					t.Fatal(err)
				}
				if c, _ := tensor.Bytes(got); !bytes.Equal(b, c) {
					t.Errorf("%v: in int32_data % x comes back as % x", d, b, c)
				}
				p.Raw = append(p.Raw, 0)
				if _, err := (&Model{}).load(&p); err == nil {
					t.Errorf("%v: a byte too much passes", d)
				}
			}
		}
	}
}
