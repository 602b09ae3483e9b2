package op

import (
	"slices"

	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/tensor"
)

// RavelIndex returns the number of the element at indices in a tensor of the given shape,
// counted in row-major order. It panics when there isn't an index inside the extent
// for each axis. numpy.ravel_multi_index.
func RavelIndex(indices, shape []int) int {
	if len(indices) != len(shape) {
		panic(plan.Fail("RavelIndex", tensor.ErrIndex, "%d indices for a shape of rank %d", len(indices), len(shape)))
	}
	n := 0
	for i, x := range indices {
		if x < 0 || x >= shape[i] {
			panic(plan.Fail("RavelIndex", tensor.ErrIndex, "index %d is outside axis %d of extent %d", x, i, shape[i]))
		}
		n = plan.Extent("RavelIndex", i, n, shape[i]) + x
	}
	return n
}

// UnravelIndex returns where element n of a tensor of the given shape is, counted in
// row-major order: the inverse of RavelIndex. It panics when there is no such
// element. numpy.unravel_index.
func UnravelIndex(n int, shape []int) []int {
	lay := plan.Spec("UnravelIndex", 1, shape...).Layout()
	if n < 0 || n >= lay.Size() {
		panic(plan.Fail("UnravelIndex", tensor.ErrIndex, "element %d of a shape %s of %d elements", n, plan.ShapeText(slices.Clone(shape)), lay.Size()))
	}
	return plan.Unravel(n, shape)
}
