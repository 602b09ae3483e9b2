package steps

import (
	"slices"
	"unsafe"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// A typed has the functions of package tensor whose arguments or results are elements of a type. Elements come and go as their
// bytes in memory.
type typed struct {
	d     dtype.DType
	over  func(b []byte, lay layout.Layout) tensor.Any // over b itself
	plain func(a array) tensor.Any                     // over a copy
	elems func(a tensor.Any, how int) []byte
	cast  func(a tensor.Any, opts ...op.Option) tensor.Any
	pad   func(c *call) tensor.Any
	bits  map[dtype.DType]func(a tensor.Any) tensor.Any // BitCast or Recast to a type

	binary, json func(a tensor.Any) tensor.Any
	load         func(a tensor.Any, n int, idx ...int) array
	set          func(a tensor.Any, b []byte, idx ...int)
	fill         func(a tensor.Any, b []byte)
	store        func(a tensor.Any, src array, idx ...int) int
}

// A moving has the functions of package tensor that move elements of all types alike.
type moving struct {
	flip, squeeze, unsqueeze, view, reshape, reshapeF, permute, slice1 func(a tensor.Any, list ...int) tensor.Any
	diagonal, swap, move, window, split                                func(a tensor.Any, list ...int) tensor.Any
	tile                                                               func(a tensor.Any, size, coord []int) tensor.Any
	slice                                                              func(a tensor.Any, idx ...tensor.Index) tensor.Any
	compose, relaid                                                    func(a tensor.Any, lay layout.Layout) tensor.Any
	distribute                                                         func(a tensor.Any, lay layout.Layout, thread int) tensor.Any
	coalesce, frozen, transpose                                        func(a tensor.Any) tensor.Any

	clone, contiguous, made, detach, flatten, flattenF func(a tensor.Any) tensor.Any
	take                                               func(a tensor.Any, axis int, at ...int) tensor.Any
	mask                                               func(a, mask tensor.Any) tensor.Any
	indexBy                                            func(a tensor.Any, at ...tensor.Any) tensor.Any

	copy, colex, logical func(a, src tensor.Any)
	async                func(a, src tensor.Any, o tensor.AsyncCopy)
	setTake              func(a, src tensor.Any, axis int, at ...int)
	setMask              func(a, src, mask tensor.Any)
	setIndexBy           func(a, src tensor.Any, at ...tensor.Any)
}

// seenAs is a as a tensor of T, whatever its type. Functions that forget T find the type in the tensor.
func seenAs[T num.Elem](a tensor.Any) tensor.Tensor[T] {
	return *(*tensor.Tensor[T])(unsafe.Pointer(&a))
}

func erased(a tensor.Any) tensor.Tensor[int32] { return seenAs[int32](a) }

// types are the element types, simple ones first.
var types = []*typed{
	of[int32](), of[float32](), of[uint8](), of[int64](), of[bool](), of[float64](), of[int8](), of[int16](), of[uint16](), of[uint32](), of[uint64](),
	of[num.F16](), of[num.BF16](), of[num.F8E4M3](), of[num.F8E5M2](), of[complex64](), of[complex128](),
	of[fixed.FP8x23](), of[fixed.FP16x16](), of[fixed.FP32x32](), of[fixed.FP64x64](),
	of[num.Int4](), of[num.Uint4](), of[num.Int2](), of[num.Uint2](), of[num.F4E2M1](), of[num.F8E4M3FNUZ](), of[num.F8E5M2FNUZ](), of[num.F8E8M0](),
}

var typeOf = map[dtype.DType]*typed{}

func init() {
	for _, t := range types {
		typeOf[t.d] = t
	}
}

// as returns the typed form of a.
func as[T num.Elem](a tensor.Any) tensor.Tensor[T] {
	t, ok := tensor.As[T](a)
	if !ok {
		panic("the model has another type than " + tensor.Describe(a))
	}
	return t
}

// slice returns bytes as elements.
func slice[T num.Elem](b []byte) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(*new(T))))
}

// bytesOf copies elements to bytes.
func bytesOf[T num.Elem](s []T) []byte {
	return slices.Clone(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(T)))))
}

// one is an element of its bytes.
func one[T num.Elem](b []byte) (x T) {
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&x)), unsafe.Sizeof(x)), b)
	return x
}

func many[T num.Elem](list []tensor.Any) []tensor.Tensor[T] {
	var out []tensor.Tensor[T]
	for _, a := range list {
		out = append(out, seenAs[T](a))
	}
	return out
}

