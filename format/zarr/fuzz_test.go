package zarr

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/tensor"
)

// typed fails unless err is one of this package's.
func typed(t *testing.T, err error) {
	t.Helper()
	var own *Error
	if err != nil && (!errors.As(err, &own) || own.Err == nil) {
		t.Errorf("an error of another kind: %#v", err)
	}
}

// frugal fails when f takes more than 64 MiB.
func frugal(t *testing.T, f func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 64<<20 {
		t.Errorf("it took %d bytes", got)
	}
}

const some3 = `{"zarr_format":3,"node_type":"array","shape":[5,4],"data_type":"int16","chunk_grid":{"name":"regular","configuration":{"chunk_shape":[2,4]}},
"chunk_key_encoding":{"name":"default","configuration":{"separator":"/"}},"fill_value":7,"codecs":[CODECS]}`

const some2 = `{"zarr_format":2,"shape":[5,4],"chunks":[2,4],"dtype":"<i2","compressor":COMPRESSOR,"fill_value":7,"order":"C","filters":null}`

const shards = `{"name":"sharding_indexed","configuration":{"chunk_shape":[1,2],"codecs":["bytes"],"index_codecs":[{"name":"bytes","configuration":{"endian":"little"}}],"index_location":"end"}}`

func seeds() (meta []string) {
	for _, c := range []string{`{"name":"bytes","configuration":{"endian":"little"}}`, `"zstd"`, `"gzip"`, `"blosc"`, `"crc32c"`, `{"name":"transpose","configuration":{"order":[1,0]}},"zstd"`, shards} {
		meta = append(meta, strings.Replace(some3, "CODECS", c, 1))
	}
	for _, c := range []string{"null", `{"id":"blosc"}`, `{"id":"lz4"}`, `{"id":"zlib"}`, `{"id":"bz2"}`, `{"id":"delta","dtype":"<i2","astype":"|i1"}`} {
		meta = append(meta, strings.Replace(some2, "COMPRESSOR", c, 1))
	}
	return append(meta, strings.NewReplacer("[5,4]", "[1152921504606846976,4]", "[2,4]", "[1073741824,4]").Replace(meta[0]))
}

// FuzzArray opens an array of any metadata and reads a first chunk of any bytes.
func FuzzArray(f *testing.F) {
	for _, m := range seeds() {
		f.Add([]byte(m), []byte("0123456789abcdef"))
		f.Add([]byte(m), append([]byte{2, 1, 0x20, 2, 16, 0, 0, 0, 16, 0, 0, 0, 16, 0, 0, 0}, 0xf0, 1, 2, 3))
	}
	index := []byte("abcdefghijklmnop")
	for i := range 8 {
		index = binary.LittleEndian.AppendUint64(index, uint64(i%4*4))
	}
	f.Add([]byte(seeds()[6]), index)
	f.Fuzz(func(t *testing.T, meta, chunk []byte) {
		ctx := t.Context()
		for _, name := range []string{"zarr.json", ".zarray"} {
			s := Memory()
			if err := s.Set(ctx, name, meta); err != nil {
				t.Fatal(err)
			}
			frugal(t, func() {
				g, err := OpenGroup(ctx, s, "")
				typed(t, err)
				if err == nil {
					_, err = g.Arrays(ctx)
					typed(t, err)
				}
				a, err := Open(ctx, s, "", &Options{MaxBytes: 1 << 20, Workers: 1})
				typed(t, err)
				if err != nil {
					return
				}
				index := make([]int, len(a.Shape()))
				for _, n := range a.Shape() {
					if n == 0 {
						return
					}
				}
				if err := s.Set(ctx, a.ChunkKey(index...), chunk); err != nil {
					t.Fatal(err)
				}
				_, err = a.ReadChunk(ctx, index...)
				typed(t, err)
			})
		}
	})
}

// FuzzBlosc reads frames, and blocks of each compressor, of any bytes.
func FuzzBlosc(f *testing.F) {
	f.Add([]byte{2, 1, 0x21, 4, 64, 0, 0, 0, 64, 0, 0, 0, 24, 0, 0, 0, 20, 0, 0, 0, 0, 0, 0, 0})
	f.Add([]byte{2, 1, 0x16, 8, 2, 0, 0, 0, 2, 0, 0, 0, 18, 0, 0, 0, 1, 2})
	f.Fuzz(func(t *testing.T, b []byte) {
		frugal(t, func() {
			out, err := unblosc(nil, b, 1<<20)
			if err == nil && len(out) > 1<<20 {
				t.Errorf("%d bytes", len(out))
			}
			dst := make([]byte, 300)
			_, _ = unlz4(dst, b), unblosclz(dst, b)
		})
	})
}

