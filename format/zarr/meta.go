package zarr

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/tensor"
)

// MaxRank is the largest number of axes, the same as NumPy's.
const MaxRank = 64

// Metadata describes an array. Version, Separator and Codecs have defaults.
//
// Type names element types beyond DType, as NumPy names them:
//
//	datetime64[ns], timedelta64[10s]   DType is int64, and the smallest one is no time
//	bytes5, void5                      strings and raw bytes: uint8, with a last axis of 5 in Shape, Chunks and Inner
//	str5                               strings of code points: uint32, with a last axis of 5
//	struct13                           uint8, with a last axis of 13; Fields has the parts, which Array.Field opens
//	string                             strings of variable length, which Array.Strings reads; DType is uint8, and no tensor has them
//
// The last axis has no part in the keys of chunks. Create writes times, but none of the other types.
type Metadata struct {
	Version         int            // 3 or 2; 0 means 3
	DType           dtype.DType    //
	Type            string         // the element type, if it isn't DType itself; see above
	Fields          []Field        // of an array of structs
	Shape           []int          //
	Chunks          []int          // the shape of a chunk or of a shard
	Inner           []int          // the shape of the inner chunks of shards; nil: chunks are no shards
	Fill            tensor.Any     // one element, for absent chunks; the zero Any is the element of zero bits: 0, of float8_e8m0 2^-127
	Codecs          []Codec        // of a chunk, or of an inner chunk, of shards as well; nil: Zstd(3)
	Separator       string         // between the numbers of a chunk's key: / or .; "": / in version 3, . in version 2
	V2Keys          bool           // version 3 with the chunk keys of version 2
	IndexAtStart    bool           // the index of a shard stands before its chunks
	IndexWithoutCRC bool           // the index of a shard has no checksum
	IndexCodecs     []Codec        // the codecs of the index, if they aren't little-endian Bytes and CRC32C
	DimensionNames  []string       // nil, or one for each axis
	Attributes      map[string]any //
	Unfinished      string         // the writer of an unfinished array of version 3, see Finish; "": it is finished

	chars    int             // the last axis, which Type adds; 0: it adds none
	view     *element        // of a field
	fillless bool            // version 2 says that there is no fill value
	text     json.RawMessage // of the attributes
	absent   string          // the fill value of strings of variable length
}

// check sets defaults and checks the fields that both versions have.
func (m *Metadata) check() error {
	if m.Version == 0 {
		m.Version = 3
	}
	if m.Separator == "" {
		m.Separator = "/"
		if m.Version == 2 || m.V2Keys {
			m.Separator = "."
		}
	}
	switch {
	case m.Version != 2 && m.Version != 3:
		return fail(ErrFormat, "version %d; there are 2 and 3", m.Version)
	case m.Separator != "/" && m.Separator != ".":
		return fail(ErrFormat, "separator %.20q; it is / or .", m.Separator)
	case m.DType == dtype.Invalid || int(m.DType) >= dtype.Count || names[m.DType] == "":
		return fail(format.ErrType, "Zarr has no element type %v", m.DType)
	case m.varies() && m.DType == dtype.Uint8:
	case m.Type != "" && m.chars == 0 && (!timed(m.Type) || m.DType != dtype.Int64):
		return fail(format.ErrType, "the type %.50q of %v; datetime64[UNIT] and timedelta64[UNIT] of int64 are written", m.Type, m.DType)
	case len(m.Shape) >= MaxRank && m.chars > 0, len(m.Shape) > MaxRank:
		return fail(format.ErrLimit, "rank %d; the most is %d", len(m.Shape), MaxRank)
	case len(m.Chunks) != len(m.Shape):
		return fail(ErrFormat, "chunks of shape %v in an array of shape %v", m.Chunks, m.Shape)
	case m.DimensionNames != nil && len(m.DimensionNames) != len(m.Shape):
		return fail(ErrFormat, "%d dimension names of %d axes", len(m.DimensionNames), len(m.Shape))
	case m.Version == 2 && m.Unfinished != "":
		return fail(ErrFormat, "version 2 has no mark of an unfinished array")
	case m.Version == 2 && m.Inner != nil:
		return fail(ErrCodec, "version 2 has no shards")
	case m.Version == 3 && slices.ContainsFunc(m.Codecs, func(c Codec) bool { return c.Name == "zlib" }):
		return noZlib()
	}
	for i, n := range m.Shape {
		if n < 0 {
			return fail(ErrFormat, "the extent %d", n)
		}
		if m.Chunks[i] < 1 {
			return fail(ErrFormat, "a chunk of extent %d", m.Chunks[i])
		}
	}
	if m.Codecs == nil {
		m.Codecs = []Codec{Zstd(3)}
	}
	return nil
}

