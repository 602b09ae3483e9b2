package tensor

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/layout"
)

// lazy stands for the storage of a tensor that is to be computed.
type lazy struct {
	by  any
	lay layout.Layout
}

// newLazy is reach.Lazy.
func newLazy(by any, d dtype.DType, shape ...int) Any {
	lay := rowMajor("tensor.Lazy", shape)
	return Any{st: &storage{dtype: d, lazy: &lazy{by, lay}}, where: where{lay: lay}}
}

// lazyBy is reach.LazyBy.
func lazyBy(a Any) (by any, whole bool) {
	if a.st == nil || a.st.lazy == nil {
		return nil, false
	}
	l := a.st.lazy
	return l.by, a.off == 0 && walk.Ref(&a.lay).Equal(walk.Ref(&l.lay))
}
