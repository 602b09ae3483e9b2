package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/ashlar-go/ashlar/format/npy"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// inputs returns an input by its name. Cases that share an input don't change it.
type inputs func(name string) tensor.Any

// million is the length of most inputs.
const million = 1_000_000

// made returns an input of random elements by its name.
func made(name string) tensor.Any {
	switch name {
	case "f32":
		return tensor.RandomNormal[float32](1, 0, 1, million).Any()
	case "f64":
		return tensor.RandomNormal[float64](2, 0, 1, million).Any()
	case "i64":
		return tensor.RandomIntegers[int64](3, -1<<40, 1<<40, million).Any()
	case "i32":
		return op.Cast[int32](tensor.RandomIntegers[int64](4, 0, 1000, million)).Any()
	case "u8":
		return op.Cast[uint8](tensor.RandomIntegers[int64](5, 0, 200, million)).Any()
	case "at":
		return tensor.RandomIntegers[int64](6, 0, million, million).Any()
	case "mask":
		return op.Cast[bool](tensor.RandomIntegers[int64](7, 0, 2, million)).Any()
	case "sparse":
		return op.Cast[float32](op.Equal(tensor.RandomIntegers[int64](8, 0, 50, million), tensor.Scalar[int64](0))).Any()
	case "matrix":
		return tensor.RandomNormal[float32](9, 0, 1, 1000, 1000).Any()
	case "rows":
		return tensor.RandomNormal[float32](10, 0, 1, 64, 50000).Any()
	case "along":
		return tensor.RandomIntegers[int64](11, 0, 1000, 1000, 1000).Any()
	case "some":
		return tensor.RandomIntegers[int64](12, 0, 1000, 500).Any()
	case "labels":
		return tensor.RandomIntegers[int64](13, 0, 100, 10000).Any()
	case "pairs":
		return tensor.RandomIntegers[int64](14, 0, 1000, million, 2).Any()
	case "queries":
		return tensor.RandomNormal[float32](15, 0, 1, 64, 384).Any()
	case "embeddings":
		return tensor.RandomNormal[float32](16, 0, 1, 50000, 384).Any()
	}
	panic("no input " + name)
}

func typed[T num.Elem](in inputs, name string) tensor.Tensor[T] {
	t, ok := tensor.As[T](in(name))
	if !ok {
		panic(name + " has another element type")
	}
	return t
}

// A selection is a case of an operator that sorts, selects, moves or counts elements. It returns the results in new memory.
type selection struct {
	name, dtype string
	dims        []int
	call        func(in inputs) func() []tensor.Any
}

// case1 is a selection with one input.
func case1[T num.Elem, R num.Elem](name, dtype, input string, f func(a tensor.Tensor[T]) tensor.Tensor[R], dims ...int) selection {
	return selection{name, dtype, dims, func(in inputs) func() []tensor.Any {
		a := typed[T](in, input)
		return func() []tensor.Any { return []tensor.Any{f(a).Any()} }
	}}
}

// case2 is a selection with two inputs.
func case2[T, U num.Elem, R num.Elem](name, dtype, first, second string, f func(a tensor.Tensor[T], b tensor.Tensor[U]) tensor.Tensor[R], dims ...int) selection {
	return selection{name, dtype, dims, func(in inputs) func() []tensor.Any {
		a, b := typed[T](in, first), typed[U](in, second)
		return func() []tensor.Any { return []tensor.Any{f(a, b).Any()} }
	}}
}

type (
	floats = tensor.Tensor[float32]
	ints   = tensor.Tensor[int64]
	truths = tensor.Tensor[bool]
)