// document is zarr.json of an array.
type document struct {
	Format       int               `json:"zarr_format"`
	Node         string            `json:"node_type"`
	Shape        integers          `json:"shape"`
	Type         extension         `json:"data_type"`
	Grid         extension         `json:"chunk_grid"`
	Keys         extension         `json:"chunk_key_encoding"`
	Fill         json.RawMessage   `json:"fill_value"`
	Codecs       codecList         `json:"codecs"`
	Attributes   map[string]any    `json:"attributes,omitempty"`
	Names        []*string         `json:"dimension_names,omitempty"`
	Transformers []json.RawMessage `json:"storage_transformers,omitempty"`
	Unfinished   *unfinished       `json:"ashlar_unfinished,omitempty"`
}

var known = []string{"zarr_format", "node_type", "shape", "data_type", "chunk_grid", "chunk_key_encoding", "fill_value", "codecs",
	"attributes", "dimension_names", "storage_transformers", "consolidated_metadata", unfinishedField}

// node returns the fields of the zarr.json of an array or a group, as kind says. It returns an error for fields that aren't
// known, unless they say that they needn't be understood.
func node(b []byte, kind string) (map[string]json.RawMessage, error) {
	fields, err := fieldsOf(b)
	if err != nil {
		return nil, err
	}
	var version int
	var found string
	for name, to := range map[string]any{"zarr_format": &version, "node_type": &found} {
		if err := decode(json.RawMessage(cmp.Or(string(fields[name]), "null")), to); err != nil {
			return nil, within(name, err)
		}
	}
	switch {
	case version != 3:
		return nil, fail(ErrFormat, "zarr_format %d in a zarr.json", version)
	case found != kind:
		return nil, fail(ErrNode, "node_type %.20q; %s was looked for", found, map[string]string{"array": "an array", "group": "a group"}[kind])
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(known, name) && mustUnderstand(fields[name]) {
			return nil, fail(ErrCodec, "the field %.100q isn't known, and doesn't say \"must_understand\": false", name)
		}
	}
	return fields, nil
}

// mustUnderstand reports whether a part of the metadata must not be ignored: it doesn't say "must_understand": false.
func mustUnderstand(raw json.RawMessage) bool {
	var field struct {
		Must *bool `json:"must_understand"`
	}
	return json.Unmarshal(raw, &field) != nil || field.Must == nil || *field.Must
}

