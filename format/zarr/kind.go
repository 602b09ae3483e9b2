package zarr

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/tensor"
)

// A Field is a part of each element of an array of structs. [Array.Field] opens it. A field of a nested struct
// has the name outer.inner.
type Field struct {
	Name  string
	DType dtype.DType
	Type  string // like Metadata.Type

	kind
	off int // from the beginning of the element
}

// A kind is an element type of Zarr.
type kind struct {
	d      dtype.DType
	big    bool    // of version 2; version 3 has the byte order in its codecs
	name   string  // Metadata.Type
	chars  int     // the elements of d in one element of Zarr, along an axis of their own; 0: one, without the axis
	fields []Field // of a struct
}

func (k kind) size() int { return k.d.Size() * max(k.chars, 1) }

const (
	maxElement = 1 << 24 // bytes of a string or a struct
	maxNested  = 8       // structs in each other
	maxFields  = 1 << 10 // of a struct, with the fields of nested structs
)

// timeUnits are the units of NumPy's datetime64 and timedelta64.
var timeUnits = []string{"Y", "M", "W", "D", "h", "m", "s", "ms", "us", "μs", "ns", "ps", "fs", "as", "generic"}

var (
	timeName = regexp.MustCompile(`^(datetime64|timedelta64)\[(\d*)(\pL+)\]$`)
	codeForm = regexp.MustCompile(`^([<>|=])([MmSUV])(?:(\d+)|8\[(\d*)(\pL+)\])$`)
)

// timeKind returns the kind of a datetime64 or a timedelta64 whose unit is count times unit.
func timeKind(name, count, unit string) (kind, error) {
	n, err := strconv.Atoi(cmp.Or(count, "1"))
	if err != nil || n < 1 || n > math.MaxInt32 || !slices.Contains(timeUnits, unit) {
		return kind{}, fail(format.ErrType, "%s of %.20s %.20q; the units are %s", name, count, unit, strings.Join(timeUnits, " "))
	}
	if unit == "μs" {
		unit = "us"
	}
	if count = ""; n > 1 {
		count = strconv.Itoa(n)
	}
	return kind{d: dtype.Int64, name: name + "[" + count + unit + "]"}, nil
}

// timed reports whether a type is a datetime64 or a timedelta64.
func timed(name string) bool {
	form := timeName.FindStringSubmatch(name)
	if form == nil {
		return false
	}
	_, err := timeKind(form[1], form[2], form[3])
	return err == nil
}

// lengthKind returns the kind of strings or raw bytes of n elements.
func lengthKind(name string, d dtype.DType, n int) (kind, error) {
	if n < 1 || n > maxElement/d.Size() {
		return kind{}, fail(format.ErrType, "%s of length %d; it is 1 to %d", name, n, maxElement/d.Size())
	}
	return kind{d: d, name: name + strconv.Itoa(n), chars: n}, nil
}

// kind2 reads a dtype of version 2.
func kind2(raw json.RawMessage, depth int) (kind, error) {
	if raw = bytes.TrimSpace(raw); len(raw) > 0 && raw[0] == '[' {
		var list [][]json.RawMessage
		if err := cmp.Or(deeper(depth), decode(raw, &list)); err != nil {
			return kind{}, err
		}
		var s structure
		for _, f := range list {
			if len(f) != 2 && len(f) != 3 {
				return kind{}, fail(ErrFormat, "a field of %d parts; it has a name, a type and perhaps a shape", len(f))
			}
			k, err := kind2(f[1], depth+1)
			if err == nil && len(f) == 3 {
				var shape integers
				if err = decode(f[2], &shape); err == nil && (len(shape) != 1 || k.chars > 0 || shape[0] < 1 || shape[0] > maxElement) {
					err = fail(format.ErrType, "a field of shape %v of %s; numbers in one axis are read", shape, cmp.Or(k.name, k.d.String()))
				}
				if err == nil {
					k.chars = shape[0]
				}
			}
			if err = s.add(f[0], k, err); err != nil {
				return kind{}, err
			}
		}
		return s.done()
	}
	var code string
	if json.Unmarshal(raw, &code) != nil {
		return kind{}, fail(format.ErrType, "dtype %.100s is no element type known here", raw)
	}
	if code == "|O" && depth == 0 {
		return kind{d: dtype.Uint8, name: variable}, nil
	}
	form := codeForm.FindStringSubmatch(code)
	if form == nil {
		d, big, err := typeCoded(code)
		return kind{d: d, big: big}, err
	}
	var k kind
	var err error
	n, _ := strconv.Atoi(form[3]) // also 0 if it is beyond an int
	switch time := form[5] != ""; {
	case time && form[2] == "M":
		k, err = timeKind("datetime64", form[4], form[5])
	case time && form[2] == "m":
		k, err = timeKind("timedelta64", form[4], form[5])
	case form[2] == "S" && !time:
		k, err = lengthKind("bytes", dtype.Uint8, n)
	case form[2] == "U" && !time:
		k, err = lengthKind("str", dtype.Uint32, n)
	case form[2] == "V" && !time:
		k, err = lengthKind("void", dtype.Uint8, n)
	case n == 8: // without a unit
		k, err = timeKind(map[string]string{"M": "datetime64", "m": "timedelta64"}[form[2]], "", "generic")
	default:
		err = fail(format.ErrType, "dtype %.100q is no element type known here", code)
	}
	k.big = form[1] == ">" && k.d.Size() > 1
	return k, err
}

