package chunk

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/format/zarr"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/receipt"
	"github.com/ashlar-go/ashlar/tensor"
)

// receiptFor runs a plan and returns its receipt, which goes through its file form.
func receiptFor(t *testing.T, o Options, run RunOptions, expr string, vars map[string]Array) *receipt.Receipt {
	t.Helper()
	a, err := Parse(expr, vars)
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPlan(&o, Target{Array: a, Store: zarr.Memory()})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Run(background, &run); err != nil {
		t.Fatal(err)
	}
	return receiptIn(t, p)
}

func receiptIn(t *testing.T, p *Plan) *receipt.Receipt {
	t.Helper()
	r, err := p.Receipt(background)
	if err != nil {
		t.Fatal(err)
	}
	b, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if r, err = receipt.Parse(b); err != nil {
		t.Fatal(err)
	}
	if d := r.Check(); d != nil {
		t.Error(d)
	}
	return r
}

// The same receipt for any number of workers, other names and other bounds on memory; another one for another input or
// operation, with the first chunk that differs.
func TestReceipt(t *testing.T) {
	x := values(1, 50, 60)
	vars := map[string]Array{"x": From("x", zarrOf(t, x, 7, 9)), "y": From("y", zarrOf(t, values(2, 50, 60), 7, 9))}
	const expr = "(x - mean(x, axis=0)) / std(y, axis=0) + x"
	want := receiptFor(t, Options{}, RunOptions{Workers: 1}, expr, vars)
	if len(want.Nodes) != 8*7 || len(want.Inputs) != 2 || want.Inputs[0].Type != "float32[50,60]" || want.Nodes[0].Results[0].Type != "float32[7,9]" || want.Nodes[55].Results[0].Type != "float32[1,6]" {
		t.Errorf("%d nodes, inputs %v, first %v, last %v", len(want.Nodes), want.Inputs, want.Nodes[0], want.Nodes[len(want.Nodes)-1])
	}
	var tree receipt.Tree
	for _, n := range want.Nodes {
		tree.Add(n.Results[0].Digest[:])
	}
	if tree.Root() != want.Outputs[0].Digest {
		t.Error("the digest of the output isn't the root over its chunks")
	}
	same := func(what string, got *receipt.Receipt) {
		t.Helper()
		if d, err := receipt.Compare(want, got); d != nil || err != nil || got.Root() != want.Root() {
			t.Errorf("%s: %v, %v", what, d, err)
		}
	}
	for _, n := range []int{2, 7} {
		same(fmt.Sprint(n, " workers"), receiptFor(t, Options{}, RunOptions{Workers: n}, expr, vars))
	}
	same("other memory", receiptFor(t, Options{Memory: 1 << 24}, RunOptions{}, expr, vars))
	same("other names", receiptFor(t, Options{}, RunOptions{}, expr, map[string]Array{"x": From("/a", zarrOf(t, x, 7, 9)), "y": From("/b", zarrOf(t, values(2, 50, 60), 7, 9))}))

	changed := x.Clone()
	v, _ := tensor.As[float32](changed)
	v.Set(12, 20, 30)
	for what, got := range map[string]*receipt.Receipt{
		`input "0" differs`: receiptFor(t, Options{}, RunOptions{}, expr, map[string]Array{"x": From("x", zarrOf(t, changed, 7, 9)), "y": vars["y"]}),
		"the graph differs": receiptFor(t, Options{}, RunOptions{}, strings.Replace(expr, "mean", "max", 1), vars),
	} {
		if d, err := receipt.Compare(want, got); err != nil || d == nil || !strings.HasPrefix(d.String(), what) {
			t.Errorf("%v, %v; want %s", d, err, what)
		}
	}
}

