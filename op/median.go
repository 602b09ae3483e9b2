package op

import (
	"math"
	"slices"
	"sync"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/order"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/reduce"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Median returns the middle elements over axes, or over all when axes is nil: of an
// even number the mean of the two in the middle, added and halved in float64 without
// an overflow and rounded once. NaN if any is NaN, of nothing, and between −∞ and +∞.
// The reduced axes go, unless KeepDims. It selects and doesn't sort: n elements take O(n) steps. NumPy median.
func Median[T num.Floating](a tensor.Tensor[T], axes []int, opts ...Option) (r tensor.Tensor[T]) {
	medianOp.Call(exec.Ref(&r), exec.Ref(&a), axes, 0.5, opts)
	return r
}

// ranked is the folder of Median and Quantile: it keeps the sequence, and finds the element of the rank.
type ranked[T num.Float, K order.Key] struct {
	q float64
	*rankRoom[T, K]
	rooms *sync.Pool
}

// A rankRoom is the memory of one sequence. New memory for each would take longer than the selection. That of sequences of more
// than rankKept elements isn't kept.
type rankRoom[T num.Float, K order.Key] struct {
	all         []T
	keys, spare []K
}

const rankKept = 1 << 22

var rankRooms32, rankRooms64 sync.Pool

func (f *ranked[T, K]) Begin() {
	if f.rankRoom == nil {
		f.rankRoom, _ = f.rooms.Get().(*rankRoom[T, K])
	}
	if f.rankRoom == nil {
		f.rankRoom = new(rankRoom[T, K])
	}
	f.all = f.all[:0]
}

func (f *ranked[T, K]) Add(x []T) { f.all = append(f.all, x...) }

func (f *ranked[T, K]) Total() float64 {
	n := len(f.all)
	defer func() {
		if n <= rankKept {
			f.rooms.Put(f.rankRoom)
		}
		f.rankRoom = nil
	}()
	form := move.FormOf(dtype.Of[T]())
	if len(f.keys) < n {
		f.keys, f.spare = make([]K, n), make([]K, n)
	}
	keys := f.keys[:n]
	blurred := order.Keys(keys, conv.Memory(f.all), form, false)
	if n == 0 || blurred && slices.Contains(keys, K(form.NaN())) {
		return float64(num.NaN32())
	}
	at := float64(f.q * float64(n-1))
	i := min(int(at), n-1)
	t := at - float64(i)
	key, _, upto := order.Rank(keys, f.spare, i, 8*form.Size)
	next := key
	if t != 0 && upto == i+1 { // the next one is larger
		next = K(form.NaN())
		for _, k := range keys {
			if k > key {
				next = min(next, k)
			}
		}
	}
	x, y := float64(order.Float[T](form, key)), float64(order.Float[T](form, next))
	if zero := K(form.Zero()); blurred && (key == zero || next == zero) { // keys don't tell which of the two zeros
		slices.Sort(f.all)
		x, y = float64(f.all[i]), float64(f.all[min(i+1, n-1)])
	}
	return between2(x, y, t, f.q == 0.5)
}

// between2 returns the number at the part t, below 1, of the way from x to y, which isn't smaller: x itself where they are equal.
// Of numbers so far apart that their difference, or their sum, overflows it is a sum of parts.
func between2(x, y, t float64, mean bool) float64 {
	d := y - x
	switch {
	case t == 0 || math.Float64bits(x) == math.Float64bits(y):
		return x
	case mean && math.IsInf(x+y, 0):
		return float64(x/2) + float64(y/2)
	case mean:
		return (x + y) / 2
	case math.IsInf(d, 0):
		return float64(x*(1-t)) + float64(y*t)
	case t < 0.5:
		return x + float64(d*t)
	}
	return y - float64(d*(1-t)) // so that neither end overshoots
}

func quantileFolder(r *exec.Reducer) exec.Folder {
	return reduce.TermsFolder(r, &ranked[float32, uint32]{q: r.P, rooms: &rankRooms32}, &ranked[float64, uint64]{q: r.P, rooms: &rankRooms64})
}

var medianOp = reduce.Operator{About: plan.About{Name: "Median", Attrs: []string{"axes", "keepdims"}}, Since: 18, Takes: plan.Floats, Collects: true,
	Folder: quantileFolder, Param: func(*plan.Use) float64 { return 0.5 }}
