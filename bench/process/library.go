//go:build linux && cgo

package main

import (
	"fmt"
	"slices"

	ort "github.com/yalue/onnxruntime_go"
)

// turns has rounds in which Ashlar and ONNX Runtime load, run and close a model after each other.
func turns(count int, library, file string) (list []float64, err error) {
	first, err := load(file)
	if err != nil {
		return nil, err
	}
	ort.SetSharedLibraryPath(library)
	if err := ort.InitializeEnvironment(); err != nil {
		return nil, err
	}
	defer ort.DestroyEnvironment()
	return rounds(count, func() error {
		theirs, err := first.rival(file)
		if err == nil {
			err = far(first.elements, theirs, 1e-4)
		}
		if err != nil {
			return err
		}
		ours, err := load(file)
		if err != nil {
			return err
		}
		return far(first.elements, ours.elements, 0)
	})
}

// rival runs a model through ONNX Runtime on the inputs of load, and returns its outputs.
func (r *result) rival(file string) (elements [][]float32, err error) {
	o, err := ort.NewSessionOptions()
	if err != nil {
		return nil, err
	}
	defer o.Destroy()
	if err := o.SetIntraOpNumThreads(1); err != nil {
		return nil, err
	}
	s, err := ort.NewDynamicAdvancedSession(file, r.inputs, r.outputs, o)
	if err != nil {
		return nil, err
	}
	defer s.Destroy()
	var in []ort.Value
	for _, shape := range r.shapes {
		var long ort.Shape
		for _, e := range shape {
			long = append(long, int64(e))
		}
		t, err := ort.NewEmptyTensor[float32](long)
		if err != nil {
			return nil, err
		}
		defer t.Destroy()
		for i := range t.GetData() {
			t.GetData()[i] = 0.5
		}
		in = append(in, t)
	}
	out := make([]ort.Value, len(r.outputs))
	if err := s.Run(in, out); err != nil {
		return nil, err
	}
	for _, v := range out {
		defer v.Destroy()
		t, ok := v.(*ort.Tensor[float32])
		if !ok {
			return nil, fmt.Errorf("an output is %T, not of float32", v)
		}
		elements = append(elements, slices.Clone(t.GetData()))
	}
	return elements, nil
}