// parse3 reads zarr.json of an array.
func parse3(b []byte) (m Metadata, err error) {
	fields, err := node(b, "array")
	if err == nil {
		err = few(b)
	}
	if err != nil {
		return m, err
	}
	var d document
	for name, to := range map[string]any{"shape": &d.Shape, "data_type": &d.Type, "chunk_grid": &d.Grid, "chunk_key_encoding": &d.Keys, "codecs": &d.Codecs,
		"dimension_names": &d.Names, "storage_transformers": &d.Transformers, unfinishedField: &d.Unfinished} {
		if raw, ok := fields[name]; ok {
			if err := decode(raw, to); err != nil {
				return m, within(name, err)
			}
		}
	}
	d.Fill = fields["fill_value"]
	if d.Attributes, err = attributesOf(fields["attributes"]); err != nil {
		return m, within("attributes", err)
	}
	switch {
	case slices.ContainsFunc(d.Transformers, mustUnderstand):
		return m, fail(ErrCodec, "storage_transformers: %.100s isn't known here, and doesn't say \"must_understand\": false", d.Transformers)
	case d.Grid.Name != "regular":
		return m, fail(ErrCodec, "chunk_grid %.50q isn't known; regular is", d.Grid.Name)
	case d.Shape == nil:
		return m, fail(ErrFormat, "no shape")
	case len(d.Fill) == 0:
		return m, fail(ErrFormat, "no fill_value")
	}
	grid, err := d.Grid.parts("chunk_shape")
	var chunks integers
	if err == nil && grid["chunk_shape"] == nil {
		err = fail(ErrFormat, "it has no chunk_shape")
	}
	if err == nil {
		err = decode(grid["chunk_shape"], &chunks)
	}
	if err != nil {
		return m, within("chunk_grid", err)
	}
	m = Metadata{Version: 3, Shape: d.Shape, Chunks: chunks, Attributes: d.Attributes, Codecs: d.Codecs, text: fields["attributes"]}
	if _, marked := fields[unfinishedField]; marked {
		m.Unfinished = "a program"
		if d.Unfinished != nil && d.Unfinished.By != "" {
			m.Unfinished = d.Unfinished.By
		}
	}
	k, err := kind3(d.Type, 0)
	if err != nil {
		return m, err
	}
	if err := m.take(k, d.Fill); err != nil {
		return m, err
	}
	if d.Names != nil && len(d.Names) != len(m.Shape) {
		return m, fail(ErrFormat, "%d dimension_names of %d axes", len(d.Names), len(m.Shape))
	}
	for _, n := range d.Names {
		if n == nil {
			n = new(string)
		}
		m.DimensionNames = append(m.DimensionNames, *n)
	}
	keys, err := d.Keys.parts("separator")
	if raw, ok := keys["separator"]; ok && err == nil {
		if err = decode(raw, &m.Separator); err == nil && m.Separator == "" {
			err = fail(ErrFormat, "separator %s; it is / or .", raw)
		}
	}
	if err != nil {
		return m, within("chunk_key_encoding", err)
	}
	switch d.Keys.Name {
	case "default":
	case "v2":
		m.V2Keys = true
	default:
		return m, fail(ErrCodec, "chunk_key_encoding %.50q isn't known; default and v2 are", d.Keys.Name)
	}
	if m.Codecs == nil {
		return m, fail(ErrFormat, "no codecs")
	}
	if err := chained(m.Codecs); err != nil {
		return m, err
	}
	if len(m.Codecs) == 1 && m.Codecs[0].Name == "sharding_indexed" {
		if err := only("sharding_indexed", m.Codecs[0].Configuration, codecs["sharding_indexed"]...); err != nil {
			return m, err
		}
		s, err := parseSharding(m.Codecs[0])
		if err != nil {
			return m, within("sharding_indexed", err)
		}
		m.Inner, m.Codecs, m.IndexAtStart = s.chunk, s.codecs, s.start
		m.IndexWithoutCRC = slices.EqualFunc(s.index, []Codec{Bytes(binary.LittleEndian)}, sameCodec)
		if !slices.EqualFunc(s.index, m.indexCodecs(), sameCodec) {
			m.IndexCodecs = s.index
		}
	}
	err = m.check()
	m.deepen()
	return m, err
}

func sameCodec(a, b Codec) bool {
	return a.Name == b.Name && maps.Equal(a.Configuration, b.Configuration)
}

// indexCodecs returns the codecs of the index of a shard.
func (m *Metadata) indexCodecs() []Codec {
	switch {
	case m.IndexCodecs != nil:
		return m.IndexCodecs
	case m.IndexWithoutCRC:
		return []Codec{Bytes(binary.LittleEndian)}
	}
	return []Codec{Bytes(binary.LittleEndian), CRC32C()}
}

