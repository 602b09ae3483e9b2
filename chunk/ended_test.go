package chunk

import (
	"context"
	"errors"
	"flag"
	"math"
	"testing"

	"github.com/ashlar-go/ashlar/format/zarr"
	"github.com/ashlar-go/ashlar/internal/ended"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

var whole = flag.Bool("long", false, "run every function on each type in two ways of chunks, and more draws")

var looks = flag.Int("looks", 12, "how many ends of the context TestEnded tries of each plan")

// A plan whose context ends after any number of looks gives an error, and nothing that another run doesn't bring to its end, or all
// elements.
func TestEnded(t *testing.T) {
	x, long, wide := drawn(3, 60, 70), drawn(4, 3, 2000), drawn(5, 2000, 3)
	of := func(name string, a tensor.Any, chunks ...int) Array { return From(name, zarrOf(t, a, chunks...)) }
	calls, stopped := 0, 0
	for name, make := range map[string]func() Array{
		"deviations": func() Array { return deviations(t, x) },
		"MatMul":     func() Array { return MatMul(of("a", long, 3, 2000), of("b", wide, 2000, 3)) },
		"TensorDot":  func() Array { return TensorDot(of("a", long, 2, 1000), of("b", wide, 900, 3), []int{1}, []int{0}) },
		"Median":     func() Array { return Reduce("Median", of("a", long, 2, 2000), Reducing{Axes: []int{1}}) },
		"ReduceSum":  func() Array { return Reduce("ReduceSum", of("a", long, 2, 700), Reducing{Axes: []int{0, 1}}) },
		"MapBlocks": func() Array {
			f := func(ctx context.Context, _ Block, in []tensor.Any) (tensor.Any, error) {
				a, _ := tensor.As[float32](in[0])
				return op.MatMul(a, a.Transpose(), op.Context(ctx)).Any(), nil
			}
			return MapBlocks(f, Blocks{Name: "square", Shape: []int{3, 3}, Chunks: []int{3, 3}}, of("a", long, 3, 2000))
		},
	} {
		for _, workers := range []int{1, 3} {
			want := ""
			try := func(k int) int {
				s, ctx := zarr.Memory(), ended.After(k)
				p, err := NewPlan(nil, Target{Array: make(), Store: s, Path: "r"})
				if err != nil {
					t.Fatal(err)
				}
				calls++
				switch err := p.Run(ctx, &RunOptions{Workers: workers}); {
				case err == nil:
				case !errors.Is(err, context.Canceled):
					t.Fatalf("%s, which ends after %d looks: %v", name, k, err)
				default:
					stopped++
					if err := p.Run(background, &RunOptions{Workers: workers, Resume: true}); err != nil {
						t.Fatalf("%s, which ended after %d looks, goes on: %v", name, k, err)
					}
				}
				got := contents(t, s, "")
				if want == "" {
					want = got
				}
				if got != want {
					t.Fatalf("%s, which ends after %d looks: other elements", name, k)
				}
				return ctx.Looks()
			}
			all := try(math.MaxInt)
			for i := range min(all, *looks) {
				try(i * max(all, *looks) / *looks)
			}
		}
	}
	if t.Logf("%d runs, of which %d were stopped", calls, stopped); stopped < calls/2 {
		t.Error("too few runs were stopped")
	}
}
