package chunk

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format/zarr"
	"github.com/ashlar-go/ashlar/tensor"
)

// values is random float32 with all that is special among them.
func values(seed uint64, shape ...int) tensor.Any {
	r := rand.New(rand.NewPCG(seed, 1))
	special := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 0, float32(math.Copysign(0, -1)), math.MaxFloat32}
	x := make([]float32, int(bytesOf(dtype.Uint8, shape)))
	for i := range x {
		x[i] = float32(r.NormFloat64())
		if r.IntN(40) == 0 {
			x[i] = special[r.IntN(len(special))]
		}
	}
	return tensor.FromSlice(x, shape...).Any()
}

// Of random floats, infinities and NaN among them, reductions differ from package op's by rounding alone.
func TestSpecial(t *testing.T) {
	seeds := uint64(5)
	if *whole {
		seeds = 20
	}
	for seed := range seeds {
		x := values(seed, 50, 60)
		a := From("x", zarrOf(t, x, 7, 9))
		e := &evaluator{ctx: background}
		for _, name := range reducerNames() {
			if reducers[name].block == nil || slices.Contains([]string{"Any", "All", "CountNonZero", "Ptp"}, name) {
				continue
			}
			got := computed(t, Reduce(name, a, Reducing{Axes: []int{0}}), Options{}, RunOptions{})
			var want tensor.Any
			var err error
			if reducers[name].place {
				want, err = (&folded{name: name}).choose(&chain{e: e}, x, 0), nil
			} else {
				want, err = e.reduce(name, x, []int{0})
			}
			if err != nil {
				t.Fatal(err)
			}
			if name == "ReduceProd" || name == "ReduceSumSquare" || name == "ReduceL2" || name == "Var" || name == "Std" {
				near(t, name, finite(t, e, got), finite(t, e, want))
				continue
			}
			near(t, name, got, want)
		}
	}
}

// finite has 0 in the place of elements too large to be compared.
func finite(t *testing.T, e *evaluator, x tensor.Any) tensor.Any {
	c := chain{e: e}
	big := c.call("Greater", c.call("Abs", x), tensor.Scalar(float32(1e15)).Any())
	r := c.call("Where", big, tensor.Scalar(float32(0)).Any(), x)
	if c.err != nil {
		t.Fatal(c.err)
	}
	return r
}

// bytesOfStore is all that a store holds below a path.
func contents(t *testing.T, s zarr.Store, path string) string {
	t.Helper()
	keys, err := s.List(background, path)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, k := range keys {
		v, err := s.Get(background, k, 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(k)
		b.Write(v)
	}
	return b.String()
}

// deviations is a computation of several stages.
func deviations(t *testing.T, x tensor.Any) Array {
	a := From("x", zarrOf(t, x, 5, 11))
	mean := Reduce("ReduceMean", a, Reducing{Axes: []int{0}})
	d := Map("Sub", nil, a, mean)
	return Reduce("Std", MatMul(Transpose(d), Map("Exp", nil, Map("Neg", nil, Map("Abs", nil, d)))), Reducing{Axes: []int{1}})
}

// The bytes of a result are the same for any number of workers, after an interruption at any task, and when tasks run
// again, in any order and several at once.
func TestSameBits(t *testing.T) {
	x := drawn(3, 130, 70)
	make := func() (*Plan, zarr.Store) {
		s := zarr.Memory()
		p, err := NewPlan(nil, Target{Array: deviations(t, x), Store: s, Path: "r"})
		if err != nil {
			t.Fatal(err)
		}
		return p, s
	}
	var want string
	for _, workers := range []int{1, 2, 7} {
		p, s := make()
		if err := p.Run(background, &RunOptions{Workers: workers}); err != nil {
			t.Fatal(err)
		}
		got := contents(t, s, "")
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("%d workers: other bytes", workers)
		}
	}
	total := 0
	for stop := 1; ; stop += 7 {
		p, s := make()
		ctx, cancel := context.WithCancel(background)
		err := p.Run(ctx, &RunOptions{Workers: 2, Progress: func(at Progress) {
			if total = at.Tasks; at.Done == stop {
				cancel()
			}
		}})
		cancel()
		if err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if err := p.Run(background, nil); !errors.Is(err, ErrEarlier) || !errors.Is(err, fs.ErrExist) {
			t.Fatalf("a second run over the first: %v", err)
		}
		q, _ := NewPlan(nil, Target{Array: deviations(t, x), Store: s, Path: "r"}) // another process would
		if q.ID() != p.ID() {
			t.Fatal("equal plans have other identities")
		}
		if err := q.Run(background, &RunOptions{Resume: true}); err != nil {
			t.Fatal(err)
		}
		if contents(t, s, "") != want {
			t.Errorf("stopped after %d of %d tasks and resumed: other bytes", stop, total)
		}
	}
	p, s := make()
	if err := p.Begin(background, nil); err != nil {
		t.Fatal(err)
	}
	for i, st := range p.Stages() {
		var wg sync.WaitGroup
		for _, task := range rand.Perm(st.Tasks) {
			for range 3 {
				wg.Go(func() {
					if err := p.runTask(background, i, task, true); err != nil {
						t.Error(err)
					}
				})
			}
		}
		wg.Wait()
	}
	if err := p.End(background); err != nil {
		t.Fatal(err)
	}
	if contents(t, s, "") != want {
		t.Error("tasks in another order, three times each: other bytes")
	}
}

