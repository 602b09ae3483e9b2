package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// inputs makes the inputs of a run, and files of them.
func (s *settings) inputs(session *onnx.Session, dims map[string]int) (list []datum, feeds map[string]tensor.Any, err error) {
	feeds = map[string]tensor.Any{}
	for i, v := range session.Inputs() {
		d, ok := v.Type.Elem.DType()
		if !ok || v.Type.Kind != onnx.KindTensor {
			return nil, nil, fmt.Errorf("input %v is no tensor of numbers", v)
		}
		in := datum{Name: v.Name, Type: v.Type.Elem.String(), Shape: []int{}, File: filepath.Join(s.scratch, fmt.Sprint("in", i))}
		for axis, e := range v.Type.Shape {
			n := int(e.Value)
			if n < 0 {
				n = 1
				for _, name := range []string{e.Param, fmt.Sprint(v.Name, ".", axis)} {
					if given, ok := dims[name]; ok {
						n = given
					}
				}
			}
			in.Shape = append(in.Shape, n)
		}
		if in.value, err = filled(d, uint64(i)+1, in.Shape); err != nil {
			return nil, nil, fmt.Errorf("input %v: %w", v, err)
		}
		b, ok := tensor.Bytes(in.value)
		if !ok {
			return nil, nil, fmt.Errorf("input %v: its elements are no bytes", v)
		}
		if err := os.WriteFile(in.File, b, 0o666); err != nil {
			return nil, nil, err
		}
		feeds[v.Name], list = in.value, append(list, in)
	}
	return list, feeds, nil
}

// filled returns a tensor of a type with random elements from a seed.
func filled(d dtype.DType, seed uint64, shape []int) (tensor.Any, error) {
	noise := tensor.RandomUniform[float32](seed, -1, 1, shape...)
	bits := op.Greater(noise, tensor.Scalar[float32](0)).Any()
	switch d {
	case dtype.Float32:
		return noise.Any(), nil
	case dtype.Float64:
		return op.Cast[float64](noise).Any(), nil
	case dtype.Bool:
		return bits, nil
	case dtype.Int64:
		return op.CastAs[int64](bits).Any(), nil
	case dtype.Int32:
		return op.CastAs[int32](bits).Any(), nil
	case dtype.Uint8:
		return op.CastAs[uint8](bits).Any(), nil
	case dtype.Int8:
		return op.CastAs[int8](bits).Any(), nil
	}
	return tensor.Any{}, fmt.Errorf("inputs of %v aren't made; want float32, float64, bool, int64, int32, uint8 or int8", d)
}
