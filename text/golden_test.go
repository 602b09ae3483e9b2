package text

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files by the oracle")

// A golden is an answer of the oracle.
type golden struct {
	Seed     uint64 // of the random tokenizer
	Text     string
	Pair     *string
	Special  bool
	Encoding oracleEncoding
}

const goldenFile = "testdata/golden.jsonl"

// TestGolden compares encodings with answers that the oracle gave once: random tokenizers over random texts.
func TestGolden(t *testing.T) {
	if *update {
		writeGolden(t)
	}
	data, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	tokenizers := map[uint64]*Tokenizer{}
	lines, parts := bufio.NewScanner(bytes.NewReader(data)), map[string]int{}
	lines.Buffer(nil, 1<<20)
	n := 0
	for ; lines.Scan(); n++ {
		var g golden
		if err := json.Unmarshal(lines.Bytes(), &g); err != nil {
			t.Fatalf("%s line %d: %v", goldenFile, n+1, err)
		}
		tok := tokenizers[g.Seed]
		if tok == nil {
			file, _ := randomTokenizer(rand.New(rand.NewPCG(7, g.Seed)))
			if tok, err = Parse(file); err != nil {
				t.Fatal(err)
			}
			tokenizers[g.Seed] = tok
			parts[fmt.Sprintf("%T", tok.model)]++
		}
		in := input{text: g.Text, special: g.Special}
		if g.Pair != nil {
			in.pair, in.hasPair = *g.Pair, true
		}
		var e Encoding
		if err := in.encode(tok, &e); err != nil {
			t.Fatalf("seed %d, %+q: %v", g.Seed, g.Text, err)
		}
		_, bert := tok.processor.(*bertProcessing)
		*loose = !bert
		if d := differs(in, &e, &g.Encoding, 0); d != "" {
			t.Errorf("seed %d, %+q: %s", g.Seed, g.Text, d)
		}
	}
	if n < 200 || len(parts) != 4 {
		t.Errorf("%s has %d answers by the models %v", goldenFile, n, parts)
	}
}

func writeGolden(t *testing.T) {
	o := newOracle(t)
	var out bytes.Buffer
	for seed := range uint64(80) {
		r := rand.New(rand.NewPCG(7, seed))
		file, extra := randomTokenizer(r)
		tok, err := Parse(file)
		var opened bool
		if err != nil || o.ask(&opened, "open", string(file)) != nil || equalContents(tok) {
			continue
		}
		for range 4 {
			g := golden{Seed: seed, Text: randomText(r, extra), Special: flip(r)}
			in := input{text: g.Text, special: g.Special}
			if r.IntN(4) == 0 {
				in.pair, in.hasPair = randomText(r, extra), true
				g.Pair = &in.pair
			}
			var e Encoding
			if len(g.Text) > 120 || in.encode(tok, &e) != nil {
				continue
			}
			var answers []oracleEncoding
			if err := o.ask(&answers, "batch", [][]any{in.request()}); err != nil {
				t.Fatal(err)
			}
			g.Encoding = answers[0]
			for i := range g.Encoding.Overflow {
				g.Encoding.Overflow[i].Overflow = nil
			}
			line, err := json.Marshal(g)
			if err != nil {
				t.Fatal(err)
			}
			out.Write(append(line, '\n'))
		}
	}
	if err := os.WriteFile(goldenFile, out.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}