// A run that was interrupted and goes on has the receipt of one that wasn't, and a chunk that is damaged afterwards is found.
func TestReceiptResumed(t *testing.T) {
	a, err := Parse("x * 2 + mean(x)", map[string]Array{"x": From("x", zarrOf(t, values(3, 40, 30), 8, 8))})
	if err != nil {
		t.Fatal(err)
	}
	store := zarr.Memory()
	plan := func() *Plan {
		p, err := NewPlan(nil, Target{Array: a, Store: store})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	ctx, cancel := context.WithCancel(background)
	err = plan().Run(ctx, &RunOptions{Workers: 1, Progress: func(at Progress) {
		if at.Done == 9 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	p := plan()
	if err := p.Run(background, &RunOptions{Resume: true}); err != nil {
		t.Fatal(err)
	}
	whole, err := NewPlan(nil, Target{Array: a, Store: zarr.Memory()})
	if err == nil {
		err = whole.Run(background, &RunOptions{Workers: 3})
	}
	if err != nil {
		t.Fatal(err)
	}
	want, got := receiptIn(t, whole), receiptIn(t, p)
	if d, err := receipt.Compare(want, got); d != nil || err != nil {
		t.Errorf("%v, %v", d, err)
	}
	z, err := zarr.Open(background, store, "", nil)
	if err == nil {
		err = z.Write(background, []int{8, 16}, tensor.New[float32](8, 8).Any())
	}
	if err != nil {
		t.Fatal(err)
	}
	d, err := receipt.Compare(want, receiptIn(t, plan()))
	if err != nil || d == nil || !strings.HasPrefix(d.What, "output 0, [8 16] to [16 24]: result ") {
		t.Errorf("%v, %v", d, err)
	}
}

// Tensors are inputs with the digest of a tensor, and functions of the program are named.
func TestReceiptOfTensors(t *testing.T) {
	x := values(4, 6, 5)
	a := MapBlocks(func(_ context.Context, _ Block, in []tensor.Any) (tensor.Any, error) { return in[0].Clone(), nil },
		Blocks{Name: "copy", DType: x.DType(), Shape: x.Shape(), Chunks: []int{3, 5}}, FromTensor("t", x, 3, 5))
	store := zarr.Memory()
	p, err := NewPlan(nil, Target{Array: a, Store: store})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Receipt(background); err == nil {
		t.Error("a plan that hasn't run has a receipt")
	}
	if err := p.Run(background, nil); err != nil {
		t.Fatal(err)
	}
	r := receiptIn(t, p)
	d, err := tensor.Digest(x)
	if err != nil || r.Inputs[0].Digest != receipt.Digest(d) || len(r.Profile.Operators) != 1 || !strings.Contains(r.Profile.Operators[0], "copy") {
		t.Errorf("%v, operators %q, %v", r.Inputs, r.Profile.Operators, err)
	}
	stopped, cancel := context.WithCancel(background)
	cancel()
	if _, err := p.Receipt(stopped); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	var none context.Context
	if _, err := p.Receipt(none); !errors.Is(err, tensor.ErrValue) {
		t.Error(err)
	}
}

// Chunks that decide how a sum is rounded are a part of the graph. The number of passes of a rechunking isn't, nor is the name of an
// input. Targets count, and attributes by their types.
func TestReceiptOfGraphs(t *testing.T) {
	x := values(7, 60, 40)
	store := zarr.Memory()
	graph := func(memory int64, arrays ...Array) receipt.Digest {
		t.Helper()
		var targets []Target
		for i, a := range arrays {
			targets = append(targets, Target{Array: a, Store: zarr.Memory(), Path: fmt.Sprint(i)})
		}
		p, err := NewPlan(&Options{Memory: memory, Work: store}, targets...)
		if err == nil {
			err = p.Run(background, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		return receiptIn(t, p).Program.Graph
	}
	in := FromTensor("x", x, 60, 1)
	sum := func(chunks ...int) Array { return Reduce("ReduceSum", Rechunk(in, chunks...), Reducing{}) }
	copied := func(a Array, name string) Array {
		f := func(_ context.Context, _ Block, in []tensor.Any) (tensor.Any, error) { return in[0].Clone(), nil }
		return MapBlocks(f, Blocks{Name: name}, a)
	}
	y := Map("Add", nil, in, in)
	clip := func(attrs op.AttrMap) Array { return Map("Elu", attrs, in) }
	seen := make(map[receipt.Digest]int)
	for i, arrays := range [][]Array{{sum(7, 40)}, {sum(8, 40)}, {sum(60, 40)}, {MatMul(in, Rechunk(FromTensor("z", values(9, 40, 60), 1, 60), 40, 60))},
		{MatMul(Rechunk(in, 60, 3), Rechunk(FromTensor("z", values(9, 40, 60), 1, 60), 40, 60))}, {copied(in, "f")}, {copied(in, "g")}, {copied(Rechunk(in, 60, 2), "f")},
		{y}, {y, Map("Neg", nil, y)}, {Map("Neg", nil, y)}, {y, y}, {clip(nil)}, {clip(op.AttrMap{"alpha": float32(2)})}, {clip(op.AttrMap{"alpha": float32(3)})}} {
		d := graph(0, arrays...)
		if j, ok := seen[d]; ok {
			t.Errorf("plans %d and %d have one graph", j, i)
		}
		seen[d] = i
	}
	// The same graph where memory makes one pass of a copy, and two.
	z := zarrOf(t, values(8, 1024, 2048), 1024, 8)
	far := Map("Neg", nil, Map("Abs", nil, Rechunk(From("z", z), 4, 2048)))
	passes := make(map[int]bool)
	var want receipt.Digest
	for i, memory := range []int64{0, 5 << 20} {
		p, err := NewPlan(&Options{Memory: memory}, Target{Array: far, Store: zarr.Memory()})
		if err != nil {
			t.Fatal(err)
		}
		passes[len(p.stages)] = true
		if got := graph(memory, far); i == 0 {
			want = got
		} else if got != want {
			t.Errorf("another graph with %d bytes", memory)
		}
	}
	if len(passes) < 2 {
		t.Errorf("the stages are always %v", passes)
	}
}

// A run that keeps the arrays between the stages has their chunks in the receipt. It compares with one that doesn't, and a chunk
// that differs is named before the result.
func TestReceiptOfStages(t *testing.T) {
	a, err := Parse("rechunk(x - mean(x, axis=0), (3, 30)) / std(x)", map[string]Array{"x": From("x", zarrOf(t, values(3, 80, 30), 4, 8))})
	if err != nil {
		t.Fatal(err)
	}
	run := func(o RunOptions) (*Plan, *receipt.Receipt) {
		p, err := NewPlan(nil, Target{Array: a, Store: zarr.Memory()})
		if err == nil {
			err = p.Run(background, &o)
		}
		if err != nil {
			t.Fatal(err)
		}
		return p, receiptIn(t, p)
	}
	_, short := run(RunOptions{})
	p, want := run(RunOptions{Keep: true, Workers: 1})
	if len(want.Nodes) <= len(short.Nodes) || !strings.HasPrefix(want.Nodes[0].Node, "between 0, ReduceMean of 8 chunks, [0 0 0] to ") {
		t.Errorf("%d nodes, and %d, the first is %v", len(want.Nodes), len(short.Nodes), want.Nodes[0])
	}
	same := func(a, b *receipt.Receipt) {
		t.Helper()
		if d, err := receipt.Compare(a, b); d != nil || err != nil || a.Root() != b.Root() {
			t.Errorf("%v, %v", d, err)
		}
	}
	same(short, want)
	same(want, short)
	for _, n := range []int{2, 7} {
		_, got := run(RunOptions{Keep: true, Workers: n})
		same(want, got)
		if got.NodesRoot() != want.NodesRoot() {
			t.Errorf("another root of the nodes with %d workers", n)
		}
	}
	// A state of a reduction that is damaged.
	s := p.stages[0]
	z, err := s.array(background)
	if err == nil {
		err = z.Write(background, []int{0, 1, 0}, tensor.New[float64](1, 1, 8).Any())
	}
	if err != nil {
		t.Fatal(err)
	}
	d, err := receipt.Compare(want, receiptIn(t, p))
	if err != nil || d == nil || !strings.HasPrefix(d.What, "between 0, ReduceMean of 8 chunks, [0 1 0] to [1 2 8]: result ") {
		t.Errorf("%v, %v", d, err)
	}
	if err := p.End(background); err != nil {
		t.Fatal(err)
	}
	same(short, receiptIn(t, p))
}
