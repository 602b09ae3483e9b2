package tensor_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/tensor"
	"pgregory.net/rapid"
)

// encoded is the expected output of Encode.
func encoded(t tensor.Tensor[int32]) []byte {
	var want []byte
	for v := range t.Values() {
		want = binary.LittleEndian.AppendUint32(want, uint32(v))
	}
	return want
}

func TestEncode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawRoot(t)
		for range rapid.IntRange(0, 3).Draw(t, "views") {
			p = view(t, p)
		}
		var got bytes.Buffer
		if err := tensor.Encode(&got, p.t.Any()); err != nil || !bytes.Equal(got.Bytes(), encoded(p.t)) {
			t.Fatalf("%v: %v", p.t.Layout(), err)
		}
	})
}

// More than one piece, of layouts that slice by rows and of ones that don't.
func TestEncodeLarge(t *testing.T) {
	x := tensor.Arange[int32](0, 720*1000, 1).View(720, 1000)
	defer x.Close()
	nested := tensor.FromLayout(x.Elems()[:660*1000], layout.MustParse("((3,220),1000):((220000,1),220)"))
	for name, y := range map[string]tensor.Tensor[int32]{"transposed": x.Transpose(), "flipped": x.Flip(0), "nested": nested, "one row": x.Transpose().View(1, 1000, 720)} {
		var got bytes.Buffer
		if err := tensor.Encode(&got, y.Any()); err != nil || !bytes.Equal(got.Bytes(), encoded(y)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type full struct{ room int }

func (w *full) Write(b []byte) (int, error) {
	if w.room -= len(b); w.room < 0 {
		return 0, errFull
	}
	return len(b), nil
}

var errFull = errors.New("no room")

func TestEncodeErrors(t *testing.T) {
	x := tensor.New[int32](600, 600)
	for name, y := range map[string]tensor.Tensor[int32]{"whole": x, "pieces": x.Transpose()} {
		if err := tensor.Encode(&full{1 << 20}, y.Any()); !errors.Is(err, errFull) {
			t.Errorf("%s: %v", name, err)
		}
	}
	x.Close()
	for name, y := range map[string]tensor.Tensor[int32]{"whole": x, "pieces": x.Transpose()} {
		if err := tensor.Encode(&full{1 << 30}, y.Any()); !errors.Is(err, tensor.ErrClosed) {
			t.Errorf("%s, closed: %v", name, err)
		}
	}
	spec, err := tensor.NewSpec(dtype.Int32, 2)
	if err != nil {
		t.Fatal(err)
	}
	if err := tensor.Encode(&full{100}, spec.Any()); !errors.Is(err, tensor.ErrDType) {
		t.Error(err)
	}
}
