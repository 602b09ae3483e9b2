// Package receipt holds receipts: small files with the SHA-256 of a model, of its inputs and of the outputs that it computed.
// Anyone can run the model again and compare. Results of this library are the same bits on every machine, with any
// number of threads, so a digest suffices for a comparison.
//
// Package onnx writes receipts of models (onnx.Options.Receipt) and verifies them (onnx.Verify), package chunk writes receipts
// of plans. A receipt is a file of canonical JSON (RFC 8785), which has one form for one content. Parse refuses every other
// form, unknown fields, and unknown versions of the form.
//
// Three digests are computed from others. The digest of a program covers its graph and its weights. The root of the nodes is
// the root of a Merkle tree over them, built as in RFC 6962: a few digests prove that a node belongs to it. The root of the
// receipt covers all fields except the nodes and itself, so that receipts with and without nodes have the same root.
package receipt
