//go:build linux && !cgo

package main

import "errors"

func turns(count int, library, file string) ([]float64, error) {
	return nil, errors.New("this program was built without cgo, which ONNX Runtime's library wants")
}