// copied returns elements in memory that is aligned for T.
func copied[T num.Elem](b []byte) []T {
	s := make([]T, len(b)/int(unsafe.Sizeof(*new(T))))
	copy(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(b)), b)
	return s
}

// erasedOf has one instance of each function, which does for all types.
var erasedOf = movingOf[int32]()

func movingOf[T num.Elem]() moving {
	view := func(f func(t tensor.Tensor[T], list ...int) tensor.Tensor[T]) func(a tensor.Any, list ...int) tensor.Any {
		return func(a tensor.Any, list ...int) tensor.Any { return f(seenAs[T](a), list...).Any() }
	}
	same := func(f func(t tensor.Tensor[T]) tensor.Tensor[T]) func(a tensor.Any) tensor.Any {
		return func(a tensor.Any) tensor.Any { return f(seenAs[T](a)).Any() }
	}
	two := func(f func(t, src tensor.Tensor[T])) func(a, src tensor.Any) {
		return func(a, src tensor.Any) { f(seenAs[T](a), seenAs[T](src)) }
	}
	return moving{
		flip: view(tensor.Tensor[T].Flip), squeeze: view(tensor.Tensor[T].Squeeze), unsqueeze: view(tensor.Tensor[T].Unsqueeze), view: view(tensor.Tensor[T].View),
		reshape: view(tensor.Tensor[T].Reshape), permute: view(tensor.Tensor[T].Permute),
		reshapeF: view(func(t tensor.Tensor[T], shape ...int) tensor.Tensor[T] {
			return tensor.ReshapeIn(t, tensor.OrderF, shape...)
		}),
		slice1: view(func(t tensor.Tensor[T], list ...int) tensor.Tensor[T] {
			return tensor.Slice1D(t, list[0], tensor.R(list[1], list[2], list[3]), list[4:]...)
		}),
		diagonal: view(func(t tensor.Tensor[T], list ...int) tensor.Tensor[T] {
			return tensor.Diagonal(t, list[0], list[1], list[2])
		}),
		swap: view(func(t tensor.Tensor[T], list ...int) tensor.Tensor[T] { return tensor.SwapAxes(t, list[0], list[1]) }),
		move: view(func(t tensor.Tensor[T], list ...int) tensor.Tensor[T] { return tensor.MoveAxis(t, list[0], list[1]) }),
		window: view(func(t tensor.Tensor[T], list ...int) tensor.Tensor[T] {
			return tensor.SlidingWindow(t, list[0], list[1])
		}),
		split: view(func(t tensor.Tensor[T], list ...int) tensor.Tensor[T] {
			return tensor.SplitPart(t, list[0], list[1], list[2], list[3])
		}),
		tile: func(a tensor.Any, size, coord []int) tensor.Any {
			return tensor.Tile(seenAs[T](a), size, coord...).Any()
		},
		slice:   func(a tensor.Any, idx ...tensor.Index) tensor.Any { return seenAs[T](a).Slice(idx...).Any() },
		compose: func(a tensor.Any, lay layout.Layout) tensor.Any { return tensor.Compose(seenAs[T](a), lay).Any() },
		relaid:  func(a tensor.Any, lay layout.Layout) tensor.Any { return tensor.ReshapeLayout(seenAs[T](a), lay).Any() },
		distribute: func(a tensor.Any, lay layout.Layout, thread int) tensor.Any {
			return tensor.Distribute(seenAs[T](a), lay, thread, nil).Any()
		},
		coalesce: same(tensor.Coalesce[T]), frozen: same(tensor.Tensor[T].ReadOnly), transpose: same(tensor.Tensor[T].Transpose),

		clone: same(tensor.Tensor[T].Clone), contiguous: same(tensor.Tensor[T].Contiguous), detach: same(tensor.Detach[T]),
		made:     same(func(t tensor.Tensor[T]) tensor.Tensor[T] { tensor.MakeContiguous(&t); return t }),
		flatten:  same(func(t tensor.Tensor[T]) tensor.Tensor[T] { return tensor.Flatten(t) }),
		flattenF: same(func(t tensor.Tensor[T]) tensor.Tensor[T] { return tensor.Flatten(t, tensor.OrderF) }),
		take: func(a tensor.Any, axis int, at ...int) tensor.Any {
			return tensor.Take(seenAs[T](a), axis, at...).Any()
		},
		mask: func(a, mask tensor.Any) tensor.Any { return tensor.Mask(seenAs[T](a), as[bool](mask)).Any() },
		indexBy: func(a tensor.Any, at ...tensor.Any) tensor.Any {
			return tensor.IndexBy(seenAs[T](a), many[int64](at)...).Any()
		},
		copy: two(tensor.Tensor[T].CopyFrom), colex: two(tensor.CopyColex[T]), logical: two(tensor.CopyLogical[T]),
		async: func(a, src tensor.Any, o tensor.AsyncCopy) {
			tensor.CopyFromAsync(seenAs[T](a), nil, seenAs[T](src), o)
		},
		setTake: func(a, src tensor.Any, axis int, at ...int) {
			tensor.SetTake(seenAs[T](a), seenAs[T](src), axis, at...)
		},
		setMask: func(a, src, mask tensor.Any) { tensor.SetMask(seenAs[T](a), seenAs[T](src), as[bool](mask)) },
		setIndexBy: func(a, src tensor.Any, at ...tensor.Any) {
			tensor.SetIndexBy(seenAs[T](a), seenAs[T](src), many[int64](at)...)
		},
	}
}

