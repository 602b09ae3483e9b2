package argfuzz

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"

	"github.com/ashlar-go/ashlar/device"
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/op/all"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
)

// A drawer draws the arguments of one case. What calls returned in the case is drawn again: so it gets at values that
// have a constructor, and at those a call left closed or half done.
type drawer struct {
	*rand.Rand
	tame  float64 // how often a value is an ordinary one
	shape []int   // the shape of most tensors, so that operands fit each other
	made  map[reflect.Type][]reflect.Value
	depth int

	working string // the function that the case is about

	mu    sync.Mutex
	given []reflect.Value // what functions drawn as arguments were called with, from any goroutine
}

// give keeps the arguments of a call of a drawn function, which may come from any goroutine.
func (d *drawer) give(in []reflect.Value) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.given) < 64 {
		d.given = append(d.given, in...)
	}
}

// take notes what was given.
func (d *drawer) take() {
	d.mu.Lock()
	given := d.given
	d.given = nil
	d.mu.Unlock()
	for _, v := range given {
		d.note(v)
	}
}

func newDrawer(n uint64) *drawer {
	d := &drawer{Rand: rand.New(rand.NewPCG(n, 0x617267)), made: map[reflect.Type][]reflect.Value{}}
	d.tame = []float64{0.3, 0.8, 0.95, 0.99}[d.IntN(4)]
	shapes := [][]int{{}, {1}, {6}, {2, 3}, {3, 3}, {4, 4}, {1, 2, 3}, {1, 2, 4, 4}, {2, 2, 3, 3}, {0}, {2, 0}, {32, 32}, {1, 1, 2, 2, 2}}
	d.shape = shapes[d.IntN(len(shapes))]
	return d
}

func (d *drawer) ordinary() bool { return d.Float64() < d.tame }

// ints are the numbers where functions go wrong. Between 2^17 and 2^45 there is none: memory for so many elements is
// refused on one machine and given on the other.
var ints = []int64{
	math.MinInt64, math.MinInt64 + 1, -1 << 62, math.MinInt32, -65, -9, -2, -1, 0, 1, 2, 3, 7, 8, 9, 15, 16, 31, 32, 33,
	63, 64, 65, 1 << 45, 1<<53 + 1, 1 << 61, 1 << 62, 1<<62 + 1, math.MaxInt64 - 1, math.MaxInt64,
}

func (d *drawer) int() int64 {
	if d.ordinary() {
		return int64(d.IntN(5))
	}
	return ints[d.IntN(len(ints))]
}

// large is how many elements a drawn tensor has at most. A broadcast axis makes tensors of any number, and work with
// them takes as long as it says.
const large = 1 << 20

func (d *drawer) float() float64 {
	if d.ordinary() {
		return float64(d.IntN(9)-3) / 2
	}
	fs := []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), math.MaxFloat64, math.MaxFloat32, 5e-324, 1e-40, -1, 1 << 63, -1 << 63, 1e300}
	return fs[d.IntN(len(fs))]
}

var texts = []string{
	"", "x", "sim:2x2", "sim:", "sim:99999999999999999999x1", "(2,3):(3,1)", "((2,2),3):((1,6),2)", "(4):(1)", "(2,3)", "_", "_,0", ":", "...", "::-1", "1:9223372036854775807:2",
	"-1", "None", "((((((((", ")", "(9223372036854775807,9223372036854775807)", "ij,jk->ik", "ij->ji", "...i,...i->...", "i->ii", "->", "ii", "i,i", "ij,\xff", "Relu", "Add", "Conv",
	"Sw<2,0,3>", "Sw<2,0,3> o 0 o (4,4):(4,1)", "logical_divide((4,4):(1,4),(2):(1))", "int4", "bfloat8_b", "a\x00b", "ai.onnx", "a.npy", ".", "/", "../x",
	strings.Repeat("(", 300), strings.Repeat("1,", 100), "\xff\xfe", "é",
}

