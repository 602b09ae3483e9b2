package tensor

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/handed"
	"github.com/ashlar-go/ashlar/layout"
)

func init() {
	handed.CheckWord, handed.Foreign, handed.Lazy = checkWord, foreign, newLazy
	handed.LazyBy = lazyBy
	handed.EmptyLike = func(d dtype.DType, lay layout.Layout) Any { return emptyLike("tensor.EmptyLike", d, &lay) }
}
