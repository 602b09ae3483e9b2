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

// TestNil gives every function nil or no tensor, and Try takes each panic as an *Error.
func TestNil(t *testing.T) {
	x := tensor.New[float32](2, 3)
	v := tensor.Vectorize(x, 1, 1)
	var lay layout.Layout
	var none tensor.Any
	only := func(_ any, err error) error { return err }
	for name, f := range map[string]func() error{
		"Any.Slice": func() error { none.Slice(); return nil }, "Any.Permute": func() error { none.Permute(); return nil },
		"Any.Reshape": func() error { none.Reshape(); return nil }, "Any.BroadcastTo": func() error { none.BroadcastTo(); return nil },
		"Any.Contiguous": func() error { none.Contiguous(); return nil }, "Any.Clone": func() error { none.Clone(); return nil },
		"Any.Dim": func() error { none.Dim(0); return nil }, "Any.Export": func() error { none.Export(); return nil },
		"Any.Storage": func() error { none.Storage(); return nil }, "Any.Nested": func() error { none.Nested(); return nil },
		"Any.MarshalJSON": func() error { return only(none.MarshalJSON()) }, "Any.MarshalBinary": func() error { return only(none.MarshalBinary()) },
		"Describe": func() error { tensor.Describe(none); return nil }, "Sprint": func() error { tensor.Sprint(none, nil); return nil },
		"Slice": func() error { return only(tensor.Slice(none)) }, "Permute": func() error { return only(tensor.Permute(none)) },
		"Reshape": func() error { return only(tensor.Reshape(none)) }, "BroadcastTo": func() error { return only(tensor.BroadcastTo(none)) },
		"Contiguous": func() error { return only(tensor.Contiguous(none)) }, "Clone": func() error { return only(tensor.Clone(none)) },
		"Copy to": func() error { return tensor.Copy(none, x.Any()) }, "Copy from": func() error { return tensor.Copy(x.Any(), none) },
		"Encode": func() error { return tensor.Encode(io.Discard, none) }, "Encode to nil": func() error { return tensor.Encode(nil, x.Any()) },
		"WriteTo": func() error { return only(x.Any().WriteTo(nil)) }, "WriteNested": func() error { return only(x.Any().WriteNested(nil)) },
		"Vectors.WriteTo": func() error { return only(v.WriteTo(nil)) },
		"FromBytes":       func() error { return only(tensor.FromBytes(dtype.Int8, nil, 0, lay)) },
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
	if none.SameData(x.Any()) || none.Close() != nil || none.RetainedBytes() != 0 || none.IsReadOnly() || tensor.Float64s(none) != nil {
		t.Error("nil has data")
	}
	if _, ok := tensor.Bytes(none); ok {
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