// drawn is random float32 that are finite.
func drawn(seed uint64, shape ...int) tensor.Any {
	r := rand.New(rand.NewPCG(seed, 2))
	x := make([]float32, int(bytesOf(dtype.Uint8, shape)))
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return tensor.FromSlice(x, shape...).Any()
}

// A function that fails, panics or returns the wrong part stops the run with the task's name; finished tasks stay.
func TestFailures(t *testing.T) {
	a := From("x", zarrOf(t, drawn(1, 10, 10), 3, 3))
	for _, c := range []struct {
		text string
		f    func() (tensor.Any, error)
	}{
		{"task 5, which makes [3 3] to [6 6]: f at chunk [1 1]: no luck", func() (tensor.Any, error) { return tensor.Any{}, errors.New("no luck") }},
		{"panic: bad luck", func() (tensor.Any, error) { panic("bad luck") }},
		{"returned float32[2,2], not float32[3,3]", func() (tensor.Any, error) { return tensor.New[float32](2, 2).Any(), nil }},
		{"returned nothing", func() (tensor.Any, error) { return tensor.Any{}, nil }},
	} {
		var calls atomic.Int32
		r := MapBlocks(func(_ context.Context, at Block, in []tensor.Any) (tensor.Any, error) {
			calls.Add(1)
			if slices.Equal(at.Index, []int{1, 1}) {
				return c.f()
			}
			return in[0], nil
		}, Blocks{Name: "f"}, a)
		p, err := NewPlan(nil, Target{Array: r, Store: zarr.Memory(), Path: "r"})
		if err != nil {
			t.Fatal(err)
		}
		err = p.Run(background, &RunOptions{Workers: 1})
		var task *TaskError
		if !errors.As(err, &task) || !strings.Contains(err.Error(), c.text) || task.Task != 5 {
			t.Errorf("error %v, want %s", err, c.text)
		}
		if calls.Load() != 6 {
			t.Errorf("%d calls, want 6: no task begins after the failure", calls.Load())
		}
	}
}

// Of the operand that says the type of the result nothing else counts, also where its shape is larger.
func TestMapLike(t *testing.T) {
	x, like := drawn(1, 4), FromTensor("like", tensor.FromSlice(make([]int16, 6), 2, 3).Any(), 1, 2)
	got := computed(t, Map("CastLike", nil, From("x", zarrOf(t, x, 3)), like), Options{}, RunOptions{})
	if got.DType() != dtype.Int16 || got.Len() != 4 {
		t.Errorf("%v", got)
	}
}

