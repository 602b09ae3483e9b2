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

// exactness says how the sums of a contraction of fixed point are rounded, once: alpha times the
// products and beta times what is added. bad is the first result that there isn't.
type exactness struct {
	alpha, beta float32
	modes       []num.FixedMode
	bad         misfit
}

// exactly returns the exactness of a product of type d, nil unless d is fixed point.
func (s *settings) exactly(d dtype.DType, alpha, beta float32) *exactness {
	if !d.IsFixed() {
		return nil
	}
	return &exactness{alpha: alpha, beta: beta, modes: stateOf(s, d).modes}
}

// check panics if a result of a shape isn't there.
func (e *exactness) check(name string, shape []int) {
	if e != nil {
		e.bad.check(name, shape)
	}
}

// contractFixed computes a contraction whose result is row-major.
func contractFixed[T num.Fixed](x contraction, a, b, c, plus *tensor.Any, g *convolution) {
	const rows, cols = 64, 16 // of a piece
	p := exactPieces[T]{x: &x, a: dataOf[T](a, &x.aAt), b: dataOf[T](b, &x.bAt)}
	if plus != nil {
		p.plus = dataOf[T](plus, &x.then.at)
	}
	if g != nil {
		p.from = &anyPatches[T]{g, p.b[x.bAt.origin:], g.plane()}
	}
	data, origin := tensor.MutableOf[T](c)
	p.c = data[origin:]
	down, across := (x.m+rows-1)/rows, (x.n+cols-1)/cols
	exec.Split(x.Name, x.Ctx, x.batch*down*across, 2*min(x.m, rows)*min(x.n, cols)*max(x.k, 1), func(from, till int) {
		row, columns := roomFor[T](x.Name, x.k), roomFor[T](x.Name, min(x.n, cols), x.k)
		for u := from; u < till; u++ {
			batch, i, j := u/(across*down), u/across%down*rows, u%across*cols
			nn := min(cols, x.n-j)
			p.lines(columns, batch, j, nn)
			for end := min(i+rows, x.m); i < end; i++ {
				if x.k > 0 {
					conv.Pack(row, p.a, conv.Block{Off: x.aAt.at(batch) + i*x.aRow, Rows: 1, Cols: x.k, Col: x.aCol})
				}
				for l := range nn {
					p.sum(batch, i, j+l, row, columns[l*x.k:(l+1)*x.k])
				}
			}
		}
	})
	runtime.KeepAlive(a)
	runtime.KeepAlive(b)
	runtime.KeepAlive(c)
	runtime.KeepAlive(plus)
}

// exactPieces is a contraction of fixed point, of elements.
type exactPieces[T num.Fixed] struct {
	x             *contraction
	a, b, c, plus []T
	from          source[T]
}

// lines sets the columns of b from j on, n of them, one after the other.
func (p *exactPieces[T]) lines(dst []T, batch, j, n int) {
	x := p.x
	if x.k == 0 {
		return
	}
	if p.from == nil {
		conv.Pack(dst, p.b, conv.Block{Off: x.bAt.at(batch) + j*x.bCol, Rows: n, Row: x.bCol, Cols: x.k, Col: x.bRow})
		return
	}
	var offs [gemmK]int
	b := blockOfB[T]{batch: batch, n0: j, nn: n, offs: offs[:], scratch: make([]T, p.from.room(j, n))}
	for b.k0 = 0; b.k0 < x.k; b.k0 += gemmK {
		b.kn = min(gemmK, x.k-b.k0)
		p.from.ready(&b)
		for l := range n {
			conv.Pack(dst[l*x.k+b.k0:], b.scratch, conv.Block{Off: l, Rows: 1, Cols: b.kn, Col: n})
		}
	}
}

// sum computes element (i, j) of a batch entry, from a row of a and a column of b.
func (p *exactPieces[T]) sum(batch, i, j int, row, column []T) {
	x, e := p.x, p.x.exact
	var s num.FixedSum[T]
	s.AddProducts(row, column)
	var more, v T
	var err error
	if p.plus != nil {
		more = p.plus[x.then.at.at(batch)+i*x.then.row+j*x.then.col]
	}
	if e.alpha == 1 && e.beta == 1 {
		s.Add(more)
		v, err = s.Sum(e.modes...)
	} else {
		v, err = s.Scaled(float64(e.alpha), more, float64(e.beta), e.modes...)
	}
	at := x.cAt.at(batch) + i*x.cRow + j*x.cCol
	e.bad.note(at, err)
	p.c[at] = v
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