func (d *drawer) text() string { return texts[d.IntN(len(texts))] }

// count is the length of a slice.
func (d *drawer) count() int {
	if d.ordinary() {
		return d.IntN(4)
	}
	return []int{0, 1, 2, 3, 8, 9, 10, 17, 65, 66}[d.IntN(10)]
}

// extents draws a shape, most often the case's, or axes and positions in it.
func (d *drawer) extents() []int {
	if d.ordinary() {
		switch d.IntN(6) {
		case 0, 1, 2:
			return append([]int{}, d.shape...)
		case 3: // positions
			at := make([]int, len(d.shape))
			for i, n := range d.shape {
				if n > 0 {
					at[i] = d.IntN(n)
				}
			}
			return at
		case 4: // axes
			return d.Perm(len(d.shape))
		}
	}
	if d.IntN(4) == 0 {
		return nil
	}
	v := make([]int, d.count())
	for i := range v {
		v[i] = int(d.int())
	}
	if len(v) > 4 { // so many extents above 1 would take much memory
		for i := range v {
			if v[i] > 2 && v[i] < 1<<40 {
				v[i] = 1
			}
		}
	}
	return v
}

func (d *drawer) layout() layout.Layout {
	switch d.IntN(5) {
	case 0:
		if d.ordinary() {
			break
		}
		return layout.Layout{}
	case 1:
		all := []string{
			"(2,3):(1,2)", "((2,2),3):((1,6),2)", "(3):(0)", "(2,2):(0,0)", "(4,4):(8,2)", "(2,(1,3)):(3,(1,1))", "(0,3):(3,1)", "():()", "(32):(1)", "(4,2,2):(1,4,8)",
			"(35184372088832,0):(0,1)", "(4611686018427387904):(0)", "(2):(4611686018427387904)", "(1,1,1,1,1,1,1,1,1,1):(1,1,1,1,1,1,1,1,1,1)",
		}
		return layout.MustParse(all[d.IntN(len(all))])
	case 2:
		if l, err := layout.New([]int{2, 3}, []int{-3, 1}); err == nil { // backwards
			return l
		}
	case 3:
		v := d.extents()
		w := make([]int, len(v))
		for i := range w {
			if w[i] = int(d.int()); w[i] > 1<<20 && w[i] < 1<<40 || w[i] < -1<<20 && w[i] > -1<<40 {
				w[i] = 1 // tensor.EmptyLayout has room for all that a layout reaches over
			}
		}
		if l, err := layout.New(v, w); err == nil {
			return l
		}
	}
	l, err := layout.RowMajor(d.shape...)
	if err != nil {
		return layout.Layout{}
	}
	return l
}

func (d *drawer) tuple() layout.Tuple {
	switch d.IntN(6) {
	case 0:
		return layout.Tuple{}
	case 1:
		return layout.Hole()
	case 2:
		return layout.Int(int(d.int()))
	case 3:
		if d.depth < 4 {
			d.depth++
			defer func() { d.depth-- }()
			ts := make([]layout.Tuple, d.IntN(4))
			for i := range ts {
				ts[i] = d.tuple()
			}
			return layout.List(ts...)
		}
	}
	return layout.Ints(d.extents()...)
}

// makers draw values of types that aren't just numbers, or that need another spread.
var makers = map[reflect.Type]func(*drawer) reflect.Value{}

func maker[T any](f func(*drawer) T) {
	makers[reflect.TypeFor[T]()] = func(d *drawer) reflect.Value {
		v := reflect.New(reflect.TypeFor[T]()).Elem()
		v.Set(reflect.ValueOf(f(d)))
		return v
	}
}

