package beam_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"github.com/ashlar-go/ashlar/beam"
	"github.com/ashlar-go/ashlar/chunk"
	"github.com/ashlar-go/ashlar/format/zarr"
	"github.com/ashlar-go/ashlar/tensor"
)

func TestMain(m *testing.M) {
	flag.Parse()
	sdk.Init()
	os.Exit(m.Run())
}

var stores = map[string]zarr.Store{}

func init() {
	beam.Register("test", func(ctx context.Context, args []byte) (*chunk.Plan, error) {
		return variance(ctx, stores[string(args)])
	})
}

func variance(ctx context.Context, s zarr.Store) (*chunk.Plan, error) {
	x, err := zarr.Open(ctx, s, "x")
	if err != nil {
		return nil, err
	}
	return chunk.NewPlan(chunk.Options{}, chunk.Target{Array: chunk.Reduce("Var", chunk.From("x", x), chunk.Reducing{Axes: []int{0}}), Store: s, Path: "r"})
}

// random returns a store with an array x.
func random(t testing.TB, shape, chunks []int) zarr.Store {
	s := zarr.Memory()
	n := 1
	for _, e := range shape {
		n *= e
	}
	r := rand.New(rand.NewPCG(1, 2))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	v := tensor.FromSlice(x, shape...).Any()
	a, err := zarr.Create(t.Context(), s, "x", zarr.Metadata{DType: v.DType(), Shape: shape, Chunks: chunks})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Write(t.Context(), make([]int, len(shape)), v); err != nil {
		t.Fatal(err)
	}
	return s
}

// digest is of all keys and bytes of the store.
func digest(t testing.TB, s zarr.Store) string {
	keys, err := s.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	h := sha256.New()
	for _, k := range keys {
		b, err := s.Get(t.Context(), k)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(h, "%s %d\n", k, len(b))
		h.Write(b)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func TestSame(t *testing.T) {
	local := random(t, []int{100, 37}, []int{7, 10})
	p, err := variance(t.Context(), local)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Run(t.Context(), chunk.RunOptions{}); err != nil {
		t.Fatal(err)
	}
	stores["same"] = random(t, []int{100, 37}, []int{7, 10})
	if err := beam.Run(t.Context(), "test", []byte("same"), beam.Options{}); err != nil {
		t.Fatal(err)
	}
	if got, want := digest(t, stores["same"]), digest(t, local); got != want {
		t.Errorf("digest %s, of the local executor %s", got, want)
	}
}
