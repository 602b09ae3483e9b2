package zarr

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/tensor"
)

// A filtered is a chunk of version 2, and the elements that numcodecs makes of it, in little-endian order.
type filtered struct {
	Array json.RawMessage `json:"zarray"`
	Chunk []byte          `json:"chunk"`
	Want  []byte          `json:"want"`
}

func checkFiltered(t *testing.T, text []byte) {
	t.Helper()
	var list []filtered
	if err := json.Unmarshal(text, &list); err != nil || len(list) == 0 {
		t.Fatal(len(list), err)
	}
	for _, c := range list {
		s := Memory()
		if err := errors.Join(s.Set(t.Context(), ".zarray", c.Array), s.Set(t.Context(), "0", c.Chunk)); err != nil {
			t.Fatal(err)
		}
		a, err := Open(t.Context(), s, "", nil)
		var x tensor.Any
		if err == nil {
			x, err = a.Read(t.Context())
		}
		if err != nil {
			t.Errorf("%s: %v", c.Array, err)
			continue
		}
		b, _ := tensor.Bytes(x)
		if got := bytes.Clone(b); conv.BigEndian {
			conv.Reverse(got, a.DType().Size())
			b = got
		}
		if size := a.DType().Size(); !sameElements(b, c.Want, size, a.DType().IsFloat()) {
			t.Errorf("%s of %x: %x, want %x", c.Array, c.Chunk, b, c.Want)
		}
	}
	t.Logf("%d chunks", len(list))
}

// sameElements compares elements by their bits; two NaNs are equal.
func sameElements(a, b []byte, size int, float bool) bool {
	if len(a) != len(b) {
		return false
	}
	for i := 0; i < len(a); i += size {
		x, y := word(a[i:i+size]), word(b[i:i+size])
		nan := map[int]uint64{2: 0x7c00, 4: 0x7f800000, 8: 0x7ff0000000000000}[size]
		sign := uint64(1)<<(8*size-1) - 1
		if x != y && !(float && x&sign > nan && y&sign > nan) {
			return false
		}
	}
	return true
}

// Filters and compressors of numcodecs give its elements. testdata/filters.py made the golden file.
func TestFilters(t *testing.T) {
	text, err := os.ReadFile("testdata/filters.json")
	if err != nil {
		t.Fatal(err)
	}
	checkFiltered(t, text)
}

// TestFiltersBesideNumcodecs needs Debian's python3-zarr.
func TestFiltersBesideNumcodecs(t *testing.T) {
	out, err := exec.Command(python(t, "numcodecs"), "testdata/filters.py", "7", fmt.Sprint(*arrays)).Output()
	if err != nil {
		t.Fatal(err)
	}
	checkFiltered(t, out)
}

