package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/format/image"
	"github.com/ashlar-go/ashlar/format/npy"
	"github.com/ashlar-go/ashlar/format/safetensors"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/onnx/imagedecoder"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
)

// A source is a file that the command line names, opened as far as it takes to know its kind.
type source struct {
	name  string // for people
	arg   string // as the command line has it, without #
	array string // what stands behind #
	kind  kind
	path  string        // of a regular file; "" for a stream
	r     *bufio.Reader // of a stream
	size  int64         // of a regular file, and of a stream that is read in full
}

type kind uint8

const (
	unknownKind kind = iota
	npyKind
	npzKind
	safetensorsKind
	indexKind // of several safetensors files
	onnxKind
	pictureKind
	csvKind
	tsvKind
	rawKind
	tensorKind // a TensorProto of ONNX
	zarrKind   // a folder, or a zip file by its name
)

// several reports whether files of a kind hold tensors by name.
func (k kind) several() bool {
	return k == npzKind || k == safetensorsKind || k == indexKind || k == zarrKind
}

// split takes FILE#name apart at the last # behind the name of a file that is there: both may have # in them.
func split(arg string) (path, array string) {
	for i := len(arg); i > 0; i = strings.LastIndexByte(arg[:i], '#') {
		if _, err := os.Lstat(arg[:i]); err == nil || arg[:i] == "-" {
			return arg[:i], strings.TrimPrefix(arg[i:], "#")
		}
	}
	if i := strings.LastIndexByte(arg, '#'); i >= 0 {
		return arg[:i], arg[i+1:]
	}
	return arg, ""
}

// open looks at FILE or FILE#name.
func (p *program) open(arg string) (*source, error) {
	if arg == "" {
		return nil, &usageError{"the name of a file is empty"}
	}
	path, array := split(arg)
	s := &source{name: path, arg: path, array: array}
	if path == "-" {
		if p.stdinBy != "" {
			return nil, &usageError{fmt.Sprintf("standard input can be read once, and is given as %s and as %s", p.stdinBy, arg)}
		}
		p.stdinBy, s.name = arg, "standard input"
		return s, p.stream(s, p.stdin)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, bare(err))
	}
	info, err := f.Stat()
	switch {
	case err != nil:
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, bare(err))
	case info.IsDir() && isZarr(path):
		f.Close()
		s.path, s.kind = path, zarrKind
		return s, nil
	case info.IsDir():
		f.Close()
		return nil, fmt.Errorf("%s: it is a folder, not a file", path)
	case info.Mode()&os.ModeDevice != 0:
		f.Close()
		return nil, fmt.Errorf("%s: it is a device, not a file or a pipe", path)
	case !info.Mode().IsRegular():
		p.closers = append(p.closers, f)
		return s, p.stream(s, f)
	}
	defer f.Close()
	s.path, s.size = path, info.Size()
	head := make([]byte, sniffed)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, fmt.Errorf("%s: %w", path, bare(err))
	}
	s.kind = p.kindOf(head[:n], path)
	return s, nil
}

// stream makes s read from r, once and in order.
func (p *program) stream(s *source, r io.Reader) error {
	most := int64(mostStream)
	if free := p.freely(); free > 0 {
		most = free
	}
	s.r = bufio.NewReader(&stream{r, most, most})
	head, err := s.r.Peek(sniffed)
	if err != nil && err != io.EOF {
		return fmt.Errorf("%s: %w", s.name, bare(err))
	}
	s.kind = p.kindOf(head, s.name)
	return nil
}

// mostStream is how many bytes are read from a stream whatever it is, if --max-memory doesn't say so.
const mostStream = 1 << 30

// A stream ends with an error where it has more bytes than are accepted.
type stream struct {
	r          io.Reader
	left, most int64
}

func (s *stream) Read(b []byte) (int, error) {
	if s.left == 0 && len(b) > 0 {
		var more [1]byte
		n, err := s.r.Read(more[:])
		if n > 0 {
			err = fmt.Errorf("more than %s come; save them to a file, and give its name", amount(s.most))
		}
		return 0, err
	}
	n, err := s.r.Read(b[:min(int64(len(b)), s.left)])
	s.left -= int64(n)
	return n, err
}

