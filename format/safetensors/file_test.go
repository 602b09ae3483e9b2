package safetensors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/ram"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
)

// raw assembles a file of a header as it is and what follows it.
func raw(header, data string) string {
	return string(binary.LittleEndian.AppendUint64(nil, uint64(len(header)))) + header + data
}

// padded is raw with the elements at a multiple of 8, or shifted past it.
func padded(header, data string, shift int) string {
	return raw(header+strings.Repeat(" ", (8-len(header)%8)%8+shift), data)
}

func open(t testing.TB, s string) *File {
	t.Helper()
	f, err := New(memory(s))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// memory holds s at a page boundary, as a mapped file is.
func memory(s string) *mem.Buffer {
	b := ram.Make(len(s) + 4096)[:len(s)]
	copy(b, s)
	return mem.Borrow(b, nil)
}

func save(t testing.TB, s string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.safetensors")
	if err := os.WriteFile(path, []byte(s), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func elements[T num.Elem](t testing.TB, f *File, name string) []T {
	t.Helper()
	a, err := f.Tensor(name)
	if err != nil {
		t.Fatal(err)
	}
	b, ok := tensor.As[T](a)
	if !ok {
		t.Fatalf("%s is a %v, not a %v", name, a.DType(), dtype.Of[T]())
	}
	return b.Elems()
}

const two = `{"__metadata__":{"format":"pt","note":"a \"b\" \u00e9\ud83d\ude00\n"},` +
	`"b":{"shape":[2],"data_offsets":[16,20],"dtype":"I16"},` + "\n\t" +
	`"a":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},` +
	`"none":{"dtype":"U8","shape":[3,0],"data_offsets":[16,16]} , "one":{"dtype":"U8","shape":[],"data_offsets":[20,21]}}`

const twoData = "\x00\x00\x80\x3f\x00\x00\x00\x40\x00\x00\x40\x40\x00\x00\x80\x40\x01\x00\xff\xff\x07"

func TestOpen(t *testing.T) {
	f, err := Open(save(t, padded(two, twoData, 0)))
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Names(); !slices.Equal(got, []string{"a", "none", "b", "one"}) {
		t.Errorf("names %q", got)
	}
	m := f.Metadata()
	if len(m) != 2 || m["format"] != "pt" || m["note"] != "a \"b\" é😀\n" {
		t.Errorf("metadata %q", m)
	}
	m["format"] = "changed"
	if f.Metadata()["format"] != "pt" {
		t.Error("Metadata gives out the file's own map")
	}
	if got := elements[float32](t, f, "a"); !slices.Equal(got, []float32{1, 2, 3, 4}) {
		t.Errorf("a: %v", got)
	}
	if got := elements[int16](t, f, "b"); !slices.Equal(got, []int16{1, -1}) {
		t.Errorf("b: %v", got)
	}
	if got := elements[uint8](t, f, "one"); !slices.Equal(got, []uint8{7}) {
		t.Errorf("one: %v", got)
	}
	if got := elements[uint8](t, f, "none"); len(got) != 0 {
		t.Errorf("none: %v", got)
	}
	start := (8 + len(two) + 7) / 8 * 8
	info, err := f.Info("b")
	if got, want := fmt.Sprintf("%+v %v", info, err), fmt.Sprintf("{Name:b Type:I16 DType:int16 Shape:[2] Offset:%d Bytes:4 Packed:<nil>} <nil>", start+16); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	info.Shape[0] = 99
	if info, err = f.Info("b"); err != nil || info.Shape[0] != 2 {
		t.Error("Info gives out the file's own shape")
	}
	a, err := f.Tensor("a")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := f.Tensor("a"); err != nil || !a.SameData(again) && !conv.BigEndian {
		t.Error("two tensors of one name don't share memory")
	}
	if !held[float32](a).IsReadOnly() && !conv.BigEndian {
		t.Error("a mapped tensor is writable")
	}
	for _, err := range []error{second(f.Tensor("c")), second(f.Info("c"))} {
		if !errors.Is(err, format.ErrName) || !strings.HasSuffix(err.Error(), `x.safetensors: "c": the file has no such tensor; Names lists the 4 it has`) {
			t.Error(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if !conv.BigEndian {
		if err := tensor.Try(func() { held[float32](a).At(0, 0) }); !errors.Is(err, tensor.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	}
	for _, name := range []string{"a", "none"} {
		if _, err := f.Tensor(name); !errors.Is(err, tensor.ErrClosed) {
			t.Errorf("Tensor(%q) after Close: %v", name, err)
		}
	}
	if err := f.Close(); err != nil {
		t.Errorf("the second Close: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

// TestTypes reads one element of every type of the format.
func TestTypes(t *testing.T) {
	for _, typ := range types {
		n, count := typ.bits/8, 1
		switch typ.bits { // the fewest elements that fill bytes
		case 4:
			n, count = 1, 2
		case 6:
			n, count = 3, 4
		}
		f := open(t, padded(fmt.Sprintf(`{"x":{"dtype":%q,"shape":[%d],"data_offsets":[0,%d]}}`, typ.name, count, n), "\x01\x00\x00\x00\x00\x00\x80\x3f"[:n], 0))
		info, err := f.Info("x")
		if err != nil || info.Type != typ.name || typ.bits != 6 && info.DType != typ.d || info.Bytes != n {
			t.Errorf("%s: %+v, %v", typ.name, info, err)
		}
		a, err := f.Tensor("x")
		if p, ok := a.Foreign().(pack.Tensor); typ.bits == 6 && ok {
			if v, wrong := p.At(0); wrong != nil || v != map[string]float64{"F6_E2M3": 0.125, "F6_E3M2": 0.0625}[typ.name] || info.DType != dtype.Float32 || info.Packed == nil {
				t.Errorf("%s: %v, %v, %+v", typ.name, v, wrong, info)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", typ.name, err)
			continue
		}
		b, ok := tensor.Bytes(a)
		if a.DType() != typ.d || !ok || len(b) != max(n, count) || bytes.Count(b, []byte{0}) == len(b) {
			t.Errorf("%s: %v % x", typ.name, a.DType(), b)
		}
		runtime.KeepAlive(a)
	}
	if got := elements[complex64](t, open(t, padded(`{"x":{"dtype":"C64","shape":[],"data_offsets":[0,8]}}`, "\x00\x00\x80\x3f\x00\x00\x00\xc0", 0)), "x"); got[0] != 1-2i {
		t.Errorf("C64: %v", got)
	}
	if got := elements[num.BF16](t, open(t, padded(`{"x":{"dtype":"BF16","shape":[],"data_offsets":[0,2]}}`, "\x80\x3f", 0)), "x"); got[0].Float32() != 1 {
		t.Errorf("BF16: %v", got)
	}
	if got := elements[num.F8E4M3](t, open(t, padded(`{"x":{"dtype":"F8_E4M3","shape":[],"data_offsets":[0,1]}}`, "\x38", 0)), "x"); got[0].Float32() != 1 {
		t.Errorf("F8_E4M3: %v", got)
	}
	if got := elements[num.F8E5M2](t, open(t, padded(`{"x":{"dtype":"F8_E5M2","shape":[],"data_offsets":[0,1]}}`, "\x3c", 0)), "x"); got[0].Float32() != 1 {
		t.Errorf("F8_E5M2: %v", got)
	}
	if got := elements[num.F8E8M0](t, open(t, padded(`{"x":{"dtype":"F8_E8M0","shape":[],"data_offsets":[0,1]}}`, "\x80", 0)), "x"); got[0].Float32() != 2 {
		t.Errorf("F8_E8M0: %v", got)
	}
	if got := elements[num.F4E2M1](t, open(t, padded(`{"x":{"dtype":"F4","shape":[2],"data_offsets":[0,1]}}`, "\xf1", 0)), "x"); got[0].Float32() != 0.5 || got[1].Float32() != -6 {
		t.Errorf("F4: %v", got)
	}
	for _, d := range dtype.All() {
		without := d == dtype.Complex128 || d.IsInteger() && d.IsStored()
		if i := typeOf(d); (i < 0) != without || i >= 0 && types[i].bits != d.Bits() && d != dtype.FP64x64 {
			t.Errorf("%v: type %d", d, i)
		}
	}
}

// TestInPlace: aligned tensors are the file's memory, others are copies.
func TestInPlace(t *testing.T) {
	for shift := range 9 {
		buf := memory(padded(two, twoData, shift))
		f, err := New(buf)
		if err != nil {
			t.Fatal(err)
		}
		a, err := f.Tensor("a")
		if err != nil {
			t.Fatal(err)
		}
		if got := elements[float32](t, f, "a"); !slices.Equal(got, []float32{1, 2, 3, 4}) {
			t.Errorf("shift %d: %v", shift, got)
		}
		b, _ := tensor.Bytes(a)
		info, err := f.Info("a")
		if err != nil {
			t.Fatal(err)
		}
		shared := &b[0] == &buf.Bytes()[info.Offset]
		if want := shift%4 == 0 && !conv.BigEndian; shared != want {
			t.Errorf("shift %d: in place %v", shift, shared)
		}
		f.Close()
		if err := tensor.Try(func() { held[float32](a).At(0, 0) }); (err != nil) != shared {
			t.Errorf("shift %d: after Close: %v", shift, err)
		}
	}
}

// TestBool: bytes that are no bool in Go never become one.
func TestBool(t *testing.T) {
	const header = `{"x":{"dtype":"BOOL","shape":[3],"data_offsets":[0,3]}}`
	for data, inPlace := range map[string]bool{"\x00\x01\x01": true, "\x00\x01\x80": false} {
		buf := memory(padded(header, data, 0))
		f, err := New(buf)
		if err != nil {
			t.Fatal(err)
		}
		a, err := f.Tensor("x")
		if err != nil {
			t.Fatal(err)
		}
		b, _ := tensor.Bytes(a)
		if !bytes.Equal(b, []byte{0, 1, 1}) || (&b[0] == &buf.Bytes()[buf.Len()-3]) != inPlace {
			t.Errorf("%q: % x, in place %v", data, b, !inPlace)
		}
		runtime.KeepAlive(a)
		if data[2] != buf.Bytes()[buf.Len()-1] {
			t.Errorf("%q: the file's own bytes are changed", data)
		}
	}
}

// TestSlice compares parts with slices of the whole, also where the whole is copied.
func TestSlice(t *testing.T) {
	const header = `{"x":{"dtype":"BOOL","shape":[3,4],"data_offsets":[0,12]},"y":{"dtype":"F32","shape":[3,4],"data_offsets":[12,60]}}`
	data := strings.Repeat("\x00\x01\x07\x80", 15)
	for shift := range 2 {
		f, err := Open(save(t, padded(header, data, shift)))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range f.Names() {
			whole, err := f.Tensor(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range []string{"", "1", "..., ::-2", "1:, 2", "3:", "3"} {
				idx, err := layout.ParseSlice(text)
				if err != nil {
					t.Fatal(err)
				}
				want, wantErr := tensor.Slice(whole, idx...)
				got, err := f.Tensor(name, idx...)
				if wantErr != nil {
					want := fmt.Sprintf("x.safetensors: %q%s", name, strings.TrimPrefix(wantErr.Error(), "tensor.Slice"))
					if !errors.Is(err, tensor.ErrIndex) || !strings.HasSuffix(err.Error(), want) {
						t.Errorf("%s[%s]: %v, want %v", name, text, err, wantErr)
					}
					continue
				}
				var a, b bytes.Buffer
				if err := cmp.Or(err, tensor.Encode(&a, got), tensor.Encode(&b, want)); err != nil || !bytes.Equal(a.Bytes(), b.Bytes()) || !slices.Equal(got.Shape(), want.Shape()) {
					t.Errorf("%s[%s]: %v, %v, want %v", name, text, err, got, want)
				}
			}
		}
		f.Close()
		if _, err := f.Tensor("x", tensor.I(0)); !errors.Is(err, tensor.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
		if _, err := f.Tensor("z"); !errors.Is(err, format.ErrName) {
			t.Errorf("no such tensor: %v", err)
		}
	}
}

// A file that becomes shorter while its header is read is an error, and so is one whose
// elements are gone.
func TestShrinks(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("a mapped file can't become shorter everywhere, and emulators hide the address of a fault")
	}
	const header = `{"x":{"dtype":"BOOL","shape":[1000000],"data_offsets":[0,1000000]}}`
	path := save(t, raw(header, strings.Repeat("\x01", 1000000)))
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.Truncate(path, 1<<16); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Tensor("x"); !errors.Is(err, mem.ErrShrunk) {
		t.Errorf("elements: %v", err)
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := New(f.buf); !errors.Is(err, mem.ErrShrunk) {
		t.Errorf("header: %v", err)
	}
}

func TestOpenErrors(t *testing.T) {
	if _, err := Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) || strings.Count(err.Error(), "none") != 1 {
		t.Error(err)
	}
	path := save(t, "short")
	if _, err := Open(path); !errors.Is(err, format.ErrShort) || err.Error() != "safetensors: "+path+": byte 5: the file has 5 bytes, less than the 8 of a header's length" {
		t.Error(err)
	}
}

// TestHeaderErrors holds the text of each refusal. The header of these files
// begins at byte 8, the first tensor's name at byte 9.
func TestHeaderErrors(t *testing.T) {
	entry := func(dtype, shape, offsets string) string {
		return `{"x":{"dtype":` + dtype + `,"shape":` + shape + `,"data_offsets":` + offsets + `}}`
	}
	f32 := func(shape, offsets string) string { return raw(entry(`"F32"`, shape, offsets), "") }
	const u8 = `{"dtype":"U8","shape":[4],"data_offsets":`
	for _, c := range []struct {
		file string
		is   error
		want string
	}{
		{"", format.ErrShort, "byte 0: the file has 0 bytes, less than the 8 of a header's length"},
		{"\x00\x00\x00\x00\x00\x00\x00\x80{}", format.ErrLimit, "byte 0: a header of 9223372036854775808 bytes; the most accepted is 100000000; it isn't a safetensors file, or is damaged"},
		{"\x01\xe1\xf5\x05\x00\x00\x00\x00{}", format.ErrLimit, "byte 0: a header of 100000001 bytes; the most accepted is 100000000; it isn't a safetensors file, or is damaged"},
		{"\x00\xe1\xf5\x05\x00\x00\x00\x00{}", format.ErrShort, "byte 0: a header of 100000000 bytes in a file that has 2 after the length"},
		{raw("", ""), format.ErrFormat, "byte 8: header: the end where { must begin it"},
		{raw(" {}", ""), format.ErrFormat, "byte 8: header: ' ' where { must begin it"},
		{raw("[]", ""), format.ErrFormat, "byte 8: header: '[' where { must begin it"},
		{raw("{", ""), format.ErrFormat, "byte 9: header: the end where a key of the header, a string, must stand"},
		{raw("{}x", ""), format.ErrFormat, "byte 10: header: 'x' after its end"},
		{raw("{}\x00", ""), format.ErrFormat, "byte 10: header: byte 0x0 after its end"},
		{raw("{}", "x"), format.ErrFormat, "byte 8: header: the tensors end at byte 0 of the 1 after the header"},
		{raw(`{"x"}`, ""), format.ErrFormat, "byte 12: header: '}' where : must follow a key"},
		{raw(`{"x":null}`, ""), format.ErrFormat, `byte 13: "x": header: 'n' where { must open a tensor`},
		{raw(`{"x":{}}`, ""), format.ErrFormat, `byte 9: "x": header: one of dtype, shape and data_offsets is missing`},
		{raw(`{"x":{"dtype":"U8"}}`, ""), format.ErrFormat, `byte 9: "x": header: one of dtype, shape and data_offsets is missing`},
		{raw(`{"x":{"dtype":"U8","dtype":"U8"}}`, ""), format.ErrFormat, `byte 27: "x": header: the key "dtype" a second time`},
		{raw(`{"x":{"dtype":"U8","strides":[1]}}`, ""), format.ErrFormat, `byte 27: "x": header: the key "strides"; a tensor has dtype, shape and data_offsets`},
		{raw(`{"x":{"dtype":"float32"}}`, ""), format.ErrType, `byte 22: "x": header: dtype "float32" is none of the format's`},
		{raw(`{"x":{"dtype":7}}`, ""), format.ErrFormat, `byte 22: "x": header: '7' where dtype, a string, must stand`},
		{f32("[-1]", "[0,4]"), format.ErrFormat, `byte 37: "x": header: '-' where shape needs an integer that isn't negative`},
		{f32("[1.0]", "[0,4]"), format.ErrFormat, `byte 37: "x": header: a fraction or exponent in shape, which needs integers`},
		{f32("[1e0]", "[0,4]"), format.ErrFormat, `byte 37: "x": header: a fraction or exponent in shape, which needs integers`},
		{f32("[01]", "[0,4]"), format.ErrFormat, `byte 37: "x": header: the number 01 in shape begins with 0`},
		{f32("[1,]", "[0,4]"), format.ErrFormat, `byte 39: "x": header: ']' where shape needs an integer that isn't negative`},
		{f32("[1 1]", "[0,4]"), format.ErrFormat, `byte 39: "x": header: '1' where , or ] must follow a number of shape`},
		{f32("[[1]]", "[0,4]"), format.ErrFormat, `byte 37: "x": header: '[' where shape needs an integer that isn't negative`},
		{f32("1", "[0,4]"), format.ErrFormat, `byte 36: "x": header: '1' where [ must open shape`},
		{f32("["+strings.Repeat("9", 25)+"]", "[0,4]"), format.ErrLimit, `byte 37: "x": header: a number of more than 20 digits in shape`},
		{f32("[99999999999999999999]", "[0,4]"), format.ErrLimit, ""},
		{f32("[2147483647,2147483647,2147483647]", "[0,4]"), format.ErrLimit, `byte 9: "x": header: shape [2147483647 2147483647 2147483647] of F32 is larger than the address space`},
		{f32("[2147483647,2147483647,2147483647,0]", "[0,0]"), format.ErrLimit, ""},
		{f32("["+strings.Repeat("1,", MaxRank)+"1]", "[0,4]"), format.ErrLimit, `byte 165: "x": header: a rank over 64`},
		{f32("[1]", "[0,3]"), format.ErrFormat, `byte 9: "x": header: shape [1] of F32 wants 4 bytes, data_offsets [0,3] are 3`},
		{f32("[1]", "[4,0]"), format.ErrFormat, `byte 55: "x": header: data_offsets [4,0] end before they begin`},
		{f32("[1]", "[0]"), format.ErrFormat, `byte 55: "x": header: 1 numbers in data_offsets, which are [begin, end]`},
		{f32("[1]", "[0,4,8]"), format.ErrFormat, `byte 60: "x": header: a third number in data_offsets, which are [begin, end]`},
		{f32("[1]", "[0,4]"), format.ErrShort, `byte 9: "x": header: data_offsets [0,4] lie beyond the 0 bytes after the header`},
		{raw(entry(`"F4"`, "[3]", "[0,1]"), "x"), format.ErrFormat, `byte 9: "x": header: shape [3] of F4 is no whole number of bytes`},
		{raw(`{"x":`+u8+`[0,4]},"x":`+u8+`[4,8]}}`, "12345678"), format.ErrFormat, `byte 61: header: the key "x" a second time`},
		{raw(`{"x":`+u8+`[0,4]},"y":`+u8+`[0,4]}}`, "1234"), format.ErrFormat, `byte 61: "y": header: data_offsets [0,4] overlap those of "x", which end at 4`},
		{raw(`{"x":`+u8+`[0,4]},"y":`+u8+`[3,7]}}`, "1234567"), format.ErrFormat, `byte 61: "y": header: data_offsets [3,7] overlap those of "x", which end at 4`},
		{raw(`{"x":`+u8+`[0,4]},"y":`+u8+`[5,9]}}`, "123456789"), format.ErrFormat, `byte 61: "y": header: data_offsets [5,9] leave a hole from 4`},
		{raw(`{"x":`+u8+`[1,5]}}`, "12345"), format.ErrFormat, `byte 9: "x": header: data_offsets [1,5] leave a hole from 0`},
		{raw(`{"x":`+u8+`[0,4]}}`, "12345"), format.ErrFormat, "byte 8: header: the tensors end at byte 4 of the 5 after the header"},
		{raw(`{"__metadata__":{"a":1}}`, ""), format.ErrFormat, "byte 29: header: '1' where a value of __metadata__, a string, must stand"},
		{raw(`{"__metadata__":{"a":"1","a":"2"}}`, ""), format.ErrFormat, `byte 33: header: __metadata__: the key "a" a second time`},
		{raw(`{"__metadata__":{},"__metadata__":{}}`, ""), format.ErrFormat, `byte 27: header: the key "__metadata__" a second time`},
		{raw(`{"__metadata__":null}`, ""), format.ErrFormat, "byte 24: header: 'n' where { must open __metadata__"},
		{raw("{\"a\nb\":1}", ""), format.ErrFormat, "byte 11: header: byte 0xa inside a key of the header: control characters must be escaped"},
		{raw("{\"a\xffb\":1}", ""), format.ErrFormat, "byte 11: header: byte 0xff inside a key of the header is not UTF-8"},
		{raw(`{"a\xb":1}`, ""), format.ErrFormat, "byte 11: header: an escape inside a key of the header that JSON doesn't have"},
		{raw(`{"a\u12":1}`, ""), format.ErrFormat, "byte 11: header: an escape inside a key of the header that JSON doesn't have"},
		{raw(`{"a\ud800":1}`, ""), format.ErrFormat, "byte 11: header: an escape inside a key of the header that JSON doesn't have"},
		{raw(`{"a\ud800\u0041":1}`, ""), format.ErrFormat, "byte 11: header: an escape inside a key of the header that JSON doesn't have"},
		{raw(`{"a\`, ""), format.ErrFormat, "byte 11: header: an escape inside a key of the header that JSON doesn't have"},
		{raw(`{"a`, ""), format.ErrFormat, "byte 9: header: a key of the header has no closing quote"},
	} {
		f, err := New(memory(c.file))
		if f != nil || !errors.Is(err, c.is) || c.want != "" && err.Error() != "safetensors: "+c.want {
			t.Errorf("%q\ngot  %v\nwant safetensors: %s (%v)", c.file, err, c.want, c.is)
		}
	}
}

// TestCut cuts a file at every byte.
func TestCut(t *testing.T) {
	whole := padded(two, twoData, 0)
	for n := range len(whole) {
		if _, err := New(memory(whole[:n])); err == nil || !errors.Is(err, format.ErrShort) && !errors.Is(err, format.ErrFormat) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// TestHeaderMemory: a header full of the smallest entries costs 8 times itself
// at most, beyond what any file may.
func TestHeaderMemory(t *testing.T) {
	const n = 100_000
	var tensors, metadata []string
	for i := range n {
		tensors = append(tensors, fmt.Sprintf(`"%x":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}`, i))
		metadata = append(metadata, fmt.Sprintf(`"%x":"\n"`, i))
	}
	for _, header := range []string{
		"{" + strings.Join(tensors, ",") + "}",
		`{"__metadata__":{` + strings.Join(metadata, ",") + "}}",
	} {
		buf := memory(raw(header, ""))
		var f *File
		var err error
		if got := allocated(func() { f, err = New(buf) }); got > 8*int64(buf.Len()) {
			t.Errorf("%d bytes for a file of %d", got, buf.Len())
		}
		if err != nil || len(f.Names())+len(f.Metadata()) != n {
			t.Errorf("%v", err)
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

// held returns a as a tensor of T, which it must hold.
func held[T num.Elem](a tensor.Any) tensor.Tensor[T] {
	t, ok := tensor.As[T](a)
	if !ok {
		panic(tensor.Describe(a) + " holds another type")
	}
	return t
}
