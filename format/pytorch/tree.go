package pytorch

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/format"
)

// maxDepth is how deep lists, dictionaries and objects may stand in one another.
const maxDepth = 256

// maxText is the longest text of metadata, in bytes.
const maxText = 64 << 10

// A walk finds the tensors in the value of a pickle, and names them by the keys on the way to them.
type walk struct {
	room     *int64
	names    []string
	arrays   map[string]*array
	metadata map[string]string
	holds    map[any]bool
	within   map[*object]bool // those on the way; a module may know the one that it is in
	text     []byte           // room of json
}

func (w *walk) spend(n int) *format.Error {
	if *w.room -= int64(n); *w.room < 0 {
		return fail(-1, "", format.ErrLimit, "the pickle stands for more values than a file of this size may")
	}
	return nil
}

// children gives the values inside v with their keys, which are numbers in lists.
func children(v any, yield func(key, v any) bool) {
	var lists []*seq
	var dicts []*dict
	switch v := v.(type) {
	case *seq:
		lists = append(lists, v)
	case *dict:
		dicts = append(dicts, v)
	case *object:
		lists, dicts = append(lists, &v.items), append(dicts, &v.dict)
		switch s := v.state.(type) {
		case *dict:
			dicts = append(dicts, s)
		case *seq: // the attributes, and those in slots
			for _, x := range s.items {
				if d, ok := x.(*dict); ok {
					dicts = append(dicts, d)
				}
			}
		}
	}
	for _, l := range lists {
		for i, x := range l.items {
			if !yield(int64(i), x) {
				return
			}
		}
	}
	for _, d := range dicts {
		for i, x := range d.values {
			if !yield(d.keys[i], x) {
				return
			}
		}
	}
}

// keyText is the key of a dictionary as part of a name. That of a tuple has at most some maxText bytes, however often it
// refers to one text.
func keyText(key any) string {
	if text, ok := textOf(key); ok {
		return text
	}
	if s, ok := key.(*seq); ok { // a tuple
		var b strings.Builder
		for i, x := range s.items {
			if i > 0 {
				b.WriteByte(',')
			}
			if _, nested := x.(*seq); nested || b.Len() > maxText {
				b.WriteString("…")
			} else {
				text := keyText(x)
				b.WriteString(text[:min(len(text), maxText)])
			}
			if b.Len() > maxText {
				break
			}
		}
		return "(" + b.String() + ")"
	}
	switch key.(type) {
	case nil, bool, float64, *big.Int, global:
		return fmt.Sprint(key)
	}
	return kindOf(key)
}

// find reports whether there are tensors in v.
func (w *walk) find(v any, depth int) (found bool, err *format.Error) {
	switch v.(type) {
	case *array:
		return true, nil
	case *seq, *dict, *object:
	default:
		return false, nil
	}
	if found, known := w.holds[v]; known {
		return found, nil
	}
	if depth > maxDepth {
		return false, tooDeep()
	}
	if err := w.spend(100); err != nil {
		return false, err
	}
	w.holds[v] = false // until it is known, for those that hold themselves
	children(v, func(_, x any) bool {
		var f bool
		f, err = w.find(x, depth+1)
		found = found || f
		return err == nil
	})
	w.holds[v] = found
	return found, err
}

func tooDeep() *format.Error {
	return fail(-1, "", format.ErrLimit, "values stand more than %d deep in one another, or in themselves", maxDepth)
}

