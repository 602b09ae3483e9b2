package npy

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// elements returns a's elements in row-major order and its shape.
func elements[T num.Elem](t *testing.T, a tensor.Any, err error) ([]T, []int) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	b, ok := tensor.As[T](a)
	if !ok {
		t.Fatalf("a %v, not a %v", a.DType(), dtype.Of[T]())
	}
	return slices.Clone(b.Contiguous().Elems()), b.Shape()
}

func check[T num.Elem](t *testing.T, file string, shape []int, want ...T) {
	t.Helper()
	a, err := Read(strings.NewReader(file), nil)
	got, gotShape := elements[T](t, a, err)
	if !slices.Equal(got, want) || !slices.Equal(gotShape, shape) {
		t.Errorf("%q: got %v of shape %v, want %v of %v", file, got, gotShape, want, shape)
	}
}

func TestRead(t *testing.T) {
	none := []int{}
	check[bool](t, array("|b1", false, "(4,)", "\x00\x01\x02\xff"), []int{4}, false, true, true, true)
	check[int8](t, array("|i1", false, "(2,)", "\x80\x7f"), []int{2}, -128, 127)
	check[uint8](t, array("|u1", false, "(2,)", "\x80\x7f"), []int{2}, 128, 127)
	check[int16](t, array("<i2", false, "(2, 1)", "\x01\x02\xff\xff"), []int{2, 1}, 0x201, -1)
	check[int16](t, array(">i2", false, "(2, 1)", "\x01\x02\xff\xff"), []int{2, 1}, 0x102, -1)
	check[uint16](t, array(">u2", false, "()", "\x01\x02"), none, 0x102)
	check[int32](t, array("<i4", false, "(1,)", "\x01\x02\x03\x04"), []int{1}, 0x4030201)
	check[int32](t, array(">i4", false, "(1,)", "\x01\x02\x03\x04"), []int{1}, 0x1020304)
	check[uint32](t, array(">u4", false, "(1,)", "\xff\x02\x03\x04"), []int{1}, 0xff020304)
	check[int64](t, array("<i8", false, "()", "\x01\x02\x03\x04\x05\x06\x07\x08"), none, 0x807060504030201)
	check[uint64](t, array(">u8", false, "()", "\xf1\x02\x03\x04\x05\x06\x07\x08"), none, 0xf102030405060708)
	check[num.F16](t, array(">f2", false, "(2,)", "\x3c\x00\x7e\x01"), []int{2}, num.FromBits[num.F16](0x3c00), num.FromBits[num.F16](0x7e01))
	check[num.BF16](t, array("<V2", false, "(1,)", "\x80\x3f"), []int{1}, num.FromFloat64[num.BF16](1))
	check[num.F8E5M2](t, array("<f1", false, "(1,)", "\x3c"), []int{1}, num.FromFloat64[num.F8E5M2](1))
	check[float32](t, array("<f4", false, "(2,)", "\x00\x00\x80\x3f\x00\x00\x00\x80"), []int{2}, 1, 0)
	check[float64](t, array(">f8", false, "()", "\xbf\xf0\x00\x00\x00\x00\x00\x00"), none, -1)
	check[complex64](t, array(">c8", false, "()", "\x3f\x80\x00\x00\xc0\x00\x00\x00"), none, 1-2i)
	check[complex128](t, array("<c16", false, "()", "\x00\x00\x00\x00\x00\x00\xf0\x3f\x00\x00\x00\x00\x00\x00\x00\xc0"), none, 1-2i)
	check[int8](t, array("|i1", true, "(2, 3)", "\x00\x03\x01\x04\x02\x05"), []int{2, 3}, 0, 1, 2, 3, 4, 5)
	check[int16](t, array(">i2", true, "(2, 2)", "\x00\x00\x00\x02\x00\x01\x00\x03"), []int{2, 2}, 0, 1, 2, 3)
	check[int8](t, array("|i1", true, "(2, 0, 3)", ""), []int{2, 0, 3})
	check[int8](t, file(2, "{'descr': '|i1', 'fortran_order': False, 'shape': (1,)}", "\x05"), []int{1}, 5)
	check[int8](t, file(3, "{'descr': '|i1', 'fortran_order': False, 'shape': (1,)}", "\x05"), []int{1}, 5)
	check[uint8](t, array("|u1", true, "("+strings.Repeat("1,", 62)+"2,2)", "\x00\x02\x01\x03"), append(slices.Repeat([]int{1}, 62), 2, 2), 0, 1, 2, 3)
}

