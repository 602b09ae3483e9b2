package zarr

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/ashlar-go/ashlar/format"
)

// Bounds of a document of metadata.
const (
	maxMetadata = 16 << 20 // bytes
	maxValues   = 1 << 18  // numbers, strings, literals, lists and objects; for each member of a group
)

// bareWords are the numbers that Python's json writes as words, which JSON doesn't have. Beside each stands a JSON number of the same length.
var bareWords = []bareWord{{"NaN", "0.0", math.NaN()}, {"Infinity", "0.000000", math.Inf(1)}, {"-Infinity", "-0.000000", math.Inf(-1)}}

type bareWord struct {
	word, plain string
	value       float64
}

// bareAt returns the index of the bare word at byte i, or -1.
func bareAt(b []byte, i int) int {
	if c := b[i]; c != 'N' && c != 'I' && c != '-' || i > 0 && !bytes.ContainsRune([]byte(" \t\r\n[:,"), rune(b[i-1])) {
		return -1
	}
	return slices.IndexFunc(bareWords, func(n bareWord) bool {
		end := i + len(n.word)
		return bytes.HasPrefix(b[i:], []byte(n.word)) && (end == len(b) || bytes.ContainsRune([]byte(" \t\r\n]},"), rune(b[end])))
	})
}

// scan returns the number of values in b, and calls f, unless it is nil, with the places of the bare words.
func scan(b []byte, f func(i, word int)) (values int) {
	values = 1
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			for i++; i < len(b) && b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
		case ',', '[', '{':
			values++
		case 'N', 'I', '-':
			if k := bareAt(b, i); k >= 0 && f != nil {
				f(i, k)
			}
		}
	}
	return values
}

// strict returns b with zeros instead of the bare words, or b itself if there are none.
func strict(b []byte) []byte {
	plain := b
	scan(b, func(i, k int) {
		if &plain[0] == &b[0] {
			plain = bytes.Clone(b)
		}
		copy(plain[i:], bareWords[k].plain)
	})
	return plain
}

// few returns an error if a document has too many values.
func few(b []byte) error {
	if scan(b, nil) > maxValues {
		return fail(format.ErrLimit, "more than the %d values that a document of metadata may have", maxValues)
	}
	return nil
}

// fieldsOf returns the fields of an object as they stand in b, in which numbers may be bare words. If several fields have one
// name, the last counts.
func fieldsOf(b []byte) (map[string]json.RawMessage, error) { return objectOf(b, maxValues) }

// objectOf is fieldsOf for an object of up to most fields.
func objectOf(b []byte, most int) (map[string]json.RawMessage, error) {
	plain := strict(b)
	t := &jsonText{b: b}
	if t.space(); t.i < len(b) && b[t.i] != '{' && json.Valid(plain) {
		return nil, fail(ErrFormat, "%.50q is no object of JSON", b)
	}
	if err := json.Unmarshal(plain, &struct{}{}); err != nil {
		return nil, fail(ErrFormat, "%v", err)
	}
	fields := map[string]json.RawMessage{}
	for t.i++; t.more(); {
		name, err := t.string()
		if err != nil {
			return nil, err
		}
		t.space()
		start := t.i
		t.skip()
		fields[name] = b[start:t.i:t.i]
		if len(fields) > most {
			return nil, few(b)
		}
	}
	return fields, nil
}

// attributesOf reads an object of JSON as encoding/json does, and the bare words as numbers.
func attributesOf(raw json.RawMessage) (map[string]any, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	if err := few(raw); err != nil {
		return nil, err
	}
	if _, err := fieldsOf(raw); err != nil {
		return nil, err
	}
	v, err := (&jsonText{b: raw}).value()
	if err != nil {
		return nil, err
	}
	return v.(map[string]any), nil
}

// A jsonText is JSON with a checked syntax, except for bare words, that is read from byte i on.
type jsonText struct {
	b []byte
	i int
}

// space moves to the next token of a value. It skips colons and commas, whose places were checked.
func (t *jsonText) space() {
	for t.i < len(t.b) && bytes.IndexByte([]byte(" \t\r\n,:"), t.b[t.i]) >= 0 {
		t.i++
	}
}

// more reports whether a list or an object goes on, and ends it otherwise.
func (t *jsonText) more() bool {
	t.space()
	if c := t.b[t.i]; c != ']' && c != '}' {
		return true
	}
	t.i++
	return false
}

