// Package image turns PNG and JPEG pictures into tensors and back.
//
// [Read] decodes a picture into a tensor of shape (C,H,W), or (H,W,C) with [Options.HWC], of uint8 in 0..255 or float32 in
// 0..1. C is 1 (grey), 3 (red, green, blue) or 4 (red, green, blue, alpha). [Write] encodes such a tensor, [Config] reads
// no more than the headers, and [FromImage] and [ToImage] do the same conversions for pictures already in memory.
//
// # From a file's samples to a tensor's
//
// Every step works on integers, so the same file gives the same bytes on every platform. The decoders are the standard
// library's image/png and image/jpeg, which decode in integers too; the JPEG decoder takes the nearest chroma sample where
// chroma is subsampled, where other libraries may interpolate it, so bytes can differ by a little from theirs.
//
//  1. Samples become 8-bit. Of a 16-bit sample the high byte is kept; 1-, 2- and 4-bit grey is scaled to 0..255; a palette
//     is looked up. Colours are not multiplied by their alpha; premultiplied ones (image.RGBA) are divided by it the way
//     color.NRGBAModel does. YCbCr and CMYK become RGB as in color.YCbCrToRGB and color.CMYKToRGB.
//  2. Channels are converted. Grey is (19595·R + 38470·G + 7471·B + 32768) >> 16: the luma weights 0.299, 0.587 and 0.114
//     of ITU-R BT.601 in 1/65536, rounded to nearest, a half up. Grey becomes RGB by repeating it. An absent alpha is 255.
//     Where alpha has no place in the result it is dropped, and the colours stand as they are stored, also under full
//     transparency; with [Options.Background] the picture is laid over that colour instead:
//     (v·a + b·(255−a)) / 255, rounded to nearest.
//  3. The picture is resized, by area average: a pixel of the result covers a rectangle of the source, and its value is the
//     mean of what it covers, each source pixel weighted by the exact area in common, rounded once to nearest, a half up.
//     Enlarging follows the same rule, so it repeats pixels, and mixes them where borders don't coincide. With four
//     channels, colours are weighted by area and alpha both (so that what can't be seen does not bleed in), and are 0 where
//     alpha is 0 all over; alpha is weighted by area.
//  4. uint8 is stored as it is; float32 is v/255, rounded once.
//
// Gamma, colour profiles and EXIF orientation are not applied. Of an animated PNG the first picture is read.
//
// # Files that lie
//
// Sizes are read and checked before anything is decoded. Unless [Options.MaxPixels] says otherwise, the memory that decoding
// needs by the header's word, the result included, must be within 60 MiB and 7 bytes for each byte of the file, so that a
// small file can't claim much memory; a picture beyond it gives an error wrapping [ErrTooLarge]. A JPEG of more scans than
// any encoder writes is refused too, as each scan can take time out of proportion to its bytes.
package image