// TestReadFortran: the order of the file is a layout; elements stay where they are.
func TestReadFortran(t *testing.T) {
	a, err := Read(strings.NewReader(array("<i2", true, "(2, 3)", "\x00\x00\x03\x00\x01\x00\x04\x00\x02\x00\x05\x00")), nil)
	if err != nil {
		t.Fatal(err)
	}
	b := held[int16](a)
	if got := b.Layout().String(); got != "(2,3):(1,2)" {
		t.Errorf("layout %s", got)
	}
	if data, off := b.Data(); off != 0 || !slices.Equal(data, []int16{0, 3, 1, 4, 2, 5}) {
		t.Errorf("storage %v from %d", data, off)
	}
}

// TestReadStream reads two arrays that follow each other.
func TestReadStream(t *testing.T) {
	one := array("|i1", false, "(3,)", "\x01\x02\x03")
	for name, r := range map[string]io.Reader{
		"length known":   strings.NewReader(one + one),
		"length unknown": struct{ io.Reader }{strings.NewReader(one + one)},
	} {
		for range 2 {
			a, err := Read(r, nil)
			if got, _ := elements[int8](t, a, err); !slices.Equal(got, []int8{1, 2, 3}) {
				t.Errorf("%s: %v", name, got)
			}
		}
		if _, err := Read(r, nil); !errors.Is(err, format.ErrShort) {
			t.Errorf("%s: after the last: %v", name, err)
		}
	}
}

// TestReadFile: a file's length is known, from where it is read.
func TestReadFile(t *testing.T) {
	one := array("|i1", false, "(3,)", "\x01\x02\x03")
	f, err := os.Open(save(t, one+one[:len(one)-1]))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	a, err := Read(f, nil)
	if got, _ := elements[int8](t, a, err); !slices.Equal(got, []int8{1, 2, 3}) {
		t.Errorf("got %v", got)
	}
	if n, ok := remaining(f); !ok || n != int64(len(one)-1) {
		t.Errorf("%d bytes remain, %v", n, ok)
	}
	if _, err := Read(f, nil); !errors.Is(err, format.ErrShort) {
		t.Error(err)
	}
}

// TestReadGrows reads more than is allocated at first from a reader that doesn't
// know its length, and delivers it in odd amounts.
func TestReadGrows(t *testing.T) {
	want := make([]byte, 3*chunk+12345)
	for i := range want {
		want[i] = byte(i * i >> 3)
	}
	var whole bytes.Buffer
	if err := Write(&whole, tensor.FromSlice(want).Any(), nil); err != nil {
		t.Fatal(err)
	}
	a, err := Read(&uneven{&whole, 1}, nil)
	got, _ := elements[uint8](t, a, err)
	if !bytes.Equal(got, want) {
		t.Error("the elements differ")
	}
}

type uneven struct {
	r    io.Reader
	next int
}

func (u *uneven) Read(b []byte) (int, error) {
	u.next = u.next*31%100_003 + 1
	return u.r.Read(b[:min(len(b), u.next)])
}

