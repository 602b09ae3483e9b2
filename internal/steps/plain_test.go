package steps

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
)

// drawings choose operands.
var drawings = map[string]func(r *running, d dtype.DType) *drawn{
	"Where": drawWhere, "Concat": drawConcat, "Stack": drawStack, "Gather": drawGather, "Take": drawGather, "GatherElements": drawGatherElements,
	"ScatterElements": drawScatterElements, "ScatterND": drawScatterND, "Pad": drawPad, "Tile": drawTile, "Repeat": drawRepeat, "Roll": drawRoll, "Compress": drawCompress,
	"Tril": drawTri, "Triu": drawTri, "MatMul": drawMatMul,
}

// alike are the operators with operands of one kind.
var alike = []struct {
	draw  func(r *running, d dtype.DType) *drawn
	names string
}{
	{drawUnary, "NonZero Identity Neg Abs Sign Square BitwiseNot Not Relu Floor Ceil Trunc Round Sigmoid Tanh LeakyRelu Exp Sqrt IsNaN"},
	{drawBinary, "Add Sub Mul Div Equal NotEqual Max Min Less GreaterOrEqual PRelu Mod Pow BitwiseAnd BitwiseOr BitwiseXor CopySign Hypot And Or Xor"},
	{drawReduction, "All Any CountNonZero ReduceSum ReduceMean ReduceProd ReduceL1 ReduceL2 ReduceMax ReduceMin NanSum Median"},
	{drawLines, "ArgMax ArgMin CumSum Sort ArgSort Softmax"},
}

func (r *running) ofType(d dtype.DType) *value {
	return r.subject(func(v *value) bool { return v.d == d })
}

func drawUnary(r *running, d dtype.DType) *drawn { return &drawn{vs: []*value{r.ofType(d)}} }

// beside chooses a value that broadcasts with a shape.
func (r *running) beside(d dtype.DType, shape []int) *value {
	fits := func(v *value) bool {
		s, ok := broadcast(v.shape, shape)
		return v.d == d && ok && size(s) <= 400
	}
	if v := r.ref(fits); v != nil && r.s.weighted([]int{3, 1}) == 0 {
		return v
	}
	shape = slices.Clone(shape)
	for k := range shape {
		if r.s.rare(4) {
			shape[k] = 1
		}
	}
	if v := r.make(d, shape[r.s.weighted([]int{4, 1})*len(shape)/2:]); fits(v) {
		return v
	}
	return nil
}

func drawBinary(r *running, d dtype.DType) *drawn {
	a := r.ofType(d)
	b := r.beside(d, a.shape)
	if b == nil {
		return nil
	}
	return &drawn{vs: []*value{a, b}}
}

func drawWhere(r *running, d dtype.DType) *drawn {
	a := r.ofType(d)
	b := r.beside(d, a.shape)
	if b == nil {
		return nil
	}
	shape, _ := broadcast(a.shape, b.shape)
	c := r.beside(dtype.Bool, shape)
	if c == nil {
		return nil
	}
	if _, ok := broadcast(c.shape, shape); !ok {
		return nil
	}
	return &drawn{vs: []*value{c, a, b}}
}

func drawReduction(r *running, d dtype.DType) *drawn {
	c := drawUnary(r, d)
	rank := len(c.vs[0].shape)
	if r.s.weighted([]int{1, 3}) == 1 {
		c.ints = []int{}
		for k := range rank {
			if r.s.pick(2) == 0 {
				c.ints = append(c.ints, r.sign(k, rank))
			}
		}
	}
	c.text = fmt.Sprintf(", axes %v", c.ints)
	return c
}

func drawLines(r *running, d dtype.DType) *drawn {
	v := r.subject(func(v *value) bool { return v.d == d && len(v.shape) > 0 })
	if len(v.shape) == 0 {
		return nil
	}
	axis := r.sign(r.axis(v), len(v.shape))
	flag := r.s.pick(2) == 1
	return &drawn{call: call{ints: []int{axis}, flag: flag}, vs: []*value{v}, text: fmt.Sprintf(", axis %d, last or reverse %v", axis, flag)}
}

