// Package pack holds tensors whose storage isn't simply their elements in order. They are
// padded to whole tiles, or encoded as block floats, microscaled numbers or integers of a
// few bits.
//
// Pack makes such a Tensor of another tensor, and Unpack reverses it. A Spec describes the
// storage of a tensor: its shape and padded shape, its tile, and the Format of its
// elements. Padding is not part of a tensor: no function here or in op reads it, and
// Unpack drops it.
//
//	x, err := pack.Pack(t, &pack.Options{Tile: pack.TileOf(32, 32), Format: pack.BFP8})
//	y, err := x.Unpack() // a tensor.Tensor[float32]
//
// The order of elements in storage is a layout of package layout, for tiles and for
// rows: Spec.Storage. Without a Format, elements are stored unchanged, and Tensor.View
// returns a tensor over them, padding included, which every operator takes.
//
// The formats of rows come from checkpoints: the microscaling formats of OCP MX, NVFP4,
// and the block types of GGUF files. FormatNamed returns them by names such as mxfp4 and
// q4_k. Tensor.Product multiplies by such a matrix.
//
// Alignment, tiles, and the block floats BFLOAT8_B and BFLOAT4_B follow TT-NN. The bytes
// are the same as from its host code at commit 923191064229 of
// github.com/tenstorrent/tt-metal. Its devices compute some of them in another way;
// docs/tiles.md says more.
package pack
