package tensor_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/tensor"
)

// hostile draws an argument of a method.
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
	case []tensor.DistributeOption:
		return one([]tensor.DistributeOption{tensor.Along(small.Draw(t, "axis"))})
	case tensor.Tensor[float32]:
		return one(subject(t))
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

// Every method takes whatever it is given: it works or panics with an *Error, and what
// fails, or has a read-only receiver, changes no element.
func TestAnyArguments(t *testing.T) {
	typ := reflect.TypeFor[*tensor.Tensor[float32]]()
	var methods []reflect.Method
	for i := range typ.NumMethod() {
		if m := typ.Method(i); m.Name != "Format" { // of fmt, which gives it its state
			methods = append(methods, m)
		}
	}
	rounds := 20 // of a hundred calls
	if *long {
		rounds = 2000
	}
	for range rounds {
		anyArguments(t, methods)
	}
}

func anyArguments(t *testing.T, methods []reflect.Method) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.SampledFrom(methods).Draw(t, "method")
		x := subject(t)
		args := []reflect.Value{reflect.ValueOf(&x)}
		for i := 1; i < m.Type.NumIn(); i++ {
			a := hostile(t, m.Type.In(i))
			if !a.IsValid() {
				t.Fatalf("no argument of type %v", m.Type.In(i))
			}
			args = append(args, a)
		}
		before, shape := x, x.Shape()
		old := contents(before)
		err := tensor.Try(func() {
			var out []reflect.Value
			if m.Type.IsVariadic() {
				out = m.Func.CallSlice(args)
			} else {
				out = m.Func.Call(args)
			}
			for _, o := range out {
				drain(o)
			}
		})
		var own *tensor.Error
		if err != nil && (!errors.As(err, &own) || own.Err == nil) {
			t.Fatalf("%s of %v with %v: %#v", m.Name, before.Layout(), args[1:], err)
		}
		if m.Name == "Close" || m.Name == "UnmarshalBinary" || m.Name == "UnmarshalJSON" {
			return
		}
		if err != nil && !slices.Equal(x.Shape(), shape) {
			t.Fatalf("%s failed and changed the handle: %v", m.Name, err)
		}
		if now := contents(before); (err != nil || before.IsReadOnly()) && now != old {
			t.Fatalf("%s of %v with %v, %v: elements were %s and are %s", m.Name, before.Layout(), args[1:], err, old, now)
		}
	})
}

// contents is the elements of a tensor, or what reading them says.
func contents(x tensor.Tensor[float32]) (text string) {
	if err := tensor.Try(func() { text = fmt.Sprint(slices.Collect(x.Values())) }); err != nil {
		return err.Error()
	}
	return text
}

// drain goes through a few rounds of an iterator and reads what a call returned.
func drain(v reflect.Value) {
	switch f := v.Interface().(type) {
	case tensor.Tensor[float32]:
		if n := f.Len(); n < 1000 {
			_ = f.String()
			f.Clone()
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
