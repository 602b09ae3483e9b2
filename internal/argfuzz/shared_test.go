package argfuzz

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/op/ml"
	"github.com/ashlar-go/ashlar/tensor"
)

// selecting has functions of the table for more element types. So the selector and the target may be of one type, or of types
// of different sizes.
var selecting = []entry{
	{"tensor.SetIndexBy[bool]", tensor.SetIndexBy[bool]}, {"tensor.SetIndexBy[int64]", tensor.SetIndexBy[int64]}, {"tensor.SetIndexBy[num.BF16]", tensor.SetIndexBy[num.BF16]},
	{"tensor.SetIndexBy[complex128]", tensor.SetIndexBy[complex128]}, {"tensor.SetMask[bool]", tensor.SetMask[bool]}, {"tensor.SetMask[int64]", tensor.SetMask[int64]},
	{"tensor.SetMask[complex128]", tensor.SetMask[complex128]}, {"tensor.SetTake[int64]", tensor.SetTake[int64]}, {"tensor.Store[bool]", tensor.Store[bool]}, {"tensor.Load[int64]", tensor.Load[int64]},
	{"op.Compress[bool]", op.Compress[bool]}, {"op.Compress[int64]", op.Compress[int64]}, {"op.Where[bool]", op.Where[bool]}, {"op.Gather[int64]", op.Gather[int64]}, {"op.Take[int64]", op.Take[int64]},
	{"op.GatherElements[int64]", op.GatherElements[int64]}, {"op.GatherND[int64]", op.GatherND[int64]}, {"op.TakeAlongAxis[int64]", op.TakeAlongAxis[int64]}, {"op.ReverseSequence[int64]", op.ReverseSequence[int64]},
	{"op.ScatterElements[int64]", op.ScatterElements[int64]}, {"op.ScatterND[int64]", op.ScatterND[int64]}, {"op.TensorScatter[int64]", op.TensorScatter[int64]}, {"op.Clip[int64]", op.Clip[int64]},
	{"op.ScatterElements[int8]", op.ScatterElements[int8]}, {"op.Gather[bool]", op.Gather[bool]}, {"op.Where[int64]", op.Where[int64]},
}

type floats = tensor.Tensor[float32]

// arranged has functions with arguments that aren't drawn, as few others fit each other.
var arranged = []entry{
	{"op.Conv", func(x, w, bias floats, o ...op.Option) floats {
		return op.Conv(x, w, bias, op.Window{Pads: []int{1, 0, 1, 0}}, 1, o...)
	}},
	{"op.ConvInteger", func(x, w tensor.Tensor[uint8], a, b tensor.Tensor[uint8], o ...op.Option) tensor.Tensor[int32] {
		return op.ConvInteger(x, w, a, b, op.Window{}, 1, o...)
	}},
	{"op.ConvTranspose", func(x, w, bias floats, o ...op.Option) floats {
		return op.ConvTranspose(x, w, bias, op.ConvTransposeWindow{}, 1, o...)
	}},
	{"op.MaxPool", func(x floats, o ...op.Option) floats { return op.MaxPool(x, op.Window{Kernel: []int{2, 1}}, o...) }},
	{"op.AveragePool", func(x floats, o ...op.Option) floats {
		return op.AveragePool(x, op.Window{Kernel: []int{2, 1}}, op.AveragePoolOptions{CountIncludePad: true}, o...)
	}},
	{"op.LpPool", func(x floats, o ...op.Option) floats { return op.LpPool(x, op.Window{Kernel: []int{2, 1}}, 2, o...) }},
	{"op.MaxUnpool", func(x floats, at tensor.Tensor[int64], o ...op.Option) floats {
		return op.MaxUnpool(x, at, op.Window{Kernel: []int{2, 1}, Strides: []int{2, 1}}, nil, o...)
	}},
	{"op.Pad", func(x floats, o ...op.Option) floats {
		return op.Pad(x, []int{1, 0}, []int{0, 1}, op.PadConstant, 7, o...)
	}},
	{"op.Resize", func(x floats, o ...op.Option) floats {
		return op.Resize(x, op.ResizeOptions{Mode: "linear", Scales: []float64{2, 1}}, o...)
	}},
	{"op.LinearAttention", func(q, k, v floats, o ...op.Option) (y, state floats) {
		return op.LinearAttention(q, k, v, op.LinearAttentionOptions[float32]{Heads: 1, KVHeads: 1}, o...)
	}},
	{"op.RNN", func(x, w, r, h floats, o ...op.Option) (y, last floats) {
		return op.RNN(x, w, r, op.RecurrentOptions[float32]{InitialH: h, Direction: "bidirectional"}, o...)
	}},
	{"ml.LinearRegressor", func(x floats, c, by []float32, o ...op.Option) floats {
		return ml.LinearRegressor(x, 2, ml.LinearOptions{Coefficients: c, Intercepts: by}, o...)
	}},
	{"ml.SVMRegressor", func(x floats, v, c, rho []float32, o ...op.Option) floats {
		return ml.SVMRegressor(x, ml.SVMRegressorOptions{SVM: ml.SVM{Kernel: "LINEAR", SupportVectors: v, Coefficients: c, Rho: rho[:min(1, len(rho))]}}, o...)
	}},
	{"ml.TreeEnsembleRegressor", func(x floats, base []float64, o ...op.Option) floats {
		return ml.TreeEnsembleRegressor(x, 2, ml.TreeEnsemble{Base: base}, o...)
	}},
	{"ml.LinearClassifier", func(x floats, labels []int64, c []float32, o ...op.Option) (floats, tensor.Tensor[int64]) {
		label, scores := ml.LinearClassifier(x, labels, ml.LinearOptions{Coefficients: c}, o...)
		return scores, label
	}},
}

