package onnx

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
)

var update = flag.Bool("update", false, "rewrite the lists in docs/onnx.md")

// families are element types that operators mostly take together.
var families = []struct {
	name  string
	types []dtype.DType
}{
	{"bool", []dtype.DType{dtype.Bool}},
	{"ints", []dtype.DType{dtype.Int8, dtype.Int16, dtype.Int32, dtype.Int64, dtype.Uint8, dtype.Uint16, dtype.Uint32, dtype.Uint64}},
	{"floats", []dtype.DType{dtype.Float16, dtype.BFloat16, dtype.Float32, dtype.Float64}},
	{"f8", []dtype.DType{dtype.Float8E4M3, dtype.Float8E5M2}},
	{"complex", []dtype.DType{dtype.Complex64, dtype.Complex128}},
	{"small", []dtype.DType{dtype.Int2, dtype.Int4, dtype.Uint2, dtype.Uint4, dtype.Float4E2M1, dtype.Float8E4M3FNUZ, dtype.Float8E5M2FNUZ, dtype.Float8E8M0}},
}

// typesOf lists the element types of an operator.
func typesOf(key opKey) string {
	var list []string
	o := operators()[key]
	if o != nil {
		whole := 0
		for _, f := range families {
			has := slices.DeleteFunc(slices.Clone(f.types), func(d dtype.DType) bool { return !o.Supports(d) })
			if len(has) == len(f.types) {
				list = append(list, f.name)
				whole++
				continue
			}
			for _, d := range has {
				list = append(list, d.Short())
			}
		}
		if whole == len(families) {
			list = []string{"all"}
		}
		if valueOps[key] != nil {
			list = append(list, "strings")
		}
		return strings.Join(list, ", ")
	}
	name := key.name
	switch {
	case strings.HasPrefix(name, "String"), name == "RegexFullMatch":
		return "strings"
	case slices.Contains([]string{"CastMap", "DictVectorizer", "ZipMap"}, name):
		return "maps"
	case name == "CategoryMapper":
		return "i64, strings"
	case name == "DynamicSlice":
		return "all"
	case name == "NhwcMaxPool":
		return typesOf(keyOf("", "MaxPool", ""))
	case composites[key] != nil:
		return "floats"
	}
	return "any value"
}

// opsetsOf lists the opsets in which an operator runs, as ranges.
func opsetsOf(key opKey) string {
	last := map[string]int64{"": maxOpset, mlDomain: mlOpset}[key.domain]
	var list []string
	from := int64(0)
	for v := int64(1); v <= max(last, 1)+1; v++ {
		runs := false
		if v <= max(last, 1) {
			if o := operators()[key]; o != nil {
				runs = meaning(o, v) == ""
			}
			if f := valueOps[key]; f != nil {
				runs = runs || meaning(f, v) == ""
			}
			if b := composites[key]; b != nil {
				runs = runs || meaning(b, v) == ""
			}
		}
		switch {
		case runs && from == 0:
			from = v
		case !runs && from > 0 && from == v-1:
			list = append(list, fmt.Sprint(from))
			from = 0
		case !runs && from > 0:
			list = append(list, fmt.Sprintf("%d–%d", from, v-1))
			from = 0
		}
	}
	return strings.Join(list, ", ")
}

// passed reads how many node tests of each operator pass, and how many there are.
func passed(t *testing.T) map[string]string {
	text, err := os.ReadFile("../conformance/floor.txt")
	if err != nil {
		t.Fatal(err)
	}
	m := make(map[string]string)
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 4 && f[0] == "onnx" {
			m[f[1]] = f[2]
			if f[2] != f[3] {
				m[f[1]] += " of " + f[3]
			}
		}
	}
	return m
}

func allKeys() []opKey {
	keys := map[opKey]bool{{"", "ImageDecoder", ""}: true}
	for k, o := range operators() {
		keys[k] = len(o.Versions()) > 0
	}
	for k := range valueOps {
		keys[k] = k.domain != ownDomain
	}
	for k := range composites {
		keys[k] = true
	}
	maps.DeleteFunc(keys, func(_ opKey, is bool) bool { return !is })
	return slices.SortedFunc(maps.Keys(keys), func(a, b opKey) int {
		return cmp.Or(strings.Compare(a.domain, b.domain), strings.Compare(strings.ToLower(a.name), strings.ToLower(b.name)))
	})
}