func drawConcat(r *running, d dtype.DType) *drawn {
	c := drawLines(r, d)
	if c == nil {
		return nil
	}
	v := c.vs[0]
	axis := c.positive(len(v.shape))
	for range r.s.pick(3) {
		u := r.ref(func(u *value) bool {
			if u.d != d || len(u.shape) != len(v.shape) {
				return false
			}
			for k, e := range u.shape {
				if k != axis && e != v.shape[k] {
					return false
				}
			}
			return true
		})
		c.vs = append(c.vs, u)
	}
	return c
}

func drawStack(r *running, d dtype.DType) *drawn {
	c := drawUnary(r, d)
	v := c.vs[0]
	for range r.s.pick(3) {
		c.vs = append(c.vs, r.ref(func(u *value) bool { return u.d == d && slices.Equal(u.shape, v.shape) }))
	}
	c.ints = []int{r.s.pick(len(v.shape) + 1)}
	c.text = fmt.Sprintf(", axis %d", c.ints[0])
	return c
}

func (c *drawn) positive(rank int) int {
	if c.ints[0] < 0 {
		return c.ints[0] + rank
	}
	return c.ints[0]
}

// indexed makes indices, and reports whether they are still such when all operands are there.
func (c *drawn) indexed(v *value, extent int) *drawn {
	a := v.array()
	for i := range a.n() {
		if j := decode(dtype.Int64, a.elem(i)).z; j.CmpAbs(big.NewInt(int64(extent))) > 0 || j.Cmp(big.NewInt(int64(extent))) == 0 {
			return nil
		}
	}
	return c
}

func drawGather(r *running, d dtype.DType) *drawn {
	c := drawLines(r, d)
	if c == nil || c.vs[0].shape[c.positive(len(c.vs[0].shape))] == 0 {
		return nil
	}
	e := c.vs[0].shape[c.positive(len(c.vs[0].shape))]
	shape := of1(r.s, []int{3}, []int{}, []int{2, 2}, []int{0}, []int{1})
	at := r.index(e, shape)
	c.vs = append(c.vs, at)
	return c.indexed(at, e)
}

func drawGatherElements(r *running, d dtype.DType) *drawn {
	c := drawLines(r, d)
	if c == nil || size(c.vs[0].shape) == 0 {
		return nil
	}
	v := c.vs[0]
	axis := c.positive(len(v.shape))
	shape := slices.Clone(v.shape)
	for k := range shape {
		shape[k] = 1 + r.s.pick(shape[k])
	}
	shape[axis] = 1 + r.s.pick(4)
	at := r.index(v.shape[axis], shape)
	if !slices.Equal(at.shape, shape) {
		return nil
	}
	c.vs = append(c.vs, at)
	return c.indexed(at, v.shape[axis])
}

func drawScatterElements(r *running, d dtype.DType) *drawn {
	c := drawGatherElements(r, d)
	if c == nil {
		return nil
	}
	at := c.vs[1]
	u := r.ref(func(u *value) bool { return u.d == d && slices.Equal(u.shape, at.shape) })
	if u == nil {
		u = r.make(d, at.shape)
	}
	if !slices.Equal(u.shape, at.shape) {
		return nil
	}
	c.vs = append(c.vs, u)
	return c.indexed(at, c.vs[0].shape[c.positive(len(c.vs[0].shape))])
}

func drawScatterND(r *running, d dtype.DType) *drawn {
	c := drawLines(r, d)
	if c == nil || c.vs[0].shape[0] == 0 {
		return nil
	}
	v := c.vs[0]
	n := 1 + r.s.pick(3)
	at := r.index(v.shape[0], []int{n, 1})
	shape := append([]int{n}, v.shape[1:]...)
	u := r.ref(func(u *value) bool { return u.d == d && slices.Equal(u.shape, shape) })
	if u == nil {
		u = r.make(d, shape)
	}
	if !slices.Equal(u.shape, shape) {
		return nil
	}
	c.vs = append(c.vs, at, u)
	return c.indexed(at, v.shape[0])
}

