package main

import (
	"fmt"
	"path/filepath"
	"testing"
)

// Each case is judged alone; want is the last line.
func TestLayoutRunner(t *testing.T) {
	const passed, failed, unsup = "1 passed, 0 failed, 0 unsupported, 0 skipped", "0 passed, 1 failed, 0 unsupported, 0 skipped", "0 passed, 0 failed, 1 unsupported, 0 skipped"
	for _, tc := range []struct{ name, op, verdict, rest, want string }{
		{"right", "coalesce", "must", `"args":{"layout":"(2,(1,6)):(1,(6,2))"},"expect":{"table":[0,1,2,3,4,5,6,7,8,9,10,11],"modes":[12],"size":12}`, passed},
		{"another table", "coalesce", "must", `"args":{"layout":"(2,2):(1,2)"},"expect":{"table":[0,1,2,4],"modes":[4]}`, failed},
		{"other modes", "coalesce", "must", `"args":{"layout":"(2,2):(1,2)"},"expect":{"table":[0,1,2,3],"modes":[2,2]}`, failed},
		{"another size", "coalesce", "must", `"args":{"layout":"(2,2):(1,2)"},"expect":{"table":[0,1,2,3],"modes":[4],"size":5}`, failed},
		{"no table", "coalesce", "must", `"args":{"layout":"(2,2):(1,2)"},"expect":{"modes":[4]}`, failed},
		{"refused where it must not be", "composition", "must", `"args":{"a":"(6,2):(8,2)","b":"3:4"},"expect":{"table":[0,32,18],"modes":[3]}`, failed},
		{"refused where it may be", "composition", "may", `"args":{"a":"(6,2):(8,2)","b":"3:4"},"expect":{"table":[0,32,18],"modes":[3]}`, passed},
		{"exact or an error: refused", "composition", "exact_or_error", `"args":{"a":"(6,2):(8,2)","b":"3:4"},"expect":{"error":true,"true_table":[0,32,18]}`, passed},
		{"exact or an error: exact", "composition", "exact_or_error", `"args":{"a":"8:2","b":"4:2"},"expect":{"error":true,"true_table":[0,4,8,12]}`, passed},
		{"exact or an error: wrong", "composition", "exact_or_error", `"args":{"a":"8:2","b":"4:2"},"expect":{"error":true,"true_table":[0,4,8,13]}`, failed},
		{"exact or an error: nothing to compare", "composition", "exact_or_error", `"args":{"a":"8:2","b":"4:2"},"expect":{"error":true}`, failed},
		{"may: wrong", "composition", "may", `"args":{"a":"8:2","b":"4:2"},"expect":{"table":[0,4,8,13]}`, failed},
		{"may: another answer", "composition", "may", `"args":{"a":"8:2","b":"4:2"},"expect":{"table":[0,4,8,13]},"expect_alternatives":[{"table":[1]},{"table":[0,4,8,12]}]`, passed},
		{"reject: accepted", "upcast", "reject", `"args":{"layout":"4:2","n":2},"expect":{"error":true}`, failed},
		{"reject: refused", "upcast", "reject", `"args":{"layout":"4:3","n":2},"expect":{"error":true}`, passed},
		{"reject: the argument is no layout", "upcast", "reject", `"args":{"layout":"4;3","n":2},"expect":{"error":true}`, failed},
		{"reject: the argument is missing", "upcast", "reject", `"args":{"layout":"4:3"},"expect":{"error":true}`, failed},
		{"an argument nobody reads", "filter", "must", `"args":{"layout":"2:1","by":3},"expect":{"table":[0,1],"modes":[2]}`, failed},
		{"an unknown operation", "frobnicate", "must", `"args":{"layout":"2:1"},"expect":{}`, unsup},
		{"an unknown verdict", "filter", "should", `"args":{"layout":"2:1"},"expect":{"table":[0,1],"modes":[2]}`, failed},
		{"rows", "row_major", "must", `"args":{"shape":"(2,3)"},"expect":{"table":[0,3,1,4,2,5]}`, passed},
		{"columns", "row_major", "must", `"args":{"shape":"(2,3)"},"expect":{"table":[0,1,2,3,4,5]}`, failed},
		{"left inverse", "left_inverse", "must", `"args":{"layout":"(4,2):(1,5)"},"check":"property","expect":{"table":[9]}`, passed},
		{"right inverse", "right_inverse", "must", `"args":{"layout":"(8,4):(4,1)"},"check":"property","min_size":32,"expect":{}`, passed},
		{"right inverse: too short", "right_inverse", "must", `"args":{"layout":"(8,4):(4,1)"},"check":"property","min_size":33,"expect":{}`, failed},
		{"common vector", "max_common_vector", "must", `"args":{"a":"(8,4):(1,8)","b":"(8,4):(1,16)"},"expect":{"value":8}`, passed},
		{"common vector: longer", "max_common_vector", "must", `"args":{"a":"(8,4):(1,8)","b":"(8,4):(1,16)"},"expect":{"value":16}`, failed},
		{"slice: another offset", "slice", "must", `"args":{"layout":"(4,5):(1,4)","coord":[null,2]},"expect":{"table":[0,1,2,3],"modes":[4],"offset":4}`, failed},
		{"slice", "slice", "must", `"args":{"layout":"(4,5):(1,4)","coord":[null,2]},"expect":{"table":[0,1,2,3],"modes":[4],"offset":8}`, passed},
		{"eval", "eval", "must", `"args":{"layout":"(2,2):(2,1)","coords":[1,[1,1]]},"expect":{"values":[2,3],"table":[0,2,1,3],"modes":[2,2],"rank":2,"max_plus_one":4}`, passed},
		{"eval: another value", "eval", "must", `"args":{"layout":"(2,2):(2,1)","coords":[1,[1,1]]},"expect":{"values":[2,2],"table":[0,2,1,3]}`, failed},
		{"eval: a value is missing", "eval", "must", `"args":{"layout":"(2,2):(2,1)","coords":[1,[1,1]]},"expect":{"values":[2],"table":[0,2,1,3]}`, failed},
		{"past the end: refused", "eval_past_end", "may", `"args":{"layout":"3:1","coords":[3]},"expect":{"values":[3]}`, passed},
		{"past the end: wrong before", "eval_past_end", "may", `"args":{"layout":"3:1","coords":[2,3]},"expect":{"values":[1,3]}`, failed},
		{"no layout of -1", "make_layout", "may", `"args":{"shape":"(-1,2)"},"expect":{"error":true}`, passed},
		{"an empty layout", "make_layout", "may", `"args":{"shape":"0"},"expect":{"error":true}`, passed},
		{"a layout of 2", "make_layout", "may", `"args":{"shape":"2"},"expect":{"error":true}`, failed},
		{"swizzle", "swizzle", "must", `"args":{"bits":1,"base":0,"shift":1},"expect":{"table":[0,1,3,2],"samples":[[6,7]],"size":4,"yyy_mask":2,"zzz_mask":1}`, passed},
		{"swizzle: another mask", "swizzle", "must", `"args":{"bits":1,"base":0,"shift":1},"expect":{"table":[0,1,3,2],"size":4,"yyy_mask":1,"zzz_mask":1}`, failed},
		{"swizzle: another sample", "swizzle", "must", `"args":{"bits":1,"base":0,"shift":1},"expect":{"table":[0,1,3,2],"samples":[[6,6]]}`, failed},
		{"swizzle: no values", "swizzle", "must", `"args":{"bits":1,"base":0,"shift":1},"expect":{"size":4}`, failed},
		{"composed", "composed_layout", "must", `"args":{"swizzle":[1,0,1],"offset":0,"layout":"4:1"},"expect":{"table":[0,1,3,2],"size":4}`, passed},
		{"composed: longer", "composed_layout", "must", `"args":{"swizzle":[1,0,1],"offset":0,"layout":"5:1"},"expect":{"table":[0,1,3,2]}`, failed},
		{"coordinates", "idx2crd", "must", `"args":{"shape":"(2,3)","indices":[3]},"expect":{"coords":[[1,1]]}`, passed},
		{"coordinates: others", "idx2crd", "must", `"args":{"shape":"(2,3)","indices":[3]},"expect":{"coords":[[0,1]]}`, failed},
		{"an unnested tiler", "tiled_product", "must", `"args":{"block":"(3):(2)","tiler":"6:1"},"expect":{"table":[0,2,4,1,3,5,6,8,10,7,9,11,12,14,16,13,15,17],"modes":[3,2,3]}`, passed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			checkout(t, nil)
			dir := t.TempDir()
			write(t, filepath.Join(dir, "layout", "x.json"), fmt.Sprintf(`{"cases":[{"id":"a","op":%q,"verdict":%q,%s}]}`, tc.op, tc.verdict, tc.rest))
			status, out, errs := conform(t, dir, "-v", "layout")
			if last(out) != tc.want || (status == 0) != (tc.want == passed) {
				t.Errorf("status %d, want %s\n%s%s", status, tc.want, out, errs)
			}
		})
	}
}

// A field that the runner doesn't know isn't passed over.
func TestUnknownExpectations(t *testing.T) {
	checkout(t, nil)
	for suite, file := range map[string][2]string{
		"layout": {"x.json", `{"cases":[{"id":"a","op":"filter","verdict":"must","args":{"layout":"2:1"},"expect":{"table":[0,1],"colour":1}}]}`},
		"views":  {"cases.json", `{"cases":[{"id":"a","category":"x","steps":[],"expect":[{"at":0,"colour":1}]}]}`},
		"numpy":  {"format.json", `{"cases":[{"id":"a","colour":1}]}`},
		"models": {"m/case.json", `{"cases":[{"name":"a","colour":1}]}`},
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, suite, file[0]), file[1])
		if status, out, errs := conform(t, dir, suite); status != 1 || out != "" || errs == "" {
			t.Errorf("%s: status %d, %q, %q", suite, status, out, errs)
		}
	}
}