func init() {
	maker((*drawer).extents)
	maker((*drawer).layout)
	maker((*drawer).tuple)
	maker(func(d *drawer) dtype.DType {
		if d.ordinary() {
			return []dtype.DType{dtype.Float32, dtype.Int64, dtype.Uint8, dtype.Bool, dtype.FP16x16, dtype.BFloat16}[d.IntN(6)]
		}
		return dtype.DType(d.IntN(256))
	})
	maker(func(d *drawer) tensor.Index {
		switch d.IntN(4) {
		case 0:
			return layout.Point(int(d.int()))
		case 1:
			return layout.Range(int(d.int()), int(d.int()), int(d.int()))
		case 2:
			return []layout.Index{layout.Ellipsis(), layout.NewAxis(), {}}[d.IntN(3)]
		}
		return tensor.Colon
	})
	maker(func(d *drawer) *mem.Buffer {
		b := mem.Borrow(make([]byte, []int{0, 1, 24, 96, 4096}[d.IntN(5)]), nil)
		if !d.ordinary() {
			if d.IntN(2) == 0 {
				return nil
			}
			_ = b.Close() // closed on purpose; a borrowed buffer has no error
		}
		return b
	})
	maker(func(d *drawer) *mem.Scratch {
		if !d.ordinary() {
			return nil
		}
		return &mem.Scratch{}
	})
	maker(func(d *drawer) op.Option {
		switch d.IntN(10) {
		case 0:
			ctx := []context.Context{context.Background(), cancelled}
			return op.Context(ctx[d.IntN(len(ctx))])
		case 1:
			return op.Into(tensorOf[float32](d))
		case 2:
			return op.Into(tensorOf[int64](d))
		case 3:
			return op.Into(tensorOf[bool](d))
		case 4:
			return op.Into(tensorOf[int32](d))
		case 5:
			return op.KeepDims()
		case 6:
			return op.Saturate()
		case 7:
			return op.Orion()
		case 8:
			return op.Rectify()
		}
		return op.Option{}
	})
	maker(func(d *drawer) device.Model {
		m := device.Wormhole()
		if d.ordinary() {
			m.Grid = device.Coord{X: 2, Y: 2}
		} else {
			m.Grid = device.Coord{X: int(d.int()), Y: int(d.int())}
		}
		return m
	})
	maker(func(d *drawer) pack.Tile {
		if d.ordinary() {
			return []pack.Tile{{}, {Height: 32, Width: 32}, {Height: 16, Width: 16}}[d.IntN(3)]
		}
		return pack.Tile{Height: int(d.int()), Width: int(d.int())}
	})
	maker(func(d *drawer) []byte {
		switch d.IntN(6) {
		case 0:
			if !d.ordinary() {
				return nil
			}
			return []byte{}
		case 1:
			return []byte(d.text())
		case 2, 3:
			b := bytes.Clone(files[d.IntN(len(files))])
			if !d.ordinary() {
				b[d.IntN(len(b))] = byte(d.Uint32())
			}
			return b
		}
		b := make([]byte, []int{1, 3, 4, 16, 24, 96, 200}[d.IntN(7)])
		for i := range b {
			b[i] = byte(d.Uint32())
		}
		return b
	})
	elem[bool]()
	elem[int8]()
	elem[int16]()
	elem[int32]()
	elem[int64]()
	elem[uint8]()
	elem[uint16]()
	elem[float32]()
	elem[float64]()
	elem[complex64]()
	elem[num.BF16]()
	elem[fixed.FP16x16]()
	maker((*drawer).untyped)
	maker(func(d *drawer) *tensor.Any { // never nil, as with a receiver
		a := d.value(reflect.TypeFor[tensor.Any]()).Interface().(tensor.Any)
		return &a
	})
	// The implementations of interfaces that others may write.
	also[io.Reader](func(d *drawer) io.Reader { return bytes.NewReader(makers[reflect.TypeFor[[]byte]()](d).Bytes()) })
	also[io.Reader](func(*drawer) io.Reader { return broken{} })
	also[io.ReaderAt](func(d *drawer) io.ReaderAt { return bytes.NewReader(makers[reflect.TypeFor[[]byte]()](d).Bytes()) })
	also[io.Writer](func(*drawer) io.Writer { return &bytes.Buffer{} })
	also[io.Writer](func(*drawer) io.Writer { return broken{} })
	also[context.Context](func(*drawer) context.Context { return context.Background() })
	also[context.Context](func(*drawer) context.Context { return cancelled })
	also[error](func(*drawer) error { return io.EOF })
	also[any](func(d *drawer) any { return int(d.int()) })
	also[any](func(d *drawer) any { return d.int() })
	also[any](func(d *drawer) any { return d.text() })
	also[any](func(d *drawer) any { return [][]float32{{1, 2}, {3, 4}} })
	also[any](func(d *drawer) any { return [][]float32{{1, 2}, nil} })
	also[any](func(d *drawer) any { return func(*device.Core) error { return nil } })
	also[any](func(d *drawer) any { return (func(*device.Core) error)(nil) })
	also[any](func(d *drawer) any { return []int64{d.int(), d.int()} })
	also[any](func(d *drawer) any { return float32(d.float()) })
	also[any](func(d *drawer) any { return tensorOf[float32](d) })
	maker(func(d *drawer) op.Call {
		c := op.Call{Opset: []int{0, 1, 6, 7, 9, 11, 13, 18, 21, 23, 25}[d.IntN(11)], Outputs: d.IntN(4)}
		if !d.ordinary() {
			c.Opset, c.Outputs = int(d.int()), int(d.int())
		}
		for range d.IntN(5) {
			c.Inputs = append(c.Inputs, d.any())
		}
		if d.IntN(3) > 0 {
			m := op.AttrMap{}
			for range d.IntN(4) {
				m[attributes[d.IntN(len(attributes))]] = d.attribute()
			}
			c.Attrs = m
		}
		if d.IntN(4) == 0 {
			c.Context = cancelled
		}
		return c
	})
	also[*op.Op](func(d *drawer) *op.Op { return all.Operators()[d.IntN(len(all.Operators()))] })
}