// visit enters the values of v under a name. quiet leaves plain data out, of which objects have much.
func (w *walk) visit(name string, v any, depth int, quiet bool) *format.Error {
	if depth > maxDepth {
		return tooDeep()
	}
	if err := w.spend(100 + len(name)); err != nil {
		return err
	}
	if a, ok := v.(*array); ok {
		if name == "" {
			name = "array"
		}
		if w.arrays[name] != nil {
			return fail(a.at, name, format.ErrName, "there are two of this name")
		}
		w.names, w.arrays[name] = append(w.names, name), a
		return w.spend(400)
	}
	found, err := w.find(v, depth)
	switch {
	case err != nil:
		return err
	case !found && quiet:
		return nil
	case !found:
		return w.describe(name, v)
	}
	o, isObject := v.(*object)
	if isObject {
		if w.within[o] {
			return nil
		}
		w.within[o] = true
		defer delete(w.within, o)
		if !quiet {
			w.metadata[orValue(name)] = "an object of " + label(o.class) + ", of which the tensors alone are read"
		}
	}
	children(v, func(k, x any) bool {
		key := keyText(k)
		switch part := name; {
		case isObject && slices.Contains([]string{"_parameters", "_buffers", "_modules"}, key): // of a module, as its state_dict names them
			err = w.visit(part, x, depth+1, true)
		case name == "":
			err = w.visit(key, x, depth+1, quiet || isObject)
		default:
			err = w.visit(part+"."+key, x, depth+1, quiet || isObject)
		}
		return err == nil
	})
	return err
}

func orValue(name string) string {
	if name == "" {
		return "value"
	}
	return name
}

// describe enters plain data as JSON into the metadata, and text as it is.
func (w *walk) describe(name string, v any) *format.Error {
	text, isText := v.(string)
	cost := 100 + 2*min(len(text), maxText)
	if !isText {
		b, err := w.json(w.text[:0], v, 0)
		if err != nil {
			return err
		}
		w.text, text = b, string(b)
		cost += 8 * len(b) // with what was freed on the way
	}
	if err := w.spend(cost); err != nil {
		return err
	}
	if len(text) > maxText {
		text = kindOf(v) + fmt.Sprintf(", whose text of more than %d bytes isn't shown", maxText)
	}
	w.metadata[orValue(name)] = text
	return nil
}

// json appends v as JSON; a value that JSON has no form for becomes text. It ends soon after maxText bytes: a pickle of some
// hundred bytes may stand for any number of them, as its lists may refer to one value over and over.
func (w *walk) json(b []byte, v any, depth int) ([]byte, *format.Error) {
	if depth > maxDepth {
		return nil, tooDeep()
	}
	if err := w.spend(32); err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case nil:
		b = append(b, "null"...)
	case bool:
		b = strconv.AppendBool(b, v)
	case int64:
		b = strconv.AppendInt(b, v, 10)
	case *big.Int:
		b = v.Append(b, 10)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			b = append(b, fmt.Sprintf("%q", fmt.Sprint(v))...)
		} else {
			b = strconv.AppendFloat(b, v, 'g', -1, 64)
		}
	case string:
		b = quote(b, v)
	case []byte:
		b = quote(b, string(v[:min(len(v), maxText)]))
	case global:
		b = quote(b, string(v))
	case *seq, *dict:
		_, isDict := v.(*dict)
		ends := "[]"
		if isDict {
			ends = "{}"
		}
		b = append(b, ends[0])
		var err *format.Error
		children(v, func(key, x any) bool {
			if b[len(b)-1] != ends[0] {
				b = append(b, ',')
			}
			if isDict {
				b = append(quote(b, keyText(key)), ':')
			}
			if len(b) <= maxText {
				b, err = w.json(b, x, depth+1)
			}
			return err == nil && len(b) <= maxText
		})
		if err != nil {
			return nil, err
		}
		b = append(b, ends[1])
	default:
		b = quote(b, kindOf(v)+", which isn't read")
	}
	return b, nil
}

// quote appends s as a string of JSON. Of a text beyond maxText it appends as much as json ends at.
func quote(b []byte, s string) []byte {
	q, _ := json.Marshal(s[:min(len(s), maxText)]) // text without an error
	return append(b, q...)
}

// label is text of a file, short and printable.
func label(s string) string { return strings.Trim(fmt.Sprintf("%.100q", s), `"`) }