// there is the list of operators.
func there(t *testing.T) string {
	var b strings.Builder
	tests := passed(t)
	fmt.Fprintf(&b, "| operator | opsets | element types | node tests |\n|---|---|---|---|\n")
	for _, key := range allKeys() {
		opsets, types, n := opsetsOf(key), typesOf(key), "–"
		if key.name == "ImageDecoder" {
			opsets, types = "20–28", "u8"
		}
		if s := tests[key.name]; s != "" && key.domain != "com.microsoft" {
			n = s
			delete(tests, key.name)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", opName(key.domain, key.name), opsets, types, n)
	}
	fmt.Fprintf(&b, "| several nodes | | | %s |\n", tests["composite"])
	delete(tests, "composite")
	if len(tests) > 0 {
		t.Errorf("node tests of no operator: %v", tests)
	}
	return b.String()
}

// limits are the features that operators of the library don't have.
var limits = [][2]string{
	{"`ImageDecoder` of JPEG 2000", "neither Go's library nor golang.org/x/image reads it; package onnx/imagedecoder reads PNG, JPEG, BMP, TIFF, WebP and PNM"},
	{"`com.microsoft.Attention`: `do_rotary`", "the rotation is a node of its own, `RotaryEmbedding`"},
	{"`com.microsoft.GroupQueryAttention`: quantized keys and values", "keys and values are float16, bfloat16, float32 or float64"},
	{"`com.microsoft.MatMulNBits`: `g_idx`", "the rows of the weights stand in order"},
	{"`com.microsoft.SkipSimplifiedLayerNormalization`: outputs 1 and 2", "they are the statistics of the norm, which training reads"},
	{"sequences of sequences", "no operator of ONNX makes one"},
}

// missing is the list of the features that the library doesn't have.
func missing(t *testing.T) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| what | why |\n|---|---|\n")
	byWhy := make(map[string][]string)
	for key, why := range absent {
		if key.name != "ImageDecoder" {
			name := opName(key.domain, key.name)
			if why == runtimes { // they have a line of their own
				name = key.name
			}
			byWhy[why] = append(byWhy[why], "`"+name+"`")
		}
	}
	for _, why := range slices.Sorted(maps.Keys(byWhy)) {
		slices.Sort(byWhy[why])
		of := ""
		if why == runtimes {
			of = "of `com.microsoft`: "
		}
		fmt.Fprintf(&b, "| %s%s | %s |\n", of, strings.Join(byWhy[why], ", "), why)
	}
	for _, l := range limits {
		fmt.Fprintf(&b, "| %s | %s |\n", l[0], l[1])
	}
	text, err := os.ReadFile("../conformance/skip.txt")
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	clear(byWhy)
	for line := range strings.Lines(string(text)) {
		name, why, _ := strings.Cut(strings.TrimSpace(line), " ")
		if parts := strings.Split(name, "/"); parts[0] == "onnx" {
			if byWhy[why] == nil {
				order = append(order, why)
			}
			byWhy[why] = append(byWhy[why], "`"+parts[2]+"`")
		}
	}
	for _, why := range order {
		fmt.Fprintf(&b, "| node tests %s | %s |\n", strings.Join(byWhy[why], ", "), why)
	}
	return b.String()
}

// The lists of docs/onnx.md agree with the library.
func TestPage(t *testing.T) {
	const path = "../docs/onnx.md"
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page := string(old)
	for _, l := range []struct{ name, list string }{{"there", there(t)}, {"missing", missing(t)}} {
		open, shut := "<!-- "+l.name+" -->\n", "<!-- end of "+l.name+" -->\n"
		before, rest, ok := strings.Cut(page, open)
		_, after, also := strings.Cut(rest, shut)
		if !ok || !also {
			t.Fatalf("docs/onnx.md has no place for the list %q", l.name)
		}
		page = before + open + l.list + shut + after
	}
	if *update {
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if page != string(old) {
		t.Error("docs/onnx.md isn't what the library has: go test ./onnx -run TestPage -update")
	}
}
