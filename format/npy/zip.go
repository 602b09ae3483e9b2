package npy

import (
	"archive/zip"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/disk"
	"github.com/ashlar-go/ashlar/internal/core/formats"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/tensor"
)

const suffix = ".npy"

// Zip is an open npz file. Header and Tensor read one array each. Its
// methods may be called concurrently.
type Zip struct {
	path    string
	size    int64
	set     Options
	names   []string
	other   string // the name of an entry that is no array, if there is one
	entries map[string]*zip.File
	file    io.Closer
}

// OpenZip opens an npz file and reads its directory. Close it after use.
func OpenZip(path string, opts *Options) (*Zip, error) {
	// Opening a pipe waits for its other end, so look first.
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = mem.ErrNotFile
	}
	var f *os.File
	if err == nil {
		f, err = os.Open(path)
	}
	if err != nil {
		return nil, formats.Within(path, fail(-1, err, "%v", disk.Bare(err)))
	}
	var z *Zip
	if info, err = f.Stat(); err == nil {
		z, err = NewZip(f, info.Size(), opts)
	}
	if err != nil {
		f.Close()
		return nil, formats.Within(path, err)
	}
	z.path, z.file = path, f
	return z, nil
}

// NewZip reads the directory of an npz file of size bytes. It fails if the
// directory is damaged or names an array twice. It fails also if entries share
// bytes of the archive, since few bytes could then stand for any number of arrays.
func NewZip(r io.ReaderAt, size int64, opts *Options) (*Zip, error) {
	if r == nil {
		return nil, fail(-1, format.ErrFormat, "the reader is nil")
	}
	archive, err := zip.NewReader(r, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // names are never used as paths
		return nil, fail(-1, format.ErrFormat, "an npz file is a zip archive: %v", err)
	}
	z := &Zip{size: size, set: settingsOf(opts), entries: make(map[string]*zip.File, len(archive.File))}
	for _, f := range archive.File {
		name, ok := strings.CutSuffix(f.Name, suffix)
		if !ok && !begins(f) {
			z.other = f.Name
			continue
		}
		if _, twice := z.entries[name]; twice {
			return nil, fail(-1, format.ErrFormat, "the archive has the array %.100q twice", name)
		}
		z.entries[name] = f
		z.names = append(z.names, name)
	}
	if err := apart(archive.File, size); err != nil {
		return nil, err
	}
	return z, nil
}

// begins reports whether an entry begins like an npy file. NumPy checks the same if the name has no .npy.
func begins(f *zip.File) bool {
	if f.Flags&1 != 0 || f.UncompressedSize64 < uint64(len(magic)) {
		return false
	}
	body, err := f.Open()
	if err != nil {
		return false
	}
	defer body.Close()
	head := make([]byte, len(magic))
	_, err = io.ReadFull(body, head)
	return err == nil && string(head) == magic
}

// apart returns an error if entries share bytes. It skips entries without a local
// header; opening them is an error.
func apart(files []*zip.File, size int64) error {
	const least = 30 // bytes of a local header
	type extent struct {
		begin, end int64
		name       string
	}
	list := make([]extent, 0, len(files))
	for _, f := range files {
		at, err := f.DataOffset()
		if err != nil || at > size {
			continue
		}
		end := size
		if n := f.CompressedSize64; n < uint64(size-at) {
			end = at + int64(n)
		}
		list = append(list, extent{at - least - int64(len(f.Name)), end, f.Name})
	}
	slices.SortFunc(list, func(a, b extent) int { return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end)) })
	for i := 1; i < len(list); i++ { // neighbours are enough: each ends before the next one begins
		if a, b := list[i-1], list[i]; a.end > b.begin {
			return fail(b.begin, format.ErrFormat, "the entries %.100q and %.100q overlap", a.name, b.name)
		}
	}
	return nil
}

// Names returns the names of the arrays in the archive's order. An entry is an array
// if its name ends in .npy, which is left out, or if it begins like an npy file.
func (z *Zip) Names() []string { return slices.Clone(z.names) }

// Close closes a file opened by OpenZip. Tensors read before stay valid.
func (z *Zip) Close() error {
	if z.file == nil {
		return nil
	}
	return z.file.Close()
}

// Header reads the header of an array.
func (z *Zip) Header(name string) (Header, error) {
	h, body, err := z.open(name)
	if err != nil {
		return Header{}, z.in(name, err)
	}
	body.Close() // an error would be about bytes beyond the header
	return h, nil
}