// Mistakes are errors when the plan is made, each with the reason and the way out.
func TestMistakes(t *testing.T) {
	x := From("x", zarrOf(t, drawn(1, 10, 10), 3, 3))
	y := From("y", zarrOf(t, drawn(1, 4), 3))
	for _, c := range []struct {
		a    Array
		text string
	}{
		{Array{}, "zero Array"},
		{From("n", nil), `the Zarr array "n" is nil`},
		{Value(tensor.Any{}), "no elements"},
		{Map("Add", nil, x, y), "shapes (10,10) and (4) don't broadcast: axis 1 is 10 and 4"},
		{Map("Nonsense", nil, x), `no operator "Nonsense"`},
		{Map("MatMul", nil, x, x), "isn't elementwise"},
		{Map("Inner", nil, x, x), "isn't elementwise"},
		{Map("Transpose", nil, x), "isn't elementwise"},
		{Map("Squeeze", nil, x), "isn't elementwise"},
		{Map("Dropout", nil, y, x), "operand 1 of Dropout has shape [10 10], which doesn't broadcast to the result's [4]"},
		{Map("Add", nil, x, Value(tensor.Scalar(float64(1)).Any())), "float32"},
		{Map("Neg", nil, Map("Add", nil, x, y)), "don't broadcast"},
		{Slice(x, tensor.I(10)), "10"},
		{Slice(x, tensor.I(0), tensor.I(0), tensor.I(0)), "3"},
		{Transpose(x, 0, 0), "axes [0 0]"},
		{Concat(2, x, x), "axis 2"},
		{Concat(0, x, y), "array 1 is float32[4]"},
		{Concat(0), "no arrays"},
		{Stack(4, x), "axis 4"},
		{Rechunk(x, 3), "chunks of [3]"},
		{Rechunk(x, 0, 3), "chunks of [0 3]"},
		{Reduce("Nonsense", x, Reducing{}), "ArgMax, ArgMin"},
		{Reduce("ReduceSum", x, Reducing{Axes: []int{0, -2}}), "axes [0 -2]"},
		{Reduce("ArgMax", x, Reducing{}), "2 axes; it takes one"},
		{Reduce("Median", x, Reducing{}), "Rechunk first"},
		{Reduce("Quantile", x, Reducing{Q: 2}), "Q is 2"},
		{MatMul(x, y), "the left has 10 columns, the right 4 rows"},
		{TensorDot(x, x, []int{0}, []int{0, 1}), "1 axes of the one and 2 of the other"},
		{TensorDot(x, x, []int{2}, []int{0}), "axes [2]"},
		{Histogram(x, 0, 0, 1), "0 bins"},
		{Histogram(x, 3, 1, 1), "from 1 to 1"},
		{Percentile(x, 0, 1, 50), "of a Histogram"},
		{Percentile(Histogram(x, 3, 0, 1), 0, 1, 101), "[101]"},
		{MapBlocks(nil, Blocks{Name: "f"}, x), "a function"},
		{FromTensor("t", drawn(1, 3), 0), "chunks of [0]"},
	} {
		_, err := NewPlan(nil, Target{Array: c.a, Store: zarr.Memory()})
		if err == nil || !strings.Contains(err.Error(), c.text) {
			t.Errorf("error %v, want %s", err, c.text)
		}
		if c.a.Err() == nil || c.a.Shape() != nil || c.a.Chunks() != nil || c.a.DType() != dtype.Invalid || c.a.String() == "" {
			t.Errorf("%s: an array with a mistake has %v %v %v", c.text, c.a.DType(), c.a.Shape(), c.a.Chunks())
		}
	}
	for text, err := range map[string]error{
		"no target": second(NewPlan(nil)),
		"no store":  second(NewPlan(nil, Target{Array: x})),
		"two targets": func() error {
			s := zarr.Memory()
			return second(NewPlan(nil, Target{x, s, "a", nil, nil}, Target{x, s, "/a/", nil, nil}))
		}(),
		"can't be compared": func() error {
			s := struct {
				zarr.Store
				some []int
			}{zarr.Memory(), nil}
			return second(NewPlan(nil, Target{x, s, "a", nil, nil}, Target{x, s, "a", nil, nil}))
		}(),
		"chunks of": second(NewPlan(&Options{Memory: 9 << 20}, Target{Array: Map("Neg", nil, big(t)), Store: zarr.Memory()})),
	} {
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("error %v, want %s", err, text)
		}
	}
}

func second(_ *Plan, err error) error { return err }

