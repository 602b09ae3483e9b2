package zarr

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/tensor"
)

// stored opens an array of version 3 of a shape of [4] in chunks of [2], whose first chunk has these bytes.
func stored(t *testing.T, typ, fill, codecs string, chunk []byte, opts ...*Options) (*Array, error) {
	t.Helper()
	s := Memory()
	meta := strings.NewReplacer(`"int16"`, typ, ":7,", ":"+fill+",", "[5,4]", "[4]", "[2,4]", "[2]", "CODECS", codecs).Replace(some3)
	if err := cmp.Or(s.Set(t.Context(), "zarr.json", []byte(meta)), s.Set(t.Context(), "c/0", chunk)); err != nil {
		t.Fatal(err)
	}
	return Open(t.Context(), s, "", append(opts, nil)[0])
}

const (
	little = `{"name":"bytes","configuration":{"endian":"little"}}`
	big    = `{"name":"bytes","configuration":{"endian":"big"}}`
	point  = `{"name":"struct","configuration":{"fields":[{"name":"id","data_type":"int16"},{"name":"at","data_type":{"name":"struct","configuration":{"fields":[
{"name":"x","data_type":"float32"},{"name":"when","data_type":{"name":"numpy.datetime64","configuration":{"unit":"s","scale_factor":10}}}]}}},
{"name":"tag","data_type":{"name":"null_terminated_bytes","configuration":{"length_bytes":3}}}]}}`
)

// Types of version 3 that DType doesn't say, in both byte orders, in shards, and beyond the chunks that are there.
func TestTypes3(t *testing.T) {
	shards := func(codecs string) string {
		return `{"name":"sharding_indexed","configuration":{"chunk_shape":[1],"codecs":[` + codecs + `],"index_codecs":[` + little + `],"index_location":"end"}}`
	}
	shard := func(b []byte) []byte {
		h := uint64(len(b) / 2)
		for _, v := range []uint64{0, h, h, h} {
			b = binary.LittleEndian.AppendUint64(b, v)
		}
		return b
	}
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		codec := little
		if order == binary.BigEndian {
			codec = big
		}
		var structs, times, words []byte
		for i := range uint64(2) {
			structs = order.AppendUint16(structs, uint16(i+5))
			structs = order.AppendUint32(structs, math.Float32bits(float32(i)+0.5))
			structs = order.AppendUint64(structs, i+100)
			structs = append(structs, 'a', byte('b'+i), 0)
			times = order.AppendUint64(times, 86400*(i+1))
			for _, r := range []rune{'é', rune('x' + i), 0} {
				words = order.AppendUint32(words, uint32(r))
			}
		}
		for _, in := range []bool{false, true} {
			for _, c := range []struct {
				typ, fill string
				b         []byte
				field     string
				want      string
			}{
				{`{"name":"numpy.datetime64","configuration":{"unit":"s","scale_factor":1}}`, `"NaT"`, times, "", "[1970-01-02T00:00:00 1970-01-03T00:00:00 NaT NaT]"},
				{`{"name":"numpy.timedelta64","configuration":{"unit":"μs","scale_factor":7}}`, "3", times, "", "[86400 × 7 us 172800 × 7 us 3 × 7 us 3 × 7 us]"},
				{`{"name":"fixed_length_utf32","configuration":{"length_bytes":12}}`, `"日"`, words, "", "[éx éy 日 日]"},
				{point, `{"id":-1,"at":{"x":"NaN","when":"NaT"},"tag":"cXI="}`, structs, "at.when", "[1970-01-01T00:16:40 1970-01-01T00:16:50 NaT NaT]"},
				{point, `{"id":-1,"at":{"x":"NaN","when":"NaT"},"tag":"cXI="}`, structs, "tag", "[ab ac qr qr]"},
				{point, `{"id":-1,"at":{"x":-2.5,"when":0},"tag":""}`, structs, "at.x", "[ 0.5  1.5 -2.5 -2.5]"},
				{strings.NewReplacer(`{"name":"id","data_type":"int16"}`, `["id","int16"]`, `{"name":"struct"`, `{"name":"structured"`).Replace(point), `"BwAAAMA/AAAAAAAAAAAAAAA="`, structs, "id", "[5 6 7 7]"},
			} {
				codecs, b := codec, c.b
				if in {
					codecs, b = shards(codec), shard(bytes.Clone(c.b))
				}
				a, err := stored(t, c.typ, c.fill, codecs, b)
				if err == nil && c.field != "" {
					if a, err = Open(t.Context(), a.store, "."+c.field, nil); err == nil && a.WriteChunk(t.Context(), a.FillValue(), 0) == nil {
						t.Error("a field is written")
					}
				}
				if err != nil {
					t.Error(c.typ, err)
					continue
				}
				x, err := a.Read(t.Context())
				got, ok := a.Text(x)
				text := fmt.Sprint(got)
				if !ok {
					text = fmt.Sprint(x)
				}
				if err != nil || text != c.want {
					t.Errorf("%s %s %v: %s, %v; want %s", c.typ, c.field, order, text, err, c.want)
				}
				if list, err := a.StoredChunks(t.Context()); err != nil || len(list) != 1 {
					t.Error(list, err)
				}
				if err := a.DeleteChunk(t.Context(), list0(len(a.Shape()))...); (err == nil) == (c.field != "") {
					t.Error(c.field, err)
				}
			}
		}
	}
}

