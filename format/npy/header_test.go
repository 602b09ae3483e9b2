package npy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/conv"
)

// file assembles an npy file: a header text as it is, without padding, and what
// follows it.
func file(version int, header, elements string) string {
	s := magic + string([]byte{byte(version), 0})
	if version == 1 {
		s += string(binary.LittleEndian.AppendUint16(nil, uint16(len(header))))
	} else {
		s += string(binary.LittleEndian.AppendUint32(nil, uint32(len(header))))
	}
	return s + header + elements
}

// array is file with a header that says descr, order and shape.
func array(descr string, fortran bool, shape, elements string) string {
	order := "False"
	if fortran {
		order = "True"
	}
	return file(1, "{'descr': '"+descr+"', 'fortran_order': "+order+", 'shape': "+shape+", }\n", elements)
}

func TestHeader(t *testing.T) {
	long := strings.Repeat("1, ", MaxRank)
	for _, c := range []struct {
		name, file string
		want       Header
	}{
		{"as NumPy writes it", array("<f4", false, "(2, 3)", ""), Header{Version: 1, Descr: "<f4", DType: dtype.Float32, Shape: []int{2, 3}}},
		{"fortran, big-endian", array(">i8", true, "(2, 3)", ""), Header{Version: 1, Descr: ">i8", DType: dtype.Int64, BigEndian: true, Fortran: true, Shape: []int{2, 3}}},
		{"version 2", file(2, "{'descr': '<u2', 'fortran_order': False, 'shape': (7,)}", ""), Header{Version: 2, Descr: "<u2", DType: dtype.Uint16, Shape: []int{7}}},
		{"version 3", file(3, "{'descr': '|b1', 'fortran_order': False, 'shape': (7,)}", ""), Header{Version: 3, Descr: "|b1", DType: dtype.Bool, Shape: []int{7}}},
		{"other order, quotes and spaces", file(1, " {\"shape\" :( 4 ,\t5, ) ,'fortran_order':False,\n'descr':\"<c8\"}  \n", ""),
			Header{Version: 1, Descr: "<c8", DType: dtype.Complex64, Shape: []int{4, 5}}},
		{"rank 0", array("<f8", false, "()", ""), Header{Version: 1, Descr: "<f8", DType: dtype.Float64, Shape: []int{}}},
		{"an extent of 0", array("<f8", false, "(3, 0, 2)", ""), Header{Version: 1, Descr: "<f8", DType: dtype.Float64, Shape: []int{3, 0, 2}}},
		{"Python 2's long", array("|i1", false, "(10L, 2)", ""), Header{Version: 1, Descr: "|i1", DType: dtype.Int8, Shape: []int{10, 2}}},
		{"the largest rank", array("|u1", false, "("+long+")", ""), Header{Version: 1, Descr: "|u1", DType: dtype.Uint8, Shape: slices.Repeat([]int{1}, MaxRank)}},
		{"one byte has no order", array(">i1", false, "(1,)", ""), Header{Version: 1, Descr: ">i1", DType: dtype.Int8, Shape: []int{1}}},
		{"bfloat16 of ml_dtypes", array("<V2", false, "(1,)", ""), Header{Version: 1, Descr: "<V2", DType: dtype.BFloat16, Shape: []int{1}}},
		{"float8_e5m2 of ml_dtypes", array("<f1", false, "(1,)", ""), Header{Version: 1, Descr: "<f1", DType: dtype.Float8E5M2, Shape: []int{1}}},
		{"by name", array("float8_e4m3fn", false, "(1,)", ""), Header{Version: 1, Descr: "float8_e4m3fn", DType: dtype.Float8E4M3, Shape: []int{1}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := strings.NewReader(c.file + "tail")
			h, err := ReadHeader(r, nil)
			if err != nil {
				t.Fatal(err)
			}
			c.want.Offset = len(c.file)
			if got, want := fmt.Sprintf("%+v", h), fmt.Sprintf("%+v", c.want); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if rest, _ := io.ReadAll(r); string(rest) != "tail" {
				t.Errorf("after the header %q is left of the stream", rest)
			}
		})
	}
}

