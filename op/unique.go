package op

import (
	"cmp"
	"runtime"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Unique returns the different entries of a along axis: in ascending order, an
// entry of several elements by the first that differs, or without sorted in the
// order in which they first occur. NaNs are equal to each other and last, the two
// zeros are equal; of equals the first stands for all, bit for bit. The other
// results are where each first occurs, for every entry of a which one it is, and
// how often each occurs. ONNX Unique, which without an axis takes the flattened
// tensor: a.Reshape(-1) is that.
func Unique[T bool | num.Native | num.Narrow | num.Fixed](a tensor.Tensor[T], axis int, sorted bool) (entries tensor.Tensor[T], first, inverse, counts tensor.Tensor[int64]) {
	present("Unique", exec.Ref(&a))
	out := uniqueOf(a.Any(), axisOf("Unique", axis, a.Rank()), sorted)
	return *exec.Typed[T](&out[0]), *exec.Typed[int64](&out[1]), *exec.Typed[int64](&out[2]), *exec.Typed[int64](&out[3])
}

func uniqueOf(a tensor.Any, axis int, sorted bool) []tensor.Any {
	perm := []int{axis}
	for i := range a.Rank() {
		if i != axis {
			perm = append(perm, i)
		}
	}
	rows := wordsOf(viewed(tensor.Permute(a, perm...)))
	n := a.Dim(axis)
	_, _, m := around(rows.of.Shape(), 0)
	fits("Unique", n, 4*8) // of entries without elements there may be any number
	v := numericOf(rows)
	per := max(1, v.size/8) // keys of an element
	keys := roomFor[uint64]("Unique", n, m, per)
	for i := 0; i < len(keys); i += per {
		key := v.pair(i / per)
		copy(keys[i:i+per], key[:])
	}
	width := m * per // of an entry
	compare := func(i, j int) int { return slices.Compare(keys[i*width:(i+1)*width], keys[j*width:(j+1)*width]) }
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(compare(i, j), i-j) })

	// Groups of equals, each beginning with its first entry.
	var heads []int
	group := make([]int, n) // the head of each entry
	for k, i := range order {
		if k == 0 || compare(order[k-1], i) != 0 {
			heads = append(heads, i)
		}
		group[i] = heads[len(heads)-1]
	}
	if !sorted {
		slices.Sort(heads)
	}
	number := make([]int64, n) // of a head among the results
	first, counts, inverse := make([]int64, len(heads)), make([]int64, len(heads)), make([]int64, n)
	for k, i := range heads {
		number[i], first[k] = int64(k), int64(i)
	}
	for i, head := range group {
		inverse[i] = number[head]
		counts[inverse[i]]++
	}
	shape := rows.of.Shape()
	shape[0] = len(heads)
	entries := tensor.EmptyOf(a.DType(), shape...)
	to := wordsOf(entries)
	for k, i := range heads {
		to.copy(k*m, rows, i*m, m)
	}
	runtime.KeepAlive(rows.of)
	back := make([]int, len(perm))
	for i, p := range perm {
		back[p] = i
	}
	return []tensor.Any{viewed(tensor.Contiguous(viewed(tensor.Permute(entries, back...)))),
		tensor.FromSlice(first).Any(), tensor.FromSlice(inverse).Any(), tensor.FromSlice(counts).Any()}
}

var unique = opN{about: about{name: "Unique", orion: &inOrion{gives: dtype.Int32, first: 1}, onnx: []int{11}, attrs: []string{"axis", "sorted"}}, least: 1, takes: every &^ complexes,
	run: func(c *Call) []tensor.Any {
		a := c.in(0)
		axis := 0
		if c.Attrs.Has("axis") {
			axis = axisOf("Unique", attrInt(c, "axis", 0), a.Rank())
		} else {
			a = viewed(tensor.Reshape(a, a.Len()))
		}
		return uniqueOf(a, axis, c.Attrs.Int("sorted", 1) != 0)[:max(1, min(c.Outputs, 4))]
	}}
