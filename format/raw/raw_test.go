package raw_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/format/raw"
	_ "github.com/ashlar-go/ashlar/internal/seeded"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/ashlar-go/ashlar/tensortest"
	"pgregory.net/rapid"
)

func ExampleRead() {
	data := []byte{1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0}
	for _, text := range []string{"(2,3):(3,1)", "(2,3):(1,2)"} {
		t, err := raw.Read(bytes.NewReader(data), dtype.Int16, layout.MustParse(text))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(t)
	}
	_, err := raw.Read(bytes.NewReader(data), dtype.Int32, layout.MustParse("(2,3):(3,1)"))
	fmt.Println(err)
	// Output:
	// [[1 2 3]
	//  [4 5 6]]
	// [[1 3 5]
	//  [2 4 6]]
	// raw: the data ends after 12 bytes, (2,3):(3,1) of int32 wants 24
}

// TestRoundTrip writes tensors of every type and reads them in both ways.
func TestRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.bin")
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SampledFrom(dtype.All()).Draw(t, "type")
		shape := rapid.SliceOfN(rapid.IntRange(0, 4), 0, 4).Draw(t, "shape")
		lay, err := layout.RowMajor(shape...)
		if err != nil {
			t.Fatal(err)
		}
		n := lay.Size() * d.Size()
		data := append([]byte(nil), rapid.SliceOfN(rapid.Byte(), n, -1).Draw(t, "bytes")[:n]...)
		d.Mend(data)
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		opened, err := raw.Open(path, d, lay)
		if err != nil {
			t.Fatal(err)
		}
		defer opened.Close()
		read, err := raw.Read(iotest.OneByteReader(bytes.NewReader(data)), d, lay)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range []tensor.Any{opened, read} {
			var b bytes.Buffer
			if err := tensor.Encode(&b, a); err != nil || !bytes.Equal(b.Bytes(), data) || a.DType() != d || fmt.Sprint(a.Shape()) != fmt.Sprint(shape) {
				t.Fatalf("%s, %v: % x, not % x", tensor.Describe(a), err, b.Bytes(), data)
			}
		}
	})
}

func TestBools(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.bin")
	data := []byte{0, 1, 2, 255}
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	lay := layout.MustParse("4:1")
	want := tensor.FromSlice([]bool{false, true, true, true}, 4)
	opened, err := raw.Open(path, dtype.Bool, lay)
	if err != nil {
		t.Fatal(err)
	}
	read, err := raw.Read(bytes.NewReader(data), dtype.Bool, lay)
	if err != nil {
		t.Fatal(err)
	}
	tensortest.Equal(t, opened, want.Any())
	tensortest.Equal(t, read, want.Any())
}

// TestNarrow refuses bits beyond an element of 2 or 4 bits, unless they lie between elements, or outside of the part.
func TestNarrow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.bin")
	data := []byte{0x05, 0xf5, 0x03, 0xf5, 0xfe}
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	const want = "element 1 is the byte 0xf5, no int4, which has 4 bits in a byte of its own; read packed elements as uint8, and give them to DType.Unpack"
	_, err := raw.Open(path, dtype.Int4, layout.MustParse("5:1"))
	if !errors.Is(err, tensor.ErrValue) || err.Error() != "raw: "+path+": "+want {
		t.Error(err)
	}
	if _, err := raw.Open(path, dtype.Int4, layout.MustParse("5:1"), tensor.R(2, 4)); !errors.Is(err, tensor.ErrValue) || !strings.Contains(err.Error(), "element 1 is") {
		t.Error(err)
	}
	if _, err := raw.Read(bytes.NewReader(data), dtype.Int4, layout.MustParse("5:1")); !errors.Is(err, tensor.ErrValue) || err.Error() != "raw: "+want {
		t.Error(err)
	}
	if _, err := raw.Read(bytes.NewReader([]byte{4}), dtype.Uint2, layout.MustParse("1:1")); !errors.Is(err, tensor.ErrValue) {
		t.Error(err)
	}
	lay := layout.MustParse("3:2")
	opened, err := raw.Open(path, dtype.Int4, lay)
	if err != nil {
		t.Fatal(err)
	}
	read, err := raw.Read(bytes.NewReader(data), dtype.Int4, lay)
	if err != nil {
		t.Fatal(err)
	}
	last, err := raw.Open(path, dtype.Int4, layout.MustParse("5:1"), tensor.I(-1))
	if err != nil || fmt.Sprint(opened, read, last) != "[ 5  3 -2] [ 5  3 -2] -2" {
		t.Error(opened, read, last, err)
	}
}

