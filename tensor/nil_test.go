package tensor_test

import (
	"errors"
	"io"
	"math"
	"runtime"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/tensor"
)

// TestNil gives every function nil, and what Try takes it takes as an *Error.
func TestNil(t *testing.T) {
	x := tensor.New[float32](2, 3)
	v := x.Vectorize(1, 1)
	var lay layout.Layout
	only := func(_ any, err error) error { return err }
	for name, f := range map[string]func() error{
		"Shape": func() error { tensor.Shape(nil); return nil }, "Len": func() error { tensor.Len(nil); return nil },
		"Describe": func() error { tensor.Describe(nil); return nil }, "Sprint": func() error { tensor.Sprint(nil, tensor.PrintOptions{}); return nil },
		"Slice": func() error { return only(tensor.Slice(nil)) }, "Permute": func() error { return only(tensor.Permute(nil)) },
		"Reshape": func() error { return only(tensor.Reshape(nil)) }, "BroadcastTo": func() error { return only(tensor.BroadcastTo(nil)) },
		"Contiguous": func() error { return only(tensor.Contiguous(nil)) }, "Clone": func() error { return only(tensor.Clone(nil)) },
		"Copy to": func() error { return tensor.Copy(nil, x) }, "Copy from": func() error { return tensor.Copy(x, nil) },
		"Encode": func() error { return tensor.Encode(io.Discard, nil) }, "Encode to nil": func() error { return tensor.Encode(nil, x) },
		"WriteTo": func() error { return only(x.WriteTo(nil)) }, "WriteNested": func() error { return only(x.WriteNested(nil)) },
		"Vectors.WriteTo": func() error { return only(v.WriteTo(nil)) },
		"FromBytes":       func() error { return only(tensor.FromBytes(dtype.Int8, nil, 0, lay)) },
		"SliceBytes":      func() error { _, _, err := tensor.SliceBytes(dtype.Int8, nil, 0, lay, false); return err },
		"NewIn":           func() error { tensor.NewIn[int8](nil, 2); return nil },
		"Moves":           func() error { return tensor.AsyncCopy{}.Moves(lay, lay, nil) },
		"ToRank":          func() error { s, _ := tensor.NewSpec(dtype.Int8, 2); return only(s.ToRank(math.MinInt)) },
		"Spec.ToRank":     func() error { return only(tensor.Spec{}.ToRank(math.MaxInt)) },
	} {
		var err error
		if panicked := tensor.Try(func() { err = f() }); panicked != nil {
			err = panicked
		}
		var e *tensor.Error
		if !errors.As(err, &e) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if tensor.SameData(nil, x) || tensor.Close(nil) != nil || tensor.Float64s(nil) != nil {
		t.Error("nil has data")
	}
	if _, ok := tensor.Bytes(nil); ok {
		t.Error("nil has bytes")
	}
	if _, _, ok := tensor.Reached(nil); ok {
		t.Error("nil has bytes")
	}
	new(tensor.Export).Release()
}

// TestTryPanics: the errors of package layout are mistakes of the caller, too; a runtime
// error is not, and goes on.
func TestTryPanics(t *testing.T) {
	l := tensor.New[int8](2).Layout()
	var e *layout.Error
	if err := tensor.Try(func() { l.Mode(3) }); !errors.As(err, &e) || !errors.Is(err, tensor.ErrAxis) {
		t.Error(err)
	}
	defer func() {
		if _, ok := recover().(runtime.Error); !ok {
			t.Error("Try took a runtime error")
		}
	}()
	var none []int
	tensor.Try(func() { _ = none[len(none)] })
}
