package quantize

import (
	"math"

	"github.com/ashlar-go/ashlar/tensor"
)

// bins is how many bins a histogram has.
const bins = 2048

// A step is the scale and the zero point of a value.
type step struct {
	scale float32
	zero  int
}

// note counts the elements of a value.
func (v *span) note(a tensor.Any) {
	t, ok := tensor.As[float32](a)
	if !ok || v.hi == v.lo {
		return
	}
	by := bins / (v.hi - v.lo)
	for _, x := range t.Contiguous().Elems() {
		if x == 0 {
			v.zeros++
			continue
		}
		v.count[max(0, min(bins-1, int((float64(x)-v.lo)*by)))]++
	}
}

// middle is the number in the middle of a bin.
func (v *span) middle(bin int) float64 { return v.lo + float64((float64(bin)+0.5)*((v.hi-v.lo)/bins)) }

// percentile leaves the outermost elements out, as many at both ends.
func (v *span) percentile(percent float64) {
	total := v.zeros
	for _, n := range v.count {
		total += n
	}
	out := int64(float64(total) * (100 - percent) / 200)
	width := (v.hi - v.lo) / bins
	lo, hi := v.lo, v.hi
	for i, n := 0, int64(0); i < bins && v.lo+float64(float64(i+1)*width) <= 0; i++ {
		if n += v.count[i]; n > out {
			break
		}
		lo = v.lo + float64(float64(i+1)*width)
	}
	for i, n := bins-1, int64(0); i >= 0 && v.lo+float64(float64(i)*width) >= 0; i-- {
		if n += v.count[i]; n > out {
			break
		}
		hi = v.lo + float64(float64(i)*width)
	}
	if lo < hi {
		v.lo, v.hi = lo, hi
	}
}

// least looks for the ends with the least sum of squared errors: of an element inside them that of a number that is as probable everywhere in
// a step, of one outside its distance from the end.
func (v *span) least() {
	const parts = 100 // of the way from 0 to an end
	error := func(lo, hi float64) float64 {
		step := (hi - lo) / 255
		inside := step * step / 12
		sum := 0.0
		for i, n := range v.count {
			if n == 0 {
				continue
			}
			x := v.middle(i)
			d := max(lo-x, x-hi, 0)
			sum += float64(float64(n) * (inside + float64(d*d)))
		}
		return sum
	}
	lo, hi := parts, parts
	of := func(lo, hi int) float64 { return error(v.lo*float64(lo)/parts, v.hi*float64(hi)/parts) }
	best := of(lo, hi)
	for i := parts - 1; i > 0; i-- {
		if e := of(i, i); e < best {
			best, lo, hi = e, i, i
		}
	}
	for range 2 {
		for i := 1; i <= parts; i++ {
			if e := of(i, hi); e < best {
				best, lo = e, i
			}
		}
		for i := 1; i <= parts; i++ {
			if e := of(lo, i); e < best {
				best, hi = e, i
			}
		}
	}
	v.lo, v.hi = v.lo*float64(lo)/parts, v.hi*float64(hi)/parts
}

// step is the scale and zero point of a value. 0 has an integer of its own.
func (p *program) step(name string) step {
	least, most := p.ends()
	v := p.ranges[p.root(name)]
	s := float32((v.hi - v.lo) / (most - least))
	if s == 0 {
		s = 1
	}
	return step{s, int(max(least, min(most, math.RoundToEven(least-v.lo/float64(s)))))}
}
