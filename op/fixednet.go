package op

import (
	"runtime"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/conv"
	"github.com/ashlar-go/ashlar/internal/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Products, convolutions, pools and normalizations of fixed point: exact sums of products,
// rounded once with whatever is added.

var (
	softmaxMaps    = fixedMap{softmaxMap[num.FP8x23], softmaxMap[num.FP16x16], softmaxMap[num.FP32x32], softmaxMap[num.FP64x64]}
	logSoftmaxMaps = fixedMap{logSoftmaxMap[num.FP8x23], logSoftmaxMap[num.FP16x16], logSoftmaxMap[num.FP32x32], logSoftmaxMap[num.FP64x64]}
	hardmaxMaps    = fixedMap{hardmaxMap[num.FP8x23], hardmaxMap[num.FP16x16], hardmaxMap[num.FP32x32], hardmaxMap[num.FP64x64]}
)

// asFixed calls the function of T's format with x, a Tensor[T].
func asFixed[T num.Elem](x tensor.Tensor[T], f8 func(tensor.Tensor[num.FP8x23]) tensor.Tensor[num.FP8x23], f16 func(tensor.Tensor[num.FP16x16]) tensor.Tensor[num.FP16x16],
	f32 func(tensor.Tensor[num.FP32x32]) tensor.Tensor[num.FP32x32], f64 func(tensor.Tensor[num.FP64x64]) tensor.Tensor[num.FP64x64]) tensor.Tensor[T] {
	switch x := any(&x).(type) {
	case *tensor.Tensor[num.FP8x23]:
		y := f8(*x)
		return *any(&y).(*tensor.Tensor[T])
	case *tensor.Tensor[num.FP16x16]:
		y := f16(*x)
		return *any(&y).(*tensor.Tensor[T])
	case *tensor.Tensor[num.FP32x32]:
		y := f32(*x)
		return *any(&y).(*tensor.Tensor[T])
	}
	y := f64(*any(&x).(*tensor.Tensor[num.FP64x64]))
	return *any(&y).(*tensor.Tensor[T])
}

// as1 returns x, whose T is U.
func as1[U, T num.Elem](x tensor.Tensor[T]) tensor.Tensor[U] { return *any(&x).(*tensor.Tensor[U]) }

// softmaxMap and its like map lines.
func softmaxMap[T num.Fixed](dst, x []T, mode []num.FixedMode) error {
	num.SoftmaxFixed(dst, x)
	return nil
}

func logSoftmaxMap[T num.Fixed](dst, x []T, mode []num.FixedMode) error {
	return num.LogSoftmaxFixed(dst, x, mode...)
}

func hardmaxMap[T num.Fixed](dst, x []T, mode []num.FixedMode) error {
	top := 0
	for i, v := range x {
		if greaterFixed(v, x[top]) {
			top = i
		}
	}
	clear(dst)
	dst[top], _ = num.FixedFromInt64[T](1)
	return nil
}

func softmaxFamily(name string) *fixedMap {
	switch name {
	case "Softmax":
		return &softmaxMaps
	case "LogSoftmax":
		return &logSoftmaxMaps
	}
	return &hardmaxMaps
}

// cumulateFixed adds up, or multiplies, the elements of each line: sums are exact, products
// rounded one after the other. An error names the first of a line, in its own direction.
func cumulateFixed[T num.Fixed](name string, a tensor.Tensor[T], axis int, exclusive, reverse, times bool, opts []Option) tensor.Tensor[T] {
	s := read(opts)
	shape := a.Shape()
	t := tryOut[T](name, &s, shape)
	if t.out.Len() == 0 {
		return t.dst
	}
	c := a.Contiguous()
	data, base := c.Data()
	to, at := t.out.Mutable()
	before, n, after := around(shape, axis)
	modes := stateOf(&s, dtype.Of[T]()).modes
	exec.Split(name, s.ctx(), before*after, 10*n, func(from, till int) {
		for l := from; l < till; l++ {
			p, step := l/after*n*after+l%after, after
			if reverse {
				p, step = p+(n-1)*after, -after
			}
			var sum num.FixedSum[T]
			product, _ := num.FixedFromInt64[T](1)
			for i := range n {
				failed := p
				v, err := product, error(nil)
				if !times {
					if !exclusive {
						sum.Add(data[base+p])
					}
					v, err = sum.Sum(modes...)
					if exclusive {
						sum.Add(data[base+p])
					}
				} else if product, err = num.MulFixed(product, data[base+p], modes...); !exclusive {
					v = product
				} else if failed += step; i == n-1 {
					err = nil // nobody asks for the last product
				}
				if err != nil {
					t.bad.note(failed, err)
					break
				}
				to[at+p] = v
				p += step
			}
		}
	})
	runtime.KeepAlive(c)
	return t.done()
}

// fixedProduct is alpha times matmul for fixed point: each element is an exact sum of
// products, rounded once, with beta times what is to be added if plus isn't the zero Tensor.
func fixedProduct[T num.Fixed](name string, a, b, plus tensor.Tensor[T], alpha, beta float32, opts []Option) tensor.Tensor[T] {
	s := read(opts)
	x := productOf(name, nil, exec.Ref(&a).LayoutRef(), exec.Ref(&b).LayoutRef())
	if s.orion && a.Rank() == 1 && b.Rank() == 1 {
		x.shape = append(x.shape, 1)
	}
	t := tryOut[T](name, &s, x.shape)
	if !plus.IsZero() {
		plus = plus.BroadcastTo(x.shape...)
	}
	if t.out.Len() == 0 {
		return t.dst
	}
	la, lb := straight(&a), straight(&b)
	ad, a0 := la.Data()
	bd, b0 := lb.Data()
	cd, c0 := t.out.Mutable()
	aAt, bAt := entries{origin: a0}, entries{origin: b0}
	aRow, aCol := aAt.matrices(exec.Ref(la).LayoutRef(), la.Rank() > 1, true, x.batch())
	bRow, bCol := bAt.matrices(exec.Ref(lb).LayoutRef(), true, lb.Rank() > 1, x.batch())
	var add []T
	if !plus.IsZero() {
		plus = plus.Contiguous()
		add = runOf(&plus, exec.Ref(&plus).LayoutRef())
	}
	modes := stateOf(&s, dtype.Of[T]()).modes
	rows, cols := roomFor[T](name, x.m, x.k), roomFor[T](name, x.n, x.k)
	for e := range elements(x.batch()) {
		if x.k > 0 {
			conv.Pack(rows, ad, conv.Block{Off: aAt.at(e), Rows: x.m, Row: aRow, Cols: x.k, Col: aCol})
			conv.Pack(cols, bd, conv.Block{Off: bAt.at(e), Rows: x.n, Row: bCol, Cols: x.k, Col: bRow})
		}
		exec.Split(name, s.ctx(), x.m, 2*x.n*max(x.k, 1), func(from, till int) {
			for i := from; i < till; i++ {
				for j := range x.n {
					var sum num.FixedSum[T]
					sum.AddProducts(rows[i*x.k:(i+1)*x.k], cols[j*x.k:(j+1)*x.k])
					at := (e*x.m+i)*x.n + j
					var c, v T
					var err error
					if add != nil {
						c = add[at]
					}
					if alpha == 1 && beta == 1 {
						sum.Add(c)
						v, err = sum.Sum(modes...)
					} else {
						v, err = sum.Scaled(float64(alpha), c, float64(beta), modes...)
					}
					t.bad.note(at, err)
					cd[c0+at] = v
				}
			}
		})
	}
	runtime.KeepAlive(la)
	runtime.KeepAlive(lb)
	runtime.KeepAlive(plus)
	return t.done()
}

// convFixed is Conv. The sum of a window's products and the bias are rounded together.
func convFixed[T num.Fixed](g convolution, x, w, bias tensor.Tensor[T], opts []Option) tensor.Tensor[T] {
	s := read(opts)
	t := tryOut[T]("Conv", &s, g.shape)
	if t.out.Len() == 0 {
		return t.dst
	}
	x, w = x.Contiguous(), w.Contiguous()
	xd, x0 := x.Data()
	wd, w0 := w.Data()
	to, at := t.out.Mutable()
	rank, plane := len(g.s), 1
	ext, kernel := make([]int, rank), make([]int, rank)
	for i := range g.s {
		plane *= g.s[i].in
		ext[i], kernel[i] = g.s[i].out, g.s[i].kernel
	}
	cg, mg := g.c/g.group, g.m/g.group
	volume := elements(kernel)
	modes := stateOf(&s, dtype.Of[T]()).modes
	exec.Split("Conv", s.ctx(), g.n*g.group*g.patch, 2*g.k*(mg+3), func(from, till int) {
		line := make([]T, g.k)
		kc := make([]int, rank)
		for p := from; p < till; p++ {
			n, pos := p/(g.group*g.patch), p%g.patch
			group := p / g.patch % g.group
			oc := unravel(pos, ext)
			clear(kc)
			for k := range volume {
				off, inside := 0, true
				for i := range g.s {
					c := g.s[i].at(oc[i], kc[i])
					inside = inside && c >= 0 && c < g.s[i].in
					off = off*g.s[i].in + c
				}
				for c := range cg {
					var v T
					if inside {
						v = xd[x0+(n*g.c+group*cg+c)*plane+off]
					}
					line[c*volume+k] = v
				}
				advance(kc, nil, kernel)
			}
			for m := group * mg; m < (group+1)*mg; m++ {
				var sum num.FixedSum[T]
				sum.AddProducts(wd[w0+m*g.k:w0+(m+1)*g.k], line)
				if !bias.IsZero() {
					sum.Add(bias.At(m))
				}
				v, err := sum.Sum(modes...)
				o := (n*g.m+m)*g.patch + pos
				t.bad.note(o, err)
				to[at+o] = v
			}
		}
	})
	runtime.KeepAlive(x)
	runtime.KeepAlive(w)
	return t.done()
}

// averageFixed is AveragePool.
func averageFixed[T num.Fixed](x tensor.Tensor[T], s []span, includePad bool, opts []Option) tensor.Tensor[T] {
	st := read(opts)
	shape := outShape(x.Dim(0), x.Dim(1), s)
	t := tryOut[T]("AveragePool", &st, shape)
	if t.out.Len() == 0 {
		return t.dst
	}
	to, at := t.out.Mutable()
	modes := stateOf(&st, dtype.Of[T]()).modes
	pooled(exec.Job{Name: "AveragePool", Ctx: st.ctx()}, x, s, false, func(o int, window []T, _ []int, padded int) {
		n := len(window)
		if includePad {
			n = padded
		}
		var sum num.FixedSum[T]
		sum.AddRow(window)
		v, err := sum.Mean(n, modes...)
		t.bad.note(o, err)
		to[at+o] = v
	})
	return t.done()
}

// normalizeFixed normalizes lines of x, whose elements lie at steps of loops, by what norm
// makes of them, and scales and shifts by rows of x's shape or nil.
func normalizeFixed[T num.Fixed](name string, x tensor.Tensor[T], scale, bias tensor.Tensor[T], axis int, opts []Option, norm func(line []T) (num.FixedNorm[T], error)) tensor.Tensor[T] {
	s := read(opts)
	shape := x.Shape()
	axis = axisOf(name, axis, len(shape))
	t := tryOut[T](name, &s, shape)
	rows := [3][]T{}
	for i, a := range []tensor.Tensor[T]{x, scale, bias} {
		if a.IsZero() {
			continue
		}
		if !stretches(exec.Ref(&a).LayoutRef(), shape) {
			panic(fail(name, tensor.ErrShape, "input %d has shape %s, which doesn't stretch to %s", i, exec.Ref(&a).LayoutRef().ShapeString(), shapeText(shape)))
		}
		c := a.BroadcastTo(shape...).Contiguous()
		rows[i] = runOf(&c, exec.Ref(&c).LayoutRef())
		defer runtime.KeepAlive(c)
	}
	res := runOf(&t.out, exec.Ref(&t.out).LayoutRef())
	n := elements(shape[axis:])
	modes := stateOf(&s, dtype.Of[T]()).modes
	part := func(r []T, from int) []T {
		if r == nil {
			return nil
		}
		return r[from : from+n]
	}
	if len(res) > 0 {
		exec.Split(name, s.ctx(), len(res)/n, 100*n, func(from, till int) {
			for l := from; l < till; l++ {
				line := part(rows[0], l*n)
				step, err := norm(line)
				if err == nil {
					err = step.Apply(res[l*n:(l+1)*n], line, part(rows[1], l*n), part(rows[2], l*n), modes...)
				}
				t.bad.note(l*n+faultAt(err), err)
			}
		})
	}
	return t.done()
}

// faultAt returns which element of a row an error of package num names.
func faultAt(err error) int {
	if e, ok := err.(*num.FixedError); ok {
		return e.Index
	}
	return 0
}

func layerFixed[T num.Fixed](x, scale, bias tensor.Tensor[T], axis int, epsilon float64, opts []Option) tensor.Tensor[T] {
	return normalizeFixed("LayerNormalization", x, scale, bias, axis, opts, func(line []T) (num.FixedNorm[T], error) {
		var m num.FixedMoments[T]
		m.AddRow(line)
		return m.Norm(epsilon)
	})
}

func rmsFixed[T num.Fixed](x, scale tensor.Tensor[T], axis int, epsilon float64, opts []Option) tensor.Tensor[T] {
	return normalizeFixed("RMSNormalization", x, scale, tensor.Tensor[T]{}, axis, opts, func(line []T) (num.FixedNorm[T], error) {
		var s num.FixedSum[T]
		s.AddProducts(line, line)
		return s.RootNorm(len(line), epsilon)
	})
}

func batchFixed[T num.Fixed](x, scale, bias, mean, variance tensor.Tensor[T], epsilon float64, opts []Option) tensor.Tensor[T] {
	const name = "BatchNormalization"
	s := read(opts)
	shape := x.Shape()
	t := tryOut[T](name, &s, shape)
	x = x.Contiguous()
	src, res := runOf(&x, exec.Ref(&x).LayoutRef()), runOf(&t.out, exec.Ref(&t.out).LayoutRef())
	per := elements(shape[2:])
	modes := stateOf(&s, dtype.Of[T]()).modes
	if len(res) > 0 {
		exec.Split(name, s.ctx(), shape[0]*shape[1], 50*per, func(from, till int) {
			for i := from; i < till; i++ {
				c := i % shape[1]
				step, err := num.FixedNormOf(mean.At(c), variance.At(c), epsilon)
				if err == nil {
					err = step.Apply(res[i*per:(i+1)*per], src[i*per:(i+1)*per], []T{scale.At(c)}, []T{bias.At(c)}, modes...)
				}
				t.bad.note(i*per+faultAt(err), err)
			}
		})
	}
	runtime.KeepAlive(x)
	return t.done()
}
