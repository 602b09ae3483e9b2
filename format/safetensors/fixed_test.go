package safetensors

import (
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/ashlar-go/ashlar/tensortest"
)

// Fixed point is integers to others: the words of numbers one can name are in the file.
func TestFixed(t *testing.T) {
	words := func(n int64) fixed.FP64x64 { return fixed.FP64x64FromBits(fixed.Int128{Hi: n, Lo: 1 << 63}) }
	names := []string{"a", "b", "c", "d", "scalar", "none"}
	ts := []tensor.Any{
		tensor.FromSlice([]fixed.FP8x23{fixed.FP8x23FromBits(-1)}, 1).Any(), tensor.FromSlice([]fixed.FP16x16{fixed.FP16x16FromBits(3 << 15)}, 1, 1).Any(),
		tensor.FromSlice([]fixed.FP32x32{fixed.FP32x32FromBits(5 << 31)}, 1).Any(), tensor.FromSlice([]fixed.FP64x64{words(7), words(-8)}, 2).Any(),
		tensor.Scalar(words(9)).Any(), tensor.New[fixed.FP64x64](0, 3).Any(),
	}
	defer func(v bool) { conv.BigEndian = v }(conv.BigEndian)
	for i := range 2 {
		text := written(t, names, ts, map[string]string{TypeKey + "gone": "fp8x23", "note": "mine"})
		for _, part := range []string{
			`"__metadata__":{"ashlar.dtype:a":"fp8x23","ashlar.dtype:b":"fp16x16","ashlar.dtype:c":"fp32x32","ashlar.dtype:d":"fp64x64","ashlar.dtype:none":"fp64x64","ashlar.dtype:scalar":"fp64x64","note":"mine"}`,
			`"a":{"dtype":"I32","shape":[1]`, `"b":{"dtype":"I32","shape":[1,1]`, `"c":{"dtype":"I64","shape":[1]`, `"d":{"dtype":"I64","shape":[2,2]`,
			`"scalar":{"dtype":"I64","shape":[2]`, `"none":{"dtype":"I64","shape":[0,3,2]`,
		} {
			if !strings.Contains(text, part) {
				t.Errorf("%s isn't in %q", part, text)
			}
		}
		if i == 0 { // then the machine has its own order
			const d = "\x07\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80\xf8\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x80"
			if !strings.Contains(text, d) {
				t.Errorf("the words of d aren't in %q", text)
			}
		}
		f := open(t, text)
		for i, name := range names {
			a, err := f.Tensor(name)
			if err != nil {
				t.Fatal(err)
			}
			tensortest.Equal(t, a, ts[i])
			if info, err := f.Info(name); err != nil || info.DType != ts[i].DType() || info.Bytes != a.Len()*a.DType().Size() {
				t.Errorf("%s: %+v, %v", name, info, err)
			}
		}
		if a, err := f.Tensor("d", tensor.I(1)); err != nil || held[fixed.FP64x64](a).Item() != words(-8) {
			t.Errorf("d[1] is %v, %v", a, err)
		}
		conv.BigEndian = !conv.BigEndian
	}
}

// A packed tensor of fixed point has its type in the description of the pack.
func TestFixedPacked(t *testing.T) {
	x := tensor.New[fixed.FP64x64](5, 3)
	for i := range 15 {
		x.Set(fixed.FP64x64FromBits(fixed.Int128{Hi: int64(i), Lo: uint64(i)}), i/3, i%3)
	}
	p, err := pack.Pack(x.Any(), &pack.Options{Tile: pack.TileOf(4, 16)})
	if err != nil {
		t.Fatal(err)
	}
	a, err := open(t, written(t, []string{"x"}, []tensor.Any{p.Any()}, nil)).Tensor("x")
	if err != nil {
		t.Fatal(err)
	}
	if same, err := a.Foreign().(pack.Tensor).Equal(p); !same || err != nil {
		t.Errorf("it comes back as %v: %v", a, err)
	}
}

func TestFixedErrors(t *testing.T) {
	const i64 = `"x":{"dtype":"I64","shape":[2,3],"data_offsets":[0,48]}`
	for _, c := range []struct{ typ, entry, want string }{
		{"float32", i64, `the metadata has the type "float32", which isn't fixed point`},
		{"nothing", i64, `the metadata has the type "nothing", which isn't fixed point`},
		{"fp16x16", i64, `I64, and not the fp16x16 that the metadata describes, whose words are I32`},
		{"fp64x64", i64, `shape [2 3] of fp64x64 doesn't end with the 2 words of a number`},
		{"fp64x64", `"x":{"dtype":"I64","shape":[],"data_offsets":[0,8]}`, `shape [] of fp64x64 doesn't end with the 2 words of a number`},
		{"fp32x32", `"y":{"dtype":"I64","shape":[],"data_offsets":[0,8]}`, `the metadata "ashlar.dtype:x" describes a tensor that the file doesn't have`},
		{`fp32x32","ashlar.pack:x":"{\"format\":\"fp32x32\",\"shape\":[1],\"padded\":[1]}`, `"x":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}`, `the metadata describes it twice`},
	} {
		data := strings.Repeat("\x00", 48)
		if !strings.Contains(c.entry, "48]") {
			data = data[:8]
		}
		_, err := New(memory(raw(`{"__metadata__":{"ashlar.dtype:x":"`+c.typ+`"},`+c.entry+`}`, data)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.typ, err, c.want)
		}
	}
}

// Of several mistakes the same one is told each time.
func TestFixedErrorOrder(t *testing.T) {
	for range 20 {
		_, err := New(memory(raw(`{"__metadata__":{"ashlar.dtype:b":"float32","ashlar.dtype:a":"fp16x16","ashlar.dtype:c":"int8"},`+
			`"b":{"dtype":"I32","shape":[],"data_offsets":[0,4]}}`, "1234")))
		if err == nil || !strings.Contains(err.Error(), `"ashlar.dtype:a" describes a tensor that the file doesn't have`) {
			t.Fatal(err)
		}
	}
}
