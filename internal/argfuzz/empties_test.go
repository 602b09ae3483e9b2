package argfuzz

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/confined"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
)

// TestEmpties calls every function of the packages of tensors and operators in a process that has 1 GiB to spare. Tensors have an
// axis of extent 0 beside huge ones, or repeat one element along huge ones. Numbers may be huge, too. Each
// call comes after one where 3 stands for 2^40, 4 for a larger number, and so on. Where that has a result without elements, so has the
// other, at once and without memory. Work on elements that are repeated isn't waited for.
func TestEmpties(t *testing.T) {
	if strconv.IntSize < 64 {
		t.Skip("an int has no room for huge extents")
	}
	defer mem.SetBound(mem.SetBound(0)) // so that the Go heap counts all memory
	var list []entry
	for _, e := range slices.Concat(table, arranged) {
		pkg, _, _ := strings.Cut(e.name, ".")
		if slices.Contains([]string{"op", "ml", "train", "tensor", "pack"}, pkg) && excluded[e.name] == "" {
			list = append(list, e)
		}
	}
	const draws = 100 // shapes for each function
	n := max(*cases, 20000) / 20000 * draws * len(list)
	calls, returned, failed := 0, map[string]bool{}, map[string]bool{}
	confined.Each(t, n, func(i int) string { return list[i%len(list)].name }, func(i int) string {
		return fmt.Sprintf("%s, draw %d: %s", list[i%len(list)].name, i, show(new(empties).draw(list[i%len(list)], i, false)))
	}, func(i int) {
		e := list[i%len(list)]
		var o empties
		text, done := o.run(e, i)
		if text != "" && !failed[e.name] {
			failed[e.name] = true
			t.Errorf("%s, draw %d: %s", e.name, i, text)
		}
		if calls++; done {
			returned[e.name] = true
		}
	})
	if calls > 0 { // not in the process that starts the other
		if t.Logf("%d calls, %d of %d functions returned", calls, len(returned), len(list)); 4*len(returned) < 3*len(list) {
			t.Error("many functions returned nothing: what they are called with doesn't fit")
		}
		for _, e := range list {
			if testing.Verbose() && !returned[e.name] {
				t.Logf("never returned: %s", e.name)
			}
		}
	}
}

// empties draws the arguments of one call.
type empties struct {
	*rand.Rand
	small  bool  // each huge number is a small one
	shape  []int // of most tensors
	walked bool  // a tensor repeats one element along a huge axis
	looked bool  // and it is one of indices or truths, all of which are looked at, or a layout
	none   bool  // no tensor has the shape that one should have
}

var hugeNumbers = []int{1 << 40, 1 << 45, 1 << 55, 1 << 62, math.MaxInt}

// number is a number of the case, for which a small one may stand.
func (o *empties) number(k int) int {
	if k < 3 {
		return k
	}
	if k -= 3; o.small {
		return 3 + k
	}
	return hugeNumbers[k]
}

// extent draws an extent: 0 to 2, or the code of a huge one.
func (o *empties) extent() int {
	return []int{0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 5, 6}[o.IntN(12)]
}

// draw makes arguments.
func (o *empties) draw(e entry, i int, small bool) []reflect.Value {
	*o = empties{Rand: rand.New(rand.NewPCG(uint64(i), 17)), small: small}
	for range o.IntN(5) {
		o.shape = append(o.shape, o.extent())
	}
	in := operands{rank: len(o.shape), n: o.IntN(3), at: -1, maker: o.value}
	fn := reflect.TypeOf(e.fn)
	args := make([]reflect.Value, fn.NumIn())
	for k := range args {
		if fn.In(k) == reflect.TypeFor[[]op.Option]() {
			args[k] = reflect.Zero(fn.In(k))
		} else {
			args[k] = in.value(fn.In(k), 0)
		}
	}
	return args
}

// extents returns the case's shape or a part of it, with numbers for the codes.
func (o *empties) extents() []int {
	s := slices.Clone(o.shape)
	switch k := o.IntN(10); {
	case k == 0 && len(s) > 0:
		s = s[1:]
	case k == 1 && len(s) > 0:
		s = s[:1]
	case k == 2 && len(s) > 1:
		s = s[1:2]
	case k == 3 && len(s) > 1:
		s = s[len(s)-1:]
	case k == 4:
		slices.Reverse(s)
	case k == 5 && len(s) > 0:
		s[o.IntN(len(s))] = o.extent()
	case k == 6:
		s = append(s, o.extent())
	}
	for i := range s {
		s[i] = o.number(s[i])
	}
	return s
}

