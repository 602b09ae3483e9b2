package tensor_test

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// A seen is a tensor or a view of its memory as whatever elements.
type seen struct {
	name  string
	pin   func() func()
	data  func() []byte // by Data
	ex    func() *tensor.Export
	close func() error
}

func see[T num.Elem](name string, x tensor.Tensor[T]) seen {
	return seen{name, x.Any().Pin, func() []byte {
		d, _ := x.Data()
		var z T
		return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(d))), len(d)*int(unsafe.Sizeof(z)))
	}, x.Any().Export, x.Close}
}

// views lists a tensor and views of it of all kinds, views of views included.
func views(x tensor.Tensor[complex64]) []seen {
	bits := tensor.BitCast[uint64](x)
	words := tensor.Recast[int32](x)
	bytes := tensor.Recast[uint8](words)
	return []seen{
		see("itself", x), see("Slice", x.S("1:")), see("BitCast", bits), see("Recast to narrow", words), see("Recast of Recast", bytes),
		see("Recast to wide", tensor.Recast[complex128](x)), see("Recast back", tensor.Recast[complex64](bytes)), see("Real", tensor.Real[float32](x)),
		see("Imag", tensor.Imag[float32](x)), see("BitCast of Imag", tensor.BitCast[int32](tensor.Imag[float32](x))), see("Real of a slice", tensor.Real[float32](x.S("::-1"))),
		see("Lanes", tensor.Vectorize(words, 4).Lanes()), see("BitCast of BitCast, read-only", tensor.BitCast[int64](bits).ReadOnly()),
		see("windows of Recast", tensor.SlidingWindow(words, 0, 2)),
	}
}

// TestPinViews checks that a pin or an export of a view of any kind keeps the memory,
// whichever handle is closed: nothing that is made afterwards is in it.
func TestPinViews(t *testing.T) {
	var s mem.Scratch
	defer s.Close()
	count := 0
	for kind, make := range map[string]func() tensor.Tensor[complex64]{
		"small":       func() tensor.Tensor[complex64] { return tensor.New[complex64](16) },
		"block":       func() tensor.Tensor[complex64] { return tensor.New[complex64](1024) },
		"large block": func() tensor.Tensor[complex64] { return tensor.New[complex64](8000) },
		"buffer":      func() tensor.Tensor[complex64] { return tensor.New[complex64](16384) },
		"borrowed":    func() tensor.Tensor[complex64] { return tensor.FromSlice(slices.Repeat([]complex64{1}, 1024)) },
		"scratch":     func() tensor.Tensor[complex64] { return tensor.NewIn[complex64](&s, 1024) },
	} {
		for held := range views(make()) {
			for ended := range views(make()) {
				x := make()
				n := x.Len()
				x.Fill(complex(7, 7))
				all := views(x)
				v := all[held]
				release := v.pin()
				d := v.data()
				ex := all[(held+ended)%len(all)].ex()
				if err := all[ended].close(); err != nil {
					t.Fatal(err)
				}
				var next []tensor.Tensor[complex64]
				for range 3 {
					next = append(next, tensor.Full[complex64](-1, n))
				}
				p := (*float32)(ex.Pointer)
				if f := *(*float32)(unsafe.Pointer(&d[len(d)-4])); f != 7 || *p != 7 {
					t.Fatalf("%s: Pin of %s, Close of %s: %v and %v", kind, v.name, all[ended].name, f, *p)
				}
				if err := tensor.Try(func() { v.data() }); !errors.Is(err, tensor.ErrClosed) {
					t.Fatalf("%s: Data of %s after Close of %s: %v", kind, v.name, all[ended].name, err)
				}
				ex.Release()
				release()
				for _, y := range next {
					y.Close()
				}
				runtime.KeepAlive(x)
				count++
			}
		}
	}
	t.Logf("%d cases", count)
}

// TestConcurrentPinClose closes beside readers that hold a pin: under -race nothing is
// reported, slices stay as they were, and handles either read or say ErrClosed.
func TestConcurrentPinClose(t *testing.T) {
	for _, n := range []int{16, 1024, 40000} {
		for range 20 {
			x := tensor.Full[float32](3, n)
			var wg sync.WaitGroup
			var begun sync.WaitGroup
			for k, v := range []tensor.Tensor[float32]{x, tensor.BitCast[float32](tensor.BitCast[int32](x))} {
				release := v.Any().Pin()
				d, _ := v.Data()
				begun.Add(1)
				wg.Go(func() {
					defer release()
					begun.Done()
					for i := range d {
						if d[i] != 3 {
							t.Errorf("%d: element %d of a pinned slice is %v", n, i, d[i])
							return
						}
					}
					err := tensor.Try(func() {
						for i := range 50 {
							if v.At(i%n) != 3 || v.Reshape(-1, 2).At(0, i&1) != 3 || v.Clone().At(0) != 3 || !v.Any().Overlaps(v.Any()) {
								t.Errorf("%d: a handle of pinned memory reads something else", n)
							}
							v.Elems()
							_ = v.String()
							for f := range v.S(":4").Values() {
								_ = f
							}
							v.Any().SameData(x.Any())
							v.Any().RetainedBytes()
							if k == 1 {
								tensor.Recast[uint8](v).Any().Export().Release()
							}
						}
					})
					if err != nil && !errors.Is(err, tensor.ErrClosed) {
						t.Errorf("%d: %v", n, err)
					}
				})
			}
			begun.Wait()
			x.Close()
			y := tensor.Full[float32](-1, n)
			wg.Wait()
			y.Close()
		}
	}
}