// attributes are the names that operators understand.
var attributes = func() (names []string) {
	for _, o := range all.Operators() {
		names = append(names, o.Attributes()...)
	}
	return names
}()

func (d *drawer) attribute() any {
	switch d.IntN(6) {
	case 0:
		return float32(d.float())
	case 1:
		return d.text()
	case 2:
		v := make([]int64, d.count())
		for i := range v {
			v[i] = d.int()
		}
		return v
	case 3:
		return []float32{float32(d.float())}
	case 4:
		return d.any()
	}
	return d.int()
}

// typed is what gives a tensor.Any.
type typed interface{ Any() tensor.Any }

// untyped draws what a tensor.Any may be: each type of the table that gives one, types that the table doesn't name, what
// a function returns, and the zero value.
func (d *drawer) untyped() (a tensor.Any) {
	if d.depth > 5 || !d.ordinary() && d.IntN(3) == 0 {
		return a
	}
	d.depth++
	defer func() { d.depth-- }()
	ts := behind(reflect.TypeFor[typed]())
	switch i := d.IntN(len(ts) + 3); i - len(ts) {
	case 0:
		return tensorOf[uint16](d).Any()
	case 1:
		return tensorOf[fixed.FP16x16](d).Any()
	case 2:
		return d.produce(reflect.TypeFor[tensor.Any]()).Interface().(tensor.Any)
	default:
		if v := d.value(ts[i]); !isNil(v) {
			a = v.Interface().(typed).Any()
		}
		return a
	}
}

// holds has for element types what returns a tensor.Any as a Tensor of the type.
var holds []func(a tensor.Any) (t any, ok bool)

