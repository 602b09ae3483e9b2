package zarr

import (
	"bytes"
	"compress/bzip2"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/adler32"
	"hash/crc32"
	"math"
	"slices"
	"strconv"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
)

// document2 is .zarray.
type document2 struct {
	Format     int              `json:"zarr_format"`
	Shape      integers         `json:"shape"`
	Chunks     integers         `json:"chunks"`
	Type       json.RawMessage  `json:"dtype"`
	Compressor map[string]any   `json:"compressor"`
	Fill       json.RawMessage  `json:"fill_value"`
	Order      string           `json:"order"`
	Filters    []map[string]any `json:"filters"`
	Separator  string           `json:"dimension_separator,omitempty"`
}

// parse2 reads .zarray and .zattrs, and translates them to version 3: F order becomes a
// transposition, compressor and filters become codecs.
func parse2(b, attributes []byte) (m Metadata, err error) {
	fields, err := fieldsOf(b)
	if err == nil {
		err = few(b)
	}
	if err != nil {
		return m, err
	}
	var d document2
	for name, to := range map[string]any{"zarr_format": &d.Format, "shape": &d.Shape, "chunks": &d.Chunks, "dtype": &d.Type, "compressor": &d.Compressor,
		"order": &d.Order, "filters": &d.Filters, "dimension_separator": &d.Separator} {
		if raw, ok := fields[name]; ok {
			if err := decode(raw, to); err != nil {
				return m, within(name, err)
			}
		}
	}
	d.Fill = fields["fill_value"]
	if d.Format != 2 {
		return m, fail(ErrFormat, "zarr_format %d in a .zarray", d.Format)
	}
	k, err := kind2(d.Type, 0)
	if err != nil {
		return m, err
	}
	m = Metadata{Version: 2, Shape: d.Shape, Chunks: d.Chunks, Separator: d.Separator, Codecs: []Codec{}}
	m.text, m.fillless = attributes, len(d.Fill) == 0 || string(d.Fill) == "null"
	if err := m.take(k, d.Fill); err != nil {
		return m, err
	}
	if m.Attributes, err = attributesOf(attributes); err != nil {
		return m, within(".zattrs", err)
	}
	// xarray's names of axes
	if list, ok := m.Attributes["_ARRAY_DIMENSIONS"].([]any); ok && len(list) == len(m.Shape) {
		for _, x := range list {
			name, _ := x.(string)
			m.DimensionNames = append(m.DimensionNames, name)
		}
	}
	switch d.Order {
	case "C":
	case "F":
		m.Codecs = append(m.Codecs, Transpose(backwards(len(m.Shape))...))
	default:
		return m, fail(ErrFormat, "order %.20q; it is C or F", d.Order)
	}
	if k.name == variable {
		if d.Filters, err = objects2(d.Filters); err != nil {
			return m, err
		}
		m.Codecs = append(m.Codecs, Codec{Name: "vlen-utf8"})
	} else {
		m.Codecs = append(m.Codecs, Bytes(endian(k.big)))
	}
	for _, f := range append(slices.Clone(d.Filters), d.Compressor) {
		if f == nil {
			continue
		}
		id, _ := f["id"].(string)
		for _, key := range []string{"level", "elementsize"} { // netCDF writes "4"
			if s, ok := f[key].(string); ok {
				if n, err := strconv.Atoi(s); err == nil {
					f[key] = n
				}
			}
		}
		m.Codecs = append(m.Codecs, Codec{numcodecs + id, f})
	}
	err = m.check()
	m.deepen()
	return m, err
}

func backwards(rank int) []int {
	axes := make([]int, rank)
	for i := range axes {
		axes[i] = rank - 1 - i
	}
	return axes
}

