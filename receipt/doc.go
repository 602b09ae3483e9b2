// Package receipt holds receipts: small files that say by SHA-256 which model computed which outputs from which inputs.
// Anyone can run the model again and compare. Results of this library are the same bits on every machine, with any
// number of threads, so a digest is all that a comparison needs.
//
// Package onnx writes receipts of models (onnx.Options.Receipt) and verifies them (onnx.Verify), package chunk writes receipts
// of plans. A receipt is a file of canonical JSON (RFC 8785), which has one form for one content. Parse refuses every other
// form, fields that it doesn't know, and versions of the form that it doesn't know.
//
// Three digests are over others. The digest of a program is that of its graph and of its weights. The root of the nodes is
// that of a Merkle tree over them, built as in RFC 6962: one node can be shown to belong to it with few digests. The root
// is that of all fields but the nodes and itself, so that receipts with nodes and without have the same root.
package receipt
