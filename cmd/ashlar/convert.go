package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/format/zarr"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/spf13/cobra"
)

func (p *program) convertCommand() *cobra.Command {
	v := &conversion{p: p}
	var to, order, stored, scales, chunks, picture, split string
	var parts modelFlags
	c := &cobra.Command{
		Use:   "convert IN[#NAME] OUT",
		Short: "Write tensors to a file of another format",
		Long: `Convert reads tensors from one file and writes them to another, in the format
that the end of its name says, or --to:

  .npy           one tensor                      --order F for column-major
  .npz           several, by name                --order F for column-major
  .safetensors   several, by name
  .gguf          several, by name, with at most four axes
  .zarr          several, by name, in a folder; .zarr.zip in a zip file
  s3://BUCKET/X  the same folder, in a bucket
  .csv .tsv      one of rank 1 or 2, as text     --header, --delimiter
  .bin .raw      one, its elements alone         --order F for column-major
  .png .jpg      one of (C,H,W), (H,W,C) or (H,W), uint8 or floats in 0 to 1   --axes
  .onnx          a model, see below              --into, --inputs, --outputs

IN may be any of these, a safetensors index, a file of PyTorch, a pb file, or an
ONNX model. Of a GGUF model that is split into files it is any of them. The
tensors of a model are its weights, also in graphs inside nodes. All tensors are
written, or the tensor #NAME, or the tensors of --name, which may come several
times. Where IN holds one without a name, --name is the one it gets. An array that
no tensor holds, as one of strings, is an error. With --skip a warning names it, and
the others are written.

Models. --into MODEL writes MODEL with the tensors of IN in place of its weights.
Each tensor must have the name, the type and the shape of a weight; if one doesn't,
all that don't are listed and nothing is written. Other weights stay. --inputs and
--outputs write the part of the model IN between values, given by name. Without
--inputs it begins at the inputs of IN, without --outputs it ends at its outputs.

Elements. --slice and then --dtype work on each tensor. Of several tensors a type
of floats leaves integers and truth values as they are, unless --name names them.
Floats become integers toward zero. A warning says how many numbers changed, and by
how much. A number out of the range of the type is an error. With --allow-lossy it
saturates or becomes infinite, and an integer keeps its low bits; for a fixed-point
type, fp8x23, fp16x16, fp32x32 or fp64x64, it stays an error. CSV is read as that
type, and raw elements are of it. Pictures have 256 levels from 0 to 1; floats
outside are an error, and --allow-lossy writes the nearest level.

Metadata of safetensors and GGUF files goes from one to the other, in safetensors
files as text. So does plain data beside the tensors of PyTorch. A warning says
where OUT has no place for it.

--split writes GGUF files in place of one, OUT-00001-of-00003.gguf and so on. They
appear together.

Packing, in safetensors files. --layout tile stores tensors in TT-NN's tiles of
32x32, or another of its tiles, such as 16x32, each padded to whole ones; rows is
without tiles. --dtype bfp8 and bfp4 are TT-NN's block floats, always in tiles.
--dtype int4 and uint4 are scaled: a value is an integer times a scale, the
smallest with which all values are in range, less a zero point in uint4. --scales
says how many scales there are: one; AXIS, for one at each position; or AXIS/BLOCK,
for one for BLOCK positions along it. With it int8 and uint8 are scaled, too. Packed
tensors are read like any other. From a safetensors file to another they stay as
they are if no flag changes them.

Blocks, in safetensors and GGUF files. --dtype q4_0, q8_0, q4_k and q6_k are GGUF's,
in both. mxfp8_e4m3, mxfp8_e5m2, mxfp6_e2m3, mxfp6_e3m2, mxfp4, mxint8 and nvfp4 are
microscaled, in safetensors files. Of several tensors some stay as they are, and a
warning names them: no floats, one axis, or rows of other lengths.
Blocks stay as they are from a GGUF file to another, or to a safetensors file. Without
--mx the elements and the scales of a microscaled tensor in two arrays are two arrays.

--digest prints the SHA-256 of each tensor that is written, as ashlar info does.

Where OUT has a row of names, it is IN's, or numbers.

OUT appears when it is whole. An earlier file stays until then. A write-protected
one stays altogether, unless --force is given. In a bucket arrays are marked as
unfinished until all are there. A folder, or one in a bucket, is never replaced. IN
and OUT may be -, standard input and output; --from and --to say the format then.` + zarrHelp,
		Example: `  ashlar convert testdata/digits-test.npy digits.csv --slice "0"
  ashlar convert testdata/digits.onnx weights.safetensors --dtype float16
  ashlar convert weights.npz weights.safetensors --layout tile --dtype bfp8
  ashlar convert weights.npz weights.safetensors --name w --dtype int4 --scales 0/32
  ashlar convert weights.npz two.npz --name w --name b
  ashlar convert weights.npz weights.gguf --dtype q8_0
  ashlar convert weights.npz weights.gguf --split 2GB
  ashlar convert mixed.npz numbers.safetensors --skip
  ashlar convert samples.bin samples.npy --dtype int16 --shape 100,2
  ashlar convert trained.safetensors new.onnx --into model.onnx
  ashlar convert testdata/digits.onnx head.onnx --outputs flatten1
  ashlar convert testdata/digits.onnx tail.onnx --inputs flatten1
  ashlar convert - out.npz --from csv --header --name table < in.csv`,
		Args: arguments(2, 2, "two files"),
	}
	f := c.Flags()
	f.StringVar(&to, "to", "", "the `format` that is written, if not by OUT's name: "+writtenNames+", onnx")
	f.StringVar(&order, "order", "C", "the order of elements in OUT: C, the last axis fastest, or F, the first")
	f.StringArrayVar(&v.names, "name", nil, "the `name` of a tensor to convert; several are written in this order")
	f.BoolVar(&v.lossy, "allow-lossy", false, "write numbers that are out of the range of --dtype, saturated or by their low bits")
	f.StringVar(&v.sliceText, "slice", "", "the `part` to convert, as in \"0, ::2\"")
	f.StringVar(&picture, "axes", "", "the `axes` of a picture that is written, where its shape doesn't say: HW, CHW or HWC")
	f.StringVar(&chunks, "chunks", "", "the `shape` of chunks in a Zarr folder, as 100,100 (default: about 1 MiB)")
	f.StringVar(&split, "split", "", "write GGUF files of at most so many tensors, as 100, or of so many bytes of them, as 2GB: the `most` of a file")
	f.StringVar(&stored, "layout", "", "how tensors are stored in a safetensors file: rows, tile, or the `tile`, as 16x32")
	f.StringVar(&scales, "scales", "", "how many scales integers have: one (default), an `axis`, or an axis and a block, as 0/32")
	p.reading.flags(c, "to convert to, or of raw elements")
	f.Var(&p.limit, "max-memory", "memory that a picture or an array of an npz may take: 2GiB, 500MB or none (default: by the file's size)")
	f.BoolVar(&v.digest, "digest", false, "print the SHA-256 of each tensor that is written")
	f.BoolVar(&v.skip, "skip", false, "leave out arrays that no tensor holds, such as strings")
	p.unfinishedFlag(c)
	parts.register(c)
	p.cfFlag(c)
	p.mxFlag(c)
	p.forceFlag(c)
	c.RunE = func(c *cobra.Command, args []string) (err error) {
		v.out = args[1]
		if scheme := zarr.Scheme(v.out); scheme == "http" || scheme == "https" {
			return usagef(c, "%s: a URL of %s is read only", zarr.PlainURL(v.out), scheme)
		} else if scheme != "" {
			f := format.ByEnd(v.out)
			if f == nil || to != "" {
				f = format.Named(cmp.Or(to, "zarr"))
			}
			if parts.given(to, v.out) || f == nil || f.Name != "zarr" || strings.HasSuffix(strings.ToLower(v.out), ".zip") {
				return usagef(c, "%s: convert writes Zarr folders to URLs, and no other files", zarr.PlainURL(v.out))
			}
			to = "zarr"
		}
		if parts.given(to, v.out) {
			return v.model(c, to, args[0], &parts)
		}
		if v.storage.Format, err = pack.FormatNamed(p.reading.dtype); err == nil {
			p.reading.dtype = "float32"
		}
		if err := v.readScales(scales); err != nil {
			return usagef(c, "--scales %s: %v", scales, err)
		}
		if err := p.reading.parse(c); err != nil {
			return err
		}
		if v.slice, err = layout.ParseSlice(v.sliceText); err != nil {
			return usagef(c, "--slice: %v", err)
		}
		switch {
		case to != "":
			if v.to = formatNamed(to); v.to == nil || v.to.Write == nil {
				return usagef(c, "--to %s: want one of %s, onnx", to, writtenNames)
			}
		case v.out == "-":
			return usagef(c, "standard output has no name that says the format: give --to")
		default:
			if v.to = format.ByEnd(v.out); v.to == nil {
				return usagef(c, "%s: its name says no format that can be written: give --to, one of %s", v.out, writtenNames)
			}
		}
		scaled := v.integers.Bits > 0
		if v.packed = stored != "" || v.storage.Format != nil || scaled; v.packed {
			rows := inRows(v.storage.Format)
			if (scaled || rows) && stored == "" {
				stored = "rows"
			}
			if v.storage.Tile, err = tileNamed(stored); err != nil {
				return usagef(c, "--layout %s: %v", stored, err)
			}
			switch {
			case v.to.Name != "safetensors" && !(v.to.Name == "gguf" && rows):
				return usagef(c, "--layout, block floats and scaled integers: %s files have no place for them, safetensors files have", v.to.Name)
			case rows && v.storage.Tile != pack.Tile{}:
				return usagef(c, "--layout %s: %s is always in rows", stored, v.storage.Format.Name())
			case v.several && v.storage.Tile != pack.Tile{}:
				return usagef(c, "--layout %s: integers with several scales are in rows", stored)
			case v.storage.Format != nil && !rows && v.storage.Tile == pack.Tile{}:
				return usagef(c, "--layout rows: %s is always in tiles", v.storage.Format.Name())
			}
		}
		if v.chunks, err = extentsOf(chunks); err != nil || chunks != "" && v.to.Name != "zarr" {
			return usagef(c, "--chunks %s: want an extent for each axis of a Zarr array, as 100,100", chunks)
		}
		if err := v.readSplit(split); err != nil || split != "" && (v.to.Name != "gguf" || v.out == "-") {
			return usagef(c, "--split %s: want a number of tensors, as 100, or a size, as 2GB, of GGUF files", split)
		}
		v.axes = strings.ToUpper(picture)
		if picture != "" && (!slices.Contains([]string{"HW", "CHW", "HWC"}, v.axes) || v.to.Name != "png" && v.to.Name != "jpeg") {
			return usagef(c, "--axes %s: want HW, CHW or HWC, of a PNG or JPEG file", picture)
		}
		switch v.fortran = order == "F"; {
		case order != "C" && order != "F":
			return usagef(c, "--order %s: want C or F", order)
		case v.fortran && !slices.Contains([]string{"npy", "npz", "raw"}, v.to.Name):
			return usagef(c, "--order F: %s files have one order, C", v.to.Name)
		}
		if v.digest && v.out == "-" {
			return usagef(c, "--digest and OUT - both want standard output")
		}
		return v.run(args[0])
	}
	return c
}