// selections lists the selections. bench/select.py has NumPy's functions for each name.
func selections() []selection {
	sq, line := []int{1000, 1000}, []int{million}
	return []selection{
		case1("sort", "f32", "f32", func(a floats) floats { return op.Sort(a, 0) }, line...),
		case1("sort", "f64", "f64", func(a tensor.Tensor[float64]) tensor.Tensor[float64] { return op.Sort(a, 0) }, line...),
		case1("sort", "i64", "i64", func(a ints) ints { return op.Sort(a, 0) }, line...),
		case1("sort", "u8", "u8", func(a tensor.Tensor[uint8]) tensor.Tensor[uint8] { return op.Sort(a, 0) }, line...),
		case1("sort_last", "f32", "matrix", func(a floats) floats { return op.Sort(a, 1) }, sq...),
		case1("sort_first", "f32", "matrix", func(a floats) floats { return op.Sort(a, 0) }, sq...),
		case1("argsort", "f32", "f32", func(a floats) ints { return op.ArgSort(a, 0) }, line...),
		case1("argsort", "i64", "i64", func(a ints) ints { return op.ArgSort(a, 0) }, line...),
		case1("argsort_last", "f32", "matrix", func(a floats) ints { return op.ArgSort(a, 1) }, sq...),
		{"topk10", "f32", []int{64, 50000}, func(in inputs) func() []tensor.Any {
			a := typed[float32](in, "rows")
			return func() []tensor.Any { v, _ := op.TopK(a, 10, 1, op.TopKOptions{}); return []tensor.Any{v.Any()} }
		}},
		{"topk_tenth", "f32", line, func(in inputs) func() []tensor.Any {
			a := typed[float32](in, "f32")
			return func() []tensor.Any {
				v, _ := op.TopK(a, million/10, 0, op.TopKOptions{Smallest: true})
				return []tensor.Any{v.Any()}
			}
		}},
		{"neighbours", "f32", []int{64, 50000, 384}, func(in inputs) func() []tensor.Any {
			q, x := typed[float32](in, "queries"), typed[float32](in, "embeddings").Transpose()
			return func() []tensor.Any {
				return []tensor.Any{closing(op.MatMul(q, x), func(p floats) floats { v, _ := op.TopK(p, 10, 1, op.TopKOptions{}); return v }).Any()}
			}
		}},
		case1("median", "f32", "f32", func(a floats) floats { return op.Median(a, nil) }, line...),
		case1("median_last", "f32", "matrix", func(a floats) floats { return op.Median(a, []int{1}) }, sq...),
		case1("median_first", "f32", "matrix", func(a floats) floats { return op.Median(a, []int{0}) }, sq...),
		case1("quantile", "f32", "f32", func(a floats) floats { return op.Quantile(a, 0.9, nil) }, line...),
		{"unique", "f32", line, func(in inputs) func() []tensor.Any {
			a := typed[float32](in, "f32")
			return func() []tensor.Any {
				v, first, inverse, counts := op.Unique(a, 0, op.UniqueOptions{})
				return []tensor.Any{v.Any(), first.Any(), inverse.Any(), counts.Any()}
			}
		}},
		{"unique", "i32", line, func(in inputs) func() []tensor.Any {
			a := typed[int32](in, "i32")
			return func() []tensor.Any {
				v, first, inverse, counts := op.Unique(a, 0, op.UniqueOptions{})
				return []tensor.Any{v.Any(), first.Any(), inverse.Any(), counts.Any()}
			}
		}},
		{"histogram", "f64", line, func(in inputs) func() []tensor.Any {
			a := typed[float64](in, "f64")
			return func() []tensor.Any { n, _ := op.Histogram(a, 100, -3, 3); return []tensor.Any{n.Any()} }
		}},
		case2("index", "f32", "f32", "at", func(a floats, at ints) floats { return tensor.IndexBy(a, at) }, line...),
		case2("index_rows", "f32", "matrix", "some", func(a floats, at ints) floats { return tensor.IndexBy(a, at) }, sq...),
		case2("take", "f32", "f32", "at", func(a floats, at ints) floats { return op.Take(a, at, 0, op.TakeRaise) }, line...),
		case2("take_last", "f32", "matrix", "some", func(a floats, at ints) floats { return op.Take(a, at, 1, op.TakeRaise) }, sq...),
		case2("gather", "f64", "f64", "at", func(a tensor.Tensor[float64], at ints) tensor.Tensor[float64] { return op.Gather(a, at, 0) }, line...),
		case2("take_along", "f32", "matrix", "along", func(a floats, at ints) floats { return op.TakeAlongAxis(a, at, 1) }, sq...),
		case2("take_along0", "f32", "matrix", "along", func(a floats, at ints) floats { return op.TakeAlongAxis(a, at, 0) }, sq...),
		case2("gather_nd", "f32", "matrix", "pairs", func(a floats, at ints) floats { return op.GatherND(a, at, 0) }, line...),
		case2("set_index", "f32", "f32", "at", func(a floats, at ints) floats {
			r := a.Clone()
			tensor.SetIndexBy(r, a, at)
			return r
		}, line...),
		case2("scatter_add", "f32", "f32", "at", func(a floats, at ints) floats { return op.ScatterElements(a, at, a, 0, op.ScatterAdd) }, line...),
		case2("mask", "f32", "f32", "mask", func(a floats, m truths) floats { return tensor.Mask(a, m) }, line...),
		case2("set_mask", "f32", "f32", "mask", func(a floats, m truths) floats {
			r := a.Clone()
			tensor.SetMask(r, tensor.Scalar[float32](2), m)
			return r
		}, line...),
		case2("set_mask_to", "f32", "f32", "mask", func(a floats, m truths) floats {
			r := a.Clone()
			return closing(tensor.Mask(a, m), func(v floats) floats { tensor.SetMask(r, v, m); return r })
		}, line...),
		case2("compress", "f64", "f64", "mask", func(a tensor.Tensor[float64], m truths) tensor.Tensor[float64] { return op.Compress(a, m, 0) }, line...),
		case2("where", "f32", "f32", "mask", func(a floats, m truths) floats { return op.Where(m, a, tensor.Scalar[float32](0)) }, line...),
		case1("nonzero", "f32", "sparse", func(a floats) ints { return op.NonZero(a) }, line...),
		case1("nonzero", "bool", "mask", func(a truths) ints { return op.NonZero(a) }, line...),
		case1("nonzero_2d", "f32", "matrix", func(a floats) ints { return op.NonZero(a) }, sq...),
		case1("count", "bool", "mask", func(a truths) ints { return op.CountNonZero(a, nil) }, line...),
		case1("count", "f32", "sparse", func(a floats) ints { return op.CountNonZero(a, nil) }, line...),
		case1("any_last", "f32", "matrix", func(a floats) truths { return op.Any(a, []int{1}) }, sq...),
		case1("all_first", "f32", "matrix", func(a floats) truths { return op.All(a, []int{0}) }, sq...),
		case1("argmax_last", "f32", "matrix", func(a floats) ints { return op.ArgMax(a, 1, op.ArgOptions{}) }, sq...),
		case1("argmax_first", "f32", "matrix", func(a floats) ints { return op.ArgMax(a, 0, op.ArgOptions{}) }, sq...),
		case1("ptp", "f32", "f32", func(a floats) floats { return op.Ptp(a, nil) }, line...),
		case1("nanmax", "f32", "matrix", func(a floats) floats { return op.NanMax(a, []int{1}) }, sq...),
		case1("clip", "f32", "f32", func(a floats) floats { return op.Clip(a, -1, 1) }, line...),
		case1("cumsum", "f64", "f64", func(a tensor.Tensor[float64]) tensor.Tensor[float64] { return op.CumSum(a, 0, op.CumOptions{}) }, line...),
		case1("roll", "f32", "f32", func(a floats) floats { return op.Roll(a, 12345, 0) }, line...),
		case1("roll_last", "f32", "matrix", func(a floats) floats { return op.Roll(a, 7, 1) }, sq...),
		case1("flip", "f32", "matrix", func(a floats) floats { return a.Slice(tensor.Colon, tensor.R(-1, -1001, -1)).Contiguous() }, sq...),
		case1("turn", "u8", "u8", func(a tensor.Tensor[uint8]) tensor.Tensor[uint8] {
			return a.Reshape(1000, 1000).Transpose().Slice(tensor.R(-1, -1001, -1)).Contiguous()
		}, sq...),
		case1("repeat", "f32", "f32", func(a floats) floats { return op.Repeat(a, []int{3}, 0) }, line...),
		case1("repeat_first", "f32", "matrix", func(a floats) floats { return op.Repeat(a, []int{2}, 0) }, sq...),
		case1("tile", "f32", "matrix", func(a floats) floats { return op.Tile(a, []int{2, 2}) }, sq...),
		case1("pad", "f32", "matrix", func(a floats) floats {
			return op.Pad(a, []int{3, 3}, []int{3, 3}, op.PadConstant, 0)
		}, sq...),
		case1("pad_reflect", "f32", "matrix", func(a floats) floats {
			return op.Pad(a, []int{30, 30}, []int{30, 30}, op.PadReflect, 0)
		}, sq...),
		case1("triu", "f32", "matrix", func(a floats) floats { return op.Triu(a, 0) }, sq...),
		case1("stack_last", "f32", "f32", func(a floats) floats { return op.Stack([]floats{a, a}, 1) }, line...),
		case1("concat", "f32", "matrix", func(a floats) floats { return op.Concat([]floats{a, a}, 1) }, sq...),
		case1("one_hot", "f32", "labels", func(at ints) floats { return op.OneHot[float32](at, 100, 1, 0, 1) }, 10000, 100),
		case1("pow", "f32", "f32", func(a floats) floats {
			return closing(op.Abs(a), func(v floats) floats { return op.Pow(v, tensor.Scalar[float32](1.5)) })
		}, line...),
		case1("pow", "f64", "f64", func(a tensor.Tensor[float64]) tensor.Tensor[float64] {
			return closing(op.Abs(a), func(v tensor.Tensor[float64]) tensor.Tensor[float64] { return op.Pow(v, tensor.Scalar(1.5)) })
		}, line...),
		case1("einsum_rows", "f32", "matrix", func(a floats) floats { return op.Einsum("ij,ij->i", []floats{a, a}) }, sq...),
		case1("einsum_columns", "f32", "matrix", func(a floats) floats { return op.Einsum("ij,ij->j", []floats{a, a}) }, sq...),
		case1("einsum_all", "f32", "matrix", func(a floats) floats { return op.Einsum("ij,ij->", []floats{a, a}) }, sq...),
	}
}

