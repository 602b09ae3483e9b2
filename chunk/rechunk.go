package chunk

import (
	"slices"

	"github.com/ashlar-go/ashlar/tensor"
)

// Rechunk returns the array in chunks of another shape, one extent for each axis; those beyond the array's count as its own.
//
// The array is copied in one stage or in two. A task copies a region of whole chunks, as large as the memory allows. In one
// stage, an old chunk is read once for each region that it meets. From rows to columns that is too often. Then a
// first stage reads along the old chunks, and a second one writes the new chunks. Between them stand chunks that are the
// common refinement of the regions of both.
func Rechunk(x Array, chunks ...int) Array {
	ns, err := given("Rechunk", x)
	if err != nil {
		return Array{err: err}
	}
	n := ns[0]
	if len(chunks) != len(n.shape) || slices.ContainsFunc(chunks, func(c int) bool { return c < 1 }) {
		return Array{err: fail("Rechunk", tensor.ErrShape, "chunks of %v for an array of shape %v; each axis needs a positive extent", chunks, n.shape)}
	}
	r := newNode(&rechunked{}, n.dtype, n.shape, chunks, n)
	if slices.Equal(r.chunks, n.chunks) {
		return x
	}
	return Array{n: r}
}

// rechunked has other chunks than its operand.
type rechunked struct{}

func (r *rechunked) text() string { return "Rechunk" }

func (r *rechunked) barrier() bool { return true }

func (r *rechunked) eval(e *evaluator, n *node, b box) (tensor.Any, error) { return e.eval(n.in[0], b) }

func (r *rechunked) cost(n *node, b box) cost { return n.in[0].kind.cost(n.in[0], b) }

// perChunk is the cost of opening a chunk, in bytes that could be read meanwhile.
const perChunk = 64 << 10

// A copying is a way to make chunks to from chunks from, region by region.
type copying struct {
	shape, from, to, region []int
	size                    int // of an element
}

// work is the bytes that are read and written, with perChunk for each chunk.
func (c copying) work() float64 {
	elements, reads, writes := float64(c.size), 1.0, 1.0
	whole := float64(c.size)
	for i, extent := range c.shape {
		touched, chunks := 0, 0
		step := c.region[i]
		for at := 0; at < extent; at += step {
			end := min(at+step, extent)
			first, last := at/c.from[i], (end-1)/c.from[i]
			chunks += last - first + 1
			touched += min((last+1)*c.from[i], extent) - first*c.from[i]
			if extent/step > 1<<16 { // as many again for all regions that are like the first
				n := ceil(extent, step)
				chunks, touched = chunks*n, touched*n
				break
			}
		}
		elements *= float64(touched)
		reads *= float64(chunks)
		writes *= float64(ceil(extent, c.to[i]))
		whole *= float64(extent)
	}
	return elements + whole + float64(perChunk*(reads+writes))
}

// grow returns the copying with a larger region of whole chunks, as long as that saves work and fits. Each step doubles
// the axis that saves most.
func (c copying) grow(fits func(region []int) bool) copying {
	best := c.work()
	for {
		next, found := c, false
		for i := range c.shape {
			if c.region[i] >= c.shape[i] {
				continue
			}
			d := c
			d.region = slices.Clone(c.region)
			d.region[i] = min(2*d.region[i], ceil(c.shape[i], c.to[i])*c.to[i])
			if w := d.work(); w < best && fits(d.region) {
				next, best, found = d, w, true
			}
		}
		if !found {
			return c
		}
		c = next
	}
}

// toward returns the largest region of whole chunks, or multiples of step, that fits: the axis is doubled first that is the
// smallest part of the extent it is to reach.
func toward(shape, step, reach []int, fits func(region []int) bool) []int {
	region := slices.Clone(step)
	full := make([]bool, len(shape))
	for {
		k := -1
		for i := range shape {
			if full[i] || region[i] >= min(reach[i], shape[i]) {
				continue
			}
			if k < 0 || region[i]*reach[k] < region[k]*reach[i] {
				k = i
			}
		}
		if k < 0 {
			return region
		}
		next := slices.Clone(region)
		next[k] = min(2*next[k], ceil(shape[k], step[k])*step[k])
		if fits(next) {
			region = next
		} else {
			full[k] = true
		}
	}
}

// copies plans a rechunked node over an operand that is settled: it returns the node that makes the last chunks, and the region of its tasks.
// A first stage is added to the plan where two take less work than one.
func (pl *planner) copies(n *node) (*node, []int, error) {
	in := n.in[0]
	fits := func(n *node) func([]int) bool {
		return func(region []int) bool { return taskPeak(n, corner(n.shape, region)) <= pl.p.memory }
	}
	size := n.dtype.Size()
	one := copying{n.shape, in.chunks, n.chunks, n.chunks, size}.grow(fits(n))
	read, write := toward(n.shape, in.chunks, n.chunks, fits(n)), toward(n.shape, n.chunks, in.chunks, fits(n))
	mid := make([]int, len(read))
	for i := range mid {
		mid[i] = max(1, min(read[i], write[i], n.shape[i]))
	}
	var between, last *node
	for {
		between = newNode(&rechunked{}, n.dtype, n.shape, mid, in)
		m := *n
		m.in = []*node{{kind: &stored{}, dtype: n.dtype, shape: n.shape, chunks: mid}}
		last = &m
		k := longest(mid)
		if k < 0 || mid[k] == 1 || fits(between)(read) && fits(last)(write) {
			break
		}
		mid[k] = (mid[k] + 1) / 2
	}
	for i := range mid {
		read[i] = max(read[i]/mid[i], 1) * mid[i]
	}
	first := copying{n.shape, in.chunks, mid, read, size}
	second := copying{n.shape, mid, n.chunks, write, size}
	if first.work()+second.work() >= one.work() {
		return n, one.region, nil
	}
	s, err := pl.stage(between, read)
	if err != nil {
		return nil, nil, err
	}
	last.in = []*node{s.result()}
	return last, write, nil
}

// corner is the first region of a shape.
func corner(shape, region []int) box {
	b := all(slices.Clone(shape))
	for i := range b.to {
		b.to[i] = min(b.to[i], region[i])
	}
	return b
}

// longest returns the axis of the largest extent, or -1 of none.
func longest(shape []int) int {
	k := -1
	for i, e := range shape {
		if k < 0 || e > shape[k] {
			k = i
		}
	}
	return k
}
