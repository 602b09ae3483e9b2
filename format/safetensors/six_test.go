package safetensors

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/ashlar-go/ashlar/tensortest"
)

// Elements of four and of six bits are written, and read whole and by parts, from a file in memory and from one that is read
// by places.
func TestSixBits(t *testing.T) {
	x := tensor.FromSlice([]float32{0, 0.125, -7.5, 7, 1, -0.25, 0.5, 3}, 4, 2)
	names, ts := []string{}, []tensor.Any{}
	for _, name := range []string{"float6_e2m3", "float6_e3m2"} {
		f, err := pack.FormatNamed(name)
		if err != nil {
			t.Fatal(err)
		}
		p, err := pack.Pack(x.Any(), &pack.Options{Format: f})
		if err != nil {
			t.Fatal(err)
		}
		names, ts = append(names, name), append(ts, p.Any())
	}
	var b bytes.Buffer
	if err := Write(&b, names, ts, nil); err != nil {
		t.Fatal(err)
	}
	// The types with the larger number come first.
	if got, want := b.String(), `{"float6_e3m2":{"dtype":"F6_E3M2","shape":[4,2],"data_offsets":[0,6]},"float6_e2m3":{"dtype":"F6_E2M3","shape":[4,2],"data_offsets":[6,12]}}`+
		"\x80\x80\x5f\x0c\x89\x48"+"\x40\xf0\x7b\x88\x48\x50"; strings.ReplaceAll(got[8:], " ", "") != want {
		t.Errorf("%q, want %q", got[8:], want)
	}
	four := padded(`{"x":{"dtype":"F4","shape":[2,2],"data_offsets":[0,2]}}`, "\x21\x43", 0)
	f := open(t, b.String())
	for i, name := range names {
		a, err := f.Tensor(name)
		if err != nil {
			t.Fatal(err)
		}
		all, err := a.Foreign().(pack.Tensor).Unpack()
		if err != nil {
			t.Fatal(err)
		}
		packed, err := ts[i].Foreign().(pack.Tensor).Unpack()
		if err != nil {
			t.Fatal(err)
		}
		tensortest.Equal(t, all, packed)
		if i == 0 {
			tensortest.Equal(t, all, x.Any())
		}
		at, err := openFile(&format.Source{At: bytes.NewReader(b.Bytes()), Size: int64(b.Len())})
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range []format.File{opened{f, ""}, at} {
			info, err := file.Info(name)
			if err != nil || info.String() != name+"[4,2]" || info.Bytes != 6 {
				t.Errorf("%v, %v", info, err)
			}
			part, err := file.Tensor(name, tensor.R(1, 3), tensor.I(1))
			if err != nil {
				t.Fatal(err)
			}
			tensortest.Equal(t, part, all.Slice(tensor.R(1, 3), tensor.I(1)))
		}
	}
	at, err := openFile(&format.Source{At: bytes.NewReader([]byte(four)), Size: int64(len(four))})
	if err != nil {
		t.Fatal(err)
	}
	got, err := at.Tensor("x", tensor.I(1))
	if err != nil {
		t.Fatal(err)
	}
	tensortest.Equal(t, got, tensor.FromSlice([]num.F4E2M1{num.FromBits[num.F4E2M1](3), num.FromBits[num.F4E2M1](4)}, 2).Any())
}
