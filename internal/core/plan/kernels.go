package plan

import (
	"runtime"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/internal/core/simd"
)

// FastFor reports whether kernels of package simd compute an operator. A list says it: after the lowest level come the element types of the
// deciding operand. Kernels that convert count only where an operator converts, and kernels that copy, transpose or sort nowhere. A test
// notes which kernels run for each operator, type and level, and writes the list: go test ./internal/optest -run TestKernels -args -kernels
// -update
func FastFor(o *Op, d dtype.DType, l cpu.Level) bool {
	t, ok := o.table.(interface {
		Has(d dtype.DType, l cpu.Level) bool
	})
	if !simd.Has(l) || ok && runtime.GOARCH != "amd64" && !t.Has(d, l) { // the list has the levels of amd64
		return false
	}
	_, line, _ := strings.Cut(kernels, "\n"+o.listed+" ")
	line, _, _ = strings.Cut(line, "\n")
	both, wide, _ := strings.Cut(line, "avx512 ")
	return slices.Contains(strings.Fields(both), d.String()) || l.String() != "avx2" && slices.Contains(strings.Fields(wide), d.String())
}