// text3 writes zarr.json.
func (m *Metadata) text3() ([]byte, error) {
	raw := func(v any) json.RawMessage {
		b, _ := json.Marshal(v)
		return b
	}
	codecs := slices.Clone(m.Codecs)
	if !slices.ContainsFunc(codecs, func(c Codec) bool { return c.kind() == toBytes }) {
		i := 0
		for i < len(codecs) && codecs[i].Name == "transpose" {
			i++
		}
		codecs = slices.Insert(codecs, i, Bytes(binary.LittleEndian))
	}
	if m.Inner != nil {
		location := "end"
		if m.IndexAtStart {
			location = "start"
		}
		codecs = []Codec{{"sharding_indexed", map[string]any{"chunk_shape": m.Inner, "codecs": codecs, "index_codecs": m.indexCodecs(), "index_location": location}}}
	}
	d := document{Format: 3, Node: "array", Shape: append([]int{}, m.Shape...), Type: extension{Name: names[m.DType]}, Codecs: codecs, Attributes: m.Attributes}
	d.Grid = extension{"regular", raw(map[string]any{"chunk_shape": append([]int{}, m.Chunks...)})}
	d.Keys = extension{"default", raw(map[string]string{"separator": m.Separator})}
	if m.V2Keys {
		d.Keys.Name = "v2"
	}
	for i := range m.DimensionNames {
		n := &m.DimensionNames[i]
		if *n == "" {
			n = nil
		}
		d.Names = append(d.Names, n)
	}
	d.Fill = fillText(m.fillBytes(), m.DType)
	if m.Unfinished != "" {
		d.Unfinished = &unfinished{true, m.Unfinished}
	}
	type named struct {
		document
		Type any `json:"data_type"`
	}
	doc := named{d, d.Type.Name}
	if _, t := m.times(); t.Name != "" {
		doc.Type = t
	}
	return json.MarshalIndent(doc, "", "  ")
}

// read returns a document of metadata.
func read(ctx context.Context, s Store, key string) ([]byte, error) {
	b, err := s.Get(ctx, key, maxMetadata)
	if err == nil && len(b) > maxMetadata {
		err = tooLarge(maxMetadata)
	}
	return b, at(key, err)
}

// place checks a store and a path in it.
func place(s Store, p string) (string, error) {
	if s == nil {
		return "", fail(fs.ErrInvalid, "the store is nil")
	}
	trimmed := strings.Trim(p, "/")
	if trimmed == "." {
		trimmed = ""
	}
	if trimmed != "" && !fs.ValidPath(trimmed) {
		return "", fail(fs.ErrInvalid, "%.200q is no path of a store: it has a part that is empty, . or ..", p)
	}
	return trimmed, nil
}

// Open opens the array at a path of the store, "" for its root, of version 3 or 2. If there is a group, the error
// wraps ErrNode. If the array isn't finished, the error wraps ErrUnfinished, unless Options.Unfinished is set. If nothing is at the
// path and it has a dot, Open opens the field of an array of structs that the dot separates: x.lat, or .lat at the root.
func Open(ctx context.Context, s Store, p string, opts *Options) (*Array, error) {
	if err := needContext(ctx); err != nil {
		return nil, err
	}
	p, err := place(s, p)
	if err != nil {
		return nil, err
	}
	a, err := open(ctx, s, p, opts)
	absent := err
	for i := len(p); errors.Is(err, fs.ErrNotExist); {
		if i = strings.LastIndexByte(p[:i], '.'); i <= strings.LastIndexByte(p, '/') {
			return nil, absent
		}
		if a, err = open(ctx, s, strings.TrimSuffix(p[:i], "/"), opts); err == nil && a.meta.Fields != nil {
			return a.Field(p[i+1:])
		} else if err == nil || errors.Is(err, ErrNode) {
			return nil, absent
		}
	}
	return a, err
}

func open(ctx context.Context, s Store, p string, o *Options) (*Array, error) {
	key := path.Join(p, "zarr.json")
	b, err := read(ctx, s, key)
	var m Metadata
	switch {
	case errors.Is(err, fs.ErrNotExist):
		v2 := path.Join(p, ".zarray")
		if b, err = read(ctx, s, v2); errors.Is(err, fs.ErrNotExist) {
			return nil, at(p, fail(fs.ErrNotExist, "no array: neither %s nor %s is there", key, v2))
		}
		key = v2
		var attributes []byte
		if err == nil {
			attributes, err = read(ctx, s, path.Join(p, ".zattrs"))
			if errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
		}
		if err == nil {
			m, err = parse2(b, attributes)
		}
	case err == nil:
		m, err = parse3(b)
	}
	if err != nil {
		return nil, at(key, err)
	}
	a, err := newFinished(s, p, m, o)
	return a, at(key, err)
}

