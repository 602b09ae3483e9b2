package argfuzz

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/op/all"
	"github.com/ashlar-go/ashlar/tensor"
)

// TestOperands calls every function of the table with each of its tensors in turn, and with all of them, as the zero
// value and of each rank from 0 to 3. The other tensors have one rank, from 0 to 4. All numbers have one value from 0 to
// 2, and lists that length. An operator names the tensor that is the zero value, before it looks at the
// others; optional has the exceptions.
func TestOperands(t *testing.T) {
	failed, named := map[string]bool{}, map[string]bool{}
	fail := func(cause, format string, args ...any) {
		if !failed[cause] {
			failed[cause] = true
			t.Errorf(format, args...)
		}
	}
	calls, returned := 0, 0
	for _, e := range table {
		if excluded[e.name] != "" {
			continue
		}
		name, _, _ := strings.Cut(e.name, "[")
		operator := strings.HasPrefix(name, "op.")
		for i := range 5 * 3 {
			usual := operands{rank: i / 3, n: i % 3, at: -1}
			first := usual.call(e)
			if first.skipped {
				break
			}
			for at := range usual.tensors + 1 { // the tensor that differs; the last time it is all of them
				for rank := zero; rank <= 3; rank++ {
					o := operands{rank: usual.rank, n: usual.n, at: at, other: rank, all: at == usual.tensors}
					r := o.call(e)
					if calls++; r.returned {
						returned++
					}
					if r.failure != "" {
						fail(r.cause, "%s(%s)\n%s", e.name, r.args, r.failure)
						continue
					}
					if rank != zero || !operator || usual.tensors == 0 || o.inside && !first.returned || slices.Contains(optional[name], o.arg) {
						continue
					}
					place := fmt.Sprintf("%s, argument %d", name, o.arg)
					if o.all {
						place = name + ", all arguments"
					}
					switch says := !r.returned && o.named(name); {
					case says || o.inside && r.returned:
						named[place] = true
					case r.returned || first.returned || o.err.Error() != usual.err.Error():
						fail(place, "%s, is the zero value: the error is %v; want the number of the input", place, o.err)
					case !o.inside: // something else is wrong in both calls
						if _, ok := named[place]; !ok {
							named[place] = false
						}
					}
				}
			}
		}
	}
	for place, ok := range named {
		if !ok {
			t.Errorf("%s: no call got as far as to look at it", place)
		}
	}
	if t.Logf("%d calls, %d returned", calls, returned); 3*returned < calls {
		t.Error("most calls were refused: what isn't wrong in them doesn't fit")
	}
}

// TestCalls runs every operator in its run-time form with 0 to 8 inputs of one type and rank, and with each of them
// absent. A call returns outputs or a *tensor.Error of package op.
func TestCalls(t *testing.T) {
	ran := map[string]bool{}
	for _, o := range all.Operators() {
		name := o.Name()
		for _, d := range []dtype.DType{dtype.Float32, dtype.Int64, dtype.Int8, dtype.Bool} {
			for i := range 5 * 9 {
				rank, n := i/9, i%9
				for at := zero; at < n; at++ { // the input that is absent
					c := &op.Call{Inputs: make([]tensor.Any, n), Opset: slices.Max(append(o.Versions(), 1))}
					for k := range c.Inputs {
						if k != at {
							c.Inputs[k] = must(tensor.Make(d, slices.Repeat([]int{2}, rank)...))
						}
					}
					for _, f := range []func(*op.Call) ([]tensor.Any, error){o.Infer, o.Run} {
						var r result
						err := r.try(reflect.ValueOf(f), []reflect.Value{reflect.ValueOf(c)}, func([]reflect.Value) {})
						var e *tensor.Error
						switch {
						case r.failure != "":
							t.Fatalf("%s of %d inputs, %v of rank %d, without input %d: %s", name, n, d, rank, at, r.failure)
						case err != nil && !errors.As(err, &e):
							t.Fatalf("%s of %d inputs, %v of rank %d, without input %d: %v, which is no *tensor.Error", name, n, d, rank, at, err)
						case err != nil && !strings.HasPrefix(err.Error(), "op."):
							t.Errorf("%s of %d inputs, %v of rank %d, without input %d: %v", name, n, d, rank, at, err)
						case err == nil:
							ran[name] = true
						}
					}
				}
			}
		}
	}
	if t.Logf("%d of %d operators ran", len(ran), len(all.Operators())); 3*len(ran) < 2*len(all.Operators()) {
		t.Error("most calls were refused: what they need besides inputs is absent")
	}
}

func must(a tensor.Any, err error) tensor.Any {
	if err != nil {
		panic(err)
	}
	return a
}

// optional has the arguments that may be the zero value, counted from 0. Fields of a struct may be, too, but those that
// all calls need.
var optional = map[string][]int{
	"op.ArraySplit":                {3}, // it takes no target at all
	"op.CastLike":                  {1}, // its type alone matters
	"op.CausalConvWithState":       {2, 3},
	"op.Conv":                      {2},
	"op.ConvInteger":               {2, 3},
	"op.ConvTranspose":             {2},
	"op.DeformConv":                {3, 4},
	"op.Gemm":                      {2},
	"op.Into":                      {0}, // the operator that writes to it says so
	"op.LayerNormalization":        {2},
	"op.MatMulInteger":             {2, 3},
	"op.MatMulNBits":               {3, 4},
	"op.NegativeLogLikelihoodLoss": {2},
	"op.QLinearConv":               {2},
	"op.RotaryEmbedding":           {3},
	"op.STFT":                      {1},
	"op.SoftmaxCrossEntropyLoss":   {2},
	"op.Split":                     {3}, // as ArraySplit
	"op.TensorScatter":             {2},
}