// Each hostile array is refused by the reason it deserves.
func TestHostile(t *testing.T) {
	ctx := t.Context()
	plain := seeds()[0]
	for _, c := range []struct {
		meta, text string
		want       error
	}{
		{strings.Replace(plain, "int16", "variable_length_bytes", 1), `"variable_length_bytes"`, format.ErrType},
		{strings.Replace(plain, `"bytes"`, `"zfp"`, 1), `"zfp"`, ErrCodec},
		{strings.Replace(plain, `"regular"`, `"rectilinear"`, 1), `"rectilinear"`, ErrCodec},
		{strings.Replace(plain, `"codecs"`, `"new":{},"codecs"`, 1), `"new"`, ErrCodec},
		{strings.Replace(plain, "[2,4]", "[0,4]", 1), "extent 0", ErrFormat},
		{strings.Replace(plain, "[2,4]", "[2]", 1), "[2]", ErrFormat},
		{strings.Replace(plain, "[5,4]", "[-1,4]", 1), "-1", ErrFormat},
		{strings.Replace(plain, ":7,", ":\"7\",", 1), "fill_value", ErrFormat},
		{strings.Replace(plain, ":7,", ":70000,", 1), "fill_value", ErrFormat},
		{strings.Replace(plain, "[2,4]", "[4611686018427387904,4]", 1), "address space", format.ErrLimit},
		{strings.Replace(plain, "[2,4]", "[4611686018427,4]", 1), "MaxBytes", format.ErrLimit},
		{plain[:100], "JSON", ErrFormat},
	} {
		s := Memory()
		if err := s.Set(ctx, "zarr.json", []byte(c.meta)); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(ctx, s, "", nil); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%v; want %v with %s", err, c.want, c.text)
		}
	}
	if s := Memory(); s.Set(ctx, "zarr.json", []byte(strings.Replace(plain, `"codecs"`, `"new":{"must_understand":false},"codecs"`, 1))) == nil {
		if _, err := Open(ctx, s, "", nil); err != nil {
			t.Errorf("a field that needn't be understood: %v", err)
		}
	}
	// A bomb, chunks of a wrong size, and shards whose index lies.
	bomb, err := newPipeline([]Codec{Zstd(1)}, elementOf(dtype.Uint8), []int{1 << 22}, tensor.Any{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	b, _, err := bomb.encode(new(work), pattern(dtype.Uint8, []int{1 << 22}), nil)
	if err != nil {
		t.Fatal(err)
	}
	small, err := newPipeline([]Codec{Zstd(1)}, elementOf(dtype.Uint8), []int{1 << 10}, tensor.Any{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := small.decode(nil, b); !errors.Is(err, format.ErrLimit) {
		t.Errorf("a bomb: %v", err)
	}
	b, _, _ = small.encode(new(work), pattern(dtype.Uint8, []int{1 << 10}).Slice(tensor.R(0, 1<<9)), nil)
	if _, err := small.decode(nil, b); !errors.Is(err, ErrFormat) {
		t.Errorf("a short chunk: %v", err)
	}
	for _, lie := range [][2]uint64{{0, 4}, {2, 4}, {1 << 63, 4}, {1 << 62, 4}, {8, 1 << 62}} {
		s := Memory()
		shard := []byte("abcdefghijklmnop")
		for i := range uint64(4) {
			at, n := i*4, uint64(4)
			if i == 3 {
				at, n = lie[0], lie[1]
			}
			shard = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(shard, at), n)
		}
		meta := strings.Replace(seeds()[6], `["bytes"]`, `[{"name":"bytes","configuration":{"endian":"little"}}]`, 1)
		if err := cmp.Or(s.Set(ctx, "zarr.json", []byte(meta)), s.Set(ctx, "c/0/0", shard)); err != nil {
			t.Fatal(err)
		}
		a, err := Open(ctx, s, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.ReadChunk(ctx, 0, 0); err == nil || !strings.Contains(err.Error(), "c/0/0") {
			t.Errorf("an index with %v: %v", lie, err)
		}
	}
}

// Fill values keep their bits through the metadata.
func TestFill(t *testing.T) {
	for _, c := range []struct {
		d          dtype.DType
		text, want string
	}{
		{dtype.Float32, `"0x7fc00001"`, ""}, {dtype.Float32, `"NaN"`, ""}, {dtype.Float64, `"-Infinity"`, ""}, {dtype.Float64, `-0.0`, ""},
		{dtype.Float64, `0.1`, ""}, {dtype.Float16, `"0x7e01"`, ""}, {dtype.Float16, `1.5`, `"0x3e00"`}, {dtype.Int64, `-9223372036854775808`, ""},
		{dtype.Uint64, `18446744073709551615`, ""}, {dtype.Complex64, `["NaN",-1.5]`, ""}, {dtype.Bool, `true`, ""}, {dtype.BFloat16, `"0x3fc0"`, ""},
	} {
		b, err := parseFill([]byte(c.text), c.d, 3)
		if err != nil {
			t.Error(err)
			continue
		}
		if c.want == "" {
			c.want = c.text
		}
		if got := string(fillText(b, c.d)); strings.Trim(got, "0") != strings.Trim(c.want, "0") {
			t.Errorf("%v %s is written %s, want %s", c.d, c.text, got, c.want)
		}
	}
}

// The fill value of each element of 8 bits, and the one of zero bits of each type, can be read again as it was written.
func TestFillOfAllBits(t *testing.T) {
	for d, name := range names {
		d := dtype.DType(d)
		for bits := range 256 {
			if name == "" || bits > 0 && d.Size() > 1 || bits > 1 && d == dtype.Bool {
				break
			}
			b := make([]byte, d.Size())
			putWord(b[:min(len(b), 8)], uint64(bits))
			text := fillText(b, d)
			if back, err := parseFill(text, d, 3); err != nil || !bytes.Equal(back, b) {
				t.Errorf("%v %x is written %s, which is read %x, %v", d, b, text, back, err)
			}
		}
	}
}