// all reads what is left of a stream.
func (s *source) all() ([]byte, error) {
	b, err := io.ReadAll(s.r)
	s.size = int64(len(b))
	return b, err
}

// proto reads a TensorProto.
func (s *source) proto() (tensor.Any, error) {
	r, err := s.reader()
	if err != nil {
		return tensor.Any{}, err
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		return tensor.Any{}, fmt.Errorf("%s: %w", s.name, bare(err))
	}
	t, err := onnx.DecodeTensor(b)
	if err != nil {
		return tensor.Any{}, fmt.Errorf("%s: %w", s.name, err)
	}
	return t, nil
}

// sniffed is how many bytes tell the kinds apart: the length of a safetensors header and its first character.
const sniffed = 9

// kindOf goes by --from, else by the name of a file whose contents may look like anything, else by the contents, and by the
// name where they don't say.
func (p *program) kindOf(head []byte, name string) kind {
	if p.reading.format != nil {
		return p.reading.format.kind
	}
	named := formatOf(name)
	if named != nil && (named.kind == csvKind || named.kind == tsvKind || named.kind == rawKind || named.kind == zarrKind) {
		return named.kind
	}
	begins := func(magic string) bool { return bytes.HasPrefix(head, []byte(magic)) }
	switch {
	case begins("\x93NUMPY"):
		return npyKind
	case begins("PK\x03\x04"), begins("PK\x05\x06"):
		return npzKind
	case begins("\x89P"), begins("\xff\xd8"):
		return pictureKind
	case len(head) == sniffed && head[8] == '{' && binary.LittleEndian.Uint64(head) <= safetensors.MaxHeader:
		return safetensorsKind
	}
	switch ext := strings.ToLower(filepath.Ext(name)); {
	case named != nil:
		return named.kind
	case ext == ".onnx":
		return onnxKind
	case ext == ".pb":
		return tensorKind
	case ext == ".json" && bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("{")):
		return indexKind
	}
	if begins("\x08") { // the field that models begin with: ir_version
		return onnxKind
	}
	return unknownKind
}

// bare is an error of the file system without the path, which stands before it anyway.
func bare(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// in names a stream in an error of a package that was given bytes; one that was given a path has named it.
func (s *source) in(err error) error {
	if err == nil || s.r == nil {
		return err
	}
	return fmt.Errorf("%s: %w", s.name, err)
}

func (s *source) unknown() error {
	return fmt.Errorf("%s: it is none of the files that are read: npy, npz, safetensors, ONNX, PNG, JPEG, and by their names CSV, TSV, raw, Zarr and pb", s.name)
}

// reader reads s from its beginning.
func (s *source) reader() (io.ReadCloser, error) {
	if s.r != nil {
		return io.NopCloser(s.r), nil
	}
	f, err := os.Open(s.path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, bare(err))
	}
	return f, nil
}

// model decodes s as an ONNX model, which stays open until the program ends.
func (p *program) model(s *source) (m *onnx.Model, err error) {
	if s.r == nil {
		m, err = onnx.Open(s.path)
	} else {
		var b []byte
		if b, err = s.all(); err == nil {
			m, err = onnx.Decode(b)
		}
	}
	if err != nil {
		return nil, s.in(err)
	}
	m.Operators = []*op.Op{imagedecoder.Operator}
	p.closers = append(p.closers, m)
	return m, nil
}

// openModel opens the file that an argument names as an ONNX model.
func (p *program) openModel(arg string) (*source, *onnx.Model, error) {
	s, err := p.open(arg)
	if err != nil {
		return nil, nil, err
	}
	if s.kind != onnxKind && s.kind != unknownKind {
		return nil, nil, fmt.Errorf("%s: it isn't an ONNX model", s.name)
	}
	m, err := p.model(s)
	if err != nil && s.kind == unknownKind {
		err = fmt.Errorf("%w; it doesn't look like an ONNX model", err)
	}
	return s, m, err
}

// arrays is a file of several tensors.
type arrays interface {
	Names() []string
	Tensor(name string) (tensor.Any, error)
	Slice(name string, idx ...tensor.Index) (tensor.Any, error)
	Close() error
}