// kind3 reads a data_type of version 3. These names come from zarr-python 3 and the registry zarr-extensions:
// numpy.datetime64, numpy.timedelta64, null_terminated_bytes, fixed_length_utf32, raw_bytes, struct and structured.
func kind3(t extension, depth int) (kind, error) {
	length := func(name string, d dtype.DType) (kind, error) {
		parts, err := t.parts("length_bytes")
		var n int
		if err == nil {
			err = decode(parts["length_bytes"], &n)
		}
		if err == nil && n%d.Size() != 0 {
			err = fail(ErrFormat, "length_bytes %d of elements of %d", n, d.Size())
		}
		if err != nil {
			return kind{}, err
		}
		return lengthKind(name, d, n/d.Size())
	}
	switch name := t.Name; name {
	case "numpy.datetime64", "numpy.timedelta64":
		parts, err := t.parts("unit", "scale_factor")
		var unit string
		var count int
		if err == nil {
			err = decode(parts["unit"], &unit)
		}
		if err == nil {
			err = decode(parts["scale_factor"], &count)
		}
		if err != nil {
			return kind{}, err
		}
		return timeKind(strings.TrimPrefix(name, "numpy."), strconv.Itoa(count), unit)
	case variable:
		_, err := t.parts()
		if depth > 0 {
			err = cmp.Or(err, noTensor())
		}
		return kind{d: dtype.Uint8, name: variable}, err
	case "null_terminated_bytes":
		return length("bytes", dtype.Uint8)
	case "fixed_length_utf32":
		return length("str", dtype.Uint32)
	case "raw_bytes":
		return length("void", dtype.Uint8)
	case "struct", "structured":
		parts, err := t.parts("fields")
		var list []json.RawMessage
		if err = cmp.Or(deeper(depth), err); err == nil {
			err = decode(parts["fields"], &list)
		}
		if err != nil {
			return kind{}, err
		}
		var s structure
		for _, raw := range list {
			var f struct {
				Name json.RawMessage `json:"name"`
				Type extension       `json:"data_type"`
			}
			var pair []json.RawMessage
			if err = json.Unmarshal(raw, &pair); err == nil && len(pair) == 2 {
				f.Name = pair[0]
				err = decode(pair[1], &f.Type)
			} else {
				err = decode(raw, &f)
			}
			var k kind
			if err == nil {
				k, err = kind3(f.Type, depth+1)
			}
			if err = s.add(f.Name, k, err); err != nil {
				return kind{}, err
			}
		}
		return s.done()
	}
	if bits, ok := strings.CutPrefix(t.Name, "r"); ok {
		if n, err := strconv.Atoi(bits); err == nil && n%8 == 0 {
			return lengthKind("void", dtype.Uint8, n/8)
		}
	}
	d, err := typeNamed(t.Name)
	if err == nil {
		_, err = t.parts()
	}
	return kind{d: d}, err
}

// A structure is a struct whose fields are added one by one.
type structure struct {
	size   int
	fields []Field
}

// deeper returns an error if structs are nested too deep.
func deeper(depth int) error {
	if depth >= maxNested {
		return fail(format.ErrLimit, "more than %d structs in each other", maxNested)
	}
	return nil
}

// add adds a field. err is the error of reading its type.
func (s *structure) add(raw json.RawMessage, k kind, err error) error {
	var name string
	var titled []string // NumPy has a title and a name
	if e := decode(raw, &name); e != nil && json.Unmarshal(raw, &titled) == nil && len(titled) == 2 {
		name = titled[1]
	} else if e != nil {
		return within("the name of a field", e)
	}
	if err != nil {
		return within(fmt.Sprintf("the field %.100q", name), err)
	}
	if name == "" || strings.Contains(name, "/") || slices.ContainsFunc(s.fields, func(f Field) bool { return f.Name == name || strings.HasPrefix(f.Name, name+".") }) {
		return fail(ErrFormat, "the name %.100q of a field: it is empty, has a /, or comes twice", name)
	}
	if len(s.fields)+max(len(k.fields), 1) > maxFields {
		return fail(format.ErrLimit, "a struct of more than %d fields", maxFields)
	}
	if k.size() > maxElement-s.size {
		return fail(format.ErrLimit, "a struct of more than %d bytes", maxElement)
	}
	if k.fields == nil {
		s.fields = append(s.fields, Field{Name: name, DType: k.d, Type: k.name, kind: k, off: s.size})
	}
	for _, f := range k.fields {
		f.Name, f.off = name+"."+f.Name, f.off+s.size
		s.fields = append(s.fields, f)
	}
	s.size += k.size()
	return nil
}