// text2 writes .zarray.
func (m *Metadata) text2() ([]byte, error) {
	code, err := codeOf(m.DType)
	if err != nil {
		return nil, err
	}
	if time, _ := m.times(); time != "" {
		code = "<" + time
	}
	d := document2{Format: 2, Shape: append([]int{}, m.Shape...), Chunks: append([]int{}, m.Chunks...), Order: "C", Separator: m.Separator, Fill: fillText(m.fillBytes(), m.DType)}
	for _, c := range m.Codecs {
		switch c.Name {
		case "transpose":
			order, ok := orderOf(c.Configuration["order"], len(m.Shape))
			if !ok || !slices.Equal(order, backwards(len(m.Shape))) {
				return nil, fail(ErrCodec, "version 2 has axes in order or backwards; %v is neither", order)
			}
			d.Order = "F"
		case "bytes":
			if e, _ := c.text("endian"); e == "big" && m.DType.Size() > 1 {
				code = ">" + code[1:]
			}
		case "gzip", "zlib", "zstd":
			if d.Compressor != nil {
				return nil, fail(ErrCodec, "version 2 has one compressor")
			}
			level, err := c.int("level", 1, math.MinInt, math.MaxInt)
			if err != nil {
				return nil, err
			}
			d.Compressor = map[string]any{"id": c.Name, "level": level}
		default:
			return nil, fail(ErrCodec, "version 2 is written with transpose, bytes, gzip, zlib and zstd, not with %.50s", c.Name)
		}
	}
	d.Type, err = json.Marshal(code)
	if err != nil {
		return nil, err
	}
	return json.MarshalIndent(d, "", "  ")
}

// filterOf makes the stage of a filter or compressor of the package numcodecs, and returns the elements that it stores. in are the elements
// that it decodes to; in version 3 they have the machine's byte order.
func filterOf(id string, c Codec, in storage, v3 bool) (stage, storage, error) {
	s := stage{name: id}
	switch id {
	case "zlib", "gzip", "zstd", "blosc":
		s, err := stageOf(Codec{id, c.Configuration})
		return s, in, err
	case "lzma":
		s, err := lzmaOf(c)
		return s, in, err
	case "bz2":
		s.grow, s.varies = func(n int) int { return plus(slack(n), 600) }, true
		s.decode = func(dst, b []byte, most int) ([]byte, error) {
			return inflate(bzip2.NewReader(bytes.NewReader(b)), dst, len(b), most)
		}
	case "lz4":
		s.grow, s.varies = slack, true
		s.decode = func(dst, b []byte, most int) ([]byte, error) {
			if len(b) < 4 {
				return nil, errors.New("no room for the size")
			}
			n := binary.LittleEndian.Uint32(b)
			if uint64(n) > uint64(most) || uint64(n) > 256*uint64(len(b)) { // a byte of LZ4 stands for at most 255
				return nil, fail(format.ErrLimit, "lz4: %d bytes come out of %d; the chunk has %d", n, len(b), most)
			}
			out := sized(dst, int(n))
			if unlz4(out, b[4:]) != nil {
				return nil, errors.New("the block is damaged")
			}
			return out, nil
		}
	case "crc32", "adler32", "crc32c":
		where, err := c.text("location")
		if where != "" && where != "start" && where != "end" {
			err = fail(ErrFormat, "%s: location is %.20q; it is start or end", id, where)
		}
		switch id {
		case "crc32":
			s = checksum(id, crc32.ChecksumIEEE, where != "end")
		case "adler32":
			s = checksum(id, adler32.Checksum, where != "end")
		case "crc32c":
			s = checksum(id, func(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }, where == "start")
		}
		return s, in, err
	case "shuffle":
		size, err := c.int("elementsize", 4, 1, 1<<20)
		if err != nil {
			return s, in, err
		}
		s.decode = func(dst, b []byte, _ int) ([]byte, error) {
			out := sized(dst, len(b))
			unshuffle(out, b, size)
			return out, nil
		}
	case "bitround":
		s.decode = func(_, b []byte, _ int) ([]byte, error) { return b, nil }
	case "packbits":
		if in.d.Size() != 1 {
			return s, in, fail(ErrCodec, "packbits in an array of %v; it packs elements of a byte", in.d)
		}
		s.grow = func(n int) int { return plus(n/8, 2) }
		s.decode = unpackBits
		return s, storage{d: dtype.Uint8}, nil
	case "delta", "fixedscaleoffset", "quantize", "astype":
		return numberFilter(id, c, in, v3)
	default:
		return s, in, unknown(c.Name)
	}
	return s, in, nil
}