// Tensor reads an array into memory of its own and checks the entry's checksum.
// It refuses an array larger than MaxBytes, or its default, before it inflates
// any bytes.
//
// With indices it reads the part that they select, as [tensor.Slice] does. If OpenZip
// opened the archive and the entry is stored uncompressed, it reads no other
// elements, and the part may share memory with the file as Open's does. Otherwise it
// inflates and skips all bytes before the part, and holds the elements from its first
// to its last in memory; MaxBytes bounds them. It doesn't check the entry's checksum. An
// index that doesn't fit gives a [format.Error] that wraps the one of tensor.Slice.
func (z *Zip) Tensor(name string, idx ...tensor.Index) (a tensor.Any, err error) {
	if len(idx) > 0 {
		a, err = z.slice(name, idx)
	} else {
		a, err = z.tensor(name)
	}
	return a, z.in(name, err)
}

func (z *Zip) slice(name string, idx []tensor.Index) (tensor.Any, error) {
	h, body, err := z.open(name)
	if err != nil {
		return tensor.Any{}, err
	}
	defer body.Close()
	if f := z.entries[name]; f.Method == zip.Store && z.path != "" {
		return z.mapped(f, idx)
	}
	whole, err := h.Layout()
	if err != nil {
		return tensor.Any{}, fail(-1, err, "shape %s: %v", shapeText(h.Shape), err)
	}
	part, from, err := whole.Slice(idx...)
	if err != nil {
		return tensor.Any{}, formats.WrongIndex("npy", "", tensor.Wrap("tensor.Slice", err))
	}
	lo, hi := part.Span()
	span := h
	span.Shape = []int{hi - lo + 1}
	if err := within(span, z.limit()); err != nil {
		return tensor.Any{}, err
	}
	size := h.DType.Size()
	if part.Size() > 0 {
		if _, err := io.CopyN(io.Discard, body, int64(from+lo)*int64(size)); err != nil {
			return tensor.Any{}, damaged(err)
		}
	}
	buf, err := readBytes(body, span, chunk)
	if err != nil {
		return tensor.Any{}, damaged(err)
	}
	a, shared, err := disk.SliceBytes(h.DType, buf, -lo*size, part, h.BigEndian != conv.BigEndian)
	if !shared {
		buf.Close()
	}
	if err != nil {
		err = fail(-1, err, "shape %s: %v", shapeText(h.Shape), err)
	}
	return a, err
}

// mapped is slice for an entry that is stored uncompressed.
func (z *Zip) mapped(f *zip.File, idx []tensor.Index) (tensor.Any, error) {
	buf, err := mem.Map(z.path)
	if err != nil {
		return tensor.Any{}, fail(-1, err, "%v", disk.Bare(err))
	}
	off, err := f.DataOffset()
	if n := int64(f.UncompressedSize64); err == nil && (off < 0 || n < 0 || n > int64(buf.Len())-off) {
		err = zip.ErrFormat
	}
	if err != nil {
		buf.Close()
		return tensor.Any{}, damaged(err)
	}
	a, mapped, err := fromFile(buf, int(off), int(f.UncompressedSize64), z.set, idx)
	if !mapped {
		buf.Close()
	}
	return a, err
}

// limit returns the most bytes that an array may have.
func (z *Zip) limit() int64 {
	if z.set.MaxBytes != 0 {
		return z.set.MaxBytes
	}
	return max(48<<20, ratio*z.size)
}

func (z *Zip) in(name string, err error) error {
	entry := name + suffix
	if f := z.entries[name]; f != nil {
		entry = f.Name
	}
	if err = formats.Within(entry, err); z.path != "" {
		err = formats.Within(z.path, err)
	}
	return err
}

// ratio is the compression up to which an array's memory is allocated at once:
// a larger one is inflated twice, first only to count.
const ratio = 8

func (z *Zip) tensor(name string) (tensor.Any, error) {
	h, body, err := z.open(name)
	if err != nil {
		return tensor.Any{}, err
	}
	defer func() { body.Close() }()
	f := z.entries[name]
	limit := z.limit()
	if err := within(h, limit); err != nil {
		return tensor.Any{}, err
	}
	// archive/zip inflates no more bytes than the directory says, so this bounds
	// the time for an entry too.
	if f.UncompressedSize64 > uint64(limit)+MaxHeader+16 {
		return tensor.Any{}, fail(-1, format.ErrLimit, "the entry inflates to %d bytes, the most accepted is %d; the option MaxBytes sets that", f.UncompressedSize64, limit)
	}
	want := int64(h.Bytes())
	if have := int64(f.UncompressedSize64) - int64(h.Offset); have < want {
		return tensor.Any{}, short(h, max(have, 0))
	}
	if want/ratio > int64(min(f.CompressedSize64, uint64(z.size))) {
		n, err := io.Copy(io.Discard, body)
		if err == nil && n < want {
			err = short(h, n)
		}
		if err != nil {
			return tensor.Any{}, damaged(err)
		}
		body.Close()
		if _, body, err = z.open(name); err != nil {
			return tensor.Any{}, err
		}
	}
	a, err := readElements(body, h, int(want))
	if err != nil {
		return tensor.Any{}, damaged(err)
	}
	if _, err := io.Copy(io.Discard, body); err != nil { // the checksum comes at the end
		a.Close()
		return tensor.Any{}, damaged(err)
	}
	return a, nil
}

