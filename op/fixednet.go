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