func drawPad(r *running, d dtype.DType) *drawn {
	c := drawUnary(r, d)
	n := 1
	for _, e := range c.vs[0].shape {
		b := of1(r.s, 0, 1, 2, -1)
		b = max(b, -e)
		a := max(of1(r.s, 0, 1, -1, 2), -e-min(b, 0))
		if n *= e + a + b; n > 400 {
			return nil
		}
		c.ints, c.more = append(c.ints, b), append(c.more, a)
	}
	c.elem = r.element(d)
	c.text = fmt.Sprintf(", before %v, after %v, with %s", c.ints, c.more, show(d, c.elem))
	return c
}

func drawTile(r *running, d dtype.DType) *drawn {
	c := drawUnary(r, d)
	n := len(c.vs[0].at)
	for range c.vs[0].shape {
		c.ints = append(c.ints, of1(r.s, 1, 2, 1, 3, 0))
		if n *= c.ints[len(c.ints)-1]; n > 400 {
			return nil
		}
	}
	c.text = fmt.Sprintf(", repeats %v", c.ints)
	return c
}

func drawRepeat(r *running, d dtype.DType) *drawn {
	c := drawLines(r, d)
	if c == nil {
		return nil
	}
	v := c.vs[0]
	e := v.shape[c.positive(len(v.shape))]
	if e > 16 || len(v.at) > 130 {
		return nil
	}
	c.more = []int{r.s.pick(4)}
	if r.s.pick(2) == 1 && e > 0 {
		for range e - 1 {
			c.more = append(c.more, r.s.pick(4))
		}
	}
	c.text += fmt.Sprintf(", counts %v", c.more)
	return c
}

func drawRoll(r *running, d dtype.DType) *drawn {
	c := drawLines(r, d)
	if c == nil {
		return nil
	}
	c.more = []int{r.s.pick(9) - 4}
	c.text += fmt.Sprintf(", shift %d", c.more[0])
	return c
}

func drawTri(r *running, d dtype.DType) *drawn {
	v := r.subject(func(v *value) bool { return v.d == d && len(v.shape) > 1 })
	if len(v.shape) < 2 {
		return nil
	}
	k := r.s.pick(5) - 2
	return &drawn{call: call{more: []int{k}}, vs: []*value{v}, text: fmt.Sprintf(", %d", k)}
}

func drawCompress(r *running, d dtype.DType) *drawn {
	c := drawLines(r, d)
	if c == nil {
		return nil
	}
	e := c.vs[0].shape[c.positive(len(c.vs[0].shape))]
	mask := r.ref(func(u *value) bool { return u.d == dtype.Bool && len(u.shape) == 1 && u.shape[0] <= e })
	if mask == nil {
		mask = r.make(dtype.Bool, []int{e})
	}
	if len(mask.shape) != 1 || mask.shape[0] > e {
		return nil
	}
	c.vs = append(c.vs, mask)
	return c
}

func drawMatMul(r *running, d dtype.DType) *drawn {
	a := r.subject(func(v *value) bool { return v.d == d && len(v.shape) > 0 })
	if len(a.shape) == 0 {
		return nil
	}
	k := a.shape[len(a.shape)-1]
	inner := func(v *value) int {
		if len(v.shape) == 1 {
			return v.shape[0]
		}
		return v.shape[len(v.shape)-2]
	}
	fits := func(v *value) bool {
		if v.d != d || len(v.shape) == 0 || inner(v) != k {
			return false
		}
		s, ok := broadcast(a.shape[:max(len(a.shape)-2, 0)], v.shape[:max(len(v.shape)-2, 0)])
		return ok && size(s)*max(a.shape[max(len(a.shape)-2, 0)], 1)*v.shape[len(v.shape)-1] <= 400
	}
	b := r.ref(fits)
	if b == nil {
		b = r.make(d, []int{k, 1 + r.s.pick(5)})
	}
	if !fits(b) {
		return nil
	}
	return &drawn{vs: []*value{a, b}}
}

