package onnx

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/tensor"
)

// runsLast runs a network several times and returns the values that lie channels last. Each run has the bits of one without passes, or fails as that.
func runsLast(t *testing.T, build func(p *pictureNet), o Options, inputs ...vals) (lie int) {
	t.Helper()
	p := &pictureNet{r: rand.New(rand.NewPCG(3, 3)), b: NewBuilder("g")}
	build(p)
	m, err := p.b.Model(17)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := m.sessionBy(form{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.sessionBy(form{}, allPasses)
	if err != nil {
		t.Fatal(err)
	}
	st, err := s.Stream(&StreamOptions{Options: o})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	for k, in := range inputs {
		want, failed := plainly(plain, context.Background(), in, o)
		got, err := st.Run(context.Background(), in)
		if failed != nil {
			if err == nil || err.Error() != failed.Error() {
				t.Fatalf("run %d: got %v, want the error %v", k, err, failed)
			}
			continue
		}
		if err != nil {
			t.Fatalf("run %d: %v", k, err)
		}
		for name, a := range want {
			if !bytes.Equal(bitsOf(a), bitsOf(got[name])) {
				t.Fatalf("run %d: %s differs", k, name)
			}
		}
		for _, slot := range slots(st) {
			if slot != nil && slot.last {
				lie++
			}
		}
		if st.ready != nil && o.MaxMemory > 0 && st.Kept()+s.weights > o.MaxMemory {
			t.Fatalf("run %d keeps %d bytes beside weights of %d; the limit is %d", k, st.Kept(), s.weights, o.MaxMemory)
		}
	}
	return lie
}

// tower adds some convolutions and returns the results of all.
func (p *pictureNet) tower(x string, channels, count int) (list []string) {
	for range count {
		x = p.b.Node("Conv", []string{x, p.weight(16, channels, 3, 3)}, IntsAttr("pads", 1, 1, 1, 1))
		x = p.b.Node("Relu", []string{x})
		list, channels = append(list, x), 16
	}
	return list
}

func wantLast(t *testing.T, lie int) {
	t.Helper()
	if best := simd.Product32.Best(); best != nil && lie == 0 {
		t.Error("no value lies channels last")
	}
}

// A graph whose shapes change from run to run, with an output in the middle of a region.
func TestLastShapesChange(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var in []vals
	for _, n := range []int{9, 12, 9, 1, 30, 12} {
		in = append(in, vals{"x": noise(r, 1, 3, n, n+1)})
	}
	wantLast(t, runsLast(t, func(p *pictureNet) {
		list := p.tower(p.b.Input("x", dtype.Float32, 1, 3, "h", "w"), 3, 4)
		p.b.OutputOf(list[1], Type{})
		p.b.OutputOf(list[3], Type{})
	}, Options{}, in...))
}

// Layouts that two regions want differently: one value goes to convolutions, and to operators that work in planes.
func TestLastWantedDifferently(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	in := []vals{{"x": noise(r, 1, 3, 10, 11)}, {"x": noise(r, 1, 3, 10, 11)}}
	wantLast(t, runsLast(t, func(p *pictureNet) {
		list := p.tower(p.b.Input("x", dtype.Float32, 1, 3, 10, 11), 3, 2)
		lines := p.b.Node("CumSum", []string{list[0], p.b.Weight("axis", tensor.Scalar[int64](3).Any())})
		p.b.OutputOf(p.b.Node("Add", []string{p.tower(list[1], 16, 2)[1], lines}), Type{})
		p.b.OutputOf(p.b.Node("Reshape", []string{list[1], p.b.Weight("shape", ints(16, -1))}), Type{})
	}, Options{}, in...))
}

// An input that the caller gives with strides of its own, channels last among them, and weights that are inputs and change.
func TestLastInputsOfTheirOwn(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 1))
	turned := func() tensor.Any { return noise(r, 1, 10, 12, 16).Permute(0, 3, 1, 2) }
	every := func() tensor.Any {
		return noise(r, 1, 16, 10, 24).Slice(tensor.Colon, tensor.Colon, tensor.Colon, tensor.R(0, 24, 2))
	}
	var in []vals
	for k := range 6 {
		x := []func() tensor.Any{turned, every, func() tensor.Any { return noise(r, 1, 16, 10, 12) }}[k%3]()
		in = append(in, vals{"x": x, "w": noise(r, 16, 16, 3, 3)})
	}
	wantLast(t, runsLast(t, func(p *pictureNet) {
		x, w := p.b.Input("x", dtype.Float32, 1, 16, 10, 12), p.b.Input("w", dtype.Float32, 16, 16, 3, 3)
		y := p.b.Node("Conv", []string{p.tower(x, 16, 2)[1], w}, IntsAttr("pads", 1, 1, 1, 1))
		p.b.OutputOf(p.tower(y, 16, 2)[1], Type{})
	}, Options{}, in...))
}

// A run that just fits MaxMemory, and ones with less and more room: without room for all packed weights no value lies channels last.
func TestLastJustFits(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // a plan is of as many threads
	build := func(p *pictureNet) {
		p.b.OutputOf(p.tower(p.b.Input("x", dtype.Float32, 1, 3, 8, 8), 3, 30)[29], Type{})
	}
	r := rand.New(rand.NewPCG(5, 1))
	in := []vals{{"x": noise(r, 1, 3, 8, 8)}, {"x": noise(r, 1, 3, 8, 8)}, {"x": noise(r, 1, 3, 8, 8)}}
	p := &pictureNet{r: rand.New(rand.NewPCG(3, 3)), b: NewBuilder("g")}
	build(p)
	m, err := p.b.Model(17)
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.sessionBy(form{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := s.Plan(in[0])
	if err != nil {
		t.Fatal(err)
	}
	least := plan.Weights + plan.Live
	_, err = s.Run(context.Background(), in[0], &Options{MaxMemory: least - 1})
	var more *MemoryError
	if !errors.As(err, &more) {
		t.Errorf("with a byte less: %v", err)
	}
	lay := make(map[bool]bool)
	for _, room := range []int64{-1, 0, 1, 1000, 10_000, 30_000, 60_000, 1 << 21} {
		lay[runsLast(t, build, Options{MaxMemory: least + room, Threads: 1}, in...) > 0] = true
	}
	if best := simd.Product32.Best(); best != nil && len(lay) != 2 {
		t.Errorf("values lie channels last with each limit, or with none: %v", lay)
	}
}