func TestReadErrors(t *testing.T) {
	own := errors.New("the line is down")
	for _, c := range []struct {
		r    io.Reader
		opts *Options
		is   error
		want string
	}{
		{strings.NewReader(array("<f4", false, "(2, 3)", "1234567")), nil, format.ErrShort,
			"npy: byte 77: the file holds 7 bytes of elements, shape (2,3) of float32 wants 24"},
		{struct{ io.Reader }{strings.NewReader(array("<f4", false, "(2, 3)", "1234567"))}, nil, format.ErrShort,
			"npy: byte 77: the file holds 7 bytes of elements, shape (2,3) of float32 wants 24"},
		{io.MultiReader(strings.NewReader(array("<f4", false, "(2, 3)", "1234567")), failing{own}), nil, own,
			"npy: byte 77: reading elements: the line is down"},
		{strings.NewReader(array("<f4", false, "(2, 3)", strings.Repeat("x", 24))), &Options{MaxBytes: 23}, format.ErrLimit,
			"npy: byte 70: shape (2,3) of float32 is 24 bytes, the most accepted is 23; the option MaxBytes sets that"},
	} {
		a, err := Read(c.r, c.opts)
		if !a.IsZero() || !errors.Is(err, c.is) || err.Error() != c.want {
			t.Errorf("got  %v, %v\nwant %s", a, err, c.want)
		}
	}
	if _, err := Read(strings.NewReader(array("<f4", false, "(2, 3)", strings.Repeat("x", 24))), &Options{MaxBytes: 24}); err != nil {
		t.Error(err)
	}
}

// TestReadLies: a header that announces 2^40 elements and more costs no memory.
func TestReadLies(t *testing.T) {
	for _, shape := range []string{"(1099511627776,)", "(1073741824, 1073741823)"} {
		if ^uint(0)>>32 == 0 {
			shape = "(200000000,)"
		}
		lie := array("<f8", false, shape, strings.Repeat("x", 100))
		for name, read := range map[string]func() error{
			"length known":   func() error { _, err := Read(strings.NewReader(lie), nil); return err },
			"length unknown": func() error { _, err := Read(struct{ io.Reader }{strings.NewReader(lie)}, nil); return err },
			"file":           func() error { _, err := Open(save(t, lie), nil); return err },
		} {
			var err error
			if n := allocated(func() { err = read() }); n > 2*chunk {
				t.Errorf("%s of shape %s: %d bytes allocated", name, shape, n)
			}
			if !errors.Is(err, format.ErrShort) {
				t.Errorf("%s of shape %s: %v", name, shape, err)
			}
		}
	}
}

// allocated returns how many bytes f takes, of the Go heap and outside it.
func allocated(f func()) int64 {
	var before, after runtime.MemStats
	outside := mem.Stats().Peak
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc-before.TotalAlloc) + mem.Stats().Peak - outside
}

