// Package format opens and writes files of tensors in any registered format, as package image of the standard library does with
// pictures. A format registers itself in the init function of the package that reads it. So a program knows the formats
// that it imports, and links no others:
//
//	import _ "github.com/ashlar-go/ashlar/format/npy"
//
//	f, err := format.Open("weights.npz")
//
// format/npy registers npy and npz, format/safetensors a file and an index of several, format/gguf GGUF files, and format/pytorch, zarr,
// csv, raw and image theirs. onnx/weights registers models, whose arrays are their weights. A program that knows the format of its files needs only that format's package.
//
// A program adds a format of its own with [Register]: functions that recognize, open and write it. [Error] and its reasons are for such
// formats, too.
package format

import (
	"archive/zip"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/disk"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/tensor"
)

// The reasons for which a file isn't opened, described or written, for errors.Is.
var (
	ErrUnknown   = errors.New("a file of no format that the program imports")
	ErrNoHeader  = errors.New("it has no header that says what is in it")
	ErrProtected = disk.ErrProtected
)

// A Sign is the degree of certainty that a file has a format. The highest wins.
type Sign int

const (
	No    Sign = iota
	Maybe      // the file begins like files of the format, but other files begin so too
	End        // the name has an ending of the format
	Begin      // the file begins as only files of the format do
	Sure       // the name has an ending of the format, whose files may begin with any bytes
	Both       // the name has an ending of the format, and the file begins like one
)

// A Format is a kind of file.
type Format struct {
	Name    string
	Ends    []string // the endings of file names, in lower case
	Several bool     // a file holds arrays by name
	// Sign looks at the first Head bytes of a file; named tells whether the file's name has one of Ends.
	Sign   func(head []byte, named bool) Sign
	Zipped func(names []string) bool // whether a zip file with entries of these names is of the format; nil: none is
	Folder func(path string) bool    // whether a folder is of the format; nil: none is

	Open  func(s *Source) (File, error)
	Write func(w io.Writer, arrays []Array, o WriteOptions) error // nil: the format can't be written
	Fill  func(dir string, arrays []Array, o WriteOptions) error  // writes a folder; nil: the format has no folders
}

// Head is the number of bytes at a file's beginning that Sign looks at.
const Head = 9

var formats []*Format

// Register makes a format known. Call it in an init function.
func Register(f *Format) { formats = append(formats, f) }

// Named returns the format with the given name, nil if there is none.
func Named(name string) *Format {
	if i := slices.IndexFunc(formats, func(f *Format) bool { return f.Name == name }); i >= 0 {
		return formats[i]
	}
	return nil
}

// ends reports whether the name of a file, or a folder, has an ending of the format.
func (f *Format) ends(file string) bool {
	name := strings.ToLower(strings.TrimRight(file, "/"))
	return slices.ContainsFunc(f.Ends, func(end string) bool { return strings.HasSuffix(name, end) })
}

// ByEnd returns the format in which a file of the given name is written, nil if no format has its ending.
func ByEnd(file string) *Format {
	if i := slices.IndexFunc(formats, func(f *Format) bool { return f.Write != nil && f.ends(file) }); i >= 0 {
		return formats[i]
	}
	return nil
}

// of returns the format of a file by its first bytes and its name, nil if neither tells it.
func of(name string, head []byte) (found *Format) {
	surest := No
	for _, f := range formats {
		if sign := f.Sign(head, f.ends(name)); sign > surest {
			found, surest = f, sign
		}
	}
	return found
}

// ofFile is of for a file of size bytes. A zip file without a name that tells its format is known by the names of its entries.
func ofFile(name string, r io.ReaderAt, size int64) (*Format, error) {
	head := make([]byte, min(Head, size))
	if n, err := r.ReadAt(head, 0); n < len(head) {
		return nil, disk.Bare(err)
	}
	found := of(name, head)
	if !isZip(head) || found != of("", head) {
		return found, nil
	}
	z, err := zip.NewReader(r, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return found, nil // which says how it is damaged
	}
	var names []string
	for _, f := range z.File {
		names = append(names, f.Name)
	}
	if i := slices.IndexFunc(formats, func(f *Format) bool { return f.Zipped != nil && f.Zipped(names) }); i >= 0 {
		found = formats[i]
	}
	return found, nil
}

// isZip reports whether a file that begins with head is a zip file.
func isZip(head []byte) bool {
	return bytes.HasPrefix(head, []byte("PK\x03\x04")) || bytes.HasPrefix(head, []byte("PK\x05\x06"))
}

// Begins returns the Sign function of a format whose files begin with one of the texts.
func Begins(texts ...string) func(head []byte, named bool) Sign {
	return func(head []byte, named bool) Sign {
		switch {
		case slices.ContainsFunc(texts, func(t string) bool { return bytes.HasPrefix(head, []byte(t)) }):
			return Begin
		case named:
			return End
		}
		return No
	}
}

// ByName is the Sign function of formats whose files may begin with any bytes.
func ByName(_ []byte, named bool) Sign {
	if named {
		return Sure
	}
	return No
}