// Create writes the metadata of an array at a path, "" for the root, and of the groups
// above it that don't exist. The chunks of the array are absent. If there is an array or a
// group at the path, or an array above it, the error wraps fs.ErrExist. Create removes
// consolidated metadata of groups above if it has an array at the path, since it is out of date.
func Create(ctx context.Context, s Store, p string, m Metadata, opts *Options) (*Array, error) {
	if err := needContext(ctx); err != nil {
		return nil, err
	}
	p, err := place(s, p)
	if err != nil {
		return nil, err
	}
	if err := m.check(); err != nil {
		return nil, at(p, err)
	}
	if m.chars > 0 || m.view != nil || m.varies() || settingsOf(opts).CF {
		return nil, at(p, fail(format.ErrType, "%s and views of elements are read, not written", cmp.Or(m.Type, "fields")))
	}
	if err := free(ctx, s, p); err != nil {
		return nil, err
	}
	a, err := newArray(s, p, m, opts)
	if err != nil {
		return nil, at(p, err)
	}
	if err := a.pipe.written(); err != nil {
		return nil, at(p, err)
	}
	if a.shard != nil {
		if err := a.shard.index.written(); err != nil {
			return nil, at(p, err)
		}
	}
	key := path.Join(p, "zarr.json")
	var b []byte
	if m.Version == 2 {
		key = path.Join(p, ".zarray")
		if len(m.Attributes) > 0 {
			attributes, err := json.MarshalIndent(m.Attributes, "", "  ")
			if err == nil {
				err = s.Set(ctx, path.Join(p, ".zattrs"), attributes)
			}
			if err != nil {
				return nil, at(key, err)
			}
		}
		b, err = a.meta.text2()
	} else {
		b, err = a.meta.text3()
	}
	if err == nil {
		err = parents(ctx, s, p, m.Version)
	}
	if err == nil {
		err = forget(ctx, s, p)
	}
	if err == nil {
		err = s.Set(ctx, key, append(bytes.TrimSpace(b), '\n'))
	}
	if err != nil {
		return nil, at(key, err)
	}
	return a, nil
}

// take sets the element type, and adds the axis of a kind that has one. The other metadata must be set.
func (m *Metadata) take(k kind, fill json.RawMessage) error {
	var err error
	if k.name == variable {
		m.absent, err = fillString(bytes.TrimSpace(fill), m.Version)
		fill = json.RawMessage("0")
	}
	if err != nil {
		return err
	}
	b, err := k.fill(fill, m.Version)
	if err != nil {
		return err
	}
	m.DType, m.Type, m.Fields, m.chars = k.d, k.name, k.fields, k.chars
	if k.chars == 0 {
		m.Fill, err = scalar(b, k.d)
		return err
	}
	m.Fill, err = rowOf(b, k)
	return err
}

// deepen adds the axis of an element type that has one.
func (m *Metadata) deepen() {
	if m.chars == 0 {
		return
	}
	m.Shape, m.Chunks = append(slices.Clone(m.Shape), m.chars), append(slices.Clone(m.Chunks), m.chars)
	if m.Inner != nil {
		m.Inner = append(slices.Clone(m.Inner), m.chars)
	}
	if m.DimensionNames != nil {
		m.DimensionNames = append(slices.Clone(m.DimensionNames), "")
	}
}

// times returns the names that Create writes: NumPy's code and the data_type of version 3.
func (m *Metadata) times() (code string, v3 extension) {
	form := timeName.FindStringSubmatch(m.Type)
	if form == nil {
		return "", extension{}
	}
	v3.Name = "numpy." + form[1]
	v3.Configuration = json.RawMessage(fmt.Sprintf(`{"unit":%q,"scale_factor":%s}`, form[3], cmp.Or(form[2], "1")))
	code = "M8"
	if form[1] == "timedelta64" {
		code = "m8"
	}
	if form[3] != "generic" {
		code += "[" + form[2] + form[3] + "]"
	}
	return code, v3
}
