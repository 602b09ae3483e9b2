package ask_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/judge"
	"github.com/ashlar-go/ashlar/judge/ask"
)

func Example() {
	fmt.Printf("%s\n", ask.Answer(context.Background(), []byte(`{"op": "infer", "a": "(2,2):(24,2)", "b": "(6,2):(8,2)"}`)))
	fmt.Printf("%s\n", ask.Answer(context.Background(), []byte(`{"op": "infer", "a": "(2,2):(24,2)", "b": "(6,2"}`)))
	// Output:
	// {"answer":{"layout":"(2,2):(3,6)"}}
	// {"fault":{"field":"b","text":"want ',' or ')'","mark":"(6,2\n    ^"}}
}

// Every fault names the field that it comes from.
func TestFaultsHaveFields(t *testing.T) {
	good := map[string]any{"a": "(8,8):(8,1)", "b": "(8,8):(1,8)", "banks": "32x4", "elem": "4", "access": []string{"row"}, "vector": "16", "lines": "nvidia", "align": "16", "threads": "8", "find": "3", "mesh": "x=2,y=2", "place": "S(0) R", "to": "R R"}
	for _, c := range []struct{ op, field, text string }{
		{"map", "a", "(8,"}, {"map", "a", ""}, {"find", "find", "x"}, {"find", "find", "(9,9)"}, {"find", "find", "(1,"}, {"compare", "b", "(8,8"}, {"compare", "a", "(2048,4096):(1,2048)"},
		{"infer", "a", "Sw<2,0,3> o (8,8):(8,1)"}, {"relayout", "vector", "2"}, {"relayout", "elem", "0"}, {"relayout", "vector", "x"}, {"banks", "banks", "x"}, {"banks", "elem", "-1"}, {"banks", "lines", "x"}, {"banks", "align", "0"}, {"order", "threads", "x"}, {"order", "lines", ""}, {"order", "a", "(8"}, {"axes", "a", "S[2"}, {"mesh", "a", "x"}, {"mesh", "mesh", "2x2"}, {"mesh", "place", "x:R x:R"}, {"mesh", "find", "9,9"}, {"mesh", "to", "R"}, {"mesh", "elem", "x"},
		{"instruction", "what", "sm80.mma.none"}, {"load", "what", "sm80.mma.none"}, {"load", "a", "(16,"}, {"load", "by", "D"}, {"load", "banks", "x"},
		{"stage", "a", "(8"}, {"stage", "b", "(8"}, {"stage", "elem", "0"}, {"stage", "threads", "0"}, {"stage", "lines", "x"}, {"stage", "banks", "x"},
		{"solve", "banks", "0x4"}, {"convert", "elem", "4b"}, {"verdict", "b", "nothing"}, {"copy", "a", "nothing"},
	} {
		q := map[string]any{"op": c.op, "what": "compose"}
		for k, v := range good {
			q[k] = v
		}
		if c.op == "load" {
			q["what"], q["by"] = "sm80.mma.m16n8k8.tf32", "B"
		}
		if c.op == "mesh" {
			q["a"], q["find"] = "8,8", "3,3"
		}
		q[c.field] = c.text
		if got := answer(t, q); got.Fault == nil || got.Fault.Field != c.field || got.Fault.Text == "" {
			t.Errorf("%s with %s %q: %+v", c.op, c.field, c.text, got.Fault)
		}
	}
	for field, q := range map[string]map[string]any{
		"access1": {"op": "banks", "a": "(8,8):(8,1)", "banks": "32x4", "elem": "4", "access": []string{"row", "diagonal"}},
		"access0": {"op": "banks", "a": "(8,8):(8,1)", "banks": "32x4", "elem": "4", "access": []string{"", " "}},
		"access2": {"op": "load", "a": "(8,8):(8,1)", "banks": "32x4", "what": "sm80.mma.m16n8k8.tf32", "by": "B", "access": []string{"row", "", "diagonal"}},
		"find":    {"op": "mesh", "a": "8,8", "mesh": "x=2", "place": "R", "find": "a"},
		"by":      {"op": "map", "a": "(8,8):(8,1)", "colour": "values", "by": "(8,99):(1,8)"},
	} {
		if got := answer(t, q); got.Fault == nil || got.Fault.Field != field {
			t.Errorf("%s: %+v", field, got.Fault)
		} else if field == "find" && got.Fault.Text != `"a": want a coordinate such as 1,5` {
			t.Error(got.Fault.Text)
		}
	}
	for _, bad := range []string{"", "{", `{"op":"nothing"}`, `{"at":"x"}`, `[]`} {
		if got := ask.Answer(context.Background(), []byte(bad)); !strings.Contains(string(got), "fault") {
			t.Errorf("%q: %s", bad, got)
		}
	}
}