// big is an array with chunks of 64 MiB, all absent.
func big(t *testing.T) Array {
	a, err := zarr.Create(background, zarr.Memory(), "x", zarr.Metadata{DType: dtype.Float32, Shape: []int{1 << 14, 1 << 14}, Chunks: []int{4096, 4096}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return From("big", a)
}

// Steps of a stencil, each of which reads the one before at three places, take a stage each: no part is computed thrice as often
// at each step.
func TestStencil(t *testing.T) {
	x := drawn(4, 64)
	a := From("x", zarrOf(t, x, 16))
	want := x
	for range 12 {
		n := a.Shape()[0]
		sides := [3]Array{Slice(a, tensor.R(0, n-2)), Slice(a, tensor.R(1, n-1)), Slice(a, tensor.R(2, n))}
		a = Map("Max", nil, Map("Add", nil, sides[0], sides[1]), sides[2])
		var w [3]tensor.Any
		for i := range w {
			w[i], _ = tensor.Slice(want, tensor.R(i, n-2+i))
		}
		sum, err := run(named("Add"), nil, w[0], w[1])
		if err == nil {
			want, err = run(named("Max"), nil, sum, w[2])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	p, err := NewPlan(nil, Target{Array: a, Store: zarr.Memory()})
	if err != nil || len(p.Stages()) != 12 {
		t.Fatalf("%d stages, want 12; %v", len(p.Stages()), err)
	}
	equal(t, "stencil", computed(t, a, Options{}, RunOptions{}), want)
}

// An array that another run writes is refused, by the one that holds it, and free when that run is over.
func TestLocked(t *testing.T) {
	folder, err := zarr.Dir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []zarr.Store{folder, zarr.Memory()} {
		inside := func(_ context.Context, _ Block, in []tensor.Any) (tensor.Any, error) {
			p, err := NewPlan(nil, Target{Array: Value(in[0]), Store: s, Path: "r"})
			if err == nil {
				err = p.Run(background, nil)
			}
			if !errors.Is(err, zarr.ErrLocked) || !strings.Contains(err.Error(), "plan ") {
				t.Errorf("a second run on the array: %v", err)
			}
			return in[0], nil
		}
		p, err := NewPlan(nil, Target{Array: MapBlocks(inside, Blocks{Name: "f"}, From("x", zarrOf(t, drawn(1, 4), 4))), Store: s, Path: "r"})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Run(background, nil); err != nil {
			t.Fatal(err)
		}
		if err := p.Run(background, &RunOptions{Resume: true}); err != nil {
			t.Errorf("the lock stays: %v", err)
		}
		keys, err := s.List(background, "")
		if err != nil || slices.ContainsFunc(keys, func(k string) bool { return strings.Contains(k, "lock") && s != folder }) {
			t.Errorf("keys %v, %v", keys, err)
		}
	}
}

// Parts that several targets share are computed once.
func TestTargets(t *testing.T) {
	a := Map("Exp", nil, From("x", zarrOf(t, drawn(5, 20, 20), 6, 6)))
	s := zarr.Memory()
	gram := MatMul(Transpose(a), a)
	sum := Reduce("ReduceSum", gram, Reducing{})
	p, err := NewPlan(nil, Target{Array: sum, Store: s, Path: "sum"}, Target{Array: gram, Store: s, Path: "gram"}, Target{Array: gram, Store: s, Path: "again"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range p.Stages() {
		names = append(names, s.Name)
	}
	if want := []string{"Exp", "gram", "ReduceSum of 8 chunks", "sum", "again"}; !slices.Equal(names, want) {
		t.Errorf("stages %v, want %v", names, want)
	}
	if err := p.Run(background, nil); err != nil {
		t.Fatal(err)
	}
	var got []tensor.Any
	for _, path := range []string{"gram", "again", "sum"} {
		z, err := zarr.Open(background, s, path, nil)
		if err != nil {
			t.Fatal(err)
		}
		x, err := z.Read(background)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, x)
	}
	equal(t, "again", got[1], got[0])
	total, err := (&evaluator{ctx: background}).reduce("ReduceSum", got[0], []int{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "sum", got[2], total)
}

// Arrays without elements have package op's results, and none is a mistake.
func TestEmpty(t *testing.T) {
	x := tensor.New[float32](3, 0, 2).Any()
	a := From("x", zarrOf(t, x, 2, 1, 2))
	e := &evaluator{ctx: background}
	for _, name := range []string{"ReduceSum", "ReduceMean", "ReduceMax", "ReduceProd", "Var", "ReduceLogSumExp", "NanMean"} {
		for _, axes := range [][]int{{0}, {1}, {0, 1, 2}} {
			want, err := e.reduce(name, x, axes)
			if err != nil {
				t.Fatal(err)
			}
			near(t, name, computed(t, Reduce(name, a, Reducing{Axes: axes}), Options{}, RunOptions{}), want)
		}
	}
	equal(t, "Neg", computed(t, Map("Neg", nil, Transpose(a)), Options{}, RunOptions{}), tensor.New[float32](2, 0, 3).Any())
	m := tensor.New[float32](2, 3).Any()
	b := From("b", zarrOf(t, tensor.New[float32](2, 0).Any(), 1, 1))
	equal(t, "product", computed(t, MatMul(b, Value(tensor.New[float32](0, 3).Any())), Options{}, RunOptions{}), m)
}

// Arrays of more chunks than can be planned are refused at once, by the size of the plan.
func TestTooMany(t *testing.T) {
	z, err := zarr.Create(background, zarr.Memory(), "x", zarr.Metadata{DType: dtype.Float32, Shape: []int{1 << 30, 1 << 30}, Chunks: []int{16, 16}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	x := From("x", z)
	narrow := Slice(x, tensor.R(0, 16))
	for name, a := range map[string]Array{
		"map": Map("Neg", nil, x), "rechunk": Rechunk(x, 17, 17), "sum": Reduce("ReduceSum", x, Reducing{}), "rows": Reduce("ReduceSum", x, Reducing{Axes: []int{0}}),
		"product": MatMul(x, x), "inner": MatMul(narrow, Transpose(narrow)), "histogram": Histogram(x, 3, 0, 1), "slice": Slice(x, tensor.R(0, 1<<30, 3)),
	} {
		if err := second(NewPlan(nil, Target{Array: a, Store: zarr.Memory()})); !errors.Is(err, ErrTasks) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