// TestShared calls the functions that write with everything that they take in the memory of what they write, shifted, and of the
// same or another element type: tensors, the fields and lists of such, vectors, and slices. What is written is what it would be if
// each had memory of its own, and nothing else is.
func TestShared(t *testing.T) {
	var list []entry
	for _, e := range slices.Concat(selecting, arranged, table) {
		if f := reflect.TypeOf(e.fn); excluded[e.name] == "" && holders(f) > 1 {
			list = append(list, e)
		}
	}
	wrote, over := map[string]bool{}, map[string]bool{}
	n, met := *cases, 0
	if testing.Short() {
		n = min(n, 10*len(list))
	}
	failed := map[string]bool{}
	for i := range uint64(n) {
		e := list[(*from+i)%uint64(len(list))]
		c := sharing{seed: *from + i}
		text := c.run(e)
		if text != "" && !failed[e.name] {
			failed[e.name] = true
			t.Errorf("%s: %s\nrepeat it with -run TestShared -from %d -cases 1", e.name, text, *from+i)
		}
		if c.wrote {
			wrote[e.name] = true
		}
		if c.over {
			over[e.name] = true
			met++
		}
	}
	t.Logf("%d calls of %d functions; %d functions wrote, %d of them over an operand, in %d calls", n, len(list), len(wrote), len(over), met)
	if testing.Verbose() {
		for _, e := range list {
			if strings.HasPrefix(e.name, "op.") && !over[e.name] {
				t.Logf("never over an operand: %s", e.name)
			}
		}
	}
	if n >= 100*len(list) && 8*met < n {
		t.Error("most calls wrote nothing over an operand")
	}
}

// holders counts what a function takes that has memory, an Into target among it.
func holders(f reflect.Type) (n int) {
	for i := range f.NumIn() {
		in := f.In(i)
		if in.Kind() == reflect.Slice && in.Elem() == reflect.TypeFor[op.Option]() || placers[in] != nil || in.Kind() == reflect.Slice && placers[in.Elem()] != nil || in == reflect.TypeFor[tensor.Any]() {
			n++
		}
	}
	return n
}