// definitions are plain: by coordinates, and exact numbers.
var definitions = map[string]func(d dtype.DType, c *call, in []array) *answer{
	"Where": func(d dtype.DType, _ *call, in []array) *answer {
		shape, _ := broadcast(in[1].shape, in[2].shape)
		shape, _ = broadcast(shape, in[0].shape)
		return moved(d, shape, func(c []int) []byte {
			if in[0].at(stretched(in[0].shape, c))[0] != 0 {
				return in[1].at(stretched(in[1].shape, c))
			}
			return in[2].at(stretched(in[2].shape, c))
		})
	},
	"Identity": func(d dtype.DType, _ *call, in []array) *answer { return &answer{array: in[0]} },
	"Concat": func(d dtype.DType, c *call, in []array) *answer {
		axis := positive(c.ints[0], len(in[0].shape))
		shape := slices.Clone(in[0].shape)
		for _, a := range in[1:] {
			shape[axis] += a.shape[axis]
		}
		return moved(d, shape, func(c []int) []byte {
			c = slices.Clone(c)
			for _, a := range in {
				if c[axis] < a.shape[axis] {
					return a.at(c)
				}
				c[axis] -= a.shape[axis]
			}
			panic("unreachable")
		})
	},
	"Stack": func(d dtype.DType, c *call, in []array) *answer {
		axis := c.ints[0]
		return moved(d, slices.Insert(slices.Clone(in[0].shape), axis, len(in)), func(c []int) []byte {
			return in[c[axis]].at(slices.Delete(slices.Clone(c), axis, axis+1))
		})
	},
	"Gather": gather, "Take": gather,
	"GatherElements": func(d dtype.DType, c *call, in []array) *answer {
		axis := positive(c.ints[0], len(in[0].shape))
		return moved(d, in[1].shape, func(c []int) []byte {
			to := slices.Clone(c)
			to[axis] = indexAt(in[1], c, in[0].shape[axis])
			return in[0].at(to)
		})
	},
	"ScatterElements": func(d dtype.DType, c *call, in []array) *answer {
		axis := positive(c.ints[0], len(in[0].shape))
		out := array{d, in[0].shape, slices.Clone(in[0].b)}
		for _, c := range coords(in[1].shape) {
			to := slices.Clone(c)
			to[axis] = indexAt(in[1], c, out.shape[axis])
			copy(out.at(to), in[2].at(c))
		}
		return &answer{array: out}
	},
	"ScatterND": func(d dtype.DType, c *call, in []array) *answer {
		out := array{d, in[0].shape, slices.Clone(in[0].b)}
		for _, c := range coords(in[2].shape) {
			to := slices.Clone(c)
			to[0] = indexAt(in[1], []int{c[0], 0}, out.shape[0])
			copy(out.at(to), in[2].at(c))
		}
		return &answer{array: out}
	},
	"Pad": func(d dtype.DType, c *call, in []array) *answer {
		shape := slices.Clone(in[0].shape)
		for k := range shape {
			shape[k] += c.ints[k] + c.more[k]
		}
		return moved(d, shape, func(at []int) []byte {
			at = slices.Clone(at)
			for k := range at {
				if at[k] -= c.ints[k]; at[k] < 0 || at[k] >= in[0].shape[k] {
					return c.elem
				}
			}
			return in[0].at(at)
		})
	},
	"Tile": func(d dtype.DType, c *call, in []array) *answer {
		shape := slices.Clone(in[0].shape)
		for k := range shape {
			shape[k] *= c.ints[k]
		}
		return moved(d, shape, func(at []int) []byte {
			at = slices.Clone(at)
			for k := range at {
				at[k] %= in[0].shape[k]
			}
			return in[0].at(at)
		})
	},
	"Repeat": func(d dtype.DType, c *call, in []array) *answer {
		axis := positive(c.ints[0], len(in[0].shape))
		var from []int
		for i := range in[0].shape[axis] {
			from = append(from, slices.Repeat([]int{i}, c.more[i%len(c.more)])...)
		}
		return along(d, in[0], axis, from)
	},
	"Roll": func(d dtype.DType, c *call, in []array) *answer {
		axis := positive(c.ints[0], len(in[0].shape))
		n := in[0].shape[axis]
		from := make([]int, n)
		for i := range n {
			from[((i+c.more[0])%n+n)%n] = i
		}
		return along(d, in[0], axis, from)
	},
	"Compress": func(d dtype.DType, c *call, in []array) *answer {
		var from []int
		for i, yes := range in[1].b {
			if yes != 0 {
				from = append(from, i)
			}
		}
		return along(d, in[0], positive(c.ints[0], len(in[0].shape)), from)
	},
	"Tril": func(d dtype.DType, c *call, in []array) *answer {
		return triangle(d, in[0], func(i, j int) bool { return j-i <= c.more[0] })
	},
	"Triu": func(d dtype.DType, c *call, in []array) *answer {
		return triangle(d, in[0], func(i, j int) bool { return j-i >= c.more[0] })
	},
	"NonZero": func(d dtype.DType, _ *call, in []array) *answer {
		var at [][]int
		for i, c := range coords(in[0].shape) {
			if !zero(d, in[0].elem(i)) {
				at = append(at, c)
			}
		}
		return moved(dtype.Int64, []int{len(in[0].shape), len(at)}, func(c []int) []byte { return unword(uint64(at[c[1]][c[0]]), 8) })
	},
	"All": func(d dtype.DType, c *call, in []array) *answer {
		return folded(dtype.Bool, in[0], c.ints, func(line [][]byte) ([]byte, bool, bool) {
			return truth(!slices.ContainsFunc(line, func(b []byte) bool { return zero(d, b) })), true, true
		})
	},
	"Any": func(d dtype.DType, c *call, in []array) *answer {
		return folded(dtype.Bool, in[0], c.ints, func(line [][]byte) ([]byte, bool, bool) {
			return truth(slices.ContainsFunc(line, func(b []byte) bool { return !zero(d, b) })), true, true
		})
	},
	"CountNonZero": func(d dtype.DType, c *call, in []array) *answer {
		return folded(dtype.Int64, in[0], c.ints, func(line [][]byte) ([]byte, bool, bool) {
			n := 0
			for _, b := range line {
				if !zero(d, b) {
					n++
				}
			}
			return unword(uint64(n), 8), true, true
		})
	},
	"ReduceMax": extreme(+1), "ReduceMin": extreme(-1), "ReduceSum": total, "MatMul": matmul,
	"ArgMax": argument(+1), "ArgMin": argument(-1),
	"Sort": func(d dtype.DType, c *call, in []array) *answer {
		return lined(d, in[0], c.ints[0], func(line [][]byte, i int) []byte { return line[ascending(d, line)[i]] })
	},
	"ArgSort": func(d dtype.DType, c *call, in []array) *answer {
		return lined(dtype.Int64, in[0], c.ints[0], func(line [][]byte, i int) []byte { return unword(uint64(ascending(d, line)[i]), 8) })
	},
	"Neg":        signed(func(neg bool) bool { return !neg }, func(z *big.Int) *big.Int { return z.Neg(z) }),
	"Abs":        signed(func(bool) bool { return false }, func(z *big.Int) *big.Int { return z.Abs(z) }),
	"BitwiseNot": each(func(d dtype.DType, x number) (number, bool) { return number{z: x.z.Not(x.z)}, true }),
	"Not":        each(func(d dtype.DType, x number) (number, bool) { return number{z: big.NewInt(1 - x.z.Int64())}, true }),
	"Square":     each(func(d dtype.DType, x number) (number, bool) { return times(d, x, x) }),
	"Sqrt":       each(func(d dtype.DType, x number) (number, bool) { return step(d, math.Sqrt(x.f)) }),
	"Floor":      whole(math.Floor), "Ceil": whole(math.Ceil), "Trunc": whole(math.Trunc), "Round": whole(math.RoundToEven),
	"Sign": each(func(d dtype.DType, x number) (number, bool) {
		switch {
		case x.z != nil && d.IsFixed():
			return number{z: new(big.Int).Lsh(big.NewInt(int64(x.z.Sign())), fraction(d))}, true
		case x.z != nil:
			return number{z: big.NewInt(int64(x.z.Sign()))}, true
		case x.f > 0:
			return number{f: 1}, true
		case x.f < 0:
			return number{f: -1}, true
		case x.f == 0:
			return number{}, true
		}
		return x, true
	}),
	"Relu": each(func(d dtype.DType, x number) (number, bool) {
		if x.z != nil && x.z.Sign() < 0 {
			x.z.SetInt64(0)
		} else if x.z == nil && x.f <= 0 {
			x.f = 0
		}
		return x, true
	}),
	"IsNaN": func(d dtype.DType, _ *call, in []array) *answer {
		return moved(dtype.Bool, in[0].shape, func(c []int) []byte { x := decode(d, in[0].at(c)); return truth(x.f != x.f) })
	},
	"Add": both(func(d dtype.DType, x, y number) (number, bool) {
		if x.z != nil {
			return number{z: x.z.Add(x.z, y.z)}, true
		}
		return step(d, x.f+y.f)
	}),
	"Sub": both(func(d dtype.DType, x, y number) (number, bool) {
		if x.z != nil {
			return number{z: x.z.Sub(x.z, y.z)}, true
		}
		return step(d, x.f-y.f)
	}),
	"Mul": both(times),
	"Div": both(func(d dtype.DType, x, y number) (number, bool) {
		switch {
		case x.z == nil:
			return step(d, x.f/y.f)
		case y.z.Sign() == 0:
			return x, false
		case d.IsFixed():
			x.z.Lsh(x.z, fraction(d))
			q, m := new(big.Int).QuoRem(x.z, y.z, new(big.Int))
			m.Lsh(m.Abs(m), 1)
			if c := m.CmpAbs(y.z); c > 0 || c == 0 && q.Bit(0) == 1 {
				q.Add(q, big.NewInt(int64(x.z.Sign()*y.z.Sign())))
			}
			return number{z: q}, true
		}
		return number{z: x.z.Quo(x.z, y.z)}, true
	}),
	"Max": both(func(d dtype.DType, x, y number) (number, bool) {
		if x.z != nil {
			if x.z.Cmp(y.z) < 0 {
				return y, true
			}
			return x, true
		}
		if x.f != x.f || y.f != y.f {
			return number{f: math.NaN()}, true
		}
		return number{f: math.Max(x.f, y.f)}, true
	}),
	"Min": both(func(d dtype.DType, x, y number) (number, bool) {
		if x.z != nil {
			if x.z.Cmp(y.z) > 0 {
				return y, true
			}
			return x, true
		}
		if x.f != x.f || y.f != y.f {
			return number{f: math.NaN()}, true
		}
		return number{f: math.Min(x.f, y.f)}, true
	}),
	"BitwiseAnd": both(func(d dtype.DType, x, y number) (number, bool) { return number{z: x.z.And(x.z, y.z)}, true }),
	"BitwiseOr":  both(func(d dtype.DType, x, y number) (number, bool) { return number{z: x.z.Or(x.z, y.z)}, true }),
	"BitwiseXor": both(func(d dtype.DType, x, y number) (number, bool) { return number{z: x.z.Xor(x.z, y.z)}, true }),
	"And":        both(func(d dtype.DType, x, y number) (number, bool) { return number{z: x.z.And(x.z, y.z)}, true }),
	"Or":         both(func(d dtype.DType, x, y number) (number, bool) { return number{z: x.z.Or(x.z, y.z)}, true }),
	"Xor":        both(func(d dtype.DType, x, y number) (number, bool) { return number{z: x.z.Xor(x.z, y.z)}, true }),
	"Equal":      compared(func(x, y number) bool { return order(x, y) == 0 }), "NotEqual": compared(func(x, y number) bool { return order(x, y) != 0 }),
	"Less": compared(func(x, y number) bool { return order(x, y) == -1 }), "GreaterOrEqual": compared(func(x, y number) bool { o := order(x, y); return o == 0 || o == 1 }),
}