// TestSlice compares parts of a file with slices of the whole, in a layout of columns with
// gaps between them.
func TestSlice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.bin")
	lay := layout.MustParse("(3,4):(1,4)")
	for _, d := range []dtype.DType{dtype.Bool, dtype.Int32} {
		data := bytes.Repeat([]byte{0, 1, 7, 255, 2}, 15*d.Size()/5)
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		whole, err := raw.Open(path, d, lay)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"", "1", ":, -1", "::-1, ::2", "3:"} {
			idx, err := layout.ParseSlice(text)
			if err != nil {
				t.Fatal(err)
			}
			want, err := tensor.Slice(whole, idx...)
			if err != nil {
				t.Fatal(err)
			}
			got, err := raw.Open(path, d, lay, idx...)
			if err != nil {
				t.Fatalf("[%s]: %v", text, err)
			}
			tensortest.Equal(t, got, want)
		}
		if _, err := raw.Open(path, d, lay, tensor.I(3)); !errors.Is(err, tensor.ErrIndex) || err.Error() != "raw: "+path+": index 3 is outside axis 0 of extent 3" {
			t.Error(err)
		}
	}
}

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.bin")
	if err := os.WriteFile(path, make([]byte, 24), 0o666); err != nil {
		t.Fatal(err)
	}
	large := fmt.Sprintf("%d:1", math.MaxInt/8+1)
	for _, tc := range []struct {
		d    dtype.DType
		lay  string
		err  error
		want string // of Open and of Read
		read string
	}{
		{dtype.Float32, "5:1", raw.ErrSize, "the file has 24 bytes, 5:1 of float32 wants 20", "more data follows the 20 bytes that 5:1 of float32 wants"},
		{dtype.Float32, "7:1", raw.ErrSize, "the file has 24 bytes, 7:1 of float32 wants 28", "the data ends after 24 bytes, 7:1 of float32 wants 28"},
		{dtype.Float64, "(0,3):(3,1)", raw.ErrSize, "the file has 24 bytes, (0,3):(3,1) of float64 wants 0", "more data follows the 0 bytes that (0,3):(3,1) of float64 wants"},
		{dtype.Int8, "24:-1", raw.ErrLayout, "24:-1 begins at offset -23; the first element of a file is at 0", ""},
		{dtype.Complex128, large, raw.ErrLayout, large + " of complex128 is larger than the address space", ""},
		{dtype.Invalid, "1:1", format.ErrType, "no tensor holds invalid", ""},
	} {
		_, err := raw.Open(path, tc.d, layout.MustParse(tc.lay))
		if !errors.Is(err, tc.err) || err.Error() != "raw: "+path+": "+tc.want {
			t.Errorf("Open %v of %v: got %v, want %s", tc.lay, tc.d, err, tc.want)
		}
		if tc.read == "" {
			tc.read = tc.want
		}
		_, err = raw.Read(bytes.NewReader(make([]byte, 24)), tc.d, layout.MustParse(tc.lay))
		if !errors.Is(err, tc.err) || err.Error() != "raw: "+tc.read {
			t.Errorf("Read %v of %v: got %v, want %s", tc.lay, tc.d, err, tc.read)
		}
	}
	if _, err := raw.Open(filepath.Join(dir, "none"), dtype.Int8, layout.MustParse("1:1")); !errors.Is(err, fs.ErrNotExist) || strings.Count(err.Error(), "none") != 1 {
		t.Errorf("a missing file: %v", err)
	}
	broken := errors.New("the line is dead")
	if _, err := raw.Read(iotest.ErrReader(broken), dtype.Int8, layout.MustParse("1:1")); !errors.Is(err, broken) {
		t.Errorf("a source that fails: %v", err)
	}
}

// FuzzRead reads any bytes as any type and shape: with a tensor that writes the same bytes,
// or an error of this package.
func FuzzRead(f *testing.F) {
	f.Add([]byte("12345678"), byte(dtype.Float32), "2:1")
	f.Add([]byte("12345678"), byte(dtype.Bool), "(2,4):(1,2)")
	f.Add([]byte("1234"), byte(dtype.Uint8), "(2,(1,2)):(2,(0,1))")
	f.Add([]byte(""), byte(dtype.Complex128), "(0,3):(3,1)")
	f.Add([]byte("123"), byte(dtype.Invalid), "99999999999:1")
	f.Fuzz(func(t *testing.T, data []byte, d byte, text string) {
		lay, err := layout.Parse(text)
		if err != nil {
			return
		}
		a, err := raw.Read(bytes.NewReader(data), dtype.DType(d), lay)
		if err != nil {
			var e *format.Error
			if !errors.As(err, &e) || e.Err == nil {
				t.Errorf("an error of another kind: %v", err)
			}
			return
		}
		if got := a.Layout(); a.DType() != dtype.DType(d) || !got.Equal(lay) {
			t.Errorf("%v with layout %v, not %v with %v", a.DType(), got, dtype.DType(d), lay)
		}
		var b bytes.Buffer
		if a.DType() != dtype.Bool && lay.IsRowMajor() { // bytes beyond 1 are read as true
			if err := tensor.Encode(&b, a); err != nil || !bytes.Equal(b.Bytes(), data) {
				t.Errorf("% x written again is % x, %v", data, b.Bytes(), err)
			}
		}
	})
}
