package pytorch

import (
	"bytes"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/formats"
	"github.com/ashlar-go/ashlar/mem"
)

func init() {
	format.Register(&format.Format{Name: "pytorch", Ends: []string{".pt", ".pth", ".ckpt", ".bin"}, Several: true, Sign: sign,
		Zipped: func(names []string) bool {
			return slices.ContainsFunc(names, func(name string) bool { return strings.HasSuffix(name, "/data.pkl") })
		},
		Open: func(s *format.Source) (format.File, error) {
			f, err := openSource(s)
			if err != nil {
				return nil, err
			}
			return f, nil
		}})
}

// sign is sure of files that begin as PyTorch writes them and have its names: npz files begin so, too, and .bin are raw
// elements unless they do.
func sign(head []byte, named bool) format.Sign {
	const legacy = "\x8a\x0a\x6c\xfc\x9c\x46\xf9" // the magic number in its pickle, after the protocol
	isZip := bytes.HasPrefix(head, []byte("PK\x03\x04"))
	isLegacy := len(head) > 2 && head[0] == 0x80 && (bytes.HasPrefix(head[2:], []byte(legacy)) || named && head[1] >= 4 && head[2] == 0x95)
	switch {
	case named && (isZip || isLegacy):
		return format.Both
	case isLegacy:
		return format.Begin
	case named: // New says how it is broken; .bin are raw elements
		return format.End
	}
	return format.No
}

func openSource(s *format.Source) (*File, error) {
	switch {
	case s.Path != "":
		return Open(s.Path)
	case s.At != nil:
		f := &File{r: s.At, size: s.Size}
		return f, f.read()
	}
	b, err := formats.All(s)
	if err != nil {
		return nil, err
	}
	return New(mem.Borrow(b, nil))
}
