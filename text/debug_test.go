package text

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

func TestDebug(t *testing.T) {
	if os.Getenv("DSEED") == "" {
		t.Skip("no DSEED")
	}
	o := newOracle(t)
	seed, _ := strconv.ParseUint(os.Getenv("DSEED"), 10, 64)
	r := rand.New(rand.NewPCG(*seed0, seed))
	file, _ := randomTokenizer(r)
	var f m
	json.Unmarshal(file, &f)
	if os.Getenv("NOTRUNC") != "" {
		f["truncation"] = nil
		f["post_processor"] = nil
	}
	file, _ = json.Marshal(f)
	tok, err := Parse(file)
	var opened bool
	t.Log(err, o.ask(&opened, "open", string(file)))
	text, _ := strconv.Unquote(`"` + os.Getenv("DTEXT") + `"`)
	in := input{text: text, special: true}
	e, err := tok.Encode(text, Options{})
	var want []oracleEncoding
	o.ask(&want, "batch", [][]any{in.request()})
	t.Logf("%v\n%v %q %v %v\n%v %q %v", err, e.IDs, e.Tokens, e.Spans, e.Words, want[0].IDs, want[0].Tokens, want[0].Spans)
}