// open begins to read an entry. It returns its header and a reader of the elements.
func (z *Zip) open(name string) (Header, io.ReadCloser, error) {
	f := z.entries[name]
	if f == nil {
		return Header{}, nil, fail(-1, format.ErrName, "the archive has no such array; Names lists the %d it has", len(z.names))
	}
	if f.Flags&1 != 0 {
		return Header{}, nil, fail(-1, format.ErrFormat, "the entry is encrypted")
	}
	body, err := f.Open()
	if errors.Is(err, zip.ErrAlgorithm) {
		return Header{}, nil, fail(-1, format.ErrFormat, "the entry is compressed by method %d; those read are 0 (stored) and 8 (deflate), as NumPy writes them", f.Method)
	}
	if err != nil {
		return Header{}, nil, damaged(err)
	}
	h, err := readHeader(body, z.set)
	if err != nil {
		body.Close()
		return Header{}, nil, damaged(err)
	}
	return h, body, nil
}

// damaged turns an error of archive/zip or the decompressor about an entry into one that
// wraps format.ErrFormat. It keeps errors of this package, of memory and of the file system.
func damaged(err error) error {
	var own *format.Error
	var space *mem.Error
	if errors.As(err, &space) {
		return err
	}
	if errors.As(err, &own) && slices.Contains([]error{format.ErrFormat, format.ErrType, format.ErrShort, format.ErrLimit}, own.Err) {
		return err
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		return fail(-1, err, "reading the archive: %v", disk.Bare(err))
	}
	at, text := int64(-1), err.Error()
	if own != nil {
		at, text = own.Offset, own.Text
	}
	return fail(at, format.ErrFormat, "the entry is damaged: %s", text)
}

// WriteOptions control how a file is written. A nil *WriteOptions means the zero value.
type WriteOptions struct {
	Fortran bool // the elements column-major, the first axis fastest
	// Deflate compresses the entries of an npz file, as numpy.savez_compressed does.
	// The bytes may change with the version of Go's compressor.
	Deflate bool
}

// WriteZipFile is WriteZip to a file, which appears as WriteFile's does.
func WriteZipFile(path string, names []string, ts []tensor.Any, opts *WriteOptions) error {
	return formats.PutFile(path, func(w io.Writer) error { return WriteZip(w, names, ts, opts) })
}

// WriteZip writes an npz file with ts[i] under names[i], in this order, stored
// without compression as numpy.savez does. The same input gives the same bytes:
// every entry is dated 1980-01-01. A name is a path without .npy, such as "w" or
// "layer1/w" or "/layer1/w:0". WriteZip fails if a name is empty or repeated, or has
// a backslash or one of the elements . and .. .
func WriteZip(w io.Writer, names []string, ts []tensor.Any, opts *WriteOptions) error {
	if len(names) != len(ts) {
		return fail(-1, format.ErrName, "%d names for %d tensors", len(names), len(ts))
	}
	if w == nil {
		return fail(-1, format.ErrType, "the writer is nil")
	}
	method := zip.Store
	if opts != nil && opts.Deflate {
		method = zip.Deflate
	}
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		const most = 1<<16 - 1 - len(suffix)
		path := strings.TrimPrefix(name, "/") // exporters name values so, and NumPy writes and reads them
		if path == "" || !fs.ValidPath(path+suffix) || !utf8.ValidString(name) || strings.ContainsAny(name, "\\\x00") || len(name) > most {
			return fail(-1, format.ErrName, "%.100q can't name an array; a name is a path like \"w\" or \"layer1/w\" of at most %d bytes", name, most)
		}
		if seen[name] {
			return fail(-1, format.ErrName, "the name %.100q twice", name)
		}
		seen[name] = true
	}
	out := zip.NewWriter(w)
	for i, name := range names {
		entry, err := out.CreateHeader(&zip.FileHeader{Name: name + suffix, Method: method, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)})
		if err == nil {
			err = Write(entry, ts[i], opts)
		} else {
			err = fail(-1, err, "writing the archive: %v", err)
		}
		if err != nil {
			return formats.Within(name+suffix, err)
		}
	}
	if err := out.Close(); err != nil {
		return fail(-1, err, "writing the archive's directory: %v", err)
	}
	return nil
}