// Filters that can't be read, and chunks that they don't make, are refused with a reason.
func TestFiltersRefused(t *testing.T) {
	for _, c := range []struct{ typ, filters, compressor, chunk, text string }{
		{"|u1", `[{"id":"fixedscaleoffset","scale":1,"offset":300,"dtype":"|u1","astype":"|u1"}]`, "null", "\x00\x01", "doesn't fit uint8"},
		{"<i4", `[{"id":"astype","encode_dtype":"<f8","decode_dtype":"<i4"}]`, "null", "\x00\x00\x00\x00\x00\x00\xf8\x7f\x00\x00\x00\x00\x00\x00\x00\x00", "doesn't fit int32"},
		{"<f2", `[{"id":"astype","encode_dtype":"<i4","decode_dtype":"<f2"}]`, "null", "", "astype of int32 to float16"},
		{"<c8", `[{"id":"astype","encode_dtype":"<c16","decode_dtype":"<c8"}]`, "null", "", "astype of complex128"},
		{"<i2", `[{"id":"astype","decode_dtype":"<i2"}]`, "null", "", "encode_dtype"},
		{"<i2", `[{"id":"fixedscaleoffset","scale":"2","offset":0,"dtype":"<i2"}]`, "null", "", `scale "2" and offset 0`},
		{"<i2", `[{"id":"fixedscaleoffset","scale":0,"offset":0,"dtype":"<i2"}]`, "null", "", "scale 0"},
		{"<f4", `[{"id":"fixedscaleoffset","scale":1e300,"offset":0,"dtype":"<f4"}]`, "null", "", "scale 1e+300"},
		{"<i2", `[{"id":"packbits"}]`, "null", "", "packs elements of a byte"},
		{"|b1", `[{"id":"packbits"}]`, "null", "\x08\xff", "first byte"},
		{"|b1", `[{"id":"packbits"}]`, "null", "", "first byte"},
		{"|b1", `[{"id":"packbits"}]`, "null", "\x00\xff\xff", "bytes"},
		{"|u1", "null", `{"id":"lzma","format":9}`, "", "format 9; it is 1 to 3"},
		{"|u1", "null", `{"id":"lzma","format":1,"filters":[{"id":3}]}`, "", `filters [{"id":3}]`},
		{"|u1", "null", `{"id":"lzma","format":3,"filters":null}`, "", "filters null"},
		{"|u1", "null", `{"id":"lzma","format":3,"filters":[{"id":4},{"id":33}]}`, "", `filter {"id":4}`},
		{"|u1", "null", `{"id":"lzma","format":3,"filters":[{"id":33},{"id":33}]}`, "", "filter"},
		{"|u1", "null", `{"id":"lzma","format":3,"filters":[{"id":4611686018427387905,"lc":"x"}]}`, "", `lc "x"`},
		{"|u1", "null", `{"id":"lzma"}`, "no xz file", "xz file is damaged"},
		{"|u1", "null", `{"id":"zlib","level":[1.5,"a"]}`, "", `level [1.5,"a"]`},
		{"|u1", "null", `{"id":"zstd","level":null}`, "", "level null"},
		{"|u1", `[{"id":"crc32","location":1}]`, "null", "", "location is 1; it is a string"},
	} {
		s := Memory()
		meta := fmt.Sprintf(`{"zarr_format":2,"shape":[2],"chunks":[2],"dtype":%q,"compressor":%s,"fill_value":null,"order":"C","filters":%s}`, c.typ, c.compressor, c.filters)
		if err := errors.Join(s.Set(t.Context(), ".zarray", []byte(meta)), s.Set(t.Context(), "0", []byte(c.chunk))); err != nil {
			t.Fatal(err)
		}
		a, err := Open(t.Context(), s, "", nil)
		if err == nil {
			_, err = a.Read(t.Context())
		}
		if typed(t, err); err == nil || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v; want %s", meta, err, c.text)
		}
	}
}

// lzmaSeeds are the chunks of the golden file that LZMA compresses, with their codecs.
func lzmaSeeds(t testing.TB) (codecs []Codec, chunks [][]byte) {
	text, err := os.ReadFile("testdata/filters.json")
	var list []filtered
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		var d document2
		if json.Unmarshal(c.Array, &d) == nil && d.Compressor["id"] == "lzma" {
			codecs, chunks = append(codecs, Codec{"lzma", d.Compressor}), append(chunks, c.Chunk)
		}
	}
	return codecs, chunks
}

