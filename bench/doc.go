// Package bench measures Ashlar beside other Go libraries on the same cases. Its commands measure Ashlar beside ONNX Runtime
// (models, onnxruntime, serving), NumPy (select.py, scale), and zarr-python and zarrita (zarr). The command session measures a
// session alone. The command tables makes the tables and charts of the pages from the figures in results. This is a module of
// its own, so that nobody who needs Ashlar needs those:
//
//	go test -run '^$' -bench Fixed
package bench
