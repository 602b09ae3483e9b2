package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/format/image"
	"github.com/ashlar-go/ashlar/format/zarr"
	_ "github.com/ashlar-go/ashlar/format/zarr/s3"
	"github.com/ashlar-go/ashlar/internal/core/disk"
	"github.com/ashlar-go/ashlar/internal/core/formats"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/onnx/imagedecoder"
	"github.com/ashlar-go/ashlar/onnx/weights"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
)

// A source is a file that the command line names, opened as far as it takes to know its format.
type source struct {
	format.Source
	name   string         // for people
	arg    string         // as the command line has it, without #
	array  string         // the name behind #
	format *format.Format // nil: unknown
	file   format.File    // once named has opened it

	model *onnx.Model           // once program.model has opened it
	sizes map[string]tensor.Any // once program.sizes has read them
	steps []onnx.Step           // once program.stepsOf has planned them
}

// is reports whether a file has one of these formats.
func (s *source) is(names ...string) bool {
	return s.format != nil && slices.Contains(names, s.format.Name)
}

func (s *source) isModel() bool   { return s.is("onnx") }
func (s *source) isPicture() bool { return s.is("png", "jpeg") }

// several reports whether files of the format hold tensors by name; a model isn't one.
func (s *source) several() bool { return s.format != nil && s.format.Several }

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
	s := &source{Source: format.Source{Options: p.options()}, name: path, arg: path, array: array}
	if path == "-" {
		if p.stdinBy != "" {
			return nil, &usageError{fmt.Sprintf("standard input can be read once, and is given as %s and as %s", p.stdinBy, arg)}
		}
		p.stdinBy, s.name = arg, "standard input"
		return s, p.stream(s, p.stdin)
	}
	if zarr.Scheme(path) != "" {
		s.format, s.name = format.Named("zarr"), zarr.PlainURL(path)
		return s, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, disk.Bare(err))
	}
	info, err := f.Stat()
	switch {
	case err != nil:
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, disk.Bare(err))
	case info.Mode()&os.ModeDevice != 0:
		f.Close()
		return nil, fmt.Errorf("%s: it is a device, not a file or a pipe", path)
	case !info.Mode().IsRegular() && !info.IsDir():
		p.closers = append(p.closers, f)
		return s, p.stream(s, f)
	}
	f.Close()
	s.Path = path
	if s.format, err = s.Format(); err != nil {
		return nil, err
	}
	switch {
	case !info.IsDir():
		s.format = cmp.Or(p.reading.format, s.format)
	case s.format == nil:
		return nil, fmt.Errorf("%s: it is a folder, not a file", path)
	}
	return s, nil
}