// skip moves behind a value.
func (t *jsonText) skip() {
	for depth := 0; t.i < len(t.b); {
		t.space()
		switch t.b[t.i] {
		case '"':
			t.quoted()
		case '[', '{':
			t.i++
			depth++
		case ']', '}':
			t.i++
			depth--
		default:
			t.word()
		}
		if depth == 0 {
			return
		}
	}
}

// quoted returns a string with its quotes.
func (t *jsonText) quoted() []byte {
	start := t.i
	for t.i++; t.b[t.i] != '"'; t.i++ {
		if t.b[t.i] == '\\' {
			t.i++
		}
	}
	t.i++
	return t.b[start:t.i]
}

// word returns a number or a literal.
func (t *jsonText) word() string {
	start := t.i
	for t.i < len(t.b) && bytes.IndexByte([]byte(" \t\r\n,]}"), t.b[t.i]) < 0 {
		t.i++
	}
	return string(t.b[start:t.i])
}

func (t *jsonText) string() (s string, err error) {
	raw := t.quoted()
	if bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
		return string(raw[1 : len(raw)-1]), nil
	}
	err = json.Unmarshal(raw, &s)
	return s, err
}

// value reads a value of any kind.
func (t *jsonText) value() (any, error) {
	t.space()
	switch t.b[t.i] {
	case '"':
		return t.string()
	case '[':
		list := []any{}
		for t.i++; t.more(); {
			v, err := t.value()
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	case '{':
		fields := map[string]any{}
		for t.i++; t.more(); {
			name, err := t.string()
			if err != nil {
				return nil, err
			}
			if fields[name], err = t.value(); err != nil {
				return nil, err
			}
		}
		return fields, nil
	}
	if k := bareAt(t.b, t.i); k >= 0 {
		t.i += len(bareWords[k].word)
		return bareWords[k].value, nil
	}
	switch w := t.word(); w {
	case "true":
		return true, nil
	case "false":
		return false, nil
	case "null":
		return nil, nil
	default:
		v, err := strconv.ParseFloat(w, 64)
		if err != nil {
			return nil, fail(ErrFormat, "the number %.50s is no float64", w)
		}
		return v, nil
	}
}

// items returns the items of a list as they stand, and another value as the only item.
func items(raw json.RawMessage) (list []json.RawMessage) {
	t := &jsonText{b: raw}
	if t.space(); raw[t.i] != '[' {
		return []json.RawMessage{raw}
	}
	for t.i++; t.more(); {
		start := t.i
		t.skip()
		list = append(list, raw[start:t.i])
	}
	return list
}

// shown returns a value of a document as JSON writes it, for errors.
func shown(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return fmt.Sprintf("%.100s", b)
}

// decode reads a part of a document strictly.
func decode(raw json.RawMessage, to any) error {
	err := json.Unmarshal(raw, to)
	var own *Error
	if err != nil && !errors.As(err, &own) {
		return fail(ErrFormat, "%v", err)
	}
	return err
}

// An integers is a list of integers, in which a null is none.
type integers []int

// UnmarshalJSON reads the list.
func (l *integers) UnmarshalJSON(b []byte) error {
	var list []*int
	if err := json.Unmarshal(b, &list); err != nil {
		return err
	}
	if list == nil || slices.Contains(list, nil) {
		return fail(ErrFormat, "%.50s is no list of integers", b)
	}
	*l = integers{}
	for _, n := range list {
		*l = append(*l, *n)
	}
	return nil
}

// only returns an error that names where if fields has other names than these.
func only[T any](where string, fields map[string]T, names ...string) error {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(names, name) {
			return fail(ErrCodec, "%s: the key %.100q isn't known here; the known ones are %q", where, name, names)
		}
	}
	return nil
}

// extension is a named part of the metadata.
type extension struct {
	Name          string          `json:"name"`
	Configuration json.RawMessage `json:"configuration,omitempty"`
}

// UnmarshalJSON reads an extension, also in the short form, its name alone.
func (e *extension) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, &e.Name)
	}
	fields, err := fieldsOf(b)
	if err != nil {
		return err
	}
	if err := decode(fields["name"], &e.Name); err != nil {
		return within("name", err)
	}
	e.Configuration = fields["configuration"]
	return only(e.Name, fields, "name", "configuration", "must_understand")
}

// parts returns the configuration. It returns an error if that has other keys than these.
func (e *extension) parts(keys ...string) (map[string]json.RawMessage, error) {
	if len(e.Configuration) == 0 {
		return nil, nil
	}
	fields, err := fieldsOf(e.Configuration)
	if err == nil {
		err = only(e.Name, fields, keys...)
	}
	return fields, err
}