// TestDescr reads every descriptor, in every spelling, as the type it stands for.
func TestDescr(t *testing.T) {
	for d, code := range conv.NumPy {
		if code == "" {
			continue
		}
		d := dtype.DType(d)
		for _, order := range []string{"<", ">", "|", "=", ""} {
			h, err := ReadHeader(strings.NewReader(array(order+code, false, "()", "")), nil)
			if err != nil || h.DType != d || h.BigEndian != (order == ">" && d.Size() > 1) {
				t.Errorf("%s%s: %v big-endian %v, %v; want %v", order, code, h.DType, h.BigEndian, err, d)
			}
		}
		if h, err := ReadHeader(strings.NewReader(array(d.String(), false, "()", "")), nil); err != nil || h.DType != d {
			t.Errorf("%v: %v, %v", d, h.DType, err)
		}
	}
	if h, err := ReadHeader(strings.NewReader(array("?", false, "()", "")), nil); err != nil || h.DType != dtype.Bool {
		t.Errorf("?: %v, %v", h.DType, err)
	}
}

func TestAs(t *testing.T) {
	for _, c := range []struct {
		descr string
		as    dtype.DType
		want  dtype.DType // Invalid: an error
	}{
		{"|V1", dtype.Float8E4M3, dtype.Float8E4M3},
		{"<V1", dtype.Float8E5M2, dtype.Float8E5M2},
		{"|V2", dtype.BFloat16, dtype.BFloat16},
		{"<V2", dtype.Float16, dtype.Float16},
		{"|V4", dtype.Float32, dtype.Float32},
		{"<V2", dtype.Float8E4M3, dtype.BFloat16}, // another size: what it is without As
		{"<i4", dtype.Float32, dtype.Int32},       // a type that the file names
		{"|V4", dtype.Float64, dtype.Invalid},
		{"|V1", dtype.Invalid, dtype.Invalid},
		{"|V2", dtype.Invalid, dtype.Invalid},
		{">V2", dtype.Invalid, dtype.Invalid},
		{"|V0", dtype.Invalid, dtype.Invalid},
	} {
		h, err := ReadHeader(strings.NewReader(array(c.descr, false, "()", "")), &Options{As: c.as})
		if h.DType != c.want || (err == nil) != (c.want != dtype.Invalid) || err != nil && !errors.Is(err, format.ErrType) {
			t.Errorf("%s as %v: %v, %v; want %v", c.descr, c.as, h.DType, err, c.want)
		}
	}
}

