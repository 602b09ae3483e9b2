package tensor_test

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/tensor"
)

// hostile draws an argument of a method or a function.
func hostile(t *rapid.T, typ reflect.Type) reflect.Value {
	small := rapid.SampledFrom([]int{0, 1, 2, 3, 4, -1, -2, 0, 1, 2, -3, 5, 6, 7, 12, 24, math.MaxInt, math.MinInt, math.MaxInt / 2, 1 << 20})
	ints := rapid.SliceOfN(small, 0, 4)
	idx := rapid.Custom(func(t *rapid.T) tensor.Index {
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0:
			return tensor.Ellipsis
		case 1:
			return tensor.NewAxis
		case 2:
			return tensor.I(small.Draw(t, "at"))
		}
		return tensor.R(small.Draw(t, "from"), small.Draw(t, "to"), small.Draw(t, "step"))
	})
	elems := func() []float32 { return make([]float32, rapid.IntRange(0, 9).Draw(t, "elements")) }
	lay := rapid.Map(rapid.SampledFrom([]string{"():()", "4:1", "(2,3):(3,1)", "(2,3):(1,2)", "((2,2),3):((1,6),2)", "(2,0):(1,1)", "24:-1", "(3,8):(0,1)", "40000:40000", "(4,6,1):(6,1,1)"}), layout.MustParse)
	one := func(v any) reflect.Value { return reflect.ValueOf(v) }
	switch reflect.Zero(typ).Interface().(type) {
	case int:
		return one(small.Draw(t, "int"))
	case []int:
		return one(ints.Draw(t, "ints"))
	case float32:
		return one(float32(7))
	case []float32:
		return one(elems())
	case bool:
		return one(rapid.Bool().Draw(t, "bool"))
	case string:
		return one(rapid.OneOf(rapid.SampledFrom([]string{"", "0", "::-1", "..., 1", "1:9:2, None", "9", ":, :, :, :, :"}), rapid.String()).Draw(t, "text"))
	case []byte:
		return one(rapid.OneOf(rapid.Just([]byte("[[1,2],[3,4]]")), rapid.SliceOf(rapid.Byte())).Draw(t, "bytes"))
	case tensor.Index:
		return one(idx.Draw(t, "index"))
	case []tensor.Index:
		return one(rapid.SliceOfN(idx, 0, 4).Draw(t, "indices"))
	case tensor.Order:
		return one(tensor.Order(rapid.IntRange(-1, 3).Draw(t, "order")))
	case []tensor.Order:
		return one([]tensor.Order{tensor.Order(rapid.IntRange(-1, 3).Draw(t, "order"))})
	case layout.Layout:
		return one(lay.Draw(t, "layout"))
	case *layout.Layout:
		l := lay.Draw(t, "layout")
		return one(&l)
	case layout.Tuple:
		return one(layout.MustParseTuple(rapid.SampledFrom([]string{"0", "(1,2)", "((1,0),2)", "(0,0,0)", "-1", "()", "(9,9)"}).Draw(t, "tuple")))
	case *tensor.DistributeOptions:
		return one(&tensor.DistributeOptions{Axes: []int{small.Draw(t, "axis")}})
	case tensor.Tensor[float32]:
		return one(subject(t))
	case tensor.Any:
		return one(subject(t).Any())
	case tensor.Tensor[bool]:
		shape := rapid.SampledFrom([][]int{{}, {4}, {4, 6}, {2, 3}, {0}}).Draw(t, "mask")
		return one(tensor.Full(rapid.Bool().Draw(t, "all"), shape...))
	case []tensor.Tensor[int64]:
		return one(rapid.SliceOfN(rapid.Map(ints, func(s []int) tensor.Tensor[int64] {
			x := tensor.New[int64](len(s))
			for i, v := range s {
				x.Set(int64(v), i)
			}
			return x
		}), 0, 3).Draw(t, "arrays"))
	case *tensor.CopyGroup:
		return one(new(tensor.CopyGroup))
	case tensor.AsyncCopy:
		return one(tensor.AsyncCopy{})
	}
	if typ == reflect.TypeFor[io.Writer]() {
		return reflect.ValueOf(io.Discard)
	}
	return reflect.Value{}
}