// anyOf draws a tensor of any layout in the middle of a storage.
func anyOf[T num.Elem](t *rapid.T) tensor.Tensor[T] {
	ext := rapid.SliceOfN(rapid.SampledFrom([]int{1, 1, 2, 3, 4, 8, 0}), 0, 3).Draw(t, "extents")
	lay, err := layout.RowMajor(ext...)
	if rapid.Bool().Draw(t, "strided") {
		str := make([]int, len(ext))
		for i := range str {
			str[i] = rapid.SampledFrom([]int{1, 1, 0, 2, 4, 8, 16, -1, -4}).Draw(t, "stride")
		}
		lay, err = layout.New(ext, str)
	}
	if err == nil && lay.Rank() > 2 && rapid.Bool().Draw(t, "nested") {
		inner, e := layout.Join(lay.Mode(0), lay.Mode(1))
		if err = e; err == nil {
			lay, err = layout.Join(inner, lay.Mode(2))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	lo, hi := lay.Span()
	front := rapid.IntRange(0, 4).Draw(t, "front")
	room := front + hi - lo + 1 + rapid.IntRange(0, 4).Draw(t, "behind")
	whole := tensor.New[T](room) // aligned
	if lay.Size() == 0 {
		x := tensor.FromLayout(whole.Elems(), lay)
		return x
	}
	return tensor.FromLayout(whole.Elems()[front:], lay)
}

// bagOf returns how often each byte of a storage is reached, and fails where it isn't in it.
func bagOf[T num.Elem](t *rapid.T, x tensor.Tensor[T], into map[uintptr]int, by int) {
	d, from := x.Data()
	var z T
	lay := x.Layout()
	for i := range x.Len() {
		off, _ := lay.Offset(i)
		if from+off < 0 || from+off >= len(d) {
			t.Fatalf("%v: offset %d from %d isn't in the %d elements", lay, off, from, len(d))
		}
		for b := range unsafe.Sizeof(z) {
			into[uintptr(unsafe.Pointer(&d[from+off]))+b] += by
		}
	}
}

func sameBytes[A, B num.Elem](t *rapid.T, x tensor.Tensor[A], y tensor.Tensor[B]) {
	bag := make(map[uintptr]int)
	bagOf(t, x, bag, 1)
	bagOf(t, y, bag, -1)
	for _, n := range bag {
		if n != 0 {
			t.Fatalf("%v of %v became %v of %v, which are other bytes", x.DType(), x.Layout(), y.DType(), y.Layout())
		}
	}
	runtime.KeepAlive(x)
}

// changed checks every view of x as other elements. It returns how many there were.
func changed[A num.Elem](t *rapid.T, x tensor.Tensor[A]) (n int) {
	return recastTo[uint8](t, x) + recastTo[int16](t, x) + recastTo[float32](t, x) + recastTo[int64](t, x) + recastTo[complex64](t, x) +
		recastTo[complex128](t, x) + recastTo[fixed.FP64x64](t, x)
}

func recastTo[B, A num.Elem](t *rapid.T, x tensor.Tensor[A]) (n int) {
	var y tensor.Tensor[B]
	for name, f := range map[string]func(){"Recast": func() { y = tensor.Recast[B](x) }, "BitCast": func() { y = tensor.BitCast[B](x) }} {
		var e *tensor.Error
		switch err := tensor.Try(f); {
		case err == nil:
			n++
			sameBytes(t, x, y)
			y.Clone()
		case !errors.As(err, &e):
			t.Fatalf("%s of %v of %v: %v", name, x.DType(), x.Layout(), err)
		}
	}
	return n
}

// TestRecastBytes checks that views as elements of another type, size or number are of
// the bytes that they are documented to be of, and no other. Run it with -rapid.checks.
func TestRecastBytes(t *testing.T) {
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		switch rapid.IntRange(0, 4).Draw(t, "type") {
		case 0:
			n += changed(t, anyOf[uint8](t))
		case 1:
			n += changed(t, anyOf[int16](t))
		case 2:
			x := anyOf[float32](t)
			n += changed(t, x)
			lanes(t, x)
		case 3:
			z := anyOf[complex64](t)
			n += changed(t, z)
			bag := make(map[uintptr]int)
			bagOf(t, z, bag, 1)
			bagOf(t, tensor.Real[float32](z), bag, -1)
			bagOf(t, tensor.Imag[float32](z), bag, -1)
			for _, k := range bag {
				if k != 0 {
					t.Fatalf("the parts of %v are other bytes", z.Layout())
				}
			}
		case 4:
			n += changed(t, anyOf[complex128](t))
		}
	})
	if n == 0 {
		t.Error("nothing was recast")
	}
}

// lanes checks that the vectors of x have each of its elements once.
func lanes(t *rapid.T, x tensor.Tensor[float32]) {
	block := make([]int, x.Rank())
	for i := range block {
		block[i] = rapid.IntRange(1, 4).Draw(t, "block")
	}
	var v tensor.Vectors[float32]
	var e *tensor.Error
	if err := tensor.Try(func() { v = tensor.Vectorize(x, block...) }); err != nil {
		if !errors.As(err, &e) {
			t.Fatal(err)
		}
		return
	}
	if v.ElemLen() == 0 && x.Len() > 0 {
		t.Fatalf("%v by %v: vectors of no lanes", x.Layout(), block)
	}
	n := 0
	dst := make([]float32, v.ElemLen())
	grid := v.Layout()
	for i := range v.Len() {
		at, _ := grid.Coord(i)
		n += v.Load(dst, at...)
	}
	if n != x.Len() {
		t.Fatalf("%v by %v: %d lanes of %d elements", x.Layout(), block, n, x.Len())
	}
	if !v.Clipped() {
		sameBytes(t, x, v.Lanes())
	}
}
