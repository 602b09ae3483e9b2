// Package wire reads and writes the messages of protocol buffers, and the files beside a model.
//
// A Message is a part of the file that holds it: nothing is copied before somebody asks. Copied bytes are taken from a
// Limit first, which grows with the file, so that no file makes its reader allocate much more than it has bytes. A Folder
// opens files that lie in the model's folder or below, and nothing else. Which fields a message has is unknown here.
//
// Errors have no prefix and no place in the model: package onnx, the only caller, adds them. Sources: the encoding guide of
// protobuf.dev; docs/ExternalData.md of github.com/onnx/onnx.
package wire