// arrays opens a file of several tensors until the program ends.
func (p *program) arrays(s *source) (a arrays, err error) {
	if s.kind == onnxKind {
		m, err := p.model(s)
		if err != nil {
			return nil, err
		}
		return weightsOf(m), nil
	}
	switch {
	case s.kind == zarrKind:
		a, err = p.hierarchy(s)
	case s.r == nil && s.kind == npzKind:
		a, err = npy.OpenZip(s.path, p.zipOptions()...)
	case s.r == nil && s.kind == indexKind:
		a, err = safetensors.OpenIndex(s.path)
	case s.kind == indexKind:
		err = errors.New("an index is a file beside those it names; give its path")
	case s.r == nil:
		a, err = safetensors.Open(s.path)
	default:
		var b []byte
		if b, err = s.all(); err != nil {
			break
		}
		if s.kind == npzKind {
			a, err = npy.NewZip(bytes.NewReader(b), int64(len(b)), p.zipOptions()...)
		} else {
			a, err = safetensors.New(mem.Borrow(b, nil))
		}
	}
	if err != nil {
		return nil, s.in(err)
	}
	p.closers = append(p.closers, a)
	return a, nil
}

// weights are the initializers of a model, those of graphs inside nodes included. Where several have one name, those after
// the first have .2, .3 and so on behind it. Tensor is called with one of Names.
type weights struct {
	*onnx.Model
	names  []string
	byName map[string]*onnx.TensorProto
}

func weightsOf(m *onnx.Model) weights {
	w := weights{Model: m, byName: make(map[string]*onnx.TensorProto)}
	for g := range m.Graph.All() {
		for i := range g.Initializers {
			t := &g.Initializers[i]
			name := t.Name
			for k := 2; w.byName[name] != nil; k++ {
				name = fmt.Sprintf("%s.%d", t.Name, k)
			}
			w.names, w.byName[name] = append(w.names, name), t
		}
	}
	return w
}

func (w weights) Names() []string { return w.names }

func (w weights) Tensor(name string) (tensor.Any, error) {
	return w.Model.Tensor(w.byName[name])
}

func (w weights) Slice(name string, idx ...tensor.Index) (tensor.Any, error) {
	t, err := w.Tensor(name)
	if err != nil {
		return tensor.Any{}, err
	}
	return tensor.Slice(t, idx...)
}

// unpacked is t itself, or the values of a packed one.
func unpacked(t tensor.Any) (tensor.Any, error) {
	if packed, ok := t.Foreign().(pack.Tensor); ok {
		return packed.Unpack()
	}
	return t, nil
}

// tensor reads the one tensor that s is, or names with #, or the part of it that idx
// selects; a picture as uint8 (C,H,W).
func (p *program) tensor(s *source, idx ...tensor.Index) (tensor.Any, error) {
	t, err := p.stored(s, idx...)
	if err != nil {
		return tensor.Any{}, err
	}
	return unpacked(t)
}

// stored is tensor, but all of a packed one stays packed.
func (p *program) stored(s *source, idx ...tensor.Index) (t tensor.Any, err error) {
	if s.array != "" && s.kind != unknownKind && s.kind != onnxKind && !s.kind.several() {
		return tensor.Any{}, s.single()
	}
	switch s.kind {
	case npyKind:
		if s.r == nil {
			t, err = npy.OpenSlice(s.path, idx)
			return t, err
		}
		t, err = npy.Read(s.r)
		err = s.in(err)
	case pictureKind:
		t, err = p.picture(s, image.Options{})
	case csvKind, tsvKind:
		t, _, err = p.table(s)
	case rawKind:
		return p.elements(s, idx)
	case tensorKind:
		t, err = s.proto()
	case unknownKind:
		return tensor.Any{}, s.unknown()
	}
	if err != nil {
		return tensor.Any{}, err
	}
	if !t.IsZero() {
		return tensor.Slice(t, idx...)
	}
	a, err := p.arrays(s)
	if err != nil {
		return tensor.Any{}, err
	}
	names, name := a.Names(), s.array
	switch {
	case len(names) == 0:
		return tensor.Any{}, fmt.Errorf("%s: it has no arrays", s.name)
	case name == "" && len(names) == 1:
		name = names[0]
	case name == "":
		return tensor.Any{}, fmt.Errorf("%s: it has %d arrays%s; name one: %s#NAME", s.name, len(names), listed(names), s.arg)
	case !slices.Contains(names, name):
		return tensor.Any{}, s.noArray(names)
	}
	t, err = part(a, name, idx)
	return t, s.in(err)
}