// subject draws a tensor of at most a few dozen elements, also closed, zero, read-only.
func subject(t *rapid.T) tensor.Tensor[float32] {
	x := tensor.Arange[float32](0, 24, 1).View(4, 6)
	switch rapid.IntRange(0, 13).Draw(t, "subject") {
	case 0:
		x = x.Transpose()
	case 1:
		x = x.S("::-1, ::2")
	case 2:
		x = x.S("1, 2")
	case 3:
		x = x.S("4:, :")
	case 4:
		x = x.S("1").BroadcastTo(3, 6)
	case 5:
		x = x.ReadOnly()
	case 6:
		x = tensor.Tensor[float32]{}
	case 7:
		x.Close()
	case 8:
		x = tensor.FromLayout(make([]float32, 16), layout.MustParse("((2,2),4):((1,8),2)"))
	case 9:
		x = tensor.New[float32](1, 2, 1, 2, 1, 2, 1, 1, 2)
	case 10:
		x = tensor.New[float32](2, 3, 4)
	case 11:
		x = tensor.New[float32](6)
	}
	return x
}

// functions are the functions that take a tensor first.
var functions = map[string]any{
	"Mutable": tensor.Mutable[float32],
	"AtCoord": tensor.AtCoord[float32], "AtOr": tensor.AtOr[float32], "Axis": tensor.Axis[float32], "Coalesce": tensor.Coalesce[float32],
	"Compose": tensor.Compose[float32], "CopyColex": tensor.CopyColex[float32], "CopyFromAsync": tensor.CopyFromAsync[float32],
	"CopyLogical": tensor.CopyLogical[float32], "Detach": tensor.Detach[float32], "Diagonal": tensor.Diagonal[float32],
	"Distance": tensor.Distance[float32], "Distribute": tensor.Distribute[float32], "Flatten": tensor.Flatten[float32],
	"CircularLayoutIterator": tensor.CircularLayoutIterator[float32], "IndexBy": tensor.IndexBy[float32], "LayoutIterator": tensor.LayoutIterator[float32], "Load": tensor.Load[float32],
	"LoadRow": tensor.LoadRow[float32], "LoadRowAligned": tensor.LoadRowAligned[float32], "MakeContiguous": tensor.MakeContiguous[float32],
	"Mask": tensor.Mask[float32], "MoveAxis": tensor.MoveAxis[float32], "PermuteInPlace": tensor.PermuteInPlace[float32],
	"ReshapeIn": tensor.ReshapeIn[float32], "ReshapeInPlace": tensor.ReshapeInPlace[float32], "ReshapeLayout": tensor.ReshapeLayout[float32],
	"SetCoord": tensor.SetCoord[float32], "SetIndexBy": tensor.SetIndexBy[float32], "SetMask": tensor.SetMask[float32],
	"SetTake": tensor.SetTake[float32], "Slice1D": tensor.Slice1D[float32], "Slice2D": tensor.Slice2D[float32],
	"SlidingWindow": tensor.SlidingWindow[float32], "Split": tensor.Split[float32], "SplitPart": tensor.SplitPart[float32],
	"Store": tensor.Store[float32], "StoreRow": tensor.StoreRow[float32], "StoreRowAligned": tensor.StoreRowAligned[float32],
	"SwapAxes": tensor.SwapAxes[float32], "Take": tensor.Take[float32], "Tile": tensor.Tile[float32], "TiledIterator": tensor.TiledIterator[float32],
	"Tiles": tensor.Tiles[float32], "Vectorize": tensor.Vectorize[float32], "Windows": tensor.Windows[float32], "BitCast": tensor.BitCast[int32, float32], "EmptyLike": tensor.EmptyLike[int32, float32], "Recast": tensor.Recast[int32, float32],
}

// A callee is a method or a function, which takes a tensor or a pointer to one first.
type callee struct {
	name string
	f    reflect.Value
}

