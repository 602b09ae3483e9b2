package format_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/tensor"
)

// levels is an open file of the program's own format: the word LEVELS, then one byte for each element.
type levels struct{ bytes []byte }

const word = "LEVELS"

func openLevels(s *format.Source) (format.File, error) {
	r, err := s.Reader()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	all, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	body, ok := bytes.CutPrefix(all, []byte(word)) // the name alone may have told the format
	if !ok {
		return nil, &format.Error{Format: "levels", Path: s.Path, Text: "it doesn't begin with " + word, Err: format.ErrFormat}
	}
	return &levels{body}, nil
}

func (l *levels) About() string   { return "levels" }
func (l *levels) Names() []string { return nil } // one array, without a name
func (l *levels) Close() error    { return nil }

func (l *levels) Info(string) (format.Info, error) {
	lay, err := layout.RowMajor(len(l.bytes))
	return format.Info{Type: "uint8", DType: dtype.Uint8, Shape: []int{len(l.bytes)}, Bytes: int64(len(l.bytes)), Layout: lay}, err
}

func (l *levels) Tensor(_ string, idx ...layout.Index) (tensor.Any, error) {
	return tensor.Slice(tensor.FromSlice(l.bytes, len(l.bytes)).Any(), idx...)
}

func writeLevels(w io.Writer, arrays []format.Array, _ format.WriteOptions) error {
	a, ok := tensor.As[uint8](arrays[0].Tensor)
	if !ok || len(arrays) > 1 {
		return fmt.Errorf("a file of levels has one array of uint8")
	}
	_, err := w.Write(append([]byte(word), a.Contiguous().Elems()...))
	return err
}

// A program registers a format of its own, and then opens and writes it like others.
func ExampleRegister() {
	format.Register(&format.Format{Name: "levels", Ends: []string{".levels"}, Sign: format.Begins(word), Open: openLevels, Write: writeLevels})

	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "a.levels")
	if err := format.WriteFile(path, nil, format.Array{Tensor: tensor.Arange[uint8](0, 6, 1).Any()}); err != nil {
		panic(err)
	}
	f, err := format.Open(path)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	i, err := f.Info("")
	if err != nil {
		panic(err)
	}
	part, err := f.Tensor("", tensor.R(2, 5))
	fmt.Println(f.About(), i, part, err)

	err = format.WriteFile(path, nil, format.Array{Tensor: tensor.New[bool](2).Any()}) // and the file of before stays
	fmt.Println(err != nil)
	// Output:
	// levels uint8[6] [2 3 4] <nil>
	// true
}

// Bytes without a name tell their format themselves.
func ExampleSource_Format() {
	var b bytes.Buffer
	npz := format.Named("npz")
	if err := npz.Write(&b, []format.Array{{Name: "w", Tensor: tensor.Arange[int8](0, 3, 1).Any()}}, format.WriteOptions{}); err != nil {
		panic(err)
	}
	s := &format.Source{R: &b} // such as the body of a request
	found, err := s.Format()
	if err != nil || found == nil {
		panic(err)
	}
	f, err := found.Open(s)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	fmt.Println(found.Name, f.Names())
	// Output: npz [w]
}

// Metadata goes from one file to another.
func ExampleMetadataOf() {
	var b bytes.Buffer
	o := format.WriteOptions{Metadata: []format.Meta{{Key: "made by", Value: "hand"}}}
	if err := format.Named("safetensors").Write(&b, []format.Array{{Name: "w", Tensor: tensor.New[float32](2).Any()}}, o); err != nil {
		panic(err)
	}
	f, err := format.Named("safetensors").Open(&format.Source{R: &b})
	if err != nil {
		panic(err)
	}
	defer f.Close()
	fmt.Println(format.MetadataOf(f))
	// Output: [{made by hand}] <nil>
}