// stream makes s read from r, once and in order.
func (p *program) stream(s *source, r io.Reader) error {
	most := int64(mostStream)
	if free := p.freely(); free > 0 {
		most = free
	}
	s.R, s.Name = &stream{r, most, most}, s.name
	found, err := s.Format()
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	s.format = cmp.Or(p.reading.format, found)
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

// in names a stream in an error of a package that was given bytes; one that was given a path has named it.
func (s *source) in(err error) error {
	if err == nil || s.Path != "" {
		return err
	}
	return fmt.Errorf("%s: %w", s.name, err)
}

func (s *source) unknown() error {
	return fmt.Errorf("%s: it is none of the files that are read: npy, npz, safetensors, GGUF, PyTorch, ONNX, PNG, JPEG, WAV, and by their names CSV, TSV, raw, Zarr and pb", s.name)
}

// model decodes s as an ONNX model, which stays open until the program ends.
func (p *program) model(s *source) (*onnx.Model, error) {
	if s.model != nil {
		return s.model, nil
	}
	f, err := format.Named("onnx").Open(&s.Source)
	if err != nil {
		return nil, s.in(err)
	}
	s.model = f.(weights.Weights).Model
	s.model.Operators = []*op.Op{imagedecoder.Operator}
	p.closers = append(p.closers, s.model)
	return s.model, nil
}

// openModel opens the file that an argument names as an ONNX model.
func (p *program) openModel(arg string) (*source, *onnx.Model, error) {
	s, err := p.open(arg)
	if err != nil {
		return nil, nil, err
	}
	if s.format != nil && !s.isModel() {
		return nil, nil, fmt.Errorf("%s: it isn't an ONNX model", s.name)
	}
	m, err := p.model(s)
	if err != nil && s.format == nil {
		err = fmt.Errorf("%w; it doesn't look like an ONNX model", err)
	}
	return s, m, err
}

// file opens s until the program ends.
func (p *program) file(s *source) (format.File, error) {
	if s.isModel() {
		m, err := p.model(s)
		if err != nil {
			return nil, err
		}
		return weights.Of(m), nil
	}
	if s.format == nil {
		return nil, s.unknown()
	}
	if s.is("raw") && (p.reading.dtype == "" || p.reading.shape == "") {
		return nil, fmt.Errorf("%s: raw elements say neither their type nor their shape: give --dtype and --shape", s.name)
	}
	open := s.format.Open
	if zarr.Scheme(s.arg) != "" {
		open = s.remote
	}
	f, err := open(&s.Source)
	if err != nil {
		return nil, s.in(err)
	}
	p.closers = append(p.closers, f)
	return f, nil
}

// remote opens the Zarr arrays below a URL, or the one that the argument names.
func (s *source) remote(o *format.Source) (format.File, error) {
	store, err := zarr.URL(context.Background(), s.arg)
	if err != nil {
		return nil, err
	}
	set := &zarr.Options{MaxBytes: cmp.Or(o.MaxBytes, 16<<30), Unfinished: o.Unfinished, CF: o.CF}
	var h *zarr.Hierarchy
	var absent error
	if s.array != "" {
		if h, absent = zarr.OpenMember(store, s.array, set); absent == nil {
			return h, h.Spread()
		}
		if !errors.Is(absent, fs.ErrNotExist) && !errors.Is(absent, zarr.ErrNode) {
			return nil, absent
		}
	}
	h, err = zarr.OpenStore(store, strings.TrimSuffix(path.Base(s.name), ".zarr"), set)
	if err == nil {
		err = h.Spread()
	}
	if absent != nil && errors.Is(err, errors.ErrUnsupported) { // there is no list of those that are there
		err = absent
	}
	return h, err
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

// values reads an array of a file that is open, unpacked.
func (s *source) values(f format.File, name string) (tensor.Any, error) {
	t, err := f.Tensor(name)
	if err != nil {
		return tensor.Any{}, s.in(err)
	}
	t, err = unpacked(t)
	return t, s.in(err)
}

// stored is tensor, but all of a packed one stays packed.
func (p *program) stored(s *source, idx ...tensor.Index) (t tensor.Any, err error) {
	f, name, err := p.named(s)
	if err != nil {
		return t, err
	}
	t, err = f.Tensor(name, idx...)
	return t, s.in(err)
}

// named opens s, if it isn't open, and returns the name of the one array that it is, or names with #.
func (p *program) named(s *source) (f format.File, name string, err error) {
	if s.array != "" && s.format != nil && !s.isModel() && !s.several() {
		return nil, "", s.single()
	}
	if s.file == nil {
		if s.file, err = p.file(s); err != nil {
			return nil, "", err
		}
	}
	names := s.file.Names()
	switch name = s.array; {
	case !s.several() && !s.isModel():
	case len(names) == 0:
		err = fmt.Errorf("%s: it has no arrays", s.name)
	case name == "" && len(names) == 1:
		name = names[0]
	case name == "":
		err = fmt.Errorf("%s: it has %d arrays%s; name one: %s#NAME", s.name, len(names), listed(names), zarr.PlainURL(s.arg))
	case !slices.Contains(names, name):
		err = s.noArray(names)
	}
	return s.file, name, err
}

// noTensor reports whether an array can't be read as its elements are strings, or another type that no tensor holds.
func noTensor(err error) bool {
	return errors.Is(err, format.ErrType) || errors.Is(err, onnx.ErrUnsupported) ||
		errors.Is(err, format.ErrType)
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
	return fmt.Errorf("%s: #%s names an array of an npz, safetensors, GGUF, PyTorch or ONNX file, which this isn't", s.name, s.array)
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
	t, err := formats.Read(&s.Source, func(r io.Reader) (tensor.Any, error) { return image.Read(r, &o) })
	return t, s.in(err)
}

// within refuses arrays of an npz, or of PyTorch, that together take more memory than one may: each is within the bound of an
// array, and a small file can hold many of them. Arrays that can't be read are left for their own errors.
func (p *program) within(s *source, f format.File, names []string, idx []tensor.Index) error {
	if !s.is("npz", "pytorch") || len(names) < 2 {
		return nil
	}
	most := max(48<<20, 8*s.Size)
	if free := p.freely(); free > 0 {
		most = free
	}
	left := most
	for _, name := range names {
		h, err := f.Info(name)
		if err != nil {
			continue
		}
		n := h.Bytes
		if len(idx) > 0 {
			part, _, err := h.Layout.Slice(idx...)
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

// freely is how much memory a picture, or an array of an npz, may take whatever the size of its file: the value of
// --max-memory. It is 0 for the packages' own bounds, which let any file take 48 MiB, when the flag isn't given or is below that.
func (p *program) freely() int64 {
	switch {
	case p.limit < 0:
		return math.MaxInt64
	case p.limit < 64<<20:
		return 0
	}
	return int64(p.limit)
}

// headerOf opens a file of one array, and reads its header.
func (p *program) headerOf(s *source) (f format.File, i format.Info, err error) {
	if s.is("raw") {
		return nil, i, fmt.Errorf("%s: %w", s.name, format.ErrNoHeader)
	}
	if f, err = p.file(s); err != nil {
		return nil, i, err
	}
	if i, err = f.Info(""); errors.Is(err, format.ErrNoHeader) {
		err = fmt.Errorf("%s: %w", s.name, err)
	}
	return f, i, s.in(err)
}

// options returns the command line's facts about a file to be read.
func (p *program) options() format.Options {
	r := &p.reading
	o := format.Options{DType: r.as, Header: r.header, Comma: r.comma, MaxBytes: p.freely(), Unfinished: p.partly, CF: p.cf, Scaled: p.mx, Hosts: p.hosts}
	if r.shape != "" {
		o.Layout = &r.layout
	}
	return o
}