// any draws a tensor of some type, or none.
func (d *drawer) any() tensor.Any {
	switch d.IntN(12) {
	case 0:
		return tensor.Any{}
	case 1, 2:
		return tensorOf[int64](d).Any()
	case 3:
		return tensorOf[bool](d).Any()
	case 4:
		return tensorOf[uint8](d).Any()
	case 5:
		return tensorOf[num.BF16](d).Any()
	case 6:
		return tensorOf[fixed.FP16x16](d).Any()
	case 7:
		if s, err := tensor.NewSpec(dtype.Float32, d.extents()...); err == nil {
			return s.Any()
		}
	}
	return tensorOf[float32](d).Any()
}

var cancelled = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// broken is a Reader and a Writer that fails.
type broken struct{}

var errBroken = errors.New("broken")

func (broken) Read([]byte) (int, error)  { return 0, errBroken }
func (broken) Write([]byte) (int, error) { return 0, errBroken }

// others are makers of the values of an interface, besides the types of the table that implement it.
var others = map[reflect.Type][]func(*drawer) reflect.Value{}

func also[T any](f func(*drawer) T) {
	t := reflect.TypeFor[T]()
	others[t] = append(others[t], func(d *drawer) reflect.Value {
		v := reflect.New(t).Elem()
		v.Set(reflect.ValueOf(f(d)))
		return v
	})
}

func elem[T num.Elem]() {
	maker(tensorOf[T])
	shape[T]()
	maker(func(d *drawer) *tensor.Tensor[T] { // never nil, as with a receiver
		t := d.value(reflect.TypeFor[tensor.Tensor[T]]()).Interface().(tensor.Tensor[T])
		return &t
	})
	holds = append(holds, func(a tensor.Any) (any, bool) { return tensor.As[T](a) })
	maker(func(d *drawer) tensor.Vectors[T] {
		var v tensor.Vectors[T]
		if d.IntN(8) == 0 {
			return v
		}
		if err := tensor.Try(func() { v = tensor.Vectorize(tensorOf[T](d), d.extents()...) }); err != nil {
			return tensor.Vectors[T]{}
		}
		return v
	})
}

// tensorOf draws a tensor: of any layout, closed, read-only, the zero value.
func tensorOf[T num.Elem](d *drawer) (t tensor.Tensor[T]) {
	if !d.ordinary() && d.IntN(4) == 0 {
		return t
	}
	shape := d.shape
	switch k := d.IntN(6); {
	case k == 0 && len(shape) > 0:
		shape = shape[1:]
	case k == 1:
		shape = nil
	case k == 2 && len(shape) > 2 && d.ordinary(): // the channels, or a kernel
		shape = [][]int{{2}, {2, 2, 2, 2}, {2, 2, 3, 3}, {1, 2, 1, 1}}[d.IntN(4)]
	case k == 2 && !d.ordinary():
		all := [][]int{{1 << 45, 0}, {0, 8400}, {1}, {7}, {5, 5}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, {65}, {2, 2, 2, 2, 2, 2, 2}}
		shape = all[d.IntN(len(all))]
	}
	t = tensor.New[T](shape...)
	if data, ok := any(t).(tensor.Tensor[int64]); ok && d.IntN(2) == 0 { // often indices or sizes
		for i := range data.Elems() {
			data.Elems()[i] = d.int()
		}
	}
	err := tensor.Try(func() {
		switch d.IntN(14) {
		case 0:
			t = t.Flip(0)
		case 1:
			t = t.Transpose()
		case 2:
			t = tensor.FromLayout(make([]T, 64), d.layout())
		case 3:
			t = tensor.New[T](1).BroadcastTo(t.Shape()...)
		case 4:
			t = t.ReadOnly()
		case 5:
			if !d.ordinary() {
				_ = t.Close() // closed on purpose; it has no error without a file
			}
		case 6:
			t = tensor.New[T](4, 4).S("::2,1::2")
		}
	})
	if err != nil || t.Len() > large {
		return tensor.New[T](d.shape...)
	}
	return t
}
