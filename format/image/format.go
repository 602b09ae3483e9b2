package image

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/formats"
	"github.com/ashlar-go/ashlar/tensor"
)

func init() {
	register(PNG, "\x89P", ".png")
	register(JPEG, "\xff\xd8", ".jpg", ".jpeg")
}

func register(kind Format, magic string, ends ...string) {
	format.Register(&format.Format{Name: kind.String(), Ends: ends, Sign: format.Begins(magic), Open: open,
		Write: func(w io.Writer, arrays []format.Array, o format.WriteOptions) error {
			axes := slices.Index([]string{"", "HW", "CHW", "HWC"}, o.Axes)
			if axes < 0 {
				return fmt.Errorf("no axes of a picture %q: want HW, CHW or HWC", o.Axes)
			}
			return Write(w, arrays[0].Tensor, &WriteOptions{Format: kind, Axes: Axes(axes)})
		}})
}

func open(s *format.Source) (format.File, error) {
	return &formats.One{Header: func() (about string, i format.Info, err error) {
		c, err := formats.Read(s, Config)
		if err != nil {
			return "", i, err
		}
		i = format.Info{Type: "uint8", DType: dtype.Uint8, Shape: []int{c.Channels, c.Height, c.Width}, Bytes: int64(c.Channels * c.Height * c.Width)}
		i.Storage = fmt.Sprintf("%d pixels wide, %d high, %s", c.Width, c.Height, map[int]string{1: "grey", 3: "RGB", 4: "RGBA"}[c.Channels])
		return strings.ToUpper(c.Format.String()), i, nil
	}, Read: func() (tensor.Any, error) {
		return formats.Read(s, func(r io.Reader) (tensor.Any, error) {
			return Read(r, &Options{MaxPixels: int(min(s.MaxBytes/8, math.MaxInt))}) // a pixel takes up to 8 bytes
		})
	}}, nil
}