func of[T num.Elem]() *typed {
	t := &typed{d: dtype.Of[T](),
		over:  func(b []byte, lay layout.Layout) tensor.Any { return tensor.FromLayout(slice[T](b), lay).Any() },
		plain: func(a array) tensor.Any { return tensor.FromSlice(copied[T](a.b), a.n()).View(a.shape...).Any() },
		elems: func(a tensor.Any, how int) []byte { return bytesOf(elements(as[T](a), how)) },
		cast:  func(a tensor.Any, opts ...op.Option) tensor.Any { return op.CastAs[T](a, opts...).Any() },
		pad: func(c *call) tensor.Any {
			return op.Pad(as[T](c.in[0]), c.ints, c.more, op.PadConstant, one[T](c.elem), c.opts...).Any()
		},
		bits: map[dtype.DType]func(a tensor.Any) tensor.Any{},
		binary: func(a tensor.Any) tensor.Any {
			var u tensor.Tensor[T]
			b, err := a.MarshalBinary()
			if err == nil {
				err = u.UnmarshalBinary(b)
			}
			if err != nil {
				panic(err)
			}
			return u.Any()
		},
		json: func(a tensor.Any) tensor.Any {
			var u tensor.Tensor[T]
			b, err := a.MarshalJSON()
			if err == nil {
				err = u.UnmarshalJSON(b)
			}
			if err != nil {
				panic(err)
			}
			return u.Any()
		},
		load: func(a tensor.Any, n int, idx ...int) array {
			dst := make([]T, n)
			tensor.Load(as[T](a), dst, idx...)
			return array{dtype.Of[T](), []int{n}, bytesOf(dst)}
		},
		set:  func(a tensor.Any, b []byte, idx ...int) { as[T](a).Set(one[T](b), idx...) },
		fill: func(a tensor.Any, b []byte) { as[T](a).Fill(one[T](b)) },
		store: func(a tensor.Any, src array, idx ...int) int {
			return tensor.Store(as[T](a), copied[T](src.b), idx...)
		},
	}
	if !t.d.IsPartial() {
		seen[uint8, T](t)
		seen[int16, T](t)
		seen[float32, T](t)
		seen[uint64, T](t)
	}
	switch t.d {
	case dtype.Complex64:
		t.bits[dtype.Bool] = func(a tensor.Any) tensor.Any { return a.Imag() }
		t.bits[dtype.Int8] = func(a tensor.Any) tensor.Any { return a.Real() }
	case dtype.Complex128:
		t.bits[dtype.Bool] = func(a tensor.Any) tensor.Any { return tensor.Imag[float64](as[complex128](a)).Any() }
		t.bits[dtype.Int8] = func(a tensor.Any) tensor.Any { return tensor.Real[float64](as[complex128](a)).Any() }
	}
	return t
}

// seen adds the view of the bits of T as To.
func seen[To, T num.Elem](t *typed) {
	t.bits[dtype.Of[To]()] = func(a tensor.Any) tensor.Any {
		if unsafe.Sizeof(*new(To)) == unsafe.Sizeof(*new(T)) {
			return tensor.BitCast[To](as[T](a)).Any()
		}
		return tensor.Recast[To](as[T](a)).Any()
	}
}

// elements reads all elements in one of several ways.
func elements[T num.Elem](t tensor.Tensor[T], how int) (s []T) {
	switch how % 5 {
	case 0:
		for v := range t.Values() {
			s = append(s, v)
		}
	case 1:
		for _, c := range coords(t.Shape()) {
			s = append(s, t.At(c...))
		}
	case 2:
		s = t.Contiguous().Elems()
	case 3:
		for _, v := range t.All() {
			s = append(s, v)
		}
	case 4:
		s = tensor.Flatten(t).Elems()
	}
	return s
}