func (s *structure) done() (kind, error) {
	if s.fields == nil {
		return kind{}, fail(ErrFormat, "a struct without fields")
	}
	return kind{d: dtype.Uint8, name: "struct" + strconv.Itoa(s.size), chars: s.size, fields: s.fields}, nil
}

// fill reads a fill value as the bytes of an element. Numbers, also in fields of a struct, get the machine's byte order.
func (k kind) fill(raw json.RawMessage, version int) ([]byte, error) {
	raw = bytes.TrimSpace(raw)
	var text string
	isText := json.Unmarshal(raw, &text) == nil && len(raw) > 0 && raw[0] == '"'
	b := make([]byte, k.size())
	bad := func() ([]byte, error) { return nil, fail(ErrFormat, "fill_value %.100s is no %s", raw, k.name) }
	switch {
	case strings.HasPrefix(k.name, "datetime64") || strings.HasPrefix(k.name, "timedelta64"):
		if isText && text == "NaT" {
			raw = json.RawMessage("-9223372036854775808")
		}
		return parseFill(raw, k.d, version)
	case k.chars == 0:
		return parseFill(raw, k.d, version)
	case version == 2 && (len(raw) == 0 || string(raw) == "null" || string(raw) == "0"):
		return b, nil
	case len(raw) == 0:
		return bad()
	case raw[0] == '{' && k.fields != nil:
		return b, k.fillFields(b, raw, version)
	case k.d == dtype.Uint32:
		if runes := []rune(text); isText && len(runes) <= k.chars {
			for i, r := range runes {
				putWord(b[4*i:4*i+4], uint64(r))
			}
			return b, nil
		}
		return bad()
	case raw[0] == '[':
		var list integers
		if decode(raw, &list) != nil || len(list) != len(b) || slices.ContainsFunc(list, func(n int) bool { return n < 0 || n > 255 }) {
			return bad()
		}
		for i, n := range list {
			b[i] = byte(n)
		}
	case !isText:
		return bad()
	default:
		plain, err := base64.StdEncoding.DecodeString(text)
		if err != nil || len(plain) > len(b) {
			return bad()
		}
		copy(b, plain)
	}
	for _, f := range k.fields {
		if unit := conv.Unit(f.d); unit > 1 && f.big != conv.BigEndian {
			conv.Reverse(b[f.off:f.off+f.size()], unit)
		}
	}
	return b, nil
}

// fillFields reads an object that has the fill values of the fields.
func (k kind) fillFields(b []byte, raw json.RawMessage, version int) error {
	for _, f := range k.fields {
		value := raw
		for part := range strings.SplitSeq(f.Name, ".") {
			fields, err := fieldsOf(value)
			if err != nil {
				return within("fill_value", err)
			}
			if value = fields[part]; value == nil {
				return fail(ErrFormat, "fill_value has no %.100q", f.Name)
			}
		}
		v, err := f.fill(value, version)
		if err != nil {
			return within(fmt.Sprintf("the field %.100q", f.Name), err)
		}
		copy(b[f.off:], v)
	}
	return nil
}

func rowOf(b []byte, k kind) (tensor.Any, error) {
	t, err := tensor.Make(k.d, k.chars)
	if err != nil {
		return t, err
	}
	raw, _ := tensor.Bytes(t)
	copy(raw, b)
	return t, nil
}

// An element describes how the elements of an array are made of the bytes of chunks.
type element struct {
	d      dtype.DType
	stored dtype.DType // of the bytes; of a struct uint8
	chars  int
	varies bool    // strings of variable length
	field  *Field  // that is taken from each struct
	whole  int     // bytes of a struct
	then   []stage // that decode numbers
	limit  int     // Options.MaxBytes
}

func elementOf(d dtype.DType) element { return element{d: d, stored: d} }

// views returns the stages that make elements of d of the stored ones. They only decode.
func (e element) views(big bool) []stage {
	list := slices.Clone(e.then)
	if e.field != nil {
		if e.field.big {
			big = true
		}
		list = append(list, e.field.stage(e.whole, big))
	}
	return list
}

// stage returns the stage that copies the field out of structs.
func (f *Field) stage(whole int, big bool) stage {
	size, unit := f.size(), conv.Unit(f.d)
	return stage{name: "struct", grow: func(n int) int { return times(n/size, whole) }, decode: func(dst, b []byte, most int) ([]byte, error) {
		n := len(b) / whole
		if len(b)%whole != 0 || n > most/size {
			return nil, fail(ErrFormat, "%d bytes of structs of %d; the chunk has %d", len(b), whole, most/size)
		}
		out := sized(dst, n*size)
		for i := range n {
			copy(out[i*size:(i+1)*size], b[i*whole+f.off:])
		}
		if unit > 1 && big != conv.BigEndian {
			conv.Reverse(out, unit)
		}
		return out, nil
	}}
}