// within has the operators of functions that have another name.
var within = map[string]string{"op.TrainingBatchNormalization": "op.BatchNormalization", "op.TrainingDropout": "op.Dropout", "op.Tril": "op.Trilu", "op.Triu": "op.Trilu", "ml.TreeEnsembleScores": "ml.TreeEnsemble"}

// named reports whether the error says which operand of a function is the zero value, or that the target is, of an
// operator that the function is made of.
func (o *operands) named(function string) bool {
	if name, ok := within[function]; ok {
		function = name
	}
	input, ok := strings.CutPrefix(o.err.Error(), function+": input ")
	_, text, _ := strings.Cut(input, " ")
	return ok && text == "is the zero value; make one with tensor.New or FromSlice" ||
		strings.HasSuffix(o.err.Error(), ": the Into target is the zero value; make one with tensor.New")
}

const zero = -1 // the zero value, where others have a rank

// operands makes the arguments of one call.
type operands struct {
	rank, n   int // the rank of the tensors, and the numbers
	at, other int // which tensor differs, and its rank
	all       bool
	none      int // the axis of extent 0 of a tensor that has no elements, and that of a huge one
	huge      int
	empty     bool // all tensors are such ones, and not only that which differs
	tensors   int  // made so far
	arg       int  // the argument that differs, or has what does
	inside    bool // what differs is a field, or one of a list
	err       error

	maker func(t reflect.Type) (v reflect.Value, ok bool) // makes values in its own way, if it isn't nil
}

// next returns the rank of the next tensor.
func (o *operands) next(depth int) int {
	i := o.tensors
	o.tensors++
	if o.all {
		return o.other
	}
	if i == o.at {
		o.inside = depth > 0
		return o.other
	}
	return o.rank
}

// call makes the arguments and calls the function. It is skipped where there is no receiver.
func (o *operands) call(e entry) (r result) {
	fn := reflect.ValueOf(e.fn)
	args := make([]reflect.Value, fn.Type().NumIn())
	for i := range args {
		was := o.tensors
		args[i] = o.value(fn.Type().In(i), 0)
		if was <= o.at && o.at < o.tensors {
			o.arg = i
		}
	}
	if e.isMethod() && isNil(args[0]) {
		return result{skipped: true}
	}
	o.err = r.try(fn, args, func([]reflect.Value) {})
	return r
}

// shaped has for the types that have a shape what makes a value of one.
var shaped = map[reflect.Type]func(shape []int) any{
	reflect.TypeFor[tensor.Any](): func(shape []int) any { return tensor.New[float32](shape...).Any() },
	reflect.TypeFor[layout.Layout](): func(shape []int) any {
		l, _ := layout.RowMajor(shape...)
		return l
	},
}

func init() {
	shape[num.F16]()
}

func shape[T num.Elem]() {
	shaped[reflect.TypeFor[tensor.Tensor[T]]()] = func(shape []int) any { return tensor.New[T](shape...) }
}

// target is a tensor of the rank that differs.
func (o *operands) target() (t tensor.Tensor[float32]) {
	if o.other != zero {
		t = tensor.New[float32](slices.Repeat([]int{2}, o.other)...)
	}
	return t
}

// value makes a value of a type. Options are none, or an Into target of the shape that differs.
func (o *operands) value(t reflect.Type, depth int) reflect.Value {
	v := reflect.New(t).Elem()
	if o.maker != nil {
		if m, ok := o.maker(t); ok {
			return m
		}
	}
	if f := shaped[t]; f != nil {
		if shape, ok := o.extents(depth); ok {
			v.Set(reflect.ValueOf(f(shape)))
		}
		return v
	}
	if depth > 4 {
		return v
	}
	switch t.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(o.n))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		v.SetUint(uint64(o.n))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(float64(o.n) / 2)
	case reflect.Bool:
		v.SetBool(o.n == 1)
	case reflect.Slice:
		if t == reflect.TypeFor[[]op.Option]() {
			i := o.tensors
			if o.tensors++; o.all || i == o.at {
				o.inside = !o.all
				v.Set(reflect.ValueOf([]op.Option{op.Into(o.target())}))
			}
			return v
		}
		v.Set(reflect.MakeSlice(t, o.n, o.n))
		for i := range o.n {
			v.Index(i).Set(o.value(t.Elem(), depth+1))
		}
	case reflect.Pointer:
		if _, ok := shaped[t.Elem()]; !ok && t.Elem().Kind() == reflect.Struct && opaque(t.Elem()) {
			return v // a handle, as *onnx.Session
		}
		v.Set(reflect.New(t.Elem()))
		v.Elem().Set(o.value(t.Elem(), depth+1))
	case reflect.Struct:
		if opaque(t) || o.n == 0 {
			return v
		}
		for i := range t.NumField() {
			v.Field(i).Set(o.value(t.Field(i).Type, depth+1))
		}
	case reflect.Func:
		v.Set(reflect.MakeFunc(t, func([]reflect.Value) []reflect.Value {
			out := make([]reflect.Value, t.NumOut())
			for i := range out {
				out[i] = reflect.Zero(t.Out(i))
			}
			return out
		}))
	}
	return v
}
