package zarr

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"pgregory.net/rapid"
)

// randomJSON draws a value, as encoding/json reads it, and a text of it as Python's json would write it.
func randomJSON(t *rapid.T, depth int) (any, string) {
	space := rapid.SampledFrom([]string{"", " ", "\n\t"}).Draw(t, "space")
	kind := rapid.IntRange(0, 7).Draw(t, "kind")
	if depth == 0 {
		kind %= 6
	}
	switch kind {
	case 0:
		w := rapid.SampledFrom(bareWords).Draw(t, "word")
		return w.value, space + w.word + space
	case 1:
		v := rapid.Float64().Draw(t, "number")
		b, _ := json.Marshal(v)
		return v, space + string(b)
	case 2, 3:
		s := rapid.StringOf(rapid.SampledFrom([]rune(`aN"\,:[]{}I- é`+"\u2028\n"))).Draw(t, "string")
		if kind == 3 {
			s = rapid.SampledFrom([]string{"NaN", "[NaN, Infinity]", `\"-Infinity`}).Draw(t, "words")
		}
		b, _ := json.Marshal(s)
		return s, space + string(b) + space
	case 4:
		return rapid.Bool().Draw(t, "bool"), ""
	case 5:
		return nil, space + "null"
	case 6:
		list, text := []any{}, []string{}
		for range rapid.IntRange(0, 3).Draw(t, "length") {
			v, s := randomJSON(t, depth-1)
			if s == "" {
				s = fmt.Sprint(v)
			}
			list, text = append(list, v), append(text, s)
		}
		return list, space + "[" + strings.Join(text, ",") + space + "]"
	}
	fields, text := map[string]any{}, []string{}
	for range rapid.IntRange(0, 3).Draw(t, "fields") {
		name := rapid.StringOf(rapid.SampledFrom([]rune(`aN"\`))).Draw(t, "name")
		v, s := randomJSON(t, depth-1)
		if s == "" {
			s = fmt.Sprint(v)
		}
		b, _ := json.Marshal(name)
		fields[name], text = v, append(text, string(b)+space+":"+s)
	}
	return fields, space + "{" + strings.Join(text, ",") + "}" + space
}

// equal compares values in which NaN is NaN.
func equal(a, b any) bool {
	if x, ok := a.(float64); ok && math.IsNaN(x) {
		y, ok := b.(float64)
		return ok && math.IsNaN(y)
	}
	switch x := a.(type) {
	case []any:
		y, ok := b.([]any)
		for i := range x {
			ok = ok && len(x) == len(y) && equal(x[i], y[i])
		}
		return ok && len(x) == len(y)
	case map[string]any:
		y, ok := b.(map[string]any)
		for k := range x {
			ok = ok && len(x) == len(y) && equal(x[k], y[k])
		}
		return ok && len(x) == len(y)
	}
	return reflect.DeepEqual(a, b)
}

// Attributes are what encoding/json reads, and the words of Python are numbers.
func TestAttributes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want, text := randomJSON(t, 3)
		want = map[string]any{"a": want}
		if text == "" {
			text = fmt.Sprint(want.(map[string]any)["a"])
		}
		text = `{"a":` + text + `}`
		got, err := attributesOf([]byte(text))
		if err != nil || !equal(got, want) {
			t.Fatalf("%s: %v, %v; want %v", text, got, err, want)
		}
		// A text that is cut or has another byte is refused where encoding/json refuses it.
		b := []byte(text)
		i := rapid.IntRange(0, len(b)-1).Draw(t, "place")
		b[i] = rapid.SampledFrom([]byte("NaI-1[]{},:\"\\ e.")).Draw(t, "byte")
		got, err = attributesOf(b)
		plain := strict(b)
		var other map[string]any
		if bad := json.Unmarshal(plain, &other); (bad == nil) != (err == nil) || err == nil && string(plain) == string(b) && !equal(got, other) {
			t.Fatalf("%s: %v, %v; want %v, %v", b, got, err, other, bad)
		}
	})
}

// Bare words are read in attributes and as fill values, in every document, and nowhere else.
func TestBareWords(t *testing.T) {
	ctx := t.Context()
	double := strings.NewReplacer("int16", "float64", "<i2", "<f8")
	meta := double.Replace(seeds()[0])
	member := strings.Replace(meta, ":7,", ":-Infinity,", 1)
	s := Memory()
	for key, text := range map[string]string{
		"zarr.json":       `{"zarr_format":3,"node_type":"group","attributes":{"x":NaN},"consolidated_metadata":{"kind":"inline","must_understand":false,"metadata":{"a":` + member + `}}}`,
		"a/zarr.json":     strings.Replace(member, `"fill`, `"attributes":{"limit":[Infinity, "NaN"]},"fill`, 1),
		"old/.zgroup":     `{"zarr_format":2}`,
		"old/.zattrs":     `{"x": -Infinity}`,
		"old/b/.zarray":   strings.Replace(double.Replace(strings.Replace(some2, "COMPRESSOR", "null", 1)), ":7,", ": NaN,", 1),
		"old/b/.zattrs":   `{"missing_value":NaN}`,
		"complex/.zattrs": `{}`,
		"complex/.zarray": strings.NewReplacer("<i2", "<c16", ":7,", ":[NaN, -Infinity],", "COMPRESSOR", "null").Replace(some2),
	} {
		if err := s.Set(ctx, key, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	g, err := OpenGroup(ctx, s, "")
	if err != nil || !equal(g.Attributes(), map[string]any{"x": math.NaN()}) {
		t.Fatalf("%v, %v", g, err)
	}
	consolidated, err := g.Open(ctx, "a", nil)
	if err != nil || consolidated.FillValue().At() != math.Inf(-1) {
		t.Errorf("%v, %v", consolidated, err)
	}
	if err := g.Consolidate(ctx); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "a/zarr.json") {
		t.Errorf("a document with NaN was written: %v", err)
	}
	a, err := Open(ctx, s, "a", nil)
	if err != nil || a.FillValue().At() != math.Inf(-1) || !equal(a.Attributes(), map[string]any{"limit": []any{math.Inf(1), "NaN"}}) {
		t.Errorf("%v, %v", a, err)
	}
	if g, err = OpenGroup(ctx, s, "old"); err != nil || g.Attributes()["x"] != math.Inf(-1) {
		t.Errorf("%v, %v", g, err)
	}
	if a, err = g.Open(ctx, "b", nil); err != nil || fmt.Sprint(a.FillValue().At(), a.Attributes()) != "NaN map[missing_value:NaN]" {
		t.Errorf("%v, %v", a, err)
	}
	if a, err = Open(ctx, s, "complex", nil); err != nil || fmt.Sprint(a.FillValue().At()) != "(NaN-Infi)" {
		t.Errorf("%v, %v", a, err)
	}
	for _, c := range []struct{ old, new string }{
		{"[5,4]", "[NaN,4]"}, {`:3,`, `:NaN,`}, {`"array"`, `NaN`}, {`"little"`, `NaN`}, {`"bytes"`, `NaN`}, {`"/"`, "NaN"}, {"[2,4]", "[Infinity,4]"}, {`:7,`, `:1NaN,`},
		{`:7,`, `:nan,`}, {`:7,`, `:+Infinity,`}, {`:7,`, `:NaNN,`}, {`:7,`, `:[NaN],`}, {`"fill`, `"attributes":NaN,"fill`}, {`"fill`, `"attributes":{"a":- Infinity},"fill`},
		{`"fill`, `"attributes":{"a":[NaN NaN]},"fill`}, {`"fill`, `"dimension_names":[NaN,"x"],"fill`}, {`"fill`, `"attributes":{NaN:1},"fill`},
	} {
		if _, err := parse3([]byte(strings.Replace(meta, c.old, c.new, 1))); err == nil {
			t.Errorf("%s was read", c.new)
		}
	}
	if _, err := parse3([]byte(strings.Replace(seeds()[0], ":7,", ":NaN,", 1))); err == nil {
		t.Error("NaN was read as an int16")
	}
}

// Version 3 refuses what its specification doesn't have; version 2 takes some of it.
func TestStrict(t *testing.T) {
	plain := seeds()[0]
	for _, c := range []struct{ old, new, text string }{
		{"[5,4]", "[null,4]", "shape"}, {"[5,4]", "[5.0,4]", "shape"}, {"[5,4]", "null", "shape"}, {"[2,4]", "[null,4]", "chunk_grid"}, {"[2,4]", "[2,0]", "extent 0"},
		{`"separator":"/"`, `"separator":""`, "separator"}, {`"separator":"/"`, `"separator":null`, "separator"}, {`"separator":"/"`, `"separator":"-"`, "separator"},
		{`"separator":"/"`, `"spacer":"/"`, "spacer"}, {`"chunk_shape":`, `"order":"F","chunk_shape":`, "order"}, {`"int16"`, `{"name":"int16","configuration":{"unit":"s"}}`, "unit"},
		{`{"name":"regular"`, `{"size":1,"name":"regular"`, "size"}, {`{"name":"bytes"`, `{"align":1,"name":"bytes"`, "align"}, {`"little"`, `"middle"`, "middle"}, {`"little"`, `1`, "endian"},
		{`"codecs":[`, `"codecs":[null,`, "codecs"}, {`"zarr_format"`, `"Zarr_format"`, "zarr_format 0"}, {`"shape"`, `"Shape"`, "Shape"},
		{`{"name":"bytes","configuration":{"endian":"little"}}`, `{"name":"gzip","configuration":{"level":1}}`, "0 codecs of the list make bytes"},
		{`"codecs":[{"name":"bytes"`, `"codecs":["gzip",{"name":"bytes"`, "stands behind"}, {`"little"}}`, `"little"}},"zlib"`, "numcodecs.zlib"},
		{`"codecs":[`, `"codecs":[` + strings.Repeat(`{"name":"transpose","configuration":{"order":[1,0]}},`, 16), "17 codecs"},
		{`"little"}}`, `"little"}},{"name":"gzip","configuration":{"level":1.5}}`, "level 1.5"},
		{`"little"}}`, `"little"}},{"name":"zstd","configuration":{"level":"3"}}`, "level"},
	} {
		m, err := parse3([]byte(strings.Replace(plain, c.old, c.new, 1)))
		if err == nil {
			_, err = newArray(Memory(), "", m, nil)
		}
		if typed(t, err); err == nil || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v, want %s", c.new, err, c.text)
		}
	}
	for _, c := range []struct {
		d          dtype.DType
		text       string
		two, three bool // whether it is a fill value of version 2, and of version 3
	}{
		{dtype.Float64, "null", true, false}, {dtype.Int8, "null", true, false}, {dtype.Bool, "null", true, false}, {dtype.Complex64, "null", true, false}, {dtype.Float64, "", true, false},
		{dtype.Bool, "1", true, false}, {dtype.Bool, "0", true, false}, {dtype.Bool, `"true"`, true, false}, {dtype.Bool, "true", true, true}, {dtype.Bool, "2", false, false},
		{dtype.Int32, "0.0", true, false}, {dtype.Uint8, "1.0", true, false}, {dtype.Int32, "1e2", false, false}, {dtype.Int32, `"1"`, false, false}, {dtype.Int32, "-7", true, true},
		{dtype.Uint8, "256", false, false}, {dtype.Uint8, "-1", false, false}, {dtype.Float32, "1e39", false, false}, {dtype.Float16, "1e6", false, false}, {dtype.Float16, "65504", true, true},
		{dtype.Float8E4M3, "1e3", false, false}, {dtype.Float32, `"nan"`, false, false}, {dtype.Float32, `"0x7fc0"`, false, false}, {dtype.Float32, `"0x7fc00001"`, true, true}, {dtype.Float32, "true", false, false},
		{dtype.Complex64, "1.5", true, false}, {dtype.Complex64, "[1.5]", false, false}, {dtype.Complex64, "[1.5,null]", false, false}, {dtype.Complex64, `[1.5,"NaN"]`, true, true},
		{dtype.Float64, "[1.5]", false, false}, {dtype.Float64, "1", true, true}, {dtype.Float64, `"1"`, false, false},
	} {
		for version, want := range map[int]bool{2: c.two, 3: c.three} {
			if b, err := parseFill([]byte(c.text), c.d, version); (err == nil) != want {
				t.Errorf("version %d, %v, %s: %x, %v", version, c.d, c.text, b, err)
			}
		}
	}
}

// An array that can't be read gives its own reason; only a group, or nothing, says that a group may be looked for.
func TestNode(t *testing.T) {
	ctx, s := t.Context(), Memory()
	for key, doc := range map[string]string{
		"a/zarr.json": strings.Replace(seeds()[0], "int16", "variable_length_bytes", 1), "g/zarr.json": `{"zarr_format":3,"node_type":"group"}`,
		"b/zarr.json": `{"zarr_format":3,"node_type":"group","new":1}`,
	} {
		if err := s.Set(ctx, key, []byte(doc)); err != nil {
			t.Fatal(err)
		}
	}
	for p, want := range map[string][2]error{"a": {format.ErrType, ErrNode}, "g": {ErrNode, nil}, "b": {ErrNode, ErrCodec}} {
		_, err := Open(ctx, s, p, nil)
		_, gerr := OpenGroup(ctx, s, p)
		if !errors.Is(err, want[0]) || !errors.Is(gerr, want[1]) {
			t.Errorf("%s: %v, %v; want %v", p, err, gerr, want)
		}
	}
}