// Options are facts that files of some formats don't hold, and choices for reading them.
type Options struct {
	DType      dtype.DType    // the type of raw elements, and of cells of text
	Layout     *layout.Layout // the layout of raw elements
	Header     bool           // text has a row of names
	Comma      rune           // the rune between cells; 0: the format's default
	MaxBytes   int64          // the limit for a picture, or for a compressed array; 0: the format's default
	Unfinished bool           // read Zarr arrays that aren't finished
	CF         bool           // decode Zarr arrays by the attributes of the CF conventions
	Scaled     bool           // join microscaled elements of safetensors with the scales beside them
	Hosts      []string       // the hosts that URLs within a file may name
}

// A Source is the input of a format: a file or a folder if Path is set, else the bytes of At, else the stream R, which is read once.
type Source struct {
	Path string
	Name string // tells the format of At or R by its ending; "": the first bytes alone tell it
	At   io.ReaderAt
	R    io.Reader
	Size int64 // the bytes of a file
	Options
}

// isFile reports whether Path is the source.
func (s *Source) isFile() bool { return s.Path != "" || s.At == nil && s.R == nil }

// Format returns the format that the first bytes and the name of a source tell, nil if the program imports none. Of a stream it
// reads these bytes ahead, and sets R to a reader that has them. A zip file is read from its end, so At then has the bytes of the stream.
// Pipes and devices are refused as paths: they can be read only once. Their reader is a stream.
func (s *Source) Format() (*Format, error) {
	if s.isFile() {
		found, err := s.ofPath()
		return found, disk.In(s.Path, disk.Bare(err))
	}
	if s.At == nil {
		b := bufio.NewReader(s.R)
		s.R = b
		head, err := b.Peek(Head)
		if err != nil && err != io.EOF {
			return nil, disk.Bare(err)
		}
		if !isZip(head) {
			return of(s.Name, head), nil
		}
		all, err := io.ReadAll(b)
		if err != nil {
			return nil, disk.Bare(err)
		}
		s.At, s.Size = bytes.NewReader(all), int64(len(all))
	}
	return ofFile(s.Name, s.At, s.Size)
}

// ofPath returns the format of a file or a folder.
func (s *Source) ofPath() (*Format, error) {
	info, err := os.Stat(s.Path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		if i := slices.IndexFunc(formats, func(f *Format) bool { return f.Folder != nil && f.Folder(s.Path) }); i >= 0 {
			return formats[i], nil
		}
		return nil, nil
	case !info.Mode().IsRegular():
		return nil, errors.New("it is a pipe or a device, not a file or a folder; read it with the package of its format")
	}
	f, err := os.Open(s.Path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s.Size = info.Size()
	return ofFile(s.Path, f, s.Size)
}

// Reader reads a source from its beginning. The caller closes it.
func (s *Source) Reader() (io.ReadCloser, error) {
	switch {
	case s.isFile():
		f, err := os.Open(s.Path)
		if err != nil {
			return nil, disk.In(s.Path, disk.Bare(err))
		}
		return f, nil
	case s.At != nil:
		return io.NopCloser(io.NewSectionReader(s.At, 0, s.Size)), nil
	}
	return io.NopCloser(s.R), nil
}

// A File is an open file.
type File interface {
	About() string                                               // the kind of file, such as "npz"; a file of one array knows it after Info
	Names() []string                                             // the names of the arrays; nil if there is one without a name
	Info(name string) (Info, error)                              // describes an array; doesn't read its elements
	Tensor(name string, idx ...layout.Index) (tensor.Any, error) // an array, or the part that idx selects
	Close() error
}

// Info describes an array.
type Info struct {
	Type   string      // the element type by dtype's name; by the file's name if no tensor holds the elements
	DType  dtype.DType // Invalid if no tensor holds the elements
	Shape  []int
	Bytes  int64 // the bytes of the elements, at most the largest int64
	Layout layout.Layout
	// Offset is the byte of the file where the elements begin, 0 if they don't lie there in one piece.
	Offset     int64
	Storage    string // the way the elements are stored, if it is unusual, such as "column-major"
	Text       string // the result of String; "": it is made of type, shape and storage
	Unfinished string // the writer of a Zarr array that isn't finished
}

// String describes an array for people: float32[2,3], column-major.
func (i Info) String() string {
	if i.Text != "" {
		return i.Text
	}
	text := i.Type + "[" + strings.Trim(strings.ReplaceAll(fmt.Sprint(i.Shape), " ", ","), "[]") + "]"
	if i.Storage != "" {
		text += ", " + i.Storage
	}
	return text
}

// Open opens a file or a folder by its path. It refuses pipes and devices: they can be read only once, and Open reads the
// beginning of a file first. The package of a format reads them.
func Open(path string) (File, error) {
	s := &Source{Path: path}
	found, err := s.Format()
	if err != nil {
		return nil, err
	}
	if found == nil {
		var names []string
		for _, f := range formats {
			names = append(names, f.Name)
		}
		return nil, disk.In(path, fmt.Errorf("%w: %s", ErrUnknown, strings.Join(names, ", ")))
	}
	return found.Open(s)
}