// TestHeaderErrors holds the text of each refusal. The header of these files
// begins at byte 10.
func TestHeaderErrors(t *testing.T) {
	dict := func(descr, order, shape string) string {
		return file(1, "{'descr': "+descr+", 'fortran_order': "+order+", 'shape': "+shape+"}", "")
	}
	shape := func(s string) string { return dict("'<i4'", "False", s) } // it begins at byte 60
	for _, c := range []struct {
		file string
		is   error
		want string
	}{
		{"", format.ErrShort, "byte 0: the file is empty"},
		{"\x93NUM", format.ErrShort, "byte 4: the file ends inside the magic number: 4 of its 8 bytes are there"},
		{"\x92NUMPY\x01\x00", format.ErrFormat, `byte 0: the file begins with "\x92NUMPY", an npy file with "\x93NUMPY"`},
		{"PK\x03\x04 and more", format.ErrFormat, "byte 0: the file is a zip archive, as npz files are; OpenZip reads it"},
		{"\x80\x04\x95 and more", format.ErrFormat, "byte 0: the file is a Python pickle, which can run code; save the array with numpy.save(…, allow_pickle=False)"},
		{magic + "\x00\x00\x00\x00", format.ErrFormat, "byte 6: version 0.0; there are 1.0, 2.0 and 3.0"},
		{magic + "\x01\x01\x00\x00", format.ErrFormat, "byte 6: version 1.1; there are 1.0, 2.0 and 3.0"},
		{magic + "\x04\x00\x00\x00", format.ErrFormat, "byte 6: version 4.0; there are 1.0, 2.0 and 3.0"},
		{magic + "\x01\x00\x00", format.ErrShort, "byte 9: the file ends inside the header's length: 1 of its 2 bytes are there"},
		{magic + "\x02\x00\xff\xff\xff\xff", format.ErrLimit, "byte 8: a header of 4294967295 bytes; the most accepted is 65535"},
		{magic + "\x01\x00\xff\xff{'descr'", format.ErrShort, "byte 18: the file ends inside the header: 8 of its 65535 bytes are there"},
		{file(1, "", ""), format.ErrFormat, "byte 10: header: the end where { must open the dict"},
		{file(1, "{}", ""), format.ErrFormat, "byte 10: header: 0 of the keys descr, fortran_order and shape are there"},
		{file(1, "{'descr': '<i4', ", ""), format.ErrFormat, "byte 27: header: the end where a key, a string, must stand"},
		{file(1, "{'descr': '<i4'; ", ""), format.ErrFormat, "byte 25: header: ';' where , or } must follow the value of \"descr\""},
		{file(1, "{'descr' '<i4'}", ""), format.ErrFormat, "byte 19: header: '\\'' where : must follow the key \"descr\""},
		{file(1, "{'descr': '<i4', 'descr': '<i4'}", ""), format.ErrFormat, `byte 27: header: the key "descr" a second time`},
		{file(1, "{'x': 1}", ""), format.ErrFormat, `byte 11: header: the key "x"; the keys are descr, fortran_order and shape`},
		{file(1, "{shape: 1}", ""), format.ErrFormat, "byte 11: header: 's' where a key, a string, must stand"},
		{file(1, "{'des\\x63r': '<i4'}", ""), format.ErrFormat, "byte 15: header: '\\\\' inside a key: escapes and control characters are not accepted"},
		{file(1, "{'descr", ""), format.ErrFormat, "byte 11: header: a key is a string without its closing quote"},
		{file(1, "{'"+strings.Repeat("x", 300), ""), format.ErrLimit, "byte 11: header: a key is longer than 256 bytes"},
		{shape("(2,)"), nil, ""},
		{file(1, "{'descr': '<i4', 'fortran_order': False, 'shape': (2,)} x", ""), format.ErrFormat, "byte 66: header: 'x' after the dict"},
		{file(1, "{'descr': '<i4', 'fortran_order': False, 'shape': (2,)\x00}", ""), format.ErrFormat, "byte 64: header: '\\x00' where , or } must follow the value of \"shape\""},
		{dict("'|O'", "False", "(1,)"), format.ErrType, `byte 20: header: descr "|O": Python objects: the file holds a pickle, which can run code; save the array with a numeric dtype`},
		{dict("'|S3'", "False", "(1,)"), format.ErrType, `byte 20: header: descr "|S3": byte strings; convert them to numbers before saving`},
		{dict("'<U2'", "False", "(1,)"), format.ErrType, `byte 20: header: descr "<U2": strings; convert them to numbers before saving`},
		{dict("'<M8[ns]'", "False", "(1,)"), format.ErrType, `byte 20: header: descr "<M8[ns]": dates; save them .astype('int64')`},
		{dict("'datetime64[D]'", "False", "(1,)"), format.ErrType, `byte 20: header: descr "datetime64[D]": dates; save them .astype('int64')`},
		{dict("'<f16'", "False", "(1,)"), format.ErrType, `byte 20: header: descr "<f16" is no element type known here; save the array with another dtype`},
		{dict("'<'", "False", "(1,)"), format.ErrType, `byte 20: header: descr "<" is no element type known here; save the array with another dtype`},
		{dict("''", "False", "(1,)"), format.ErrType, `byte 20: header: descr "" is no element type known here; save the array with another dtype`},
		{dict("[('a', '<i4')]", "False", "(1,)"), format.ErrType, "byte 20: header: descr is a list: a structured type; save each field as an array of its own"},
		{dict("[('fp16x16', '<i4')]", "False", "(1,)"), nil, ""},
		{dict("[(\"fp64x64\",[('hi','>i8'),('lo','>u8')])]", "False", "(1,)"), nil, ""},
		{dict("[('fp<16x16', '<i4')]", "False", "(1,)"), format.ErrType, "byte 20: header: descr is a list: a structured type; save each field as an array of its own"},
		{dict("[('fp64x64', [('hi', '<i8'), ('lo', 'u8')])]", "False", "(1,)"), format.ErrType, "byte 20: header: descr is a list: a structured type; save each field as an array of its own"},
		{dict("('<i4', (2,))", "False", "(1,)"), format.ErrType, "byte 20: header: descr is a tuple: a type of sub-arrays; save the array with its full shape"},
		{dict("None", "False", "(1,)"), format.ErrFormat, "byte 20: header: 'N' where descr, a string, must stand"},
		{dict("'|V1'", "False", "(1,)"), format.ErrType, `byte 20: header: descr "|V1": raw bytes whose type the file doesn't say, perhaps float8_e4m3 or float8_e5m2; the option As names it`},
		{dict("'|V16'", "False", "(1,)"), format.ErrType, `byte 20: header: descr "|V16": raw bytes whose type the file doesn't say; the option As names it`},
		{dict("'|Vx'", "False", "(1,)"), format.ErrType, `byte 20: header: descr "|Vx" is no element type known here; save the array with a numeric dtype`},
		{dict("'<i4'", "1", "(1,)"), format.ErrFormat, "byte 44: header: '1' where fortran_order must be True or False"},
		{dict("'<i4'", "Falsehood", "(1,)"), format.ErrFormat, "byte 44: header: 'F' where fortran_order must be True or False"},
		{shape("[2, 3]"), format.ErrFormat, "byte 60: header: '[' where shape must be a tuple: (), (3,) or (2, 3)"},
		{shape("(3)"), format.ErrFormat, "byte 60: header: shape (3) is a number, not a tuple; (3,) would be one"},
		{shape("(2.0, 3)"), format.ErrFormat, "byte 62: header: '.' after the digits 2: an extent is a decimal number without a fraction"},
		{shape("(0x10,)"), format.ErrFormat, "byte 62: header: 'x' after the digits 0: an extent is a decimal number without a fraction"},
		{shape("(1_0,)"), format.ErrFormat, "byte 62: header: '_' after the digits 1: an extent is a decimal number without a fraction"},
		{shape("(-1,)"), format.ErrFormat, "byte 61: header: a negative extent"},
		{shape("(02,)"), format.ErrFormat, "byte 61: header: the extent 02 begins with 0, which is no number in Python"},
		{shape("(2 3)"), format.ErrFormat, "byte 63: header: '3' where , or ) must follow an extent"},
		{shape("(,)"), format.ErrFormat, "byte 61: header: ',' where an extent, a decimal number, must stand"},
		{shape("(True,)"), format.ErrFormat, "byte 61: header: 'T' where an extent, a decimal number, must stand"},
		{shape("(2, (3,))"), format.ErrFormat, "byte 64: header: '(' where an extent, a decimal number, must stand"},
		{shape("(" + strings.Repeat("9", 30) + ",)"), format.ErrLimit, "byte 61: header: an extent of more than 20 digits"},
		{shape("(99999999999999999999,)"), format.ErrLimit, fmt.Sprintf("byte 61: header: the extent 99999999999999999999 doesn't fit an int of %d bits", 32<<(^uint(0)>>63))},
		{shape("(1152921504606846976, 4294967296)"), format.ErrLimit, ""}, // the rest differs on 32 bits
		{shape("(2147483647, 2147483647, 2147483647, 0)"), format.ErrLimit, "byte 10: header: shape (2147483647,2147483647,2147483647,0) of int32 is larger than the address space"},
		{shape("(" + strings.Repeat("1,", MaxRank+1) + ")"), format.ErrLimit, "byte 60: header: more than 64 extents, NumPy's largest rank"},
		{file(1, "{'shape': (2, 3), 'fortran_order': tuple([2])}", ""), format.ErrFormat, "byte 45: header: 't' where fortran_order must be True or False"},
	} {
		_, err := ReadHeader(strings.NewReader(c.file), nil)
		if c.is == nil {
			if err != nil {
				t.Errorf("%q: %v", c.file, err)
			}
			continue
		}
		if !errors.Is(err, c.is) || c.want != "" && err.Error() != "npy: "+c.want {
			t.Errorf("%q\ngot  %v\nwant npy: %s (%v)", c.file, err, c.want, c.is)
		}
	}
}

// TestHeaderCut cuts a file at every byte of its header.
func TestHeaderCut(t *testing.T) {
	whole := array("<f4", false, "(2, 3)", "")
	for n := range len(whole) {
		if _, err := ReadHeader(strings.NewReader(whole[:n]), nil); !errors.Is(err, format.ErrShort) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// TestHeaderReader passes on a reader's own error.
func TestHeaderReader(t *testing.T) {
	own := errors.New("the line is down")
	whole := array("<f4", false, "(2, 3)", "")
	for _, n := range []int{0, 5, 9, 20} {
		r := io.MultiReader(bytes.NewReader([]byte(whole[:n])), failing{own})
		if _, err := ReadHeader(r, nil); !errors.Is(err, own) {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
