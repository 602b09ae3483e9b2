// Package format opens and writes files of tensors in any registered format, as package image of the standard library does with
// pictures. A format registers itself in the init function of the package that reads it. So a program knows the formats
// that it imports, and links no others:
//
//	import _ "github.com/ashlar-go/ashlar/format/npy"
//
//	f, err := format.Open("weights.npz")
//
// format/npy registers npy and npz, format/safetensors a file and an index of several, format/gguf GGUF files, and format/pytorch, zarr,
// csv, raw and image theirs. onnx/weights registers models, whose arrays are their weights. The callers of this package are the command ashlar
// and the page of module web. A program that knows the format of its files needs only that format's package.
package format

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/tensor"
)

// The reasons for which a file isn't opened, described or written, for errors.Is.
var (
	ErrUnknown   = errors.New("a file of no format that the program imports")
	ErrNoHeader  = errors.New("it has no header that says what is in it")
	ErrProtected = errors.New("it is write-protected")
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

// Of returns the format of a file by its first bytes and its name, nil if neither tells it.
func Of(name string, head []byte) (found *Format) {
	surest := No
	for _, f := range formats {
		if sign := f.Sign(head[:min(len(head), Head)], f.ends(name)); sign > surest {
			found, surest = f, sign
		}
	}
	return found
}

// OfFile is Of for a file of size bytes. A zip file without a name that tells its format is known by the names of its entries.
func OfFile(name string, r io.ReaderAt, size int64) (*Format, error) {
	head := make([]byte, min(Head, size))
	if n, err := r.ReadAt(head, 0); n < len(head) {
		return nil, Bare(err)
	}
	found := Of(name, head)
	if !IsZip(head) || found != Of("", head) {
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

// IsZip reports whether a file that begins with head is a zip file.
func IsZip(head []byte) bool {
	return bytes.HasPrefix(head, []byte("PK\x03\x04")) || bytes.HasPrefix(head, []byte("PK\x05\x06"))
}

// OfFolder returns the format of a folder, nil if it is none.
func OfFolder(path string) *Format {
	if i := slices.IndexFunc(formats, func(f *Format) bool { return f.Folder != nil && f.Folder(path) }); i >= 0 {
		return formats[i]
	}
	return nil
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
	At   io.ReaderAt
	R    io.Reader
	Size int64 // the bytes of a file, and of a stream after All
	Options
}

// Reader reads a source from its beginning.
func (s *Source) Reader() (io.ReadCloser, error) {
	switch {
	case s.Path != "" || s.At == nil && s.R == nil:
		f, err := os.Open(s.Path)
		if err != nil {
			return nil, s.In(Bare(err))
		}
		return f, nil
	case s.At != nil:
		return io.NopCloser(io.NewSectionReader(s.At, 0, s.Size)), nil
	}
	return io.NopCloser(s.R), nil
}

// Read calls f with a reader of the source's bytes from the first. It names the file in an error.
func Read[T any](s *Source, f func(io.Reader) (T, error)) (t T, err error) {
	r, err := s.Reader()
	if err != nil {
		return t, err
	}
	defer r.Close()
	t, err = f(r)
	return t, s.In(err)
}

// All reads the whole source.
func (s *Source) All() ([]byte, error) {
	b, err := Read(s, func(r io.Reader) ([]byte, error) {
		b, err := io.ReadAll(r)
		return b, Bare(err)
	})
	s.Size = int64(len(b))
	return b, err
}

// In adds the file's name to an error of a package that was given only a reader.
func (s *Source) In(err error) error {
	if err == nil || s.Path == "" {
		return err
	}
	return fmt.Errorf("%s: %w", s.Path, err)
}

// Bare returns an error of the file system without its path, for callers that name the path themselves.
func Bare(err error) error {
	var e *fs.PathError
	if errors.As(err, &e) {
		return e.Err
	}
	return err
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
	switch {
	case i.Text != "":
		return i.Text
	case i.Storage != "":
		return Typed(i.Type, i.Shape) + ", " + i.Storage
	}
	return Typed(i.Type, i.Shape)
}

// Typed writes an element type and a shape: float32[2,3].
func Typed(elem string, shape []int) string {
	return elem + "[" + strings.Trim(strings.ReplaceAll(fmt.Sprint(shape), " ", ","), "[]") + "]"
}

// Bytes returns the bytes that the elements of a shape take, at most the largest int64.
func Bytes(d dtype.DType, shape ...int) int64 {
	if slices.Contains(shape, 0) {
		return 0
	}
	size := int64(d.Size())
	for _, n := range shape {
		if size > math.MaxInt64/int64(n) {
			return math.MaxInt64
		}
		size *= int64(n)
	}
	return size
}

// Open opens a file or a folder by its path. It refuses pipes and devices: they can be read only once, and Open reads the
// beginning of a file first. The package of a format reads them.
func Open(path string) (File, error) {
	s := &Source{Path: path}
	info, err := os.Stat(path)
	if err != nil {
		return nil, s.In(Bare(err))
	}
	var found *Format
	switch mode := info.Mode(); {
	case mode.IsDir():
		found = OfFolder(path)
	case mode.IsRegular():
		f, err := os.Open(path)
		if err != nil {
			return nil, s.In(Bare(err))
		}
		defer f.Close()
		s.Size = info.Size()
		if found, err = OfFile(path, f, s.Size); err != nil {
			return nil, s.In(err)
		}
	default:
		return nil, s.In(errors.New("it is a pipe or a device, not a file or a folder; read it with the package of its format"))
	}
	if found == nil {
		var names []string
		for _, f := range formats {
			names = append(names, f.Name)
		}
		return nil, s.In(fmt.Errorf("%w: %s", ErrUnknown, strings.Join(names, ", ")))
	}
	return found.Open(s)
}

// One is a file of one array, read by functions. Header is nil if the file describes its elements nowhere.
type One struct {
	Header func() (about string, i Info, err error)
	Read   func() (tensor.Any, error)                   // reads the whole array
	Part   func(idx []layout.Index) (tensor.Any, error) // reads a part, or all; nil: Read is used
	about  string
}

func (o *One) About() string   { return o.about }
func (o *One) Names() []string { return nil }
func (o *One) Close() error    { return nil }

func (o *One) Info(string) (i Info, err error) {
	if o.Header == nil {
		return i, ErrNoHeader
	}
	o.about, i, err = o.Header()
	return i, err
}

func (o *One) Tensor(_ string, idx ...layout.Index) (tensor.Any, error) {
	if o.Part != nil {
		return o.Part(idx)
	}
	t, err := o.Read()
	if err != nil {
		return tensor.Any{}, err
	}
	return tensor.Slice(t, idx...)
}

// ReadPart reads the part that idx selects of the array whose elements begin at byte i.Offset of r. swapped tells that their
// byte order isn't the machine's. ReadPart reads no bytes before the first selected element or after the last.
func ReadPart(r io.ReaderAt, i Info, swapped bool, idx ...layout.Index) (t tensor.Any, err error) {
	lay, off, err := i.Layout.Slice(idx...)
	if err != nil {
		return t, tensor.Wrap("tensor.Slice", err)
	}
	size := i.DType.Size()
	lo, hi := lay.Span() // lo is negative where a step is
	b, err := mem.Alloc((hi - lo + 1) * size)
	if err != nil {
		return t, err
	}
	if n, err := r.ReadAt(b.Bytes(), i.Offset+int64(off+lo)*int64(size)); n < b.Len() {
		return t, fmt.Errorf("the file ends early: %w", err)
	}
	t, _, err = tensor.SliceBytes(i.DType, b, -lo*size, lay, swapped)
	return t, err
}