// noTensor reports whether an array can't be read as its elements are strings, or another type that no tensor holds.
func noTensor(err error) bool {
	return errors.Is(err, npy.ErrType) || errors.Is(err, safetensors.ErrType) || errors.Is(err, onnx.ErrUnsupported)
}

// part reads an array or, without reading the rest, a part of it. All of an array of an
// npz goes through its checksum, a part can't.
func part(a arrays, name string, idx []tensor.Index) (tensor.Any, error) {
	if len(idx) == 0 {
		return a.Tensor(name)
	}
	return a.Slice(name, idx...)
}

// badSlice names the flag that an error of tensor.Slice is about.
func badSlice(arg, text string, err error) error {
	var e *tensor.Error
	if errors.As(err, &e) && e.Op == "tensor.Slice" {
		return fmt.Errorf("%s: --slice %q: %w", arg, text, e)
	}
	return err
}

// single says that # has no meaning for s.
func (s *source) single() error {
	return fmt.Errorf("%s: #%s names an array of an npz, safetensors or ONNX file, which this isn't", s.name, s.array)
}

// noArray says that s has no array of the name behind #.
func (s *source) noArray(names []string) error {
	return fmt.Errorf("%s: it has no array %q; it has %d%s", s.name, s.array, len(names), listed(names))
}

// listed writes names behind a colon, a dozen at most.
func listed(names []string) string {
	const most = 12
	if len(names) == 0 {
		return ""
	}
	more := ""
	if len(names) > most {
		names, more = names[:most], ", …"
	}
	short := make([]string, len(names))
	for i, n := range names {
		short[i] = label(n)
	}
	return ": " + strings.Join(short, ", ") + more
}

// picture reads s as a picture.
func (p *program) picture(s *source, o image.Options) (tensor.Any, error) {
	if free := p.freely(); free > 0 {
		o.MaxPixels = int(min(free/8, math.MaxInt)) // a pixel takes up to 8 bytes
	}
	r, err := s.reader()
	if err != nil {
		return tensor.Any{}, err
	}
	defer r.Close()
	t, err := image.Read(r, o)
	if err != nil {
		return tensor.Any{}, fmt.Errorf("%s: %w", s.name, err)
	}
	return t, nil
}

// zipOptions are those of npz files.
func (p *program) zipOptions() []npy.Option {
	if free := p.freely(); free > 0 {
		return []npy.Option{npy.MaxBytes(free)}
	}
	return nil
}

// within refuses arrays of an npz that together take more memory than one may: each is within the bound of an array, and a
// small file can hold many of them. Those that can't be read are left for their own errors.
func (p *program) within(s *source, a arrays, names []string, idx []tensor.Index) error {
	z, ok := a.(*npy.Zip)
	if !ok || len(names) < 2 {
		return nil
	}
	most := max(48<<20, 8*s.size)
	if free := p.freely(); free > 0 {
		most = free
	}
	left := most
	for _, name := range names {
		h, err := z.Header(name)
		if err != nil {
			continue
		}
		n := int64(h.Bytes())
		if len(idx) > 0 {
			lay, err := h.Layout()
			if err != nil {
				continue
			}
			part, _, err := lay.Slice(idx...)
			if err != nil {
				continue
			}
			lo, hi := part.Span()
			n = int64(hi-lo+1) * int64(h.DType.Size())
		}
		if left -= n; left < 0 {
			return fmt.Errorf("%s: its %d arrays have more than the %s that are accepted together: name one, or raise --max-memory", s.name, len(names), amount(most))
		}
	}
	return nil
}

// freely is how much memory a picture, or an array of an npz, may take whatever the size of its file: what --max-memory
// says. It is 0 for the packages' own bounds, which let any file take 48 MiB, when the flag isn't given or is below that.
func (p *program) freely() int64 {
	switch {
	case p.limit < 0:
		return math.MaxInt64
	case p.limit < 64<<20:
		return 0
	}
	return int64(p.limit)
}
