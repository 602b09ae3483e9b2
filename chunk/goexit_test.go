package chunk

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ashlar-go/ashlar/format/zarr"
	"github.com/ashlar-go/ashlar/tensor"
)

var stops = map[string]func(){"panic": func() { panic("own") }, "ended": runtime.Goexit}

// A function of a program that panics or ends its goroutine, anywhere in a run, makes the run fail, and its result stays unfinished.
func TestGoexit(t *testing.T) {
	x := FromTensor("x", tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6, 7, 8}, 8).Any(), 2)
	for how, stop := range stops {
		for _, workers := range []int{1, 3} {
			for call := range 6 { // of the function, and of Progress: 4 each; the last ones stop nothing
				var left [2]atomic.Int64
				left[call%2].Store(int64(call/2 + 1))
				y := MapBlocks(func(ctx context.Context, at Block, in []tensor.Any) (tensor.Any, error) {
					if left[0].Add(-1) == 0 {
						stop()
					}
					return in[0], nil
				}, Blocks{Name: "f"}, x)
				s := zarr.Memory()
				p, err := NewPlan(nil, Target{Array: y, Store: s})
				if err != nil {
					t.Fatal(err)
				}
				err = p.Run(background, &RunOptions{Workers: workers, Progress: func(Progress) {
					if left[1].Add(-1) == 0 {
						stop()
					}
				}})
				if err == nil || !strings.Contains(err.Error(), how) || call%2 == 1 && !strings.Contains(err.Error(), "RunOptions.Progress") {
					t.Errorf("%s in call %d of %d workers: %v", how, call, workers, err)
				}
				if _, err := zarr.Open(background, s, "", nil); !errors.Is(err, zarr.ErrUnfinished) {
					t.Errorf("%s in call %d: the array opens: %v", how, call, err)
				}
				if err := p.Run(background, &RunOptions{Resume: true}); err != nil { // the locks are free
					t.Error(err)
				}
			}
		}
	}
}

// The identity is a function like any other. A function that closes its operand, or its result, is told so.
func TestIdentity(t *testing.T) {
	x := tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6, 7, 8}, 8).Any()
	arrays := map[string]func() Array{
		"tensor": func() Array { return FromTensor("x", x.Clone(), 2) }, "zarr": func() Array { return From("x", zarrOf(t, x, 2)) },
		"value": func() Array { return Value(x.Clone()) }, "map": func() Array { return Map("Neg", nil, Map("Neg", nil, FromTensor("x", x, 2))) },
	}
	for name, make := range arrays {
		same := func(_ context.Context, _ Block, in []tensor.Any) (tensor.Any, error) { return in[0], nil }
		y := MapBlocks(same, Blocks{Name: "same"}, make())
		z := Rechunk(MapBlocks(same, Blocks{Name: "again"}, Slice(Concat(0, y, y), tensor.R(0, 8))), 3)
		for _, a := range []Array{y, z} {
			if got := computed(t, a, Options{}, RunOptions{}); got.String() != x.String() {
				t.Errorf("%s: %v", name, got)
			}
		}
		for _, how := range []string{"operand", "result"} {
			y := MapBlocks(func(_ context.Context, _ Block, in []tensor.Any) (tensor.Any, error) {
				c := in[0]
				if how == "result" {
					c = c.Clone()
				}
				c.Close()
				return c, nil
			}, Blocks{Name: "f"}, make())
			p, err := NewPlan(nil, Target{Array: y, Store: zarr.Memory()})
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]string{"operand": "it closed operand 0", "result": "it returned a tensor that it had closed"}[how]
			if err = p.Run(background, &RunOptions{Workers: 1}); !errors.Is(err, tensor.ErrClosed) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s, %s: %v", name, how, err)
			}
		}
	}
	c := x.Clone()
	a := FromTensor("closed", c, 2)
	c.Close()
	p, err := NewPlan(nil, Target{Array: a, Store: zarr.Memory()})
	if err == nil {
		err = p.Run(background, nil)
	}
	if !errors.Is(err, tensor.ErrClosed) || !strings.Contains(err.Error(), "must stay open") {
		t.Error(err)
	}
}
