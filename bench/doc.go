// Package bench measures Ashlar beside other Go libraries on the same cases, command onnxruntime beside ONNX Runtime and select.py beside NumPy. It is a module of its own, so that nobody who needs Ashlar needs those:
//
//	go test -run '^$' -bench Fixed
package bench
