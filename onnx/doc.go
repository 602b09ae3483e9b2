// Package onnx reads, checks, runs and writes neural networks in the ONNX format.
//
//	m, err := onnx.Open("model.onnx")       // decode the graph; weights stay in the file
//	defer m.Close()
//	s, err := onnx.NewSession(m)            // check the graph, load the weights
//	out, err := s.Run(ctx, map[string]tensor.Any{"image": x}, nil)
//
// Decoding understands every message of the format, so that a Model can be looked at, changed and written back by Encode
// whether or not it can be run. Check reports all that this library doesn't have at once, before anything runs: operators,
// attributes, element types, and the meanings of operators at the opset that the model imports (1 to 28). Operators of the
// domains ai.onnx.ml and com.microsoft run where the library has them. A Builder writes models from Go.
//
// A graph may hold graphs: branches of If, bodies of Loop, Scan and SequenceMap. Values are tensors of numbers and of
// strings, maps, sequences of these, and optionals; RunValues takes and gives all of them.
//
// Elements of tensors may lie in other files in the model's folder or below. Open maps these, OpenFS and DecodeIn read them,
// and Decode, which knows no folder, has such tensors reported as unsupported.
//
// Files are not trusted. Whatever the bytes are, decoding and checking end with a model or an error that names the place.
// They allocate no more than 64 MiB and 8 times the file's size. A path to a file that leaves the folder, as an absolute one,
// .. or a link, is an error. Running is bounded by Options.MaxMemory and Options.MaxIterations.
//
// Operators come from package op, the numbers and rules of which a run inherits: its results depend on the inputs and the
// model alone.
//
// Source of field numbers, codes and rules: onnx.proto and docs/IR.md of github.com/onnx/onnx.
package onnx
