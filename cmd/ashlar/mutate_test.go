package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/format/safetensors"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
)

// A damaged file of packed tensors is an error in a line, whatever is asked of it.
func TestMutations(t *testing.T) {
	dir := t.TempDir()
	x := tensor.RandomNormal[float32](1, 0, 1, 3, 8)
	f, err := pack.Calibrate(x, pack.Integers{Bits: 4, Unsigned: true, Shape: x.Shape(), Axis: 1, Block: 4})
	if err != nil {
		t.Fatal(err)
	}
	var ts []tensor.Any
	for _, o := range []pack.Options{{Tile: pack.TileOf(4, 16), Format: pack.BFP8}, {Tile: pack.TileOf(2, 16)}, {Format: f}} {
		p, err := pack.Pack(x.Any(), &o)
		if err != nil {
			t.Fatal(err)
		}
		ts = append(ts, p.Any())
	}
	var whole bytes.Buffer
	if err := safetensors.Write(&whole, []string{"a", "b", "c"}, ts, nil); err != nil {
		t.Fatal(err)
	}
	npz, out := filepath.Join(dir, "out.npz"), filepath.Join(dir, "out.safetensors")
	good, bad := filepath.Join(dir, "good.safetensors"), filepath.Join(dir, "bad.safetensors")
	save := func(name string, b []byte) {
		if err := os.WriteFile(name, b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	save(good, whole.Bytes())
	rng := rand.New(rand.NewPCG(3, 4))
	codes := map[string]int{}
	for range 150 {
		b := bytes.Clone(whole.Bytes())
		for range 1 + rng.IntN(2) {
			at := rng.IntN(min(700, len(b)))
			if rng.IntN(4) == 0 {
				at = rng.IntN(len(b))
			}
			switch rng.IntN(4) {
			case 0:
				b[at] ^= 1 << rng.IntN(8)
			case 1:
				b[at] = "0123456789[]{},:-"[rng.IntN(17)]
			case 2:
				if rng.IntN(4) == 0 {
					b = b[:at+1]
				}
			case 3: // a digit for a digit keeps the JSON
				for k := at; k < min(700, len(b)); k++ {
					if b[k] >= '0' && b[k] <= '9' {
						b[k] = byte('0' + rng.IntN(10))
						break
					}
				}
			}
		}
		save(bad, b)
		for _, args := range [][]string{{"info", bad}, {"show", bad + "#a"}, {"show", bad + "#c", "--slice", "1"}, {"diff", good, bad}, {"convert", bad, npz},
			{"convert", bad, out}, {"convert", bad, out, "--dtype", "bfp4"}} {
			func() {
				defer func() {
					if r := recover(); r != nil {
						t.Fatalf("%v of %q panics: %v\n%s", args, b, r, debug.Stack())
					}
				}()
				c := newCall(nil).with(args...)
				codes[fmt.Sprint(args[0], " ", c.code)]++
				if text := c.err.String(); c.code > 1 || c.code == 1 && text == "" && args[0] != "diff" || strings.Contains(text, "runtime error") {
					t.Errorf("%v of %q: exit code %d, %s", args, b, c.code, text)
				}
			}()
		}
	}
	if codes["show 0"] == 0 || codes["show 1"] == 0 {
		t.Errorf("all the same: %v", codes)
	}
}
