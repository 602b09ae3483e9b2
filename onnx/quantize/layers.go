package quantize

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

// layers finds the distance of each unit that is quantized alone, and keeps units in float32 that are too far. One model has the nodes of floats,
// and beside each unit its form of integers, so a run needs no results of another run.
func (p *program) layers(ctx context.Context, samples Samples, r *Report) error {
	e := p.emitter()
	e.nodes = slices.Clone(p.g.Nodes)
	pairs := make(map[string]string)
	var outputs []string
	of := make([][5]string, len(p.units)) // the largest distance, the sums of distances, of their squares and of the result's, and the number of elements
	for i := range p.units {
		u := &p.units[i]
		if u.moves {
			continue
		}
		var in []string
		for _, k := range u.reads {
			name := p.g.Nodes[u.node].Inputs[k]
			if pairs[name] == "" {
				pairs[name] = e.pair(name, e.fresh(name+".alone"), name)
			}
			in = append(in, pairs[name])
		}
		out := e.fresh(u.out + ".alone")
		e.unit(u, in, out)
		whole := []onnx.Attribute{onnx.IntAttr("keepdims", 0)}
		d := e.add("Sub", e.fresh(out+".distance"), nil, out, u.out)
		for k, op := range []string{"ReduceMax", "ReduceL1", "ReduceSumSquare"} {
			x := d
			if k == 0 {
				x = e.add("Abs", e.fresh(d+".abs"), nil, d)
			}
			of[i][k] = e.add(op, e.fresh(d+"."+op), whole, x)
		}
		of[i][3] = e.add("ReduceSumSquare", e.fresh(d+".of"), whole, u.out)
		of[i][4] = e.add("Size", e.fresh(d+".size"), nil, d)
		outputs = append(outputs, of[i][:]...)
	}
	s, err := onnx.NewSession(e.model(outputs))
	if err != nil {
		return err
	}
	run := p.o.Run
	sums := make([][5]float64, len(p.units))
	err = samples(func(sample string, inputs map[string]onnx.Value) error {
		out, err := s.RunValues(ctx, inputs, &run)
		if err != nil {
			return fmt.Errorf("%s: %w", sample, err)
		}
		for i := range p.units {
			if p.units[i].moves {
				continue
			}
			size, _ := tensor.As[int64](out[of[i][4]].Tensor())
			if size.Reshape(1).At(0) == 0 {
				continue
			}
			for k := range 4 {
				v, _ := number(out[of[i][k]])
				if k == 0 {
					sums[i][0] = max(sums[i][0], v)
				} else {
					sums[i][k] += v
				}
			}
			sums[i][4] += float64(size.Reshape(1).At(0))
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i := range p.units {
		u := &p.units[i]
		if u.moves {
			continue
		}
		n := &p.g.Nodes[u.node]
		d := Distance{Name: u.out, Largest: sums[i][0], Error: relative(sums[i][2], sums[i][3])}
		if sums[i][4] > 0 {
			d.Mean = sums[i][1] / sums[i][4]
		}
		l := Layer{Name: label(n), Op: n.Op, Distance: d, Kept: p.o.KeepError > 0 && !(d.Error <= p.o.KeepError)}
		if l.Kept {
			p.kept[n.Outputs[0]] = fmt.Sprintf("its error is %.3g", d.Error)
		}
		r.Layers = append(r.Layers, l)
	}
	return nil
}

// relative is the root of a sum of squared distances over one of squares.
func relative(distances, squares float64) float64 {
	if distances == 0 {
		return 0
	}
	return math.Sqrt(distances / squares)
}

// Compare runs two models on samples, the second as onnx.NewIntegerSession does, and returns the distance of each output of both that is a
// tensor of float32. It fails where a run does, and for results of other shapes.
func Compare(ctx context.Context, floats, integers *onnx.Model, samples Samples, run *onnx.Options) ([]Distance, error) {
	a, err := onnx.NewSession(floats)
	if err != nil {
		return nil, err
	}
	b, err := onnx.NewIntegerSession(integers)
	if err != nil {
		return nil, err
	}
	var list []Distance
	var sums [][4]float64
	for _, v := range a.Outputs() {
		list = append(list, Distance{Name: v.Name})
	}
	sums = make([][4]float64, len(list))
	err = samples(func(sample string, inputs map[string]onnx.Value) error {
		want, err := a.RunValues(ctx, inputs, run)
		if err != nil {
			return fmt.Errorf("%s: %w", sample, err)
		}
		got, err := b.RunValues(ctx, inputs, run)
		if err != nil {
			return fmt.Errorf("%s: the quantized model: %w", sample, err)
		}
		for i := range list {
			if err := list[i].add(&sums[i], want[list[i].Name], got[list[i].Name]); err != nil {
				return fmt.Errorf("%s: output %.100q: %w", sample, list[i].Name, err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range list {
		if s := sums[i]; s[3] > 0 {
			list[i].Mean, list[i].Error = s[0]/s[3], relative(s[1], s[2])
		}
	}
	return list, nil
}

// add adds the distances of one result. The sums are of distances, their squares, the squares of a, and the number of elements.
func (d *Distance) add(sums *[4]float64, a, b onnx.Value) error {
	if a.Kind() != onnx.KindTensor || b.Kind() != onnx.KindTensor {
		return nil
	}
	x, ok := tensor.As[float32](a.Tensor())
	y, ok2 := tensor.As[float32](b.Tensor())
	if !ok || !ok2 {
		return nil
	}
	if !slices.Equal(x.Shape(), y.Shape()) {
		return fmt.Errorf("%w: %v, of the quantized model %v", tensor.ErrShape, x.Shape(), y.Shape())
	}
	wanted, got := x.Contiguous().Elems(), y.Contiguous().Elems()
	for i, v := range wanted {
		e := math.Abs(float64(got[i]) - float64(v))
		if d.Largest = max(d.Largest, e); math.IsNaN(e) {
			d.Largest = e
		}
		sums[0] += e
		sums[1] += float64(e * e)
		sums[2] += float64(float64(v) * float64(v))
	}
	sums[3] += float64(len(wanted))
	if n := 1; x.Rank() > 0 && len(wanted) > 0 {
		n = x.Dim(-1)
		for at := 0; at < len(wanted); at += n {
			d.Rows++
			if largest(wanted[at:at+n]) == largest(got[at:at+n]) {
				d.Same++
			}
		}
	}
	return nil
}

// largest is the place of the first largest element.
func largest(list []float32) (at int) {
	for i, v := range list {
		if v > list[at] {
			at = i
		}
	}
	return at
}
