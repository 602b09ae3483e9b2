package quantize

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

// bins is how many bins a histogram has.
const bins = 2048

// A span is the range of a value, and for a Range other than Extremes its histogram.
type span struct {
	lo, hi float64 // with 0
	zeros  int64   // elements that are 0, which have an integer of their own in any case
	count  []int64
}

// A step is the scale and the zero point of a value.
type step struct {
	scale float32
	zero  int
}

// calibrate finds the range of each value.
func (p *program) calibrate(ctx context.Context, samples Samples, r *Report) error {
	p.ranges = make(map[string]*span)
	e := p.emitter()
	e.nodes = slices.Clone(p.g.Nodes)
	names := p.values()
	ends := make(map[string][2]string)
	for _, name := range names {
		one := func(op string) string {
			return e.add(op, e.fresh(name+"."+op), []onnx.Attribute{onnx.IntAttr("keepdims", 0)}, name)
		}
		ends[name] = [2]string{one("ReduceMin"), one("ReduceMax")}
	}
	var outputs []string
	for _, name := range names {
		outputs = append(outputs, ends[name][0], ends[name][1])
	}
	m := e.model(outputs)
	s, err := onnx.NewSession(m)
	if err != nil {
		return err
	}
	maker := p.makers()
	place := func(name string) string {
		if i, ok := maker[name]; ok {
			return fmt.Sprintf("node %.100q (%s)", label(&p.g.Nodes[i]), p.g.Nodes[i].Op)
		}
		return fmt.Sprintf("input %.100q", name)
	}
	run := p.o.Run
	foreign := false
	err = samples(func(sample string, inputs map[string]onnx.Value) error {
		out, err := s.RunValues(ctx, inputs, &run)
		if err != nil {
			return fmt.Errorf("%s: %w", sample, err)
		}
		for _, name := range names {
			lo, ok := number(out[ends[name][0]])
			hi, _ := number(out[ends[name][1]])
			if !ok {
				p.foreign[name], foreign = true, true
				continue
			}
			switch {
			case math.IsNaN(lo) || math.IsNaN(hi):
				return fmt.Errorf("quantize: %s: %s: its result has a NaN", sample, place(name))
			case lo > hi: // it has no elements
				lo, hi = 0, 0
			case math.IsInf(lo, 0) || math.IsInf(hi, 0):
				return fmt.Errorf("quantize: %s: %s: its result has an infinity", sample, place(name))
			}
			if p.ranges[name] == nil {
				p.ranges[name] = new(span)
			}
			p.ranges[name].lo, p.ranges[name].hi = min(p.ranges[name].lo, lo), max(p.ranges[name].hi, hi)
		}
		r.Samples++
		return nil
	})
	switch {
	case err != nil:
		return err
	case r.Samples == 0:
		return fmt.Errorf("quantize: %w: there are no samples", tensor.ErrValue)
	case foreign:
		if err := p.choose(r); err != nil {
			return err
		}
	}
	if p.o.Range == Extremes {
		return nil
	}
	for _, v := range p.ranges {
		v.count = make([]int64, bins)
	}
	run.Observe = func(n *onnx.NodeRun) {
		for i, name := range n.Names {
			if v := p.ranges[name]; v != nil && n.Depth == 0 && n.Values[i].Kind() == onnx.KindTensor {
				v.note(n.Values[i].Tensor())
			}
		}
	}
	err = samples(func(sample string, inputs map[string]onnx.Value) error {
		for name, in := range inputs {
			if v := p.ranges[name]; v != nil {
				v.note(in.Tensor())
			}
		}
		if _, err := s.RunValues(ctx, inputs, &run); err != nil {
			return fmt.Errorf("%s: %w", sample, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, v := range p.ranges {
		if p.o.Range == Percentile {
			v.percentile(p.o.Percentile)
		} else {
			v.least()
		}
		v.count = nil
	}
	return nil
}

// number is the number of a value of float32.
func number(v onnx.Value) (float64, bool) {
	if v.Kind() != onnx.KindTensor {
		return 0, false
	}
	t, ok := tensor.As[float32](v.Tensor())
	if !ok || t.Len() != 1 {
		return 0, false
	}
	return float64(t.Reshape(1).At(0)), true
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
			sum += float64(n) * (inside + float64(d*d))
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