// callees lists the methods of a tensor and of an Any, and the functions.
func callees() (all []callee) {
	for _, typ := range []reflect.Type{reflect.TypeFor[*tensor.Tensor[float32]](), reflect.TypeFor[*tensor.Any]()} {
		for i := range typ.NumMethod() {
			if m := typ.Method(i); m.Name != "Format" { // of fmt, which gives it its state
				all = append(all, callee{m.Name, m.Func})
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(functions)) {
		all = append(all, callee{name, reflect.ValueOf(functions[name])})
	}
	return all
}

// TestFunctions keeps the list of functions complete.
func TestFunctions(t *testing.T) {
	first := regexp.MustCompile(`(?m)^func ([A-Z]\w*)\[.*?\]\(\w+(?:, \w+)* \*?Tensor\[\w+\]`)
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range first.FindAllSubmatch(src, -1) {
			if name := string(m[1]); name != "Real" && name != "Imag" { // of complex numbers
				if found++; functions[name] == nil {
					t.Errorf("%s is not in the list of functions", name)
				}
			}
		}
	}
	if found != len(functions) {
		t.Errorf("the list has %d functions, the package %d", len(functions), found)
	}
}

// Every method and function takes whatever it is given: it works or panics with an
// *Error, and a call that fails, or gets a read-only tensor first, changes no element.
func TestAnyArguments(t *testing.T) {
	all := callees()
	rounds := 20 // of a hundred calls
	if *long {
		rounds = 2000
	}
	for range rounds {
		anyArguments(t, all)
	}
}

func anyArguments(t *testing.T, all []callee) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(0, len(all)-1).Draw(t, "callee")
		name, f, typ := all[k].name, all[k].f, all[k].f.Type()
		x := subject(t)
		a := x.Any()
		args := []reflect.Value{reflect.ValueOf(&x)}
		switch typ.In(0) {
		case reflect.TypeFor[tensor.Tensor[float32]]():
			args[0] = args[0].Elem()
		case reflect.TypeFor[*tensor.Any]():
			args[0] = reflect.ValueOf(&a)
		}
		for i := 1; i < typ.NumIn(); i++ {
			a := hostile(t, typ.In(i))
			if !a.IsValid() {
				t.Fatalf("%s: no argument of type %v", name, typ.In(i))
			}
			args = append(args, a)
		}
		before, shape := x, x.Shape()
		old := contents(before)
		err := tensor.Try(func() {
			var out []reflect.Value
			if typ.IsVariadic() {
				out = f.CallSlice(args)
			} else {
				out = f.Call(args)
			}
			for _, o := range out {
				drain(o)
			}
		})
		var own *tensor.Error
		if err != nil && (!errors.As(err, &own) || own.Err == nil) {
			t.Fatalf("%s of %v with %v: %#v", name, before.Layout(), args[1:], err)
		}
		if name == "Close" || name == "UnmarshalBinary" || name == "UnmarshalJSON" {
			return
		}
		if err != nil && !slices.Equal(x.Shape(), shape) {
			t.Fatalf("%s failed and changed the handle: %v", name, err)
		}
		if now := contents(before); (err != nil || before.IsReadOnly()) && now != old {
			t.Fatalf("%s of %v with %v, %v: elements were %s and are %s", name, before.Layout(), args[1:], err, old, now)
		}
	})
}

// contents is the elements of a tensor, or the error of reading them.
func contents(x tensor.Tensor[float32]) (text string) {
	if err := tensor.Try(func() { text = fmt.Sprint(slices.Collect(x.Values())) }); err != nil {
		return err.Error()
	}
	return text
}

// drain goes through a few rounds of an iterator and reads the results of a call.
func drain(v reflect.Value) {
	switch f := v.Interface().(type) {
	case tensor.Tensor[float32]:
		if f.IsZero() != f.Any().IsZero() || f.Any().IsSpec() {
			panic(tensor.Describe(f.Any()) + " of no tensor")
		}
		if f.Len() < 1000 {
			_ = f.String()
			f.Clone()
		}
	case tensor.Any:
		if x, ok := tensor.As[float32](f); ok {
			drain(reflect.ValueOf(x))
		}
	case []tensor.Tensor[float32]:
		for i, x := range f {
			if i < 3 {
				drain(reflect.ValueOf(x))
			}
		}
	default:
		if v.Kind() != reflect.Func || v.Type().NumIn() != 1 {
			return
		}
		n := 0
		v.Call([]reflect.Value{reflect.MakeFunc(v.Type().In(0), func(args []reflect.Value) []reflect.Value {
			for _, a := range args {
				drain(a)
			}
			n++
			return []reflect.Value{reflect.ValueOf(n < 5)}
		})})
	}
}