type reply struct {
	Answer json.RawMessage
	Fault  *ask.Fault
}

func answer(t *testing.T, q any) (r reply) {
	t.Helper()
	b, err := json.Marshal(q)
	if err == nil {
		err = json.Unmarshal(ask.Answer(context.Background(), b), &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The picture says which part is drawn, and offsets beyond 2^53 are exact.
func TestPicture(t *testing.T) {
	var p struct {
		Size    string
		Shape   []string
		At      []int
		Rows    int
		Cols    int
		Offsets []string
		Part    bool
		Titles  []string
	}
	for _, c := range []struct {
		a, at, size, first, last string
		cells                    int
		part                     bool
	}{
		{"(1152921504606846976):(1)", "[1152921504606846975]", "1152921504606846976", "1152921504606845952", "1152921504606846975", 1024, true},
		{"(4,1024,4096):(4194304,4096,1)", "[3,2000,9]", "16777216", "16646153", "16773160", 1024, true},
		{"(2,3,4):(12,4,1)", "[]", "24", "0", "23", 24, false},
		{"()", "[]", "1", "", "", -1, false},
		{"(0,3):(3,1)", "[]", "0", "", "", 0, false},
	} {
		got := answer(t, map[string]any{"op": "map", "a": c.a, "at": json.RawMessage(c.at)})
		if c.cells < 0 {
			if got.Fault == nil {
				t.Errorf("%s: no fault", c.a)
			}
			continue
		}
		if got.Fault != nil {
			t.Errorf("%s: %+v", c.a, got.Fault)
			continue
		}
		if err := json.Unmarshal(got.Answer, &p); err != nil {
			t.Fatal(err)
		}
		if p.Size != c.size || len(p.Offsets) != c.cells || p.Part != c.part || c.cells > 0 && (p.Offsets[0] != c.first || p.Offsets[c.cells-1] != c.last) {
			t.Errorf("%s: size %s, %d cells from %v, part %v", c.a, p.Size, len(p.Offsets), p.At, p.Part)
		}
	}
}

// A matrix that is drawn in part comes as blocks too: of a tile, and of a matrix of 2^60 elements.
func TestPictureBlocks(t *testing.T) {
	type grid struct {
		Rows, Cols int
		Step       [2]int
		Coords     []string
		Offsets    []string
	}
	var p struct{ Blocks *grid }
	for a, want := range map[string]string{
		"(128,64):(64,1)":                        "16x16 by [8 4] to 120,60 at 7740",
		"Sw<3,3,3> o (33,32):(32,1)":             "9x16 by [4 2] to 32,30 at 1054",
		"(1073741824,1073741824):(1073741824,1)": "16x16 by [67108864 67108864] to 1006632960,1006632960 at 1080863911575552000",
		"(32,32):(32,1)":                         "none",
		"(4096):(1)":                             "none",
		"(2,64,64):(4096,64,1)":                  "none",
	} {
		got := answer(t, map[string]any{"op": "map", "a": a})
		if p.Blocks = nil; got.Fault != nil || json.Unmarshal(got.Answer, &p) != nil {
			t.Fatalf("%s: %+v", a, got.Fault)
		}
		text := "none"
		if b := p.Blocks; b != nil {
			last := len(b.Coords) - 1
			text = fmt.Sprintf("%dx%d by %v to %s at %s", b.Rows, b.Cols, b.Step, b.Coords[last], b.Offsets[last])
		}
		if text != want {
			t.Errorf("%s: %s, want %s", a, text, want)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	for _, op := range []string{"map", "find", "compare", "copy", "verdict", "banks", "solve", "convert", "infer", "relayout", "instruction", "stage"} {
		f.Add(`{"op":"` + op + `","what":"compose","a":"(4,4):(4,1)","b":"(2,2):(1,2)","banks":"8x4","elem":"4","access":["row:1/4"],"vector":"16","find":"3"}`)
	}
	f.Add(`{"op":"load","what":"sm80.mma.m16n8k8.tf32","by":"B","a":"(8,8):(8,1)","banks":"nvidia"}`)
	f.Add(`{"op":"load","what":"sm90.wgmma.m64n8k16.f16","by":"A","a":"Sw<3,3,3> o (64,64):(64,1)","banks":"nvidia"}`)
	f.Add(`{"op":"instruction","what":"sm80.mma.m16n8k8.tf32"}`)
	f.Add(`{"op":"stage","a":"(16,16):(64,1)","b":"(16,16):(16,1)","banks":"nvidia","elem":"2","lines":"nvidia","align":"16","threads":"32"}`)
	f.Add(`{"op":"map","a":"(2,2,9):(1,2,4)","at":[-1,99,3],"colour":"tile","by":"(2"}`)
	f.Fuzz(func(t *testing.T, q string) {
		if len(q) > 4096 || strings.Contains(q, "faults") || strings.Contains(q, "solve") && strings.Contains(q, "xor") {
			return // searches that take long
		}
		var r reply
		if err := json.Unmarshal(ask.Answer(context.Background(), []byte(q)), &r); err != nil || (r.Fault == nil) == (r.Answer == nil) {
			t.Fatalf("%s: %v, %+v", q, err, r)
		}
	})
}

// Every field of an answer is in its JSON, or another one says the same.
func TestJSONHasEveryField(t *testing.T) {
	said := map[string]string{"Mismatch.Op": "the command", "Order.Access": "access", "SwizzleResult.Swizzle": "swizzle", "Verdict.Exact": "exact", "Counts.Memory": "banks", "Spelling.Err": "reason"}
	seen := map[reflect.Type]bool{}
	fields, left := 0, 0
	var walk func(ty reflect.Type)
	walk = func(ty reflect.Type) {
		for ty.Kind() == reflect.Pointer || ty.Kind() == reflect.Slice || ty.Kind() == reflect.Array {
			ty = ty.Elem()
		}
		if ty.Kind() != reflect.Struct || seen[ty] || !strings.Contains(ty.PkgPath(), "/judge") {
			return
		}
		seen[ty] = true
		for i := range ty.NumField() {
			f := ty.Field(i)
			if !f.IsExported() {
				continue
			}
			fields++
			name := ty.Name() + "." + f.Name
			switch tag := f.Tag.Get("json"); {
			case tag == "-" && said[name] == "":
				t.Errorf("%s isn't in the JSON", name)
			case tag == "-":
				left++
			default:
				walk(f.Type)
			}
		}
	}
	for _, answer := range []any{ask.Counts{}, ask.Solution{}, ask.Places{}, ask.Devices{}, ask.Spelling{}, judge.Order{}, judge.Explanation{}, judge.Verdict{}, judge.Facts{}, judge.Traffic{}} {
		walk(reflect.TypeOf(answer))
	}
	if fields < 100 || left > len(said) {
		t.Errorf("%d fields, %d left out", fields, left)
	}
}
