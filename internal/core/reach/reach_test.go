package reach_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/reach"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/tensor"
)

func Example() {
	a := tensor.Arange[float32](0, 6, 1).View(2, 3).S("1").Any()
	bits, at := reach.DataOf[uint32](&a) // of the same size
	fmt.Printf("%x %d\n", bits[at:], len(reach.Run[float32](&a, a.LayoutRef())))

	owner := &struct{ bytes []byte }{}
	far := reach.Foreign(owner, dtype.Int8, layout.MustParse("2:1"))
	fmt.Println(far.Foreign() == owner, far.Shape())
	// Output:
	// [40400000 40800000 40a00000] 3
	// true [2]
}

// The hooks make tensors of the layout and the type that they are told, and nothing where none can be.
func TestHooks(t *testing.T) {
	lay := layout.MustParse("(2,3):(8,1)")
	a := reach.EmptyLike(dtype.Int16, lay)
	if a.DType() != dtype.Int16 || !a.IsContiguous() || a.RetainedBytes() != 12 {
		t.Errorf("%s over %d bytes", tensor.Describe(a), a.RetainedBytes())
	}
	lazy := reach.Lazy(t, dtype.Bool, 2, 3)
	if by, whole := reach.LazyBy(lazy); by != t || !whole {
		t.Errorf("lazy by %v, whole %t", by, whole)
	}
	for name, f := range map[string]func(){
		"lazy":      func() { reach.DataOf[bool](&lazy) },
		"read-only": func() { r := a.ReadOnly(); reach.MutableOf[int16](&r) },
		"shape":     func() { reach.Lazy(t, dtype.Bool, -1) },
	} {
		want := map[string]error{"lazy": tensor.ErrLazy, "read-only": tensor.ErrReadOnly, "shape": tensor.ErrShape}[name]
		if err := tensor.Try(f); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	n := testing.AllocsPerRun(100, func() {
		data, _ := reach.MutableOf[uint16](&a)
		data[0]++
		r := reach.Run[int16](&a, a.LayoutRef())
		r[1]++
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}
