package onnx

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/ended"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
	"pgregory.net/rapid"
)

func truthOf(b bool) tensor.Any { return tensor.Scalar(b).Any() }
func count(n int64) tensor.Any  { return tensor.Scalar(n).Any() }

// sessionAt is session at another opset, for any kind of test.
func sessionAt(t testing.TB, opset int64, build func(b *Builder)) *Session {
	t.Helper()
	b := NewBuilder("g")
	build(b)
	m, err := b.Model(opset)
	if err != nil {
		t.Fatal(err)
	}
	file, err := Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	if m, err = Decode(file); err != nil {
		t.Fatal(err)
	}
	s, err := NewSession(m)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// choose adds an If on cond whose branches are made by two functions.
func choose(b *Builder, cond string, then, other func(b *Builder) string) string {
	branch := func(name string, f func(b *Builder) string) Attribute {
		body := b.Body(name)
		body.OutputOf(f(body), Type{})
		return GraphAttr(name, body)
	}
	return b.Node("If", []string{cond}, branch("then_branch", then), branch("else_branch", other))
}

// looped adds a Loop: body gets the number of the iteration, the condition and the carried values, and returns the
// condition, the carried values and the results of each iteration.
func looped(b *Builder, outputs int, inputs []string, body func(b *Builder, in []string) []string) []string {
	inner := b.Body("body")
	in := []string{inner.Input(inner.fresh("i"), dtype.Int64), inner.Input(inner.fresh("going"), dtype.Bool)}
	for range inputs[2:] {
		in = append(in, inner.InputOf(inner.fresh("state"), Type{}))
	}
	for _, out := range body(inner, in) {
		inner.OutputOf(out, Type{})
	}
	return b.Nodes("Loop", outputs, inputs, GraphAttr("body", inner))
}

// A Loop gives the results of a loop in Go: it stops after M iterations, or when the condition turns false, both of which may
// be absent, and puts together the results of all iterations.
func TestLoopIsALoop(t *testing.T) {
	type form struct{ most, start, inner bool }
	sessions := make(map[form]*Session)
	for _, most := range []bool{false, true} {
		for _, start := range []bool{false, true} {
			for _, inner := range []bool{false, true} {
				f := form{most, start, inner}
				if !most && !inner {
					continue // it never ends
				}
				sessions[f] = sessionAt(t, 16, func(b *Builder) {
					x, end, step := b.Input("x", dtype.Float32, "n"), b.Input("end", dtype.Float32), b.Input("step", dtype.Float32)
					in := []string{"", "", x}
					if most {
						in[0] = b.Input("most", dtype.Int64)
					}
					if start {
						in[1] = b.Input("start", dtype.Bool)
					}
					out := looped(b, 2, in, func(b *Builder, v []string) []string {
						sum := b.Node("Add", []string{v[2], step}) // step and end are captured
						going := v[1]
						if inner {
							going = b.Node("Less", []string{b.Node("ReduceMax", []string{sum}, IntAttr("keepdims", 0)), end})
						}
						return []string{going, sum, b.Node("Mul", []string{sum, sum})}
					})
					b.Output(b.Rename(out[0], "last"), dtype.Float32, "n")
					b.Output(b.Rename(out[1], "squares"), dtype.Float32, nil, "n")
				})
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		f := form{rapid.Bool().Draw(t, "most"), rapid.Bool().Draw(t, "start"), rapid.Bool().Draw(t, "inner")}
		s := sessions[f]
		if s == nil {
			return
		}
		x := make([]float32, rapid.IntRange(1, 3).Draw(t, "n"))
		for i := range x {
			x[i] = float32(i)
		}
		most, start := rapid.Int64Range(-1, 9).Draw(t, "M"), rapid.Bool().Draw(t, "begin")
		end, step := float32(rapid.IntRange(1, 20).Draw(t, "end")), float32(rapid.IntRange(1, 4).Draw(t, "step"))
		in := vals{"x": vec(x...), "end": tensor.Scalar(end).Any(), "step": tensor.Scalar(step).Any()}
		going := true
		if f.most {
			in["most"] = count(most)
		} else {
			most = 1 << 40
		}
		if f.start {
			in["start"], going = truthOf(start), start
		}
		var squares []float32
		n := 0
		state := slices.Clone(x)
		for ; going && int64(n) < most; n++ {
			for i := range state {
				state[i] += step
				squares = append(squares, state[i]*state[i])
			}
			if f.inner {
				going = slices.Max(state) < end
			}
		}
		out, err := s.Run(context.Background(), in, &Options{MaxIterations: 100})
		if err != nil {
			t.Fatal(err)
		}
		if got := tensor.Describe(out["squares"]); got != fmt.Sprintf("float32[%d,%d]", n, len(x)) {
			t.Fatalf("got %s for %d iterations", got, n)
		}
		if got := slices.Collect(tensor.ValuesOf[float32](out["squares"])); !slices.Equal(got, squares) {
			t.Fatalf("squares %v, want %v", got, squares)
		}
		if got := slices.Collect(tensor.ValuesOf[float32](out["last"])); !slices.Equal(got, state) {
			t.Fatalf("last %v, want %v", got, state)
		}
	})
}

// An If in a Loop in an If; the innermost graphs read values of the two graphs around, and of the model's.
func TestNestedGraphs(t *testing.T) {
	s := session(t, func(b *Builder) {
		x, up, most := b.Input("x", dtype.Float32, nil), b.Input("up", dtype.Bool), b.Input("most", dtype.Int64)
		two := b.Weight("two", vec(2))
		half := b.Node("Div", []string{x, two})
		y := choose(b, up, func(b *Builder) string {
			square := b.Node("Mul", []string{x, x})
			return looped(b, 1, []string{most, "", x}, func(b *Builder, v []string) []string {
				odd := b.Node("Equal", []string{b.Node("Mod", []string{v[0], b.Weight(b.fresh("divisor"), count(2))}), b.Weight(b.fresh("one"), count(1))})
				next := choose(b, odd, func(b *Builder) string { return b.Node("Add", []string{v[2], square}) }, func(b *Builder) string { return b.Node("Mul", []string{b.Node("Add", []string{v[2], half}), two}) })
				return []string{v[1], next}
			})[0]
		}, func(b *Builder) string { return half })
		b.Output(b.Rename(y, "y"), dtype.Float32, nil)
	})
	for _, x := range []float32{3, 8} {
		for most := range int64(6) {
			want := x
			for i := range most {
				if i%2 == 1 {
					want += x * x
				} else {
					want = (want + x/2) * 2
				}
			}
			checkVec(t, mustRun(t, s, vals{"x": vec(x), "up": truthOf(true), "most": count(most)})["y"], want)
			checkVec(t, mustRun(t, s, vals{"x": vec(x), "up": truthOf(false), "most": count(most)})["y"], x/2)
		}
	}
}

// A Scan along any axes, in any directions, gives the results of loops over elements.
func TestScanIsALoop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := []int{rapid.IntRange(0, 3).Draw(t, "rows"), rapid.IntRange(0, 3).Draw(t, "columns")}
		axis, outAxis := rapid.IntRange(-2, 1).Draw(t, "axis"), rapid.IntRange(-2, 1).Draw(t, "out")
		back, outBack := rapid.Bool().Draw(t, "back"), rapid.Bool().Draw(t, "out back")
		flag := map[bool]int64{true: 1}
		b := NewBuilder("g")
		x := b.Input("x", dtype.Float32, "r", "c")
		body := b.Body("body")
		state, row := body.InputOf("sum", Type{}), body.Input("row", dtype.Float32, nil)
		total := body.Node("Add", []string{state, row})
		body.Output(total, dtype.Float32, nil)
		body.Output(body.Node("Identity", []string{total}), dtype.Float32, nil)
		start := b.Input("start", dtype.Float32, nil)
		out := b.Nodes("Scan", 2, []string{start, x}, GraphAttr("body", body), IntAttr("num_scan_inputs", 1), IntsAttr("scan_input_axes", int64(axis)),
			IntsAttr("scan_output_axes", int64(outAxis)), IntsAttr("scan_input_directions", flag[back]), IntsAttr("scan_output_directions", flag[outBack]))
		b.Output(b.Rename(out[0], "total"), dtype.Float32, nil)
		b.Output(b.Rename(out[1], "sums"), dtype.Float32, nil, nil)
		m, err := b.Model(11)
		if err != nil {
			t.Fatal(err)
		}
		s, err := NewSession(m)
		if err != nil {
			t.Fatal(err)
		}
		a := tensor.RandomNormal[float32](1, 0, 1, shape...).Any()
		if rapid.Bool().Draw(t, "turned") {
			a = a.Permute(1, 0).Clone().Permute(1, 0)
		}
		along, other := (axis+2)%2, 1-(axis+2)%2
		n, width := shape[along], shape[other]
		sum := make([]float32, width)
		want := make([][]float32, n)
		for i := range n {
			at := i
			if back {
				at = n - 1 - i
			}
			for j := range width {
				idx := []int{0, 0}
				idx[along], idx[other] = at, j
				sum[j] += a.At(idx...).(float32)
			}
			to := i
			if outBack {
				to = n - 1 - i
			}
			want[to] = slices.Clone(sum)
		}
		res, err := s.Run(context.Background(), vals{"x": a, "start": vec(make([]float32, width)...)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Collect(tensor.ValuesOf[float32](res["total"])); !slices.Equal(got, sum) {
			t.Fatalf("sum %v, want %v", got, sum)
		}
		for i := range n {
			for j := range width {
				idx := []int{i, j}
				if (outAxis+2)%2 == 1 {
					idx = []int{j, i}
				}
				if got := res["sums"].At(idx...); got != want[i][j] {
					t.Fatalf("sums%v = %v, want %v", idx, got, want[i][j])
				}
			}
		}
	})
}

// The form of opset 8: each entry of the batch has a length of its own.
func TestBatchedScan(t *testing.T) {
	s := sessionAt(t, 8, func(b *Builder) {
		lengths, x := b.Input("lengths", dtype.Int64, 2), b.Input("x", dtype.Float32, 2, 3, 1)
		start := b.Input("start", dtype.Float32, 2, 1)
		body := b.Body("body")
		sum := body.Node("Add", []string{body.Input("sum", dtype.Float32, 1), body.Input("entry", dtype.Float32, 1)})
		body.Output(sum, dtype.Float32, 1)
		body.Output(body.Node("Identity", []string{sum}), dtype.Float32, 1)
		out := b.Nodes("Scan", 2, []string{lengths, start, x}, GraphAttr("body", body), IntAttr("num_scan_inputs", 1), IntsAttr("directions", 1))
		b.Output(b.Rename(out[0], "total"), dtype.Float32, 2, 1)
		b.Output(b.Rename(out[1], "sums"), dtype.Float32, 2, 3, 1)
	})
	out := mustRun(t, s, vals{"lengths": ints(2, 3), "start": tensor.FromSlice([]float32{10, 20}, 2, 1).Any(), "x": tensor.FromSlice([]float32{1, 2, 100, 1, 2, 3}, 2, 3, 1).Any()})
	checkVec(t, out["total"], 13, 26)
	checkVec(t, out["sums"], 12, 13, 0, 23, 25, 26)
}

// Sequences in a graph behave as slices in Go do.
func TestSequencesAreSlices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := NewBuilder("g")
		var want [][]float32
		seq := b.Node("SequenceEmpty", nil, IntAttr("dtype", int64(ElemFloat32)))
		in := vals{}
		for i := range rapid.IntRange(0, 8).Draw(t, "steps") {
			n := len(want)
			at := rapid.IntRange(-n, n).Draw(t, "at")
			place := b.Input(fmt.Sprint("at", i), dtype.Int64)
			in[place] = count(int64(at))
			if rapid.Bool().Draw(t, "insert") || n == 0 {
				v := []float32{float32(i), 1}
				x := b.Input(fmt.Sprint("x", i), dtype.Float32, 2)
				in[x] = vec(v...)
				if at == n && rapid.Bool().Draw(t, "default") {
					seq = b.Node("SequenceInsert", []string{seq, b.Node("Relu", []string{x})})
				} else {
					seq = b.Node("SequenceInsert", []string{seq, x, place})
				}
				want = slices.Insert(slices.Clone(want), (at+n)%max(n, 1)*min(n, 1)+map[bool]int{true: n}[at == n && n > 0], v)
			} else {
				in[place] = count(int64(at % n))
				seq = b.Node("SequenceErase", []string{seq, place})
				want = slices.Delete(slices.Clone(want), (at%n+n)%n, (at%n+n)%n+1)
			}
		}
		b.OutputOf(b.Rename(seq, "seq"), Type{Kind: KindSequence, Of: &Type{Kind: KindTensor, Elem: ElemFloat32}})
		b.OutputOf(b.Rename(b.Node("SequenceLength", []string{"seq"}), "n"), Type{})
		if len(want) > 0 {
			b.OutputOf(b.Rename(b.Node("ConcatFromSequence", []string{"seq"}, IntAttr("axis", 1), IntAttr("new_axis", 1)), "all"), Type{})
			last := b.Weight("last", count(-1))
			b.OutputOf(b.Rename(b.Node("SequenceAt", []string{"seq", last}), "end"), Type{})
		}
		m, err := b.Model(13)
		if err != nil {
			t.Fatal(err)
		}
		s, err := NewSession(m)
		if err != nil {
			t.Fatal(err)
		}
		out, err := s.RunValues(context.Background(), valuesOf(in), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := out["n"].Tensor().At(); got != int64(len(want)) {
			t.Fatalf("length %v, want %d", got, len(want))
		}
		for i, item := range out["seq"].List() {
			if got := slices.Collect(tensor.ValuesOf[float32](item)); !slices.Equal(got, want[i]) {
				t.Fatalf("item %d is %v, want %v", i, got, want[i])
			}
			if len(want) > 0 && out["all"].Tensor().At(1, i) != want[i][1] {
				t.Fatalf("row %d of all: %v, want %v", i, out["all"], want[i])
			}
		}
		for _, v := range out {
			if err := v.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Outputs of a sequence that has a tensor twice, or shares one with an input, have memory of their own.
func TestSequenceOutputsAreApart(t *testing.T) {
	s := session(t, func(b *Builder) {
		x := b.Input("x", dtype.Float32, 4)
		y := b.Node("Relu", []string{x})
		b.OutputOf(b.Rename(b.Node("SequenceConstruct", []string{x, y, y}), "seq"), Type{})
		b.OutputOf(b.Rename(b.Node("SplitToSequence", []string{y}), "parts"), Type{})
	})
	x := vec(1, 2, 3, 4)
	out, err := s.RunValues(context.Background(), map[string]Value{"x": TensorValue(x)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	all := append(out["seq"].List(), out["parts"].List()...)
	for i, a := range all {
		for _, b := range append(all[:i:i], x) {
			if a.SameData(b) {
				t.Errorf("item %d shares memory", i)
			}
		}
	}
	if got := out["parts"].String(); got != "sequence of 4: float32[1], float32[1], float32[1], float32[1]" {
		t.Error(got)
	}
	if got := out["seq"].Kind(); got != KindSequence {
		t.Error(got)
	}
}

// A step's label in an error has the nodes, attributes and iterations around it.
func TestErrorsOfBodies(t *testing.T) {
	model := func(build func(b *Builder)) (*Model, error) {
		bb := NewBuilder("g")
		build(bb)
		return bb.Model(16)
	}
	f32, i64 := dtype.Float32, dtype.Int64
	loop := func(b *Builder, cond string, out ...string) {
		body := b.Body("body")
		body.Input("i", i64)
		body.Input("going", dtype.Bool)
		body.InputOf("state", Type{})
		for _, o := range append([]string{cond}, out...) {
			body.OutputOf(o, Type{})
		}
		b.Input("x", f32, "n")
		b.OutputOf(b.Node("Loop", []string{b.Weight("m", count(3)), "", "x"}, GraphAttr("body", body)), Type{})
	}
	for name, c := range map[string]struct {
		build func(b *Builder)
		want  string
	}{
		"no such value": {func(b *Builder) {
			b.OutputOf(choose(b, b.Input("c", dtype.Bool), func(b *Builder) string { return b.Node("Relu", []string{"nowhere"}) }, func(b *Builder) string { return "c" }), Type{})
		}, `graph "g": node 0 "if1" (If): attribute "then_branch": node 0 "relu1" (Relu): input 0 "nowhere" is given a value by no node, input or initializer, here or in a graph around`},
		"no branch": {func(b *Builder) {
			b.OutputOf(b.Node("If", []string{b.Input("c", dtype.Bool)}, IntAttr("then_branch", 1)), Type{})
		}, `node 0 "if1" (If, opset 16): attribute "then_branch": it holds int, the operator runs a graph`},
		"other types": {func(b *Builder) {
			x := b.Input("x", f32, "n")
			b.OutputOf(choose(b, b.Input("c", dtype.Bool), func(b *Builder) string { return b.Node("Relu", []string{x}) }, func(b *Builder) string { return b.Node("Shape", []string{x}) }), Type{})
		}, `node 0 "if1" (If, opset 16): dtype: output 0 is float32[1] by then_branch and int64[1] by else_branch; both must give one type`},
		"condition": {func(b *Builder) {
			x := b.Input("x", f32)
			b.OutputOf(choose(b, x, func(b *Builder) string { return x }, func(b *Builder) string { return x }), Type{})
		}, `node 0 "if1" (If, opset 16): input 0: dtype: it is float32[]; a condition is one bool`},
		"loop's condition": {func(b *Builder) { loop(b, "i", "state") }, `node 0 "loop1" (Loop, opset 16): attribute "body": output 0 "i": dtype: it is int64[]; a condition is one bool`},
		"loop's outputs":   {func(b *Builder) { loop(b, "going") }, `node 0 "loop1" (Loop, opset 16): attribute "body": it has 1 outputs; for 1 values that the loop carries it has 2 or more, the first the condition`},
		"carried type":     {func(b *Builder) { loop(b, "going", "i") }, `node 0 "loop1" (Loop, opset 16): attribute "body": dtype: output 1 "i" is int64[], it began as float32[1]; a value that a loop carries keeps its type`},
		"unknown operator": {func(b *Builder) {
			x := b.Input("x", f32, "n")
			b.OutputOf(choose(b, b.Input("c", dtype.Bool), func(b *Builder) string { return b.Node("Frobnicate", []string{x}) }, func(b *Builder) string { return x }), Type{})
		}, `unsupported: node 0 "if1" (If, opset 16): then_branch: node 0 "frobnicate1" (Frobnicate, opset 16): ONNX has no operator of this name up to opset 28`},
		"unknown attribute": {func(b *Builder) {
			b.OutputOf(b.Node("SequenceConstruct", []string{b.Input("x", f32, "n")}, IntAttr("axis", 1)), Type{})
		}, `unsupported: node 0 "sequenceconstruct1" (SequenceConstruct, opset 16): attribute "axis" isn't known`},
		"mixed sequence": {func(b *Builder) {
			b.OutputOf(b.Node("SequenceConstruct", []string{b.Input("x", f32, "n"), b.Input("y", i64)}), Type{})
		}, `input 1: dtype: it holds int64, the first float32; a sequence is of one type`},
		"sequence as tensor": {func(b *Builder) {
			b.OutputOf(b.Node("Relu", []string{b.Node("SequenceConstruct", []string{b.Input("x", f32, "n")})}), Type{})
		}, `node 1 "relu1" (Relu, opset 16): input 0: dtype: it is sequence of 1: float32[1]; the operator takes tensors`},
		"cycle through a body": {func(b *Builder) {
			x := b.Input("x", f32, "n")
			y := choose(b, b.Input("c", dtype.Bool), func(b *Builder) string { return b.Node("Relu", []string{"late1"}) }, func(b *Builder) string { return x })
			b.Node("Late", []string{y})
			b.OutputOf(y, Type{})
		}, `node 0 "if1" (If): "late1", which a graph in it reads, comes from node 1 "late1" (Late), which itself waits for this node: a cycle of 2 nodes`},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := model(c.build)
			if err == nil {
				err = m.Check()
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

// Errors that only a run meets.
func TestErrorsInsideLoops(t *testing.T) {
	s := session(t, func(b *Builder) {
		x := b.Input("x", dtype.Float32, nil)
		out := looped(b, 2, []string{b.Input("m", dtype.Int64), "", x}, func(b *Builder, v []string) []string {
			next := b.Node("Concat", []string{v[2], x}, IntAttr("axis", 0))
			return []string{v[1], next, b.Node("Identity", []string{next})}
		})
		b.Output(out[0], dtype.Float32, nil)
		b.Output(out[1], dtype.Float32, nil, nil)
	})
	_, err := s.Run(context.Background(), vals{"x": vec(1, 2), "m": count(3)}, nil)
	want := `onnx: node 0 "loop1" (Loop, opset 13): attribute "body": shape: output 2 "identity1" is float32[6], in the first iteration float32[4]; the results of all are put together`
	if err == nil || err.Error() != want || !errors.Is(err, tensor.ErrShape) {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	s = session(t, func(b *Builder) {
		x := b.Input("x", dtype.Float32, nil)
		b.Output(looped(b, 1, []string{b.Input("m", dtype.Int64), "", x}, func(b *Builder, v []string) []string {
			two := b.Node("Concat", []string{v[2], v[2]}, IntAttr("axis", 0))
			return []string{v[1], b.Node("Add", []string{two, x})}
		})[0], dtype.Float32, nil)
	})
	_, err = s.Run(context.Background(), vals{"x": vec(1, 2), "m": count(3)}, nil)
	want = `onnx: node 0 "loop1" (Loop, opset 13): attribute "body": iteration 0: node 1 "add1" (Add, opset 13): op.Add: shapes (4) and (2) don't broadcast: axis 0 is 4 and 2`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// endless is a loop that its condition never ends.
func endless(b *Builder) {
	x := b.Input("x", dtype.Float32, nil)
	b.Output(b.Rename(looped(b, 1, []string{"", "", x}, func(b *Builder, v []string) []string {
		return []string{v[1], b.Node("Abs", []string{v[2]})}
	})[0], "y"), dtype.Float32, nil)
}

func TestLoopsEnd(t *testing.T) {
	s := session(t, endless)
	_, err := s.Run(context.Background(), vals{"x": vec(1)}, &Options{MaxIterations: 1000})
	if want := `iteration 1000: value: the loops of the run have begun as many iterations as Options.MaxIterations allows; raise it if they do end`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v", err)
	}
	if _, err = s.Run(ended.After(1000), vals{"x": vec(1)}, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := s.Plan(vals{"x": vec(1)}); err != nil {
		t.Error(err)
	}
}

// Values inside a body go after their last use, the values of one iteration before the next; the limit counts them.
func TestMemoryInsideLoops(t *testing.T) {
	s := session(t, func(b *Builder) {
		x := b.Input("x", dtype.Float32, "n")
		out := looped(b, 2, []string{b.Input("m", dtype.Int64), "", x}, func(b *Builder, v []string) []string {
			y := v[2]
			for range 4 { // each of a megabyte
				y = b.Node("Abs", []string{b.Node("Neg", []string{y})})
			}
			return []string{v[1], y, b.Node("ReduceMax", []string{y}, IntAttr("keepdims", 0))}
		})
		b.Output(b.Rename(out[0], "y"), dtype.Float32, "n")
		b.Output(b.Rename(out[1], "max"), dtype.Float32, nil)
	})
	in := vals{"x": tensor.Full[float32](3, 1<<18).Any(), "m": count(50)}
	p, err := s.Plan(in)
	if err != nil || p.Live < 3<<20 || p.Live > 6<<20 || !p.Exact {
		t.Errorf("planned %+v, %v", p, err)
	}
	out, err := s.Run(context.Background(), in, &Options{MaxMemory: p.Live})
	if err != nil {
		t.Fatal(err)
	}
	if got := out["max"].Len(); got != 50 {
		t.Errorf("%d iterations", got)
	}
	if _, err := s.Run(context.Background(), in, &Options{MaxMemory: 2 << 20}); !errors.Is(err, tensor.ErrMemory) {
		t.Errorf("got %v", err)
	}
	grows := session(t, func(b *Builder) {
		x := b.Input("x", dtype.Float32, nil)
		b.Output(looped(b, 1, []string{"", "", x}, func(b *Builder, v []string) []string {
			return []string{v[1], b.Node("Concat", []string{v[2], v[2]}, IntAttr("axis", 0))}
		})[0], dtype.Float32, nil)
	})
	var m *MemoryError
	if _, err := grows.Run(context.Background(), vals{"x": vec(1)}, &Options{MaxMemory: 1 << 20}); !errors.As(err, &m) {
		t.Errorf("got %v", err)
	}
}

// Every result of a body is given back, whether the run succeeds or fails.
func TestResultsOfBodiesAreClosed(t *testing.T) {
	s := session(t, func(b *Builder) {
		x := b.Input("x", dtype.Float32, 2)
		y := looped(b, 2, []string{b.Input("m", dtype.Int64), "", b.Node("Neg", []string{x})}, func(b *Builder, v []string) []string {
			return []string{v[1], b.Node("Add", []string{b.Node("Neg", []string{v[2]}), x}), b.Node("Abs", []string{v[2]})}
		})
		b.Output(b.Rename(b.Node("Add", []string{y[0], x}), "y"), dtype.Float32, 2)
		b.Output(b.Rename(y[1], "all"), dtype.Float32, nil, 2)
	})
	var made []tensor.Any
	fail := -1
	s.c.all(func(c *compiled) bool {
		for i, o := range c.ops {
			if o != nil {
				c.ops[i] = spy(o, nil, func(_ *op.Call, outs []tensor.Any, err error) ([]tensor.Any, error) {
					if made = append(made, outs...); len(made) == fail {
						return nil, errors.New("broken")
					}
					return outs, err
				})
			}
		}
		return true
	})
	in := vals{"x": vec(1, 2), "m": count(5)}
	out := mustRun(t, s, in)
	for i, a := range made {
		if closed(a) == a.SameData(out["y"]) {
			t.Errorf("result %d of %d is closed: %v", i, len(made), closed(a))
		}
	}
	n := len(made)
	for fail = 1; fail <= n; fail++ {
		made = nil
		if _, err := s.Run(context.Background(), in, nil); err == nil || len(made) != fail {
			t.Fatalf("at result %d of %d: %v", len(made), fail, err)
		}
		for i, a := range made[:fail-1] {
			if !closed(a) {
				t.Errorf("after a failure at result %d the result %d is open", fail, i)
			}
		}
	}
}

// Iterations of the same shapes share a plan, and so do later runs.
func TestBodiesKeepTheirPlan(t *testing.T) {
	s := session(t, func(b *Builder) {
		x := b.Input("x", dtype.Float32, "n")
		y := looped(b, 1, []string{b.Input("m", dtype.Int64), "", x}, func(b *Builder, v []string) []string {
			return []string{v[1], choose(b, v[1], func(b *Builder) string { return b.Node("Neg", []string{v[2]}) }, func(b *Builder) string { return b.Node("Abs", []string{v[2]}) })}
		})
		b.Output(b.Rename(y[0], "y"), dtype.Float32, "n")
	})
	var inferred atomic.Int64
	s.c.all(func(c *compiled) bool {
		for i, o := range c.ops {
			if o != nil {
				c.ops[i] = spy(o, func(_ *op.Call, outs []tensor.Any, err error) ([]tensor.Any, error) {
					inferred.Add(1)
					return outs, err
				}, func(_ *op.Call, outs []tensor.Any, err error) ([]tensor.Any, error) {
					inferred.Add(-1) // a run compares its results with them
					return outs, err
				})
			}
		}
		return true
	})
	var seen []int64
	for _, m := range []int64{1, 100, 1000, 1000} {
		inferred.Store(0)
		sign := float32(1 - 2*(m%2))
		out, err := plainly(s, context.Background(), vals{"x": vec(1, -2), "m": count(m)}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		checkVec(t, out["y"], sign, -2*sign)
		seen = append(seen, inferred.Load())
	}
	if seen[0] > 8 || seen[1] > 8 || seen[2] > 8 || seen[3] != 0 {
		t.Errorf("nodes are inferred %v times", seen)
	}
}

// A session with graphs inside nodes may be run by several goroutines, on other shapes each.
func TestLoopsConcurrently(t *testing.T) {
	s := session(t, func(b *Builder) {
		x := b.Input("x", dtype.Float32, "n")
		y := looped(b, 1, []string{b.Input("m", dtype.Int64), "", x}, func(b *Builder, v []string) []string {
			return []string{v[1], b.Node("Add", []string{v[2], x})}
		})
		b.Output(b.Rename(y[0], "y"), dtype.Float32, "n")
	})
	var wg sync.WaitGroup
	for n := 1; n < 6; n++ {
		wg.Go(func() {
			for m := range int64(20) {
				out, err := s.Run(context.Background(), vals{"x": tensor.Full[float32](1, n).Any(), "m": count(m)}, nil)
				if err != nil {
					t.Error(err)
					return
				}
				if got := slices.Collect(tensor.ValuesOf[float32](out["y"])); len(got) != n || got[0] != float32(m+1) {
					t.Errorf("%d iterations on %d: %v", m, n, got)
				}
			}
		})
	}
	wg.Wait()
}

// Nodes may stand in any order, in graphs inside nodes, too.
func TestAnyOrder(t *testing.T) {
	build := func() *Model {
		b := NewBuilder("g")
		x := b.Input("x", dtype.Float32, nil)
		a := b.Node("Neg", []string{x})
		c := b.Node("Add", []string{a, b.Node("Abs", []string{x})})
		d := choose(b, b.Input("up", dtype.Bool), func(b *Builder) string {
			return b.Node("Add", []string{b.Node("Mul", []string{c, a}), b.Node("Neg", []string{c})})
		}, func(b *Builder) string { return c })
		b.Output(b.Rename(b.Node("Mul", []string{d, x}), "y"), dtype.Float32, nil)
		m, err := b.Model(13)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	run := func(t interface{ Fatal(...any) }, m *Model) []float32 {
		s, err := NewSession(m)
		if err != nil {
			t.Fatal(err)
		}
		out, err := s.Run(context.Background(), vals{"x": vec(1, -2, 3), "up": truthOf(true)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return slices.Collect(tensor.ValuesOf[float32](out["y"]))
	}
	want := run(t, build())
	rapid.Check(t, func(t *rapid.T) {
		m := build()
		for g := range m.Graph.All() {
			g.Nodes = rapid.Permutation(g.Nodes).Draw(t, "nodes")
		}
		if got := run(t, m); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

// Sorting takes a chain of a hundred thousand nodes, from its end to its start, without a deep stack.
func TestLongChainBackwards(t *testing.T) {
	const n = 100_000
	g := &Graph{Inputs: []ValueInfo{{Name: "v0"}}, Outputs: []ValueInfo{{Name: fmt.Sprint("v", n)}}}
	for i := n; i > 0; i-- {
		g.Nodes = append(g.Nodes, Node{Op: "Relu", Inputs: []string{fmt.Sprint("v", i-1)}, Outputs: []string{fmt.Sprint("v", i)}})
	}
	p, err := resolve(g)
	if err != nil || p.steps[0].index != n-1 || p.steps[n-1].index != 0 {
		t.Errorf("got %v", err)
	}
	g.Nodes[n-1].Inputs[0] = fmt.Sprint("v", n)
	if _, err = resolve(g); err == nil || !strings.Contains(err.Error(), "a cycle of 100000 nodes") || len(err.Error()) > 1000 {
		t.Errorf("got %.1000v", err)
	}
}

// Graphs that stand inside each other too deep, or a graph inside itself, are an error.
func TestDeepGraphs(t *testing.T) {
	deep := func(n int) *Graph {
		g := &Graph{Outputs: []ValueInfo{{Name: "c"}}}
		for i := range n {
			branch := func(name string) Attribute { return Attribute{Name: name, Type: AttrGraph, Value: g} }
			out := fmt.Sprint("y", i)
			node := Node{Op: "If", Inputs: []string{"c"}, Outputs: []string{out}, Attributes: []Attribute{branch("then_branch")}}
			other := &Graph{Outputs: []ValueInfo{{Name: "c"}}}
			node.Attributes = append(node.Attributes, Attribute{Name: "else_branch", Type: AttrGraph, Value: other})
			g = &Graph{Nodes: []Node{node}, Outputs: []ValueInfo{{Name: out}}}
		}
		g.Inputs = []ValueInfo{{Name: "c", Type: Type{Kind: KindTensor, Elem: ElemBool, HasShape: true}}}
		return g
	}
	for n, ok := range map[int]bool{1: true, 20: true, maxNested: true, maxNested + 1: false, 5000: false} {
		m := &Model{IR: 8, Opsets: []Opset{{"", 16}}, Graph: deep(n)}
		s, err := NewSession(m)
		if err == nil {
			_, err = s.Run(context.Background(), vals{"c": truthOf(true)}, nil)
		}
		if (err == nil) != ok {
			t.Errorf("%d deep: %v", n, err)
		}
		file, err := Encode(m)
		if (err == nil) != ok {
			t.Errorf("encoding %d deep: %v", n, err)
		}
		if _, err := Decode(file); err == nil && n > maxNested {
			t.Errorf("decoding %d deep: %v", n, err)
		}
	}
	g := deep(1)
	g.Nodes[0].Attributes[0].Value = g
	m := &Model{IR: 8, Opsets: []Opset{{"", 16}}, Graph: g}
	if err := m.Check(); err == nil || !strings.Contains(err.Error(), "deep") {
		t.Errorf("a graph in itself: %v", err)
	}
	if _, err := Encode(m); err == nil {
		t.Error("a graph in itself is encoded")
	}
	m.Weights()
}

// A loop that doesn't run gives results of no rows.
func TestNoIteration(t *testing.T) {
	for name, c := range map[string]struct {
		out  Type
		want string
	}{
		"by inference":    {Type{}, "float32[0,3]"},
		"by declaration":  {Type{Kind: KindTensor, Elem: ElemInt64, HasShape: true, Shape: []Dim{{Value: 1}, {Value: -1}}}, "int64[0,1,0]"},
		"without a shape": {Type{Kind: KindTensor, Elem: ElemInt64}, "int64[0]"},
	} {
		s := session(t, func(b *Builder) {
			body := b.Body("body")
			body.Input("i", dtype.Int64)
			body.OutputOf(body.Input("going", dtype.Bool), Type{})
			x := body.InputOf("state", Type{})
			body.OutputOf(x, Type{})
			if c.out.Kind != KindNone {
				x = body.Node("NonZero", []string{x})
			}
			body.OutputOf(body.Node("Identity", []string{x}), c.out)
			b.OutputOf(b.Rename(b.Nodes("Loop", 2, []string{b.Input("m", dtype.Int64), "", b.Input("x", dtype.Float32, 3)}, GraphAttr("body", body))[1], "y"), Type{})
		})
		out := mustRun(t, s, vals{"x": vec(1, 2, 3), "m": count(0)})
		if got := tensor.Describe(out["y"]); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// An If or a Loop in fixed point computes with the numbers of the format, sequences hold them.
func TestFixedGraphsInside(t *testing.T) {
	b := NewBuilder("g")
	x := b.Input("x", dtype.Float32, nil)
	w := b.Weight("w", vec(0.5))
	y := looped(b, 1, []string{b.Weight("m", count(3)), "", b.Node("SequenceEmpty", nil)}, func(b *Builder, v []string) []string {
		return []string{v[1], b.Node("SequenceInsert", []string{v[2], b.Node("Mul", []string{x, w})})}
	})
	b.OutputOf(b.Rename(y[0], "y"), Type{})
	m, err := b.Model(13)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewFixedSession(m, dtype.FP16x16)
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.RunValues(context.Background(), map[string]Value{"x": TensorValue(vec(3))}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := out["y"].String(); got != "sequence of 3: fp16x16[1], fp16x16[1], fp16x16[1]" {
		t.Error(got)
	}
	if s.weights != 4+8 {
		t.Errorf("weights of %d bytes", s.weights)
	}
}

// Inputs and outputs that are sequences and optionals.
func TestValues(t *testing.T) {
	seq := Type{Kind: KindSequence, Of: &Type{Kind: KindTensor, Elem: ElemFloat32, HasShape: true, Shape: []Dim{{Value: -1, Param: "n"}}}}
	s := sessionAt(t, 18, func(b *Builder) {
		in := b.InputOf("in", Type{Kind: KindOptional, Of: &seq})
		y := choose(b, b.Node("OptionalHasElement", []string{in}), func(b *Builder) string {
			return b.Node("OptionalGetElement", []string{in})
		}, func(b *Builder) string { return b.Node("SequenceEmpty", nil) })
		b.OutputOf(b.Rename(y, "y"), seq)
	})
	run := func(in map[string]Value) (string, error) {
		out, err := s.RunValues(context.Background(), in, nil)
		return out["y"].String(), err
	}
	two := SequenceValue(dtype.Float32, vec(1), vec(1, 2))
	for _, c := range []struct {
		in   map[string]Value
		want string // result or error
	}{
		{map[string]Value{"in": two}, "sequence of 2: float32[1], float32[2]"},
		{map[string]Value{"in": Nothing()}, "empty sequence of float32"},
		{nil, "empty sequence of float32"},
		{map[string]Value{"in": SequenceValue(dtype.Float32)}, "empty sequence of float32"},
		{map[string]Value{"in": {}}, `onnx: input "in": wants optional(sequence(float32[n])), got nil`},
		{map[string]Value{"in": TensorValue(vec(1))}, `onnx: input "in": wants sequence(float32[n]), got float32[1]: onnx.SequenceValue makes a sequence`},
		{map[string]Value{"in": SequenceValue(dtype.Int64, ints(1))}, `onnx: input "in": element 0: wants float32[n], got int64[1]: convert it with op.Cast, or by astype in NumPy`},
		{map[string]Value{"in": SequenceValue(dtype.Float32, tensor.Any{})}, `onnx: input "in": element 0: it is nil`},
		{map[string]Value{"in": SequenceValue(dtype.Float32, spec(t, dtype.Float32, 2))}, `onnx: input "in": it is a description without elements`},
	} {
		for range 2 {
			got, err := run(c.in)
			if err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		}
	}
	if p, err := s.PlanValues(map[string]Value{"in": SequenceValue(dtype.Float32, spec(t, dtype.Float32, 2))}); err != nil || p.Live != 8 {
		t.Errorf("planned %+v, %v", p, err)
	}
	if _, err := s.Run(context.Background(), nil, nil); err == nil || !strings.Contains(err.Error(), "RunValues gives it") {
		t.Error(err)
	}
	if got := two.List(); len(got) != 2 || TensorValue(vec(1)).List() != nil || !reflect.DeepEqual(Nothing().Tensor(), tensor.Any{}) {
		t.Error("a value isn't what it was made of")
	}
}