// value makes tensors, numbers and lists of numbers.
func (o *empties) value(t reflect.Type) (v reflect.Value, ok bool) {
	if f := expanders[t]; f != nil {
		return f(o, o.extents()), true
	}
	switch {
	case t == reflect.TypeFor[layout.Layout]():
		if l, err := layout.RowMajor(o.extents()...); err == nil {
			o.looked = o.looked || l.Size() >= 1<<16
			return reflect.ValueOf(l), true
		}
		o.none = true
		return reflect.Zero(t), true
	case t == reflect.TypeFor[pack.Format]():
		f, _ := pack.FormatNamed([]string{"bfp8", "bfp4", "q8_0", "q4_k"}[o.IntN(4)])
		return reflect.ValueOf(f), true
	case t == reflect.TypeFor[pack.Spec]():
		s, err := pack.NewSpec(dtype.Float32, o.extents(), o.packing())
		o.none = o.none || err != nil
		return reflect.ValueOf(s), true
	case t == reflect.TypeFor[pack.Tensor]():
		a, _ := o.value(reflect.TypeFor[tensor.Any]())
		p, err := pack.Pack(a.Interface().(tensor.Any), o.packing())
		o.none = o.none || err != nil
		return reflect.ValueOf(p), true
	case t == reflect.TypeFor[tensor.Vectors[float32]]():
		a, _ := o.value(reflect.TypeFor[floats]())
		var v tensor.Vectors[float32]
		x := a.Interface().(floats)
		o.none = o.none || tensor.Try(func() { v = tensor.Vectorize(x, slices.Repeat([]int{1}, x.Rank())...) }) != nil
		return reflect.ValueOf(v), true
	case t.Kind() == reflect.Int || t.Kind() == reflect.Int64 || t.Kind() == reflect.Uint64:
		return reflect.ValueOf(o.number([]int{0, 0, 1, 1, 2, 3, 6, 7}[o.IntN(8)])).Convert(t), true
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Int:
		v := reflect.MakeSlice(t, 0, 5)
		if o.IntN(3) == 0 { // axes
			for _, axis := range o.Perm(len(o.shape))[:o.IntN(len(o.shape)+1)] {
				v = reflect.Append(v, reflect.ValueOf(axis))
			}
			return v, true
		}
		for _, n := range o.extents() {
			v = reflect.Append(v, reflect.ValueOf(n))
		}
		return v, true
	case t.Kind() == reflect.String:
		return reflect.ValueOf(words[o.IntN(len(words))]).Convert(t), true
	}
	return v, false
}

// packing draws how a tensor is packed.
func (o *empties) packing() *pack.Options {
	if o.IntN(3) == 0 {
		return nil
	}
	f, _ := o.value(reflect.TypeFor[pack.Format]())
	return &pack.Options{Format: f.Interface().(pack.Format)}
}

// expanders make tensors of a shape by their types. One whose elements no memory holds repeats an element.
var expanders = map[reflect.Type]func(o *empties, shape []int) reflect.Value{}

func init() {
	expands[bool]()
	expands[int8]()
	expands[int16]()
	expands[int32]()
	expands[int64]()
	expands[uint8]()
	expands[uint16]()
	expands[float32]()
	expands[float64]()
	expands[complex64]()
	expands[num.F16]()
	expands[num.BF16]()
	of := expanders[reflect.TypeFor[tensor.Tensor[float32]]()]
	other := expanders[reflect.TypeFor[tensor.Tensor[int64]]()]
	expanders[reflect.TypeFor[tensor.Any]()] = func(o *empties, shape []int) reflect.Value {
		if o.IntN(3) == 0 {
			return reflect.ValueOf(other(o, shape).Interface().(typed).Any())
		}
		return reflect.ValueOf(of(o, shape).Interface().(typed).Any())
	}
}

func expands[T num.Elem]() {
	expanders[reflect.TypeFor[tensor.Tensor[T]]()] = func(o *empties, shape []int) reflect.Value {
		var t tensor.Tensor[T]
		switch l, err := layout.RowMajor(shape...); {
		case err != nil: // no tensor has the shape
			o.none = true
		case l.Size() < 1<<16:
			t = tensor.New[T](shape...)
		default:
			d := dtype.Of[T]()
			o.walked, o.looked = true, o.looked || d == dtype.Bool || d.IsInteger()
			t = tensor.New[T]().BroadcastTo(shape...)
		}
		return reflect.ValueOf(t)
	}
}

// run makes the call with small numbers, and then with huge ones. It returns the fault, and whether the second returned.
func (o *empties) run(e entry, i int) (text string, returned bool) {
	var few result
	var want []reflect.Value
	args := o.draw(e, i, true)
	if e.isMethod() && isNil(args[0]) {
		return "", false
	}
	smallError := few.try(reflect.ValueOf(e.fn), args, func(out []reflect.Value) { want = out })
	if few.failure != "" {
		return few.failure + "\nof " + few.args, false
	}
	none, all := lengths(want)
	args = o.draw(e, i, false)
	if o.none || o.looked || o.walked && (smallError != nil || !(none > 0 && none == all)) {
		return "", false
	}
	var r result
	var got []reflect.Value
	before := allocated()
	err := r.try(reflect.ValueOf(e.fn), args, func(out []reflect.Value) { got = out })
	if r.failure != "" {
		return r.failure + "\nof " + r.args, false
	}
	if took := allocated() - before; took > little {
		return fmt.Sprintf("it took %d MiB, and ended with %v\nof %s", took>>20, err, show(args)), false
	}
	if smallError == nil && none > 0 && none == all {
		looks := o.walked && slices.Contains([]string{"op.Multinomial[int32, float32]", "op.NonZero[float32]"}, e.name) // at all elements
		if errors.Is(err, tensor.ErrMemory) && !looks {
			return fmt.Sprintf("memory for what has no elements: %v\nof %s", err, show(args)), false
		}
		if has, _ := lengths(got); err == nil && has != none {
			return fmt.Sprintf("%d results have no elements, want %d\nof %s", has, none, show(args)), false
		}
	}
	return "", r.returned
}

// lengths counts the tensors among results, and those that have no elements.
func lengths(out []reflect.Value) (none, all int) {
	for _, v := range out {
		if a, ok := v.Interface().(laid); ok && !isNil(v) {
			if l := a.Layout(); l.Size() == 0 {
				none++
			}
			all++
		}
	}
	return none, all
}