// LZMA's readers take memory by the bytes there are, whatever dictionary a header asks for, and a changed xz file gives no other bytes.
func TestLZMA(t *testing.T) {
	codecs, chunks := lzmaSeeds(t)
	for i, c := range codecs {
		s, err := lzmaOf(c)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := s.decode(nil, bytes.Clone(chunks[i]), 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		if form, _ := c.int("format", 1, 1, 3); form == 2 {
			copy(chunks[i][1:], "\xff\xff\xff\xff") // the dictionary
		}
		took := allocated(func() {
			if out, err := s.decode(nil, bytes.Clone(chunks[i]), 1<<30); err != nil || !bytes.Equal(out, whole) {
				t.Errorf("%v: %v", c, err)
			}
		})
		if took > 8<<20 {
			t.Errorf("%v: %d bytes for a chunk of %d", c, took, len(chunks[i]))
		}
		if _, err := s.decode(nil, chunks[i], len(whole)-1); err == nil {
			t.Errorf("%v: more than most", c)
		}
		if form, _ := c.int("format", 1, 1, 3); form != 1 || c.Configuration["check"] == 0. {
			continue
		}
		for at := range chunks[i] {
			b := bytes.Clone(chunks[i])
			b[at] ^= 0x10
			if out, err := s.decode(nil, b, 1<<20); err == nil && !bytes.Equal(out, whole) { // the size of a chunk of LZMA2 may be larger
				t.Errorf("byte %d of %x changed: %x", at, chunks[i], out)
			}
		}
		if out, err := s.decode(nil, append(append(bytes.Clone(chunks[i]), 0, 0, 0, 0), chunks[i]...), 1<<20); err != nil || !bytes.Equal(out, append(bytes.Clone(whole), whole...)) {
			t.Errorf("two files: %x, %v", out, err)
		}
	}
}

// An xz file by xz of the tukaani project, of two blocks with the filter delta.
func TestLZMABlocks(t *testing.T) {
	b, err := base64.StdEncoding.DecodeString(twoBlocks)
	if err != nil {
		t.Fatal(err)
	}
	out, err := unxz(nil, b, 1<<20)
	want := bytes.Repeat([]byte("0123456789abcdef"), 300)
	if err != nil || !bytes.Equal(out, want) {
		t.Errorf("%d bytes, %v", len(out), err)
	}
}

// printf '0123456789abcdef%.0s' $(seq 300) | xz --block-size=2400 --delta=dist=16 --lzma2=preset=1 -T1 | base64 -w0
const twoBlocks = "/Td6WFoAAATm1rRGAgEDAQ8hARAalcRf4AlfACRdABgMQpJqZ7wO0TMs5MxCKcCbTDkBXSBSxtORNlzZgOt36anEAABTMtPUQ9XVVwIBAwEPIQEQGpXEX+AJXwAkXQAYDEKSame8DtEzLOTMQinAm0w5AV0gUsbTkTZc2YDrd+mpxAAAUzLT1EPV1VcAAkDgEkDgEoOTfPKxxGf7AgAAAAAEWVo="

// xzOf makes an xz file with a block for each part, which is stored.
func xzOf(parts ...string) []byte {
	summed := func(b []byte, from int) []byte {
		return binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b[from:]))
	}
	b := summed([]byte("\xfd7zXZ\x00\x00\x00"), 6)
	index := binary.AppendUvarint([]byte{0}, uint64(len(parts)))
	for _, part := range parts {
		from := len(b)
		b = summed(append(b, 2, 0, filterLZMA2, 1, 40, 0, 0, 0), from) // 40 asks for a dictionary of 4 GiB
		b = append(append(b, 1, byte((len(part)-1)>>8), byte(len(part)-1)), part...)
		b = append(b, 0)
		index = binary.AppendUvarint(binary.AppendUvarint(index, uint64(len(b)-from)), uint64(len(part)))
		for len(b)%4 != 0 {
			b = append(b, 0)
		}
	}
	for len(index)%4 != 0 {
		index = append(index, 0)
	}
	b = append(b, summed(index, 0)...)
	end := binary.LittleEndian.AppendUint32(nil, uint32(len(index)/4))
	end = append(end, 0, 0)
	return append(append(binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(end)), end...), "YZ"...)
}

// Each block of an xz file takes memory by the bytes that come out of it, though it could give all that a chunk has.
func TestLZMAManyBlocks(t *testing.T) {
	parts := slices.Repeat([]string{"a", "bc"}, 100)
	b := xzOf(parts...)
	for _, most := range []int{300, 1 << 27} {
		if took := allocated(func() {
			if out, err := unxz(nil, b, most); err != nil || string(out) != strings.Join(parts, "") {
				t.Errorf("%q, %v", out, err)
			}
		}); took > 8<<20 {
			t.Errorf("%d bytes for a file of %d", took, len(b))
		}
	}
	if _, err := unxz(nil, b, 299); !errors.Is(err, format.ErrLimit) {
		t.Errorf("299 bytes of 300: %v", err)
	}
}

// An xz file that is cut short anywhere is an error.
func TestLZMACut(t *testing.T) {
	b := xzOf("a", "bc")
	for n := range len(b) {
		if out, err := unxz(nil, b[:n], 1<<20); err == nil {
			t.Errorf("%d bytes of the file: %q", n, out)
		}
	}
}

// FuzzLZMA decodes any bytes.
func FuzzLZMA(f *testing.F) {
	codecs, chunks := lzmaSeeds(f)
	for i := range codecs {
		for kind := range uint8(4) {
			f.Add(kind, chunks[i])
		}
	}
	f.Fuzz(func(t *testing.T, kind uint8, b []byte) {
		configs := []map[string]any{{}, {"format": 2}, {"format": 3, "filters": []any{map[string]any{"id": 33.}}}, {"format": 3, "filters": []any{map[string]any{"id": 3., "dist": 4.}, map[string]any{"id": math.Ldexp(1, 62)}}}}
		s, err := lzmaOf(Codec{"lzma", configs[kind%4]})
		if err != nil {
			t.Fatal(err)
		}
		if out, err := s.decode(nil, b, 1<<20); err == nil && len(out) > 1<<20 {
			t.Errorf("%d bytes", len(out))
		}
	})
}
