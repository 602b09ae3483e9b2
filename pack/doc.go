// Package pack holds tensors whose storage isn't their elements in a row: padded to
// whole tiles, or encoded as block floats, microscaled numbers and integers of a few bits.
//
// Pack makes such a Tensor of another one, and Unpack makes that one again. What a
// tensor looks like in storage is a Spec: its shape and padded shape, its tile, and
// the Format of its elements. Padding is not part of a tensor: nothing here or in op
// reads it, and Unpack leaves it behind.
//
//	x, err := pack.Pack(t, &pack.Options{Tile: pack.TileOf(32, 32), Format: pack.BFP8})
//	y, err := x.Unpack() // a tensor.Tensor[float32]
//
// The order of elements in storage is a layout of package layout, for tiles as for
// rows: Spec.Storage. Elements that no format encodes are there as they are, and
// Tensor.View is a tensor over them, padding included, which every operator takes.
//
// Formats of rows are those of checkpoints: the microscaling formats of OCP MX, NVFP4, and
// the block types of GGUF files. FormatNamed has them by name, as mxfp4 and q4_k. Tensor.Product multiplies by such a matrix.
//
// The rules about alignment and tiles, and the block floats BFLOAT8_B and BFLOAT4_B,
// are those of TT-NN, byte for byte as its host code at commit 923191064229 of
// github.com/tenstorrent/tt-metal computes them. Its devices compute some of them in
// another way; docs/tiles.md says more.
package pack
