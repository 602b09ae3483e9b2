package serve

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/onnx"
)

// words gives back strings, and the number of each: a is 1, é is 2, others are -1.
func words(t testing.TB) Model {
	return build(t, "words", func(b *onnx.Builder) {
		b.Import("ai.onnx.ml", 2)
		text := onnx.Type{Kind: onnx.KindTensor, Elem: onnx.ElemString, HasShape: true, Shape: []onnx.Dim{{Value: -1, Param: "N"}, {Value: -1, Param: "len"}}}
		s := b.InputOf("s", text)
		b.OutputOf(b.Rename(b.Node("Identity", []string{s}), "t"), text)
		number := b.Node("ai.onnx.ml.LabelEncoder", []string{s}, onnx.StringsAttr("keys_strings", "a", "é"), onnx.IntsAttr("values_int64s", 1, 2))
		b.Output(b.Rename(number, "n"), dtype.Int64, "N", "len")
	})
}

// Strings go in and out as JSON and in binary form, where each has four bytes of length before it, as Triton's
// extension_binary_data.md says of the datatype BYTES.
func TestStrings(t *testing.T) {
	s := server(t, Options{}, words(t))
	for _, data := range []string{`["a","é","","x\"\n"]`, `[["a","\u00e9"],["","x\"\u000a"]]`} {
		w := infer(s, "words", `{"inputs":[{"name":"s","datatype":"BYTES","shape":[2,2],"data":`+data+`}]}`)
		const want = `{"model_name":"words","model_version":"1","outputs":[{"name":"t","datatype":"BYTES","shape":[2,2],"data":["a","é","","x\"\n"]},` +
			`{"name":"n","datatype":"INT64","shape":[2,2],"data":[1,2,-1,-1]}]}`
		if w.Code != 200 || w.Body.String() != want {
			t.Errorf("%s: %d %s\nwant %s", data, w.Code, w.Body, want)
		}
	}
	const raw = "\x01\x00\x00\x00a" + "\x02\x00\x00\x00\xc3\xa9" + "\x00\x00\x00\x00" + "\x03\x00\x00\x00\xff\x00\x0a"
	head := `{"outputs":[{"name":"n"},{"name":"t","parameters":{"binary_data":true}}],"inputs":[{"name":"s","datatype":"BYTES","shape":[1,4],"parameters":{"binary_data_size":22}}]}`
	w := infer(s, "words", head+raw, headerLength, strconv.Itoa(len(head)))
	want := `{"model_name":"words","model_version":"1","outputs":[{"name":"n","datatype":"INT64","shape":[1,4],"data":[1,2,-1,-1]},` +
		`{"name":"t","datatype":"BYTES","shape":[1,4],"parameters":{"binary_data_size":22}}]}`
	if w.Code != 200 || w.Body.String() != want+raw || w.Header().Get(headerLength) != strconv.Itoa(len(want)) {
		t.Errorf("%d %q\nwant %q", w.Code, w.Body, want+raw)
	}
	w = infer(s, "words", `{"inputs":[{"name":"s","datatype":"BYTES","shape":[0,3],"data":[]}]}`)
	if w.Code != 200 || !strings.Contains(w.Body.String(), `"datatype":"BYTES","shape":[0,3],"data":[]`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	w = do(s, "GET", "/v2/models/words", "")
	if !strings.Contains(w.Body.String(), `"inputs":[{"name":"s","datatype":"BYTES","shape":[-1,-1]}]`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	settle(t, s)
}

// Strings that are wrong get an error, and take no memory on a length's word.
func TestBadStrings(t *testing.T) {
	s := server(t, Options{MaxHeld: 1 << 16}, words(t))
	json := func(shape, data string) string {
		return `{"inputs":[{"name":"s","datatype":"BYTES","shape":[` + shape + `],"data":` + data + `}]}`
	}
	for _, c := range []struct {
		body, raw string
		code      int
		want      string
	}{
		{json("1,2", `["a"]`), "", 400, "1 elements, the shape [1 2] says 2"},
		{json("1,1", `["a","b"]`), "", 400, "more than 1 elements"},
		{json("1,1", `[1]`), "", 400, `want a string, got "1"`},
		{json("1,1", `["\ud800"]`), "", 400, "wrong escape"},
		{json("1,1", `["\udc00\ud800"]`), "", 400, "wrong escape"},
		{json("1,1", `["\ud83d\u0041"]`), "", 400, "wrong escape"},
		{json("1,1", "[\"\xff\"]"), "", 400, "isn't UTF-8"},
		{json("1,99999999", `["a"]`), "", 400, "data has fewer"},
		{json("1,4000", `["`+strings.Repeat(`a`, 4000)+`"]`), "", 413, "the limit is 65536"},
		{json(strings.Repeat("1,", 40)+"1", `["a"]`), "", 400, "41"},
		{"1,1", "", 400, "has 1 strings of at least four bytes, the binary_data_size is 0"},
		{"1,1", "\x01\x00", 400, "has 1 strings of at least four bytes, the binary_data_size is 2"},
		{"1,1", "\x02\x00\x00\x00a", 400, "string 0 has 2 bytes, but 1 are left"},
		{"1,1", "\xff\xff\xff\xffa", 400, "string 0 has 4294967295 bytes, but 1 are left"},
		{"1,2", "\x03\x00\x00\x00abcd", 400, "string 1 begins with four bytes of length, but 1 are left"},
		{"1,1", "\x01\x00\x00\x00ab", 400, "1 bytes follow the last of 1 strings"},
		{"99999999,99999999", "\x01\x00\x00\x00ab", 400, "strings of at least four bytes"},
		{"1,1", "\x01\x00\x00\x00\xff", 400, `output "t": string 0 isn't UTF-8, which JSON can't hold; ask for binary data`},
	} {
		w := infer(s, "words", c.body)
		if !strings.HasPrefix(c.body, "{") {
			head := `{"inputs":[{"name":"s","datatype":"BYTES","shape":[` + c.body + `],"parameters":{"binary_data_size":` + strconv.Itoa(len(c.raw)) + `}}]}`
			w = infer(s, "words", head+c.raw, headerLength, strconv.Itoa(len(head)))
		}
		if got := errorOf(t, w.Body.Bytes()); w.Code != c.code || !strings.Contains(got, c.want) {
			t.Errorf("%.100s %q\ngot %d %s\nwant %d %s", c.body, c.raw, w.Code, got, c.code, c.want)
		}
	}
	if w := infer(s, "words", json("1,1", `["\ud83d\ude00\\ud800"]`)); w.Code != 200 || !strings.Contains(w.Body.String(), `["😀\\ud800"]`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	settle(t, s)
}

// A shared run of strings gives each request the answer that it would get alone.
func TestBatchStrings(t *testing.T) {
	alone, shared := server(t, Options{}, words(t)), server(t, Options{BatchDelay: 20 * time.Millisecond, MaxBatch: 8}, words(t))
	if shared.models["words"].batches == nil {
		t.Fatal("it runs alone")
	}
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			rows := 1 + i%3
			list := strings.Repeat(fmt.Sprintf(`"%d","a",`, i), rows)
			body := fmt.Sprintf(`{"inputs":[{"name":"s","datatype":"BYTES","shape":[%d,2],"data":[%s]}]}`, rows, strings.TrimSuffix(list, ","))
			want, got := infer(alone, "words", body), infer(shared, "words", body)
			if want.Code != 200 || !bytes.Equal(want.Body.Bytes(), got.Body.Bytes()) {
				t.Errorf("%d: alone %d %s\nshared %d %s", i, want.Code, want.Body, got.Code, got.Body)
			}
		})
	}
	wg.Wait()
	settle(t, shared)
	if m := shared.models["words"]; m.rows.n >= 60 {
		t.Errorf("%d runs of %v requests: none was shared", m.rows.n, m.rows.sum)
	}
}