// sharing makes the arguments of one call in memory that they share or that each has alone.
type sharing struct {
	seed   uint64
	rng    *rand.Rand
	shape  []int
	whole  int          // how many arguments have the shape itself
	part   int          // which part of it the others have: see some
	any    reflect.Type // of what is a tensor.Any
	model  []byte       // what the memory holds
	fill   *rand.Rand   // model is being made with it
	truths [][]byte     // where bools are to stand
	alone  bool         // each has memory of its own
	held   []holder
	wrote  bool // the call wrote
	over   bool // over an operand
}

// A holder is an argument that has memory: where, and in it from which byte to which one.
type holder struct {
	mem      []byte
	from, to int
}

const arena = 1 << 14 // bytes of the memory

// draw makes the arguments.
func (s *sharing) draw(e entry, into reflect.Value) []reflect.Value {
	s.rng, s.held = rand.New(rand.NewPCG(s.seed, 3)), nil
	shapes := [][]int{{}, {3}, {4}, {2, 2}, {2, 2}, {3, 3}, {2, 3}, {2, 2, 2}, {1, 2, 2}, {2, 2, 2, 2}, {2, 2, 2, 2}, {1, 1, 2, 2}, {70}, {8, 33}, {1, 300}}
	s.shape = shapes[s.rng.IntN(len(shapes))]
	s.part, s.whole = s.rng.IntN(8)-1, 1+s.rng.IntN(3)
	s.any = anyTypes[s.rng.IntN(len(anyTypes))]
	o := operands{rank: len(s.shape), n: s.rng.IntN(3), at: -1, maker: s.value}
	fn := reflect.TypeOf(e.fn)
	args := make([]reflect.Value, fn.NumIn())
	for i := range args {
		if args[i] = o.value(fn.In(i), 0); fn.In(i) == reflect.TypeFor[[]op.Option]() && into.IsValid() {
			shape := into.Interface().(interface{ Shape() []int }).Shape()
			args[i] = reflect.ValueOf([]op.Option{placers[into.Type()](s, shape, true).into})
		}
	}
	return args
}

// value makes what has memory, and numbers that are sometimes others than the case's.
func (s *sharing) value(t reflect.Type) (v reflect.Value, ok bool) {
	if t == reflect.TypeFor[tensor.Any]() {
		shape, ok := s.some()
		if !ok {
			return reflect.ValueOf(tensor.Any{}), true
		}
		return reflect.ValueOf(placers[s.any](s, shape, len(s.held) == 0).tensor), true
	}
	if f := placers[t]; f != nil {
		shape, ok := s.some()
		if !ok {
			return reflect.Zero(t), true
		}
		return f(s, shape, len(s.held) == 0).value(t), true
	}
	if t.Kind() == reflect.Int && s.rng.IntN(4) == 0 {
		return reflect.ValueOf(s.rng.IntN(4) - 1).Convert(t), true
	}
	if t.Kind() == reflect.String {
		return reflect.ValueOf(words[s.rng.IntN(len(words))]).Convert(t), true
	}
	return v, false
}

// words are modes of operators.
var words = []string{"", "", "", "none", "none", "add", "mul", "constant", "edge", "linear", "nearest", "mean", "sum", "NONE", "L2", "LINEAR", "LEFT", "RIGHT", "ij,jk->ik", "ij,ij->ij", "DCR"}

// some returns the shape of the next argument that has memory, the case's or a part of it; false where it is absent.
func (s *sharing) some() (shape []int, ok bool) {
	k, rank := len(s.held), len(s.shape)
	first, last := s.shape[:min(1, rank)], s.shape[max(0, rank-1):]
	channels := s.shape[min(1, rank):min(2, rank)]
	parts := [][]int{s.shape, first, last, channels, {}, s.shape[min(1, rank):]}
	switch {
	case s.part < 0: // each in its own way
		return parts[max(0, s.rng.IntN(2*len(parts))-len(parts))], true
	case k < s.whole:
		return s.shape, true
	case s.part == len(parts):
		return nil, false
	}
	return parts[s.part], true
}

// memory returns the memory of the next argument.
func (s *sharing) memory() []byte {
	switch {
	case s.fill != nil || len(s.held) > 0 && !s.alone:
		return s.model
	case !s.alone:
		s.model = clone(s.model)
		return s.model
	}
	return clone(s.model)
}