func list0(n int) []int { return make([]int, n) }

// Types with a mistake are refused with a reason.
func TestTypesRefused(t *testing.T) {
	for _, c := range []struct {
		typ, fill, text string
		want            error
	}{
		{`{"name":"numpy.datetime64","configuration":{"unit":"fortnight","scale_factor":1}}`, "0", "fortnight", format.ErrType},
		{`{"name":"numpy.datetime64","configuration":{"unit":"s","scale_factor":0}}`, "0", "units are", format.ErrType},
		{`{"name":"numpy.datetime64"}`, "0", "JSON", ErrFormat},
		{`{"name":"fixed_length_utf32","configuration":{"length_bytes":5}}`, `""`, "length_bytes 5", ErrFormat},
		{`{"name":"null_terminated_bytes","configuration":{"length_bytes":0}}`, `""`, "length 0", format.ErrType},
		{`{"name":"raw_bytes","configuration":{"length_bytes":4611686018427387904}}`, `""`, "length", format.ErrType},
		{`"r12"`, `""`, "r12", format.ErrType},
		{`"r16"`, `[1,300]`, "fill_value", ErrFormat},
		{`{"name":"struct","configuration":{"fields":[]}}`, `""`, "without fields", ErrFormat},
		{`{"name":"struct","configuration":{"fields":[["a","int8"],["a","int8"]]}}`, `""`, "twice", ErrFormat},
		{`{"name":"struct","configuration":{"fields":[["a","string"]]}}`, `""`, "string", format.ErrType},
		{`{"name":"struct","configuration":{"fields":[["a","int8"]]}}`, `{"b":1}`, `no "a"`, ErrFormat},
		{strings.Repeat(`{"name":"struct","configuration":{"fields":[["a",`, 20) + `"int8"` + strings.Repeat(`]]}}`, 20), `""`, "in each other", format.ErrLimit},
		{`{"name":"struct","configuration":{"fields":[` + manyFields(maxFields+1) + `]}}`, `""`, "1024 fields", format.ErrLimit},
		{`{"name":"fixed_length_utf32","configuration":{"length_bytes":4}}`, `"ab"`, "fill_value", ErrFormat},
	} {
		if _, err := stored(t, c.typ, c.fill, little, nil); !errors.Is(err, c.want) || !strings.Contains(fmt.Sprint(err), c.text) {
			t.Errorf("%s: %v; want %v with %s", c.typ, err, c.want, c.text)
		}
	}
	a, err := stored(t, point, `""`, little, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "at", "at.y", "id.x"} {
		if _, err := a.Field(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := Create(t.Context(), Memory(), "", a.Metadata(), nil); !errors.Is(err, format.ErrType) {
		t.Errorf("structs are written: %v", err)
	}
}

// manyFields are n fields of a struct.
func manyFields(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,["f%d","int8"]`, i)
	}
	return b.String()[1:]
}

// A struct in too many others costs nothing: its fields aren't read.
func TestNestedStructs(t *testing.T) {
	deep := strings.Repeat(`[["a",`, 1000) + `"|i1"` + strings.Repeat(`]]`, 1000)
	if n := testing.AllocsPerRun(1, func() {
		if _, err := kind2([]byte(deep), 0); !errors.Is(err, format.ErrLimit) {
			t.Error(err)
		}
	}); n > 1000 {
		t.Errorf("%v allocations", n)
	}
}

// Times keep their units through Create, in both versions.
func TestTimesWritten(t *testing.T) {
	for version := 2; version <= 3; version++ {
		for _, typ := range []string{"datetime64[ns]", "timedelta64[10D]", "datetime64[generic]"} {
			s := Memory()
			a, err := Create(t.Context(), s, "x", Metadata{Version: version, DType: dtype.Int64, Type: typ, Shape: []int{2}, Chunks: []int{2}}, nil)
			if err == nil {
				err = a.Write(t.Context(), []int{0}, tensor.FromSlice([]int64{1, math.MinInt64}, 2).Any())
			}
			if err == nil {
				a, err = Open(t.Context(), s, "x", nil)
			}
			if err != nil || a.Metadata().Type != typ {
				t.Errorf("%s of version %d: %v %v", typ, version, a.Metadata().Type, err)
			}
		}
	}
	for typ, d := range map[string]dtype.DType{"datetime64[s]": dtype.Int32, "datetime64[0s]": dtype.Int64, "timedelta64[parsec]": dtype.Int64, "datetime64[99999999999s]": dtype.Int64} {
		if _, err := Create(t.Context(), Memory(), "x", Metadata{DType: d, Type: typ}, nil); !errors.Is(err, format.ErrType) {
			t.Errorf("%s of %v: %v", typ, d, err)
		}
	}
}

func cfMeta(d dtype.DType, attributes string) (*Array, error) {
	m := Metadata{DType: d, Shape: []int{3}, Chunks: []int{3}}
	if err := m.check(); err != nil {
		return nil, err
	}
	var err error
	m.text = []byte(attributes)
	if m.Attributes, err = attributesOf(m.text); err != nil {
		return nil, err
	}
	return newArray(Memory(), "x", m, &Options{CF: true})
}

// Numbers become others as the attributes say.
func TestCF(t *testing.T) {
	for _, c := range []struct {
		d          dtype.DType
		attributes string
		in         []float64
		want, typ  string
	}{
		{dtype.Int16, `{"scale_factor":0.5,"add_offset":-1,"_FillValue":-9}`, []float64{3, -9, 0}, "[0.5 nan -1.]", "float64"},
		{dtype.Int16, `{"missing_value":[1,2]}`, []float64{1, 2, 3}, "[nan nan 3.]", "float64"},
		{dtype.Int8, `{"_Unsigned":"true","_FillValue":-1}`, []float64{-1, -2, 3}, "[nan 254. 3.]", "float64"},
		{dtype.Int8, `{"_Unsigned":"true","_FillValue":255}`, []float64{-1, -2, 3}, "[nan 254. 3.]", "float64"},
		{dtype.Uint8, `{"_Unsigned":"false"}`, []float64{255, 1, 2}, "[-1 1 2]", "int8"},
		{dtype.Int16, `{"_FillValue":1e20,"scale_factor":[2]}`, []float64{1, 2, 3}, "[2. 4. 6.]", "float64"},
		{dtype.Float32, `{"_FillValue":1e20,"scale_factor":2}`, []float64{1e20, 2, math.NaN()}, "[nan 4. nan]", "float32"},
		{dtype.Float64, `{"_FillValue":"AAAAAAAA8D8="}`, []float64{1, 2, 3}, "[nan 2. 3.]", "float64"},
		{dtype.Float64, `{"_FillValue":0}`, []float64{0, math.Copysign(0, -1), 3}, "[nan nan 3.]", "float64"},
		{dtype.Int32, `{"units":"days since 2000-01-01","_FillValue":-1}`, []float64{0, 59, -1}, "2000-01-01T00:00:00 2000-02-29T00:00:00 NaT", "datetime64[s]"},
		{dtype.Float64, `{"units":"days since 2000-01-01 12:00:00"}`, []float64{0.25, -0.5, math.NaN()}, "2000-01-01T18:00:00.000000000 2000-01-01T00:00:00.000000000 NaT", "datetime64[ns]"},
		{dtype.Int64, `{"units":"seconds since 1970-01-01T00:00:00.25Z"}`, []float64{1, -1, 0}, "1970-01-01T00:00:01.250 1969-12-31T23:59:59.250 1970-01-01T00:00:00.250", "datetime64[ms]"},
		{dtype.Int64, `{"units":"Hours since 2000-01-01 00:00 -05:30"}`, []float64{1, 0, 2}, "2000-01-01T06:30:00 2000-01-01T05:30:00 2000-01-01T07:30:00", "datetime64[s]"},
		{dtype.Int64, `{"units":"days since 1-1-1","calendar":"standard"}`, []float64{577737, 577736, 730121}, "1582-10-15T00:00:00 1582-10-14T00:00:00 2000-01-01T00:00:00", "datetime64[s]"},
		{dtype.Int64, `{"units":"days since 1-1-1","calendar":"proleptic_gregorian"}`, []float64{577735, 0, 730119}, "1582-10-15T00:00:00 0001-01-01T00:00:00 2000-01-01T00:00:00", "datetime64[s]"},
		{dtype.Int16, `{"units":"days since 2000-01-01","calendar":"noleap"}`, []float64{1, 2, 3}, "[1 2 3]", "int16"},
		{dtype.Int16, `{"units":"months since 2000-01-01"}`, []float64{1, 2, 3}, "[1 2 3]", "int16"},
		{dtype.Float64, `{"units":"m s-1"}`, []float64{1, 2, 3}, "[1. 2. 3.]", "float64"},
	} {
		a, err := cfMeta(c.d, c.attributes)
		if err != nil {
			t.Errorf("%s: %v", c.attributes, err)
			continue
		}
		var b []byte
		for _, v := range c.in {
			e := make([]byte, c.d.Size())
			switch {
			case c.d == dtype.Float64:
				putWord(e, math.Float64bits(v))
			case c.d == dtype.Float32:
				putWord(e, uint64(math.Float32bits(float32(v))))
			default:
				putWord(e, uint64(int64(v)))
			}
			b = append(b, e...)
		}
		m := a.meta
		plain, err := newArray(a.store, "x", Metadata{Version: 3, DType: c.d, Shape: m.Shape, Chunks: m.Chunks, Codecs: m.Codecs, Separator: "/"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		x, _ := tensor.Make(c.d, 3)
		raw, _ := tensor.Bytes(x)
		copy(raw, b)
		if err := plain.Write(t.Context(), []int{0}, x); err != nil {
			t.Fatal(err)
		}
		got, err := a.Read(t.Context())
		if err != nil {
			t.Errorf("%s: %v", c.attributes, err)
			continue
		}
		text := strings.NewReplacer("[ ", "[", " ]", "]").Replace(strings.Join(strings.Fields(fmt.Sprint(got)), " "))
		if list, ok := a.Text(got); ok {
			text = strings.Join(list, " ")
		}
		if typ := cmp.Or(a.meta.Type, a.meta.DType.String()); text != c.want || typ != c.typ {
			t.Errorf("%v %s: %s %s, want %s %s", c.d, c.attributes, typ, text, c.typ, c.want)
		}
	}
	for attributes, want := range map[string]error{`{"scale_factor":"x"}`: ErrFormat, `{"add_offset":Infinity}`: ErrFormat, `{"_FillValue":[[1]]}`: ErrFormat, `{"_FillValue":"x"}`: ErrFormat,
		`{"units":"days since yesterday"}`: ErrFormat, `{"units":"days since 2001-02-29"}`: ErrFormat, `{"units":"days since 1582-10-10"}`: ErrFormat, `{"units":"days since 0-1-1"}`: ErrFormat,
		`{"units":"ns since 0001-01-01"}`: format.ErrLimit} {
		if _, err := cfMeta(dtype.Int32, attributes); !errors.Is(err, want) {
			t.Errorf("%s: %v", attributes, err)
		}
	}
}

// What can't be decoded is an error where it is read.
func TestCFBeyond(t *testing.T) {
	for attributes, v := range map[string]int64{`{"_FillValue":0}`: 1<<53 + 1, `{"units":"days since 2000-01-01"}`: 1 << 60, `{"units":"seconds since 2000-01-01"}`: math.MaxInt64,
		`{"units":"days since 2000-01-01","scale_factor":1e300}`: 1} {
		a, err := cfMeta(dtype.Int64, attributes)
		if err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 8)
		putWord(b, uint64(v))
		if _, err := a.cf.apply(nil, b, 8); !errors.Is(err, format.ErrLimit) || !strings.Contains(err.Error(), "without CF") {
			t.Errorf("%s of %d: %v", attributes, v, err)
		}
	}
}

// FuzzCF opens an array with any attributes, and decodes any bytes.
func FuzzCF(f *testing.F) {
	for _, a := range []string{`{"scale_factor":0.1,"add_offset":5,"_FillValue":-1}`, `{"units":"days since 2000-01-01 12:00:00.5 +01:00","calendar":"standard"}`, `{"_Unsigned":"true","missing_value":[1,"NaN"]}`} {
		for i := range 11 {
			f.Add([]byte(a), uint8(i), []byte("0123456789abcdef"))
		}
	}
	f.Fuzz(func(t *testing.T, attributes []byte, kind uint8, b []byte) {
		d := dtype.DType(int(kind)%(dtype.Count-1) + 1)
		a, err := cfMeta(d, string(attributes))
		typed(t, err)
		if err != nil || a.cf == nil {
			return
		}
		n := len(b) / d.Size()
		out, err := a.cf.apply(nil, b[:n*d.Size()], math.MaxInt)
		typed(t, err)
		if err == nil && len(out) != n*a.meta.DType.Size() {
			t.Errorf("%d bytes of %d elements", len(out), n)
		}
		if x, err := tensor.Make(a.meta.DType, 3); err == nil {
			a.Text(x)
		}
	})
}
