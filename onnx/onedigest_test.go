package onnx_test

import (
	"context"
	"crypto/sha256"
	"flag"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/internal/meta"
	"github.com/ashlar-go/ashlar/onnx"
)

var pairs = flag.Int("pairs", 3000, "how many pairs of random graphs TestOneDigest compares")

// A random graph and the same graph with another text, number or entry in one place have two digests, or give the same results, or one of them is
// refused.
func TestOneDigest(t *testing.T) {
	const each = 500 // pairs of a graph
	all, same, refused := 0, 0, 0
	for seed := uint64(0); all < *pairs; seed++ {
		c := meta.NewCase(seed, 5)
		base, err := c.Model.Digests()
		if err != nil {
			t.Fatal(err)
		}
		places := 0
		onnx.Changes(reflect.ValueOf(c.Model), "model", func(string) { places++ })
		r := rand.New(rand.NewPCG(seed, 65))
		onnx.Changes(reflect.ValueOf(c.Model), "model", func(where string) {
			if r.IntN(places) >= each {
				return
			}
			all++
			switch p, err := c.Model.Digests(); {
			case err != nil:
				refused++
			case p.Digest() == base.Digest():
				same++
				if got := outputs(c, c.Model); got != nil && !slices.Equal(got, outputs(c, nil)) {
					t.Errorf("seed %d: %s: the digest is the same, the results aren't", seed, where)
				}
			}
		})
	}
	if same < all/100 || all-same-refused < all/2 {
		t.Errorf("of %d pairs %d have one digest, %d are refused", all, same, refused)
	}
	t.Logf("%d pairs: %d have two digests, %d have one, of %d a model is refused", all, all-same-refused, same, refused)
}

// outputs returns the digests of the outputs of a run of m, or of the outputs that count, in the order of names; nil if it is refused.
func outputs(c *meta.Case, m *onnx.Model) (list [][sha256.Size]byte) {
	out := c.Sets[0].Want
	if m != nil {
		s, err := onnx.NewSession(m)
		if err != nil {
			return nil
		}
		if out, err = s.RunValues(context.Background(), c.Sets[0].In, &onnx.Options{MaxIterations: 1000}); err != nil {
			return nil
		}
	}
	for _, name := range slices.Sorted(maps.Keys(out)) {
		d, _ := out[name].Digest()
		list = append(list, d)
	}
	return list
}
