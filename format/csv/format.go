package csv

import (
	"cmp"
	"io"

	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/formats"
	"github.com/ashlar-go/ashlar/tensor"
)

func init() {
	register("csv", ',')
	register("tsv", '\t')
}

// A text is a file of text.
type text struct {
	formats.One
	columns []string
}

// Columns are the names of the columns, once the table is read; nil if it has none.
func (t *text) Columns() []string { return t.columns }

func register(name string, comma rune) {
	format.Register(&format.Format{Name: name, Ends: []string{"." + name}, Sign: format.ByName,
		Open: func(s *format.Source) (format.File, error) {
			t := &text{}
			t.Read = func() (tensor.Any, error) {
				return formats.Read(s, func(r io.Reader) (a tensor.Any, err error) {
					a, t.columns, err = Read(r, &Options{DType: s.DType, Comma: cmp.Or(s.Comma, comma), Header: s.Header})
					return a, err
				})
			}
			return t, nil
		},
		Write: func(w io.Writer, arrays []format.Array, o format.WriteOptions) error {
			between := comma
			if name == "csv" {
				between = cmp.Or(o.Comma, comma)
			}
			return Write(w, arrays[0].Tensor, arrays[0].Columns, &Options{Comma: between})
		}})
}
