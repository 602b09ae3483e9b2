package main

import (
	"fmt"
	"io"

	"github.com/ashlar-go/ashlar/draw"
	"github.com/ashlar-go/ashlar/format/zarr"
	"github.com/ashlar-go/ashlar/internal/core/disk"
	"github.com/ashlar-go/ashlar/internal/core/formats"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/spf13/cobra"
)

func (p *program) showCommand() *cobra.Command {
	var text, picture, wave, mel string
	var heatmap bool
	c := &cobra.Command{
		Use:   "show FILE[#NAME]",
		Short: "Print the elements of a tensor",
		Long: `Show prints the type, the shape and the elements of a tensor as NumPy does,
shortened beyond 1000 elements. FILE is one of:

  an npy, pb, CSV, TSV or raw file
  an npz, safetensors, GGUF, PyTorch or Zarr file, with #NAME where it has several arrays
  an ONNX model, with the #NAME of a weight
  a picture, which is uint8 of (channels, height, width)
  a WAV file, which is float32 of (channels, samples)
  -, standard input; -#NAME needs -- before it, as it looks like a flag

--slice takes the text between NumPy's brackets: numbers, start:stop:step, ...,
None. Of npy, safetensors, GGUF and raw files, and of npz files that aren't compressed,
no more is read.

--heatmap shows the size of numbers instead: by colours on a terminal, else by
characters. --png writes the same picture to a file. Both want rank 2, 1 or 0,
and read every element. Where there are more than cells, a cell is the mean of
several.

--wave draws the samples of a WAV file to an SVG or PNG file. --mel draws its mel rows,
by the convention that --sound names, or icefall. --resample takes files of other
rates and of several channels.` + zarrHelp,
		Example: `  ashlar show testdata/digits-test.npy --slice "0, ::2"
  ashlar show testdata/digits-test.npy --slice 0 --heatmap
  ashlar show testdata/digits.onnx#dense1.weight --png dense1.png
  ashlar show testdata/seven.png --slice "0, 28:36, 28:36"
  ashlar show speech.wav --mel speech.svg --sound whisper --resample
  ashlar show samples.bin --dtype float32 --shape 100,2
  ashlar show -- -#bias < weights.npz`,
		Args: arguments(1, 1, "one file"),
	}
	f := c.Flags()
	f.StringVar(&text, "slice", "", "the `part` to print, as in \"0, ::2\"")
	f.BoolVar(&heatmap, "heatmap", false, "show the size of the numbers")
	f.StringVar(&picture, "png", "", "write a heatmap to a PNG `file`; - is standard output")
	f.StringVar(&wave, "wave", "", "draw the samples of a WAV file to an SVG or PNG `file`")
	f.StringVar(&mel, "mel", "", "draw the mel rows of a WAV file to an SVG or PNG `file`")
	p.soundFlags(c)
	p.reading.flags(c, "of raw and text files")
	f.Var(&p.limit, "max-memory", "memory that a picture or an array of an npz may take: 2GiB, 500MB or none (default: by the file's size)")
	p.unfinishedFlag(c)
	p.cfFlag(c)
	p.mxFlag(c)
	p.forceFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		idx, err := layout.ParseSlice(text)
		if err != nil {
			return usagef(c, "--slice: %v", err)
		}
		if err := p.reading.parse(c); err != nil {
			return err
		}
		if heatmap && picture == "-" {
			return usagef(c, "--heatmap and --png - both want standard output")
		}
		s, err := p.open(args[0])
		if err != nil {
			return err
		}
		if wave != "" || mel != "" {
			return p.showSound(s, wave, mel)
		}
		if !heatmap && picture == "" {
			if done, err := p.showText(s, idx); done || err != nil {
				return badSlice(args[0], text, err)
			}
		}
		stored, err := p.stored(s, idx...)
		if err != nil {
			return badSlice(args[0], text, err)
		}
		t, err := unpacked(stored)
		if err != nil {
			return fmt.Errorf("%s: %w", args[0], err)
		}
		title := tensor.Describe(t)
		if packed, ok := stored.Foreign().(pack.Tensor); ok && len(idx) == 0 {
			title = packed.Spec.String()
		}
		if picture != "" {
			if err := p.heatmapFile(picture, args[0], t); err != nil {
				return err
			}
		}
		switch {
		case heatmap:
			text, err := draw.Heatmap(t, &draw.HeatmapOptions{Colour: p.colour()})
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			fmt.Fprintf(p.out, "%s\n%s", title, text)
		case picture == "":
			fmt.Fprintf(p.out, "%s\n%v\n", title, t)
		}
		return nil
	}
	return c
}

// showText prints an array of strings or times, and reports whether it is one.
func (p *program) showText(s *source, idx []tensor.Index) (bool, error) {
	if !s.is("zarr") {
		return false, nil
	}
	f, name, err := p.named(s)
	if err != nil {
		return false, err
	}
	list, shape, err := f.(*zarr.Hierarchy).Strings(name, idx...)
	if list == nil || err != nil {
		return false, s.in(err)
	}
	i, err := f.Info(name)
	fmt.Fprintln(p.out, formats.Typed(i.Type, shape))
	p.printText(onnx.StringsValue(shape, list...))
	return true, err
}

// heatmapFile writes the heatmap of a tensor.
func (p *program) heatmapFile(file, from string, t tensor.Any) error {
	var drawing error // then it isn't the file that can't be written
	put := func(w io.Writer) error {
		_, drawing = draw.HeatmapPNG(w, t)
		return drawing
	}
	var err error
	if file == "-" {
		err = put(p.out)
	} else {
		err = p.atomic().File(file, put)
	}
	switch {
	case drawing != nil:
		return fmt.Errorf("%s: %w", from, drawing)
	case err != nil:
		return fmt.Errorf("%s: %w", file, disk.Bare(err))
	}
	return nil
}
