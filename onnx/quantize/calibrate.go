package quantize

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

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
				continue
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
	}
	for _, name := range names {
		if p.ranges[name] == nil && !p.foreign[name] {
			return fmt.Errorf("quantize: %w: %s: its result has no elements in any sample: give samples in which it has some", tensor.ErrValue, place(name))
		}
	}
	if foreign {
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
