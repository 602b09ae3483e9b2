// Package image turns PNG and JPEG pictures into tensors and back.
//
// [Read] decodes a picture into a tensor of shape (C,H,W), or (H,W,C) with [Options.HWC], of uint8 in 0..255 or float32 in
// 0..1. C is 1 (grey), 3 (red, green, blue) or 4 (red, green, blue, alpha). [Write] encodes such a tensor, [Config] reads
// only the headers, and [FromImage] and [ToImage] do the same conversions for pictures already in memory.
//
// # From a file's samples to a tensor's
//
// Every step computes with integers, so the same file gives the same bytes on every platform. The decoders are the standard
// library's image/png and image/jpeg, which compute with integers too. Where chroma is subsampled, the JPEG decoder takes the
// nearest chroma sample. Other libraries may interpolate, so their bytes can differ a little.
//
//  1. Samples become 8-bit. A 16-bit sample keeps its high byte. Grey of fewer than 8 bits is scaled to 0..255. A palette
//     is looked up. Colours are not multiplied by their alpha; premultiplied ones (image.RGBA) are divided by it as
//     color.NRGBAModel does. YCbCr and CMYK become RGB as in color.YCbCrToRGB and color.CMYKToRGB.
//  2. Channels are converted. The weights of grey are the luma weights 0.299, 0.587 and 0.114 of ITU-R BT.601 in units of
//     1/65536; the sum is rounded to nearest, a half up:
//     (19595·R + 38470·G + 7471·B + 1<<15) >> 16.
//     Grey becomes RGB by repeating it. An absent alpha is 255.
//     If the result has no alpha, alpha is dropped and colours stay as they are stored, also under full transparency. With
//     [Options.Background] the picture is laid over that colour instead: (v·a + b·(255−a)) / 255, rounded to nearest.
//  3. The picture is resized by area average. A pixel of the result covers a rectangle of the source. Its value is the mean
//     of the source pixels, each weighted by the exact area that it shares with the rectangle, rounded once to nearest, a
//     half up. Enlarging follows the same rule: it repeats pixels, and mixes them where borders don't coincide. With four
//     channels, alpha is weighted by area, and colours by area times alpha, so that transparent pixels don't bleed in.
//     Colours are 0 if alpha is 0 in the whole rectangle.
//  4. uint8 is stored as it is; float32 is v/255, rounded once.
//
// Gamma, colour profiles and EXIF orientation are not applied. Only the first picture of an animated PNG is read.
//
// # Files that lie
//
// Sizes are read and checked before anything is decoded. A small file can't claim much memory: unless [Options.MaxPixels] is
// set, the memory for decoding, by the header's sizes and with the result, must be within 60 MiB plus 7 bytes for each byte of
// the file. A larger picture gives an error wrapping [ErrTooLarge]. A JPEG of more scans than any encoder writes is refused
// too, since each scan can take time out of proportion to its bytes.
package image