// clone copies bytes to where elements of all types may stand.
func clone(b []byte) []byte {
	c := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(make([][2]uint64, len(b)/16)))), len(b))
	copy(c, b)
	return c
}

// placed is an argument of every form that one of an element type may have.
type placed struct {
	tensor tensor.Any
	value  func(t reflect.Type) reflect.Value
	into   op.Option
}

// placers has for types of arguments what places one of a shape. Of a target no elements are the same.
var placers = map[reflect.Type]func(s *sharing, shape []int, target bool) placed{}

var anyTypes = []reflect.Type{reflect.TypeFor[tensor.Tensor[float32]](), reflect.TypeFor[tensor.Tensor[int64]](), reflect.TypeFor[tensor.Tensor[bool]](), reflect.TypeFor[tensor.Tensor[complex128]]()}

func init() {
	places[bool]()
	places[int8]()
	places[int16]()
	places[int32]()
	places[int64]()
	places[uint8]()
	places[uint16]()
	places[float32]()
	places[float64]()
	places[complex64]()
	places[complex128]()
	places[num.F16]()
	places[num.BF16]()
	places[fixed.FP16x16]()
}

func places[T num.Elem]() {
	f := func(s *sharing, shape []int, target bool) placed {
		t, lanes := place1[T](s, shape, target)
		return placed{t.Any(), func(of reflect.Type) reflect.Value {
			switch of {
			case reflect.TypeFor[[]T]():
				return reflect.ValueOf(lanes)
			case reflect.TypeFor[tensor.Vectors[T]]():
				block := slices.Repeat([]int{1}, len(shape))
				if len(shape) > 0 {
					block[len(shape)-1] = 2
				}
				var v tensor.Vectors[T]
				_ = tensor.Try(func() { v = tensor.Vectorize(t, block...) }) // else the zero value
				return reflect.ValueOf(v)
			}
			return reflect.ValueOf(t)
		}, op.Into(t)}
	}
	for _, t := range []reflect.Type{reflect.TypeFor[tensor.Tensor[T]](), reflect.TypeFor[[]T](), reflect.TypeFor[tensor.Vectors[T]]()} {
		placers[t] = f
	}
}

// place1 places a tensor in memory, in one of some layouts, and the slice of as many elements that begins where it does.
func place1[T num.Elem](s *sharing, shape []int, target bool) (t tensor.Tensor[T], lanes []T) {
	size := int(unsafe.Sizeof(*new(T)))
	whole, how := slices.Clone(shape), s.rng.IntN(9)
	last := len(shape) - 1
	n := 1
	for _, e := range shape {
		n *= e
	}
	switch {
	case last < 0:
		how = 0
	case how == 5: // of a matrix with as many rows and columns
		slices.Reverse(whole)
	case how == 6: // every second element
		whole[last], n = 2*whole[last], 2*n
	case how == 8 && !target: // one row, repeated
		whole[0], n = 1, n/max(1, shape[0])
	}
	step := min(size, 8)
	from := step * s.rng.IntN(1+64/step)
	if s.rng.IntN(3) == 0 {
		from = step * s.rng.IntN(1+min(4*n*size, arena-n*size)/step)
	}
	odd, axis := s.rng.IntN(2), s.rng.IntN(len(shape)+1)
	b := s.memory()
	s.held = append(s.held, holder{b, from, from + n*size})
	room := b[from:][:n*size]
	lanes = unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(room))), n)
	if s.fill != nil {
		s.fillWith(lanes, room)
		return t, lanes
	}
	t = tensor.FromSlice(lanes, whole...)
	switch {
	case how == 5:
		t = t.Transpose()
	case how == 6:
		t = t.Slice(tensor.Ellipsis, layout.Range(odd, 2*shape[last], 2))
	case how == 7 && axis <= last:
		t = t.Flip(axis)
	case how == 8 && !target && last >= 0:
		t = t.BroadcastTo(shape...)
	}
	return t, lanes
}