// selected returns the selections as cases.
func selected() (cs []benchCase) {
	for _, s := range selections() {
		c := sized("sel", s.name, s.dtype, s.dims...)
		n := 1
		for _, d := range s.dims {
			n *= d
		}
		c.bytes = float64(n) * map[string]float64{"u8": 1, "bool": 1, "f32": 4, "i32": 4, "f64": 8, "i64": 8}[s.dtype] // of the elements
		c.setup = func() func() {
			call := s.call(made)
			return func() { closeAll(call()) }
		}
		cs = append(cs, c)
	}
	return cs
}

// serve runs selections for bench/select.py by the lines of in. The inputs are in dir. For a line "= NAME" it stores the
// results as NAME.0.npy and so on in dir. For a line "NAME" it runs the case for a while and prints the least time of a
// call in seconds.
func serve(dir string, in io.Reader, out io.Writer) error {
	held := make(map[string]tensor.Any)
	load := func(name string) tensor.Any {
		a, ok := held[name]
		if !ok {
			var err error
			if a, err = npy.Open(filepath.Join(dir, name+".npy"), nil); err != nil {
				panic(err)
			}
			a = a.Clone() // in memory of its own, as in NumPy
			held[name] = a
		}
		return a
	}
	calls := make(map[string]func() []tensor.Any)
	for _, s := range selections() {
		calls[s.name+"/"+s.dtype] = s.call(load)
	}
	for lines := bufio.NewScanner(in); lines.Scan(); {
		var name string
		if _, err := fmt.Sscanf(lines.Text(), "= %s", &name); err == nil {
			for i, r := range calls[name]() {
				if err := store(filepath.Join(dir, fmt.Sprintf("%s.%d.npy", filepath.Base(filepath.Dir(name))+"-"+filepath.Base(name), i)), r); err != nil {
					return err
				}
			}
			fmt.Fprintln(out, "stored")
			continue
		}
		call := calls[lines.Text()]
		if call == nil {
			return fmt.Errorf("no case %q", lines.Text())
		}
		least := time.Hour
		for n, begin := 0, time.Now(); n < 3 || time.Since(begin) < 30*time.Millisecond; n++ {
			start := time.Now()
			closeAll(call())
			least = min(least, time.Since(start))
		}
		fmt.Fprintln(out, least.Seconds())
	}
	return nil
}

// closing returns f(a) and releases a, an intermediate tensor.
func closing[T num.Elem](a tensor.Tensor[T], f func(a tensor.Tensor[T]) tensor.Tensor[T]) tensor.Tensor[T] {
	defer a.Any().Close()
	return f(a)
}

// closeAll releases results, as other languages do when no variable holds them any more.
func closeAll(results []tensor.Any) {
	for _, r := range results {
		r.Close()
	}
}

func store(path string, a tensor.Any) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return npy.Write(f, a, nil)
}
