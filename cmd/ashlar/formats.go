package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format/csv"
	"github.com/ashlar-go/ashlar/format/raw"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/spf13/cobra"
)

// A format is a kind of file by its name on the command line and the ends of files' names.
type format struct {
	name string
	kind kind
	ends []string
}

var formats = []format{
	{"npy", npyKind, []string{".npy"}},
	{"npz", npzKind, []string{".npz"}},
	{"safetensors", safetensorsKind, []string{".safetensors"}},
	{"zarr", zarrKind, []string{".zarr", ".zarr.zip"}},
	{"csv", csvKind, []string{".csv"}},
	{"tsv", tsvKind, []string{".tsv"}},
	{"raw", rawKind, []string{".bin", ".raw"}},
	{"png", pictureKind, []string{".png"}},
	{"jpeg", pictureKind, []string{".jpg", ".jpeg"}},
}

// formatNamed returns the format of a name, nil if there is none.
func formatNamed(name string) *format {
	if i := slices.IndexFunc(formats, func(f format) bool { return f.name == name }); i >= 0 {
		return &formats[i]
	}
	return nil
}

// formatOf returns the format that the end of a file's name says, nil if it says none.
func formatOf(file string) *format {
	name := strings.ToLower(strings.TrimRight(file, "/"))
	ends := func(end string) bool { return strings.HasSuffix(name, end) }
	if i := slices.IndexFunc(formats, func(f format) bool { return slices.ContainsFunc(f.ends, ends) }); i >= 0 {
		return &formats[i]
	}
	return nil
}

const formatNames = "npy, npz, safetensors, zarr, csv, tsv, raw, png, jpeg"

// reading is what the command line says about files whose contents don't say it.
type reading struct {
	from, dtype, shape, delimiter string // the flags as they are given
	header                        bool

	format *format     // --from, nil if it isn't given
	as     dtype.DType // --dtype, Invalid if it isn't
	layout layout.Layout
	comma  rune // 0: by the kind of file
}

// flags adds the flags; what says what --dtype is for.
func (r *reading) flags(c *cobra.Command, what string) {
	f := c.Flags()
	f.StringVar(&r.from, "from", "", "the `format` that is read, if not by contents and name: "+formatNames)
	f.StringVar(&r.dtype, "dtype", "", "the element `type` "+what+", such as float32")
	f.StringVar(&r.shape, "shape", "", "the shape of raw elements, row-major, as in \"2,3\", or their layout, as in \"(2,3):(1,2)\"")
	f.BoolVar(&r.header, "header", false, "the first row of a CSV or TSV file has the columns' names")
	f.StringVar(&r.delimiter, "delimiter", "", "what separates the cells of a CSV file, if not a comma: a `character`, or tab")
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

// parseShape reads 2,3 or the layout (2,3):(1,2).
func parseShape(text string) (layout.Layout, error) {
	if strings.Contains(text, ":") {
		return layout.Parse(text)
	}
	var shape []int
	for part := range strings.SplitSeq(strings.Trim(text, "()[]"), ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil {
			return layout.Layout{}, fmt.Errorf("want extents, as in 2,3, or a layout, as in (2,3):(1,2)")
		}
		shape = append(shape, n)
	}
	return layout.RowMajor(shape...)
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

// table reads s as CSV or TSV, with the columns' names if there are any.
func (p *program) table(s *source) (tensor.Any, []string, error) {
	r, err := s.reader()
	if err != nil {
		return tensor.Any{}, nil, err
	}
	defer r.Close()
	t, names, err := csv.Read(r, csv.Options{DType: p.reading.as, Comma: commaOf(s.kind, p.reading.comma), Header: p.reading.header})
	if err != nil {
		return tensor.Any{}, nil, fmt.Errorf("%s: %w", s.name, err)
	}
	return t, names, nil
}

// commaOf is the delimiter of a kind of text unless the command line gives one.
func commaOf(k kind, given rune) rune {
	if given == 0 && k == tsvKind {
		return '\t'
	}
	return given
}

// elements reads s, or the part that idx selects, as raw elements.
func (p *program) elements(s *source, idx []tensor.Index) (tensor.Any, error) {
	if p.reading.as == dtype.Invalid || p.reading.shape == "" {
		return tensor.Any{}, fmt.Errorf("%s: raw elements say neither their type nor their shape: give --dtype and --shape", s.name)
	}
	if s.r == nil {
		return raw.OpenSlice(s.path, p.reading.as, p.reading.layout, idx...)
	}
	t, err := raw.Read(s.r, p.reading.as, p.reading.layout)
	if err == nil {
		t, err = tensor.Slice(t, idx...)
	}
	return t, s.in(err)
}