func save(t testing.TB, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.npy")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// aligned is array with the elements at a multiple of 64, or shifted past it.
func aligned(descr string, fortran bool, shape, elements string, shift int) string {
	pad := 64 - len(array(descr, fortran, shape, ""))%64 + shift
	return array(descr, fortran, shape+strings.Repeat(" ", pad), elements)
}

func TestOpen(t *testing.T) {
	six := "\x00\x00\x01\x00\x02\x00\x03\x00\x04\x00\x05\x00"
	row, col := []int16{0, 1, 2, 3, 4, 5}, []int16{0, 2, 4, 1, 3, 5}
	for _, c := range []struct {
		name    string
		file    string
		inPlace bool
		want    []int16
	}{
		{"in place", aligned("<i2", false, "(2, 3)", six, 0), !conv.BigEndian, row},
		{"in place, fortran", aligned("<i2", true, "(2, 3)", six, 0), !conv.BigEndian, col},
		{"in place, with more after it", aligned("<i2", false, "(2, 3)", six+"tail", 0), !conv.BigEndian, row},
		{"not aligned", aligned("<i2", false, "(2, 3)", six, 1), false, row},
		{"not aligned, fortran", aligned("<i2", true, "(2, 3)", six, 1), false, col},
		{"other byte order", aligned(">i2", false, "(2, 3)", string(swapped(six)), 0), conv.BigEndian, row},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := Open(save(t, c.file), nil)
			if err != nil {
				t.Fatal(err)
			}
			b := held[int16](a)
			if b.IsReadOnly() != c.inPlace {
				t.Errorf("read-only %v, in place %v", b.IsReadOnly(), c.inPlace)
			}
			if got, shape := elements[int16](t, a, nil); !slices.Equal(got, c.want) || !slices.Equal(shape, []int{2, 3}) {
				t.Errorf("got %v of shape %v", got, shape)
			}
			if err := a.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func swapped(s string) []byte {
	b := []byte(s)
	conv.Reverse(b, 2)
	return b
}

// TestOpenBool: bytes that are no bool in Go never become one in place.
func TestOpenBool(t *testing.T) {
	a, err := Open(save(t, array("|b1", false, "(3,)", "\x00\x01\x01")), nil)
	if got, _ := elements[bool](t, a, err); !slices.Equal(got, []bool{false, true, true}) || !held[bool](a).IsReadOnly() {
		t.Errorf("%v, read-only %v", got, held[bool](a).IsReadOnly())
	}
	a, err = Open(save(t, array("|b1", false, "(3,)", "\x00\x07\x80")), nil)
	if got, _ := elements[bool](t, a, err); !slices.Equal(got, []bool{false, true, true}) || held[bool](a).IsReadOnly() {
		t.Errorf("%v, read-only %v", got, held[bool](a).IsReadOnly())
	}
	b, _ := tensor.Bytes(a)
	if !bytes.Equal(b, []byte{0, 1, 1}) {
		t.Errorf("the bytes are %v", b)
	}
	runtime.KeepAlive(a)
}

func TestOpenErrors(t *testing.T) {
	if _, err := Open(filepath.Join(t.TempDir(), "none.npy"), nil); !errors.Is(err, fs.ErrNotExist) || !strings.HasSuffix(err.Error(), "none.npy: no such file or directory") || strings.Count(err.Error(), "none.npy") != 1 {
		t.Error(err)
	}
	if _, err := Open(t.TempDir(), nil); err == nil {
		t.Error("a directory opens")
	}
	for content, is := range map[string]error{
		"":                                     format.ErrShort,
		"no npy.":                              format.ErrShort,
		array("<f4", false, "(2, 3)", "short"): format.ErrShort,
		array("|O", false, "(2, 3)", "pickle"): format.ErrType,
		array("<f4", false, "(2, 3)", strings.Repeat("x", 24)) + "and a tail": nil,
	} {
		path := save(t, content)
		a, err := Open(path, nil)
		if !errors.Is(err, is) || is != nil && !strings.HasPrefix(err.Error(), "npy: "+path+": byte ") {
			t.Errorf("%q: %v", content, err)
		}
		if err == nil {
			a.Close()
		}
	}
	if _, err := Open(save(t, array("<f4", false, "(2, 3)", strings.Repeat("x", 24))), &Options{MaxBytes: 1}); !errors.Is(err, format.ErrLimit) {
		t.Error(err)
	}
}

// TestOpenPipe reads what can't be mapped.
func TestOpenPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Skip(err)
	}
	defer r.Close()
	path := "/dev/fd/" + strconv.Itoa(int(r.Fd()))
	if _, err := os.Stat(path); err != nil {
		t.Skip("no /dev/fd here: ", err)
	}
	go func() {
		io.WriteString(w, array("|i1", false, "(2,)", "\x01\x02"))
		w.Close()
	}()
	a, err := Open(path, nil)
	if got, _ := elements[int8](t, a, err); !slices.Equal(got, []int8{1, 2}) {
		t.Errorf("got %v", got)
	}
}

// held returns a as a tensor of T, which it must hold.
func held[T num.Elem](a tensor.Any) tensor.Tensor[T] {
	t, ok := tensor.As[T](a)
	if !ok {
		panic(tensor.Describe(a) + " holds another type")
	}
	return t
}
