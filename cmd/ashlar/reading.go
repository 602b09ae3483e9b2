package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	_ "github.com/ashlar-go/ashlar/format/csv"
	_ "github.com/ashlar-go/ashlar/format/pytorch"
	_ "github.com/ashlar-go/ashlar/format/raw"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/spf13/cobra"
)

// formatNames are the formats that the command line names; writtenNames are the ones that are written.
const (
	formatNames  = writtenNames + ", pytorch"
	writtenNames = "npy, npz, safetensors, gguf, zarr, csv, tsv, raw, png, jpeg"
)

// formatNamed returns the format of a name, nil if there is none.
func formatNamed(name string) *format.Format {
	if !slices.Contains(strings.Split(formatNames, ", "), name) {
		return nil
	}
	return format.Named(name)
}

// flags adds the flags; what states the purpose of --dtype.
func (r *reading) flags(c *cobra.Command, what string) {
	f := c.Flags()
	f.StringVar(&r.from, "from", "", "the `format` that is read, if not by contents and name: "+formatNames)
	f.StringVar(&r.dtype, "dtype", "", "the element `type` "+what+", such as float32")
	f.StringVar(&r.shape, "shape", "", "the shape of raw elements, row-major, as in \"2,3\", or their layout, as in \"(2,3):(1,2)\"")
	f.BoolVar(&r.header, "header", false, "the first row of a CSV or TSV file has the columns' names")
	f.StringVar(&r.delimiter, "delimiter", "", "the `character` between the cells of a CSV file, or tab (default: a comma)")
}

// parse reads the values of the flags.
func (r *reading) parse(c *cobra.Command) (err error) {
	if r.from != "" {
		if r.format = formatNamed(r.from); r.format == nil {
			return usagef(c, "--from %s: want one of %s", r.from, formatNames)
		}
	}
	if r.dtype != "" {
		if r.as, err = dtype.Parse(r.dtype); err != nil {
			return usagef(c, "--dtype: %v", err)
		}
	}
	if r.shape != "" {
		if r.layout, err = parseShape(r.shape); err != nil {
			return usagef(c, "--shape %s: %v", r.shape, err)
		}
	}
	r.comma, err = parseDelimiter(r.delimiter)
	if err != nil {
		return usagef(c, "--delimiter %s: %v", r.delimiter, err)
	}
	return nil
}

// parseShape reads a shape or the layout (2,3):(1,2).
func parseShape(text string) (layout.Layout, error) {
	if strings.Contains(text, ":") {
		return layout.Parse(text)
	}
	shape, err := extents(text)
	if err != nil {
		return layout.Layout{}, fmt.Errorf("%w, or a layout, as in (2,3):(1,2)", err)
	}
	return layout.RowMajor(shape...)
}

// extents reads a shape in any spelling: 2x3, 2,3, (2,3) or [2,3]. Within brackets a comma may follow the last extent. () and no text are rank 0.
func extents(text string) ([]int, error) {
	list := []int{}
	bare := strings.TrimSpace(text)
	for _, b := range []string{"()", "[]"} {
		if len(bare) > 1 && bare[0] == b[0] && bare[len(bare)-1] == b[1] {
			bare = strings.TrimSuffix(strings.TrimSpace(bare[1:len(bare)-1]), ",")
			break
		}
	}
	if bare == "" {
		return list, nil
	}
	for part := range strings.SplitSeq(strings.ReplaceAll(bare, "x", ","), ",") {
		n, err := strconv.ParseUint(strings.TrimSpace(part), 10, strconv.IntSize-1)
		if err != nil {
			return nil, fmt.Errorf("%q is no size: want a shape, as 2x3, 2,3 or (2,3)", part)
		}
		list = append(list, int(n))
	}
	return list, nil
}

func parseDelimiter(text string) (rune, error) {
	switch {
	case text == "":
		return 0, nil
	case text == "tab":
		return '\t', nil
	case utf8.RuneCountInString(text) != 1:
		return 0, fmt.Errorf("want one character, or tab")
	}
	c, _ := utf8.DecodeRuneInString(text)
	return c, nil
}

// unfinishedFlag adds --unfinished to a command that reads elements.
func (p *program) unfinishedFlag(c *cobra.Command) {
	c.Flags().BoolVar(&p.partly, "unfinished", false, "read Zarr arrays that aren't finished, too; chunks that aren't written yet have the fill value")
}

// zarrHelp is the part of help texts about Zarr.
const zarrHelp = `

Zarr is a folder, a zip file of one, kerchunk's references in JSON, or the URL of a
folder, https://HOST/X or s3://BUCKET/X. For s3 the environment has the key,
AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and the service, AWS_REGION and
AWS_ENDPOINT_URL. With --cf numbers and times are as the attributes of the CF
conventions say: "days since 2000-01-01" are dates, and an int16 with a
scale_factor is float64. References lead to the hosts of --allow-host alone.`

// cfFlag adds --cf and --allow-host to a command that reads Zarr.
func (p *program) cfFlag(c *cobra.Command) {
	c.Flags().StringArrayVar(&p.hosts, "allow-host", nil, "a `host` that URLs within a file of references may name: example.org, example.org:8080, s3://bucket")
	c.Flags().BoolVar(&p.cf, "cf", false, "decode Zarr arrays by the CF conventions: scale_factor, add_offset, _FillValue, units of time")
}

// mxFlag adds --mx to a command that reads safetensors.
func (p *program) mxFlag(c *cobra.Command) {
	c.Flags().BoolVar(&p.mx, "mx", false, "join microscaled tensors of safetensors with their scales: x with x_scale, x.weight with x.scale, x_blocks with x_scales")
}

// tileNamed reads the value of --layout; block floats without one are in tiles.
func tileNamed(text string) (pack.Tile, error) {
	switch text {
	case "rows":
		return pack.Tile{}, nil
	case "", "tile":
		return pack.TileOf(32, 32), nil
	}
	sides, err := extents(text)
	if err != nil || len(sides) != 2 {
		return pack.Tile{}, fmt.Errorf("want rows, tile, or the sides of a tile, as in 16x32")
	}
	t := pack.TileOf(sides[0], sides[1])
	_, err = t.Layout(sides[0], sides[1]) // whether it is one of TT-NN's
	return t, err
}