// fillWith sets elements to what may be indices, truths and numbers.
func (s *sharing) fillWith(lanes any, b []byte) {
	small := func() int { return s.fill.IntN(2) }
	if s.seed/3%2 == 0 { // no index is a truth
		small = func() int { return s.fill.IntN(3) - s.fill.IntN(2) }
	}
	switch v := lanes.(type) {
	case []bool:
		s.truths = append(s.truths, b)
	case []int64:
		for i := range v {
			v[i] = int64(small())
		}
	case []int32:
		for i := range v {
			v[i] = int32(small())
		}
	case []float32:
		for i := range v {
			v[i] = float32(small()) + 0.5
		}
	case []float64:
		for i := range v {
			v[i] = float64(small()) + 0.5
		}
	}
}

// run makes a call with memory for each argument, and with memory for all, and returns what differs.
func (s *sharing) run(e entry) string {
	s.model, s.fill = clone(make([]byte, arena)), rand.New(rand.NewPCG(s.seed, 4))
	for i := range s.model {
		s.model[i] = byte(s.fill.Uint32())
	}
	s.draw(e, reflect.Value{})
	for _, b := range s.truths {
		for i := range b {
			b[i] &= 1
		}
	}
	s.fill, s.alone = nil, true
	model := s.model
	args := s.draw(e, reflect.Value{})
	if e.isMethod() && isNil(args[0]) {
		return "" // a handle
	}
	var first result
	var into reflect.Value
	var want []reflect.Value
	err := first.try(reflect.ValueOf(e.fn), args, func(out []reflect.Value) { want = out })
	if first.failure != "" {
		return first.failure + "\nof " + first.args
	}
	if reflect.TypeOf(e.fn).IsVariadic() && args[len(args)-1].Type() == reflect.TypeFor[[]op.Option]() {
		if len(want) == 0 || placers[want[0].Type()] == nil {
			return ""
		}
		if into = want[0]; into.Interface().(interface{ Len() int }).Len() > arena/64 {
			return ""
		}
		args = s.draw(e, into)
		first = result{}
		err = first.try(reflect.ValueOf(e.fn), args, func(out []reflect.Value) { want = out })
	}
	alone := s.held
	s.alone = false
	args = s.draw(e, into)
	var second result
	var got []reflect.Value
	if text := func(err error) string {
		if err == nil {
			return "none"
		}
		return err.Error()
	}; true {
		also := second.try(reflect.ValueOf(e.fn), args, func(out []reflect.Value) { got = out })
		if second.failure != "" {
			return second.failure + "\nof " + second.args
		}
		if text(err) != text(also) {
			return "the error is " + text(also) + ", want " + text(err) + "\nof " + show(args)
		}
	}
	changed, at := clone(model), -1
	for i, h := range alone {
		if bytes.Equal(h.mem, model) {
			continue
		}
		if at >= 0 {
			return "" // several are written; none is a target
		}
		changed, at = h.mem, i
	}
	if err != nil && strings.HasPrefix(e.name, "op.") {
		return "" // then elements of a target are unspecified
	}
	if s.wrote = at >= 0; s.wrote {
		for i, h := range s.held {
			s.over = s.over || i != at && h.from < s.held[at].to && s.held[at].from < h.to
		}
	}
	if len(s.held) > 0 && !bytes.Equal(s.held[0].mem, changed) {
		return "other bytes are written\nof " + show(args)
	}
	for i := range got {
		if a, ok := got[i].Interface().(interface{ Any() tensor.Any }); ok && strings.HasPrefix(e.name, "op.") && !isNil(got[i]) {
			x, y := a.Any(), want[i].Interface().(interface{ Any() tensor.Any }).Any()
			if !x.IsZero() && !bytes.Equal(binary(x), binary(y)) {
				return "another result\nof " + show(args)
			}
		}
	}
	return ""
}

// binary returns the type, shape and bits of a tensor.
func binary(a tensor.Any) []byte {
	b, err := a.MarshalBinary()
	if err != nil {
		return []byte(err.Error())
	}
	return b
}
