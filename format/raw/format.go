package raw

import (
	"errors"
	"io"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/disk"
	"github.com/ashlar-go/ashlar/internal/core/formats"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/tensor"
)

func init() {
	format.Register(&format.Format{Name: "raw", Ends: []string{".bin", ".raw"}, Sign: format.ByName, Open: open,
		Write: func(w io.Writer, arrays []format.Array, o format.WriteOptions) error {
			t := arrays[0].Tensor
			if o.Fortran {
				axes := make([]int, t.Rank())
				for i := range axes {
					axes[i] = len(axes) - 1 - i
				}
				var err error
				if t, err = tensor.Permute(t, axes...); err != nil {
					return err
				}
			}
			return tensor.Encode(w, t)
		}})
}

func open(s *format.Source) (format.File, error) {
	if s.DType == dtype.Invalid || s.Layout == nil {
		return nil, disk.In(s.Path, errors.New("raw elements say neither their type nor their shape: give DType and Layout"))
	}
	f := &formats.One{Read: func() (tensor.Any, error) {
		return formats.Read(s, func(r io.Reader) (tensor.Any, error) { return Read(r, s.DType, *s.Layout) })
	}}
	if s.Path != "" {
		f.Part = func(idx []layout.Index) (tensor.Any, error) {
			return Open(s.Path, s.DType, *s.Layout, idx...)
		}
	}
	return f, nil
}
