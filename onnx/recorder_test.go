package onnx

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/receipt"
	"github.com/ashlar-go/ashlar/tensor"
)

// line has large results, and memory that is used again as soon as it may be: also by the later of two branches.
func line(b *Builder) {
	x := b.Input("x", dtype.Float32, 64, 300)
	y := x
	for range 6 {
		y = b.Node("Neg", []string{b.Node("Abs", []string{y})})
		y = b.Node("Transpose", []string{b.Node("Reshape", []string{y, b.Weight(b.fresh("to"), ints(300, 64))})}, IntsAttr("perm", 1, 0))
	}
	branch := func(name string, n int) Attribute {
		g := b.Body(name)
		v := y
		for range n {
			v = g.Node("Sqrt", []string{g.Node("Abs", []string{v})})
		}
		g.OutputOf(v, Type{})
		return GraphAttr(name, g)
	}
	yes := b.Node("Greater", []string{b.Node("ReduceSum", []string{x}, IntAttr("keepdims", 0)), b.Weight("zero", tensor.Scalar[float32](0).Any())})
	y = b.Node("If", []string{yes}, branch("then_branch", 10), branch("else_branch", 3))
	b.OutputOf(b.Rename(b.Node("Neg", []string{y}), "y"), Type{})
}

// Receipts of prepared runs equal the receipts of the same runs unprepared, on any number of threads.
func TestReceiptsAgain(t *testing.T) {
	defer func(n int64) { atOnce = n }(atOnce)
	r := rand.New(rand.NewPCG(8, 9))
	prepared := 0
	for seed := range 42 {
		build, shape := chain(rand.New(rand.NewPCG(uint64(seed), 7))), []int{2, 3, 4}
		atOnce = int64(48 * (seed % 3))
		switch seed {
		case 0:
			build, shape = network, []int{1, 3, 16, 16}
		case 1, 2:
			build, shape = line, []int{64, 300}
		}
		s := session(t, build)
		for i := range s.c.g.Outputs { // of runs whose outputs may be of any kind none is prepared
			s.c.g.Outputs[i].Type = Type{Kind: KindTensor, Elem: ElemFloat32}
		}
		for i := range 9 {
			in := valuesOf(vals{"x": noise(r, shape...)})
			var want, got receipt.Receipt
			_, wantErr := s.runValues(context.Background(), in, Options{Receipt: &want, ReceiptNodes: true, Threads: 1}, false)
			_, err := s.RunValues(context.Background(), in, &Options{Receipt: &got, ReceiptNodes: true, Threads: 1 + i/3*3})
			if fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Fatalf("model %d, run %d: %v, want %v", seed, i, err, wantErr)
			}
			if err != nil {
				continue
			}
			if d, err := receipt.Compare(&want, &got); d != nil || err != nil || got.NodesRoot() != want.NodesRoot() || len(got.Nodes) == 0 {
				t.Errorf("model %d, run %d: %v, %v", seed, i, d, err)
			}
			for k := range 2 { // verified, and rejected by the node that another run has changed
				places := slices.Collect(func(yield func(int) bool) {
					for i, n := range want.Nodes {
						if len(n.Results) > 0 && !yield(i) {
							return
						}
					}
				})
				at := places[r.IntN(len(places))]
				want.Nodes[at].Results[0].Digest[5] ^= byte(k)
				d, err := s.verify(context.Background(), &want, in, Options{Threads: 1 + i/3*3})
				if err != nil || (d != nil) != (k == 1) || d != nil && d.What != fmt.Sprintf("%s: result %q", want.Nodes[at].Node, want.Nodes[at].Results[0].Name) {
					t.Errorf("model %d, run %d, node %d: %v, %v", seed, i, at, d, err)
				}
			}
			if isPrepared(s.whole) {
				prepared++
			}
		}
	}
	t.Logf("%d runs were prepared", prepared)
	if prepared < 100 {
		t.Errorf("%d runs were prepared", prepared)
	}
}

// Results that wait to be hashed don't count where a run comes to its limit on memory.
func TestReceiptsWithinMemory(t *testing.T) {
	s := session(t, line)
	s.c.g.Outputs[0].Type = Type{Kind: KindTensor, Elem: ElemFloat32}
	x := vals{"x": noise(rand.New(rand.NewPCG(8, 9)), 64, 300)}
	p, err := s.Plan(x)
	if err != nil {
		t.Fatal(err)
	}
	var r receipt.Receipt
	for range 4 {
		if _, err := s.Run(context.Background(), x, &Options{Receipt: &r, ReceiptNodes: true, Threads: 2, MaxMemory: p.Weights + p.Live}); err != nil || len(r.Nodes) < 24 {
			t.Errorf("%v, %d nodes", err, len(r.Nodes))
		}
	}
}
