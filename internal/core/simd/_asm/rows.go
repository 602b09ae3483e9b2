package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// kernel describes a row. Its parameters are slices, the first of which is written, and numbers.
//
// With fold n the first parameter is an array of n accumulators instead. Element i of the others goes into accumulator i mod n, in order. The
// fold takes as many whole groups of n elements as there are.
//
// With join, too, there are lines. Line i is the n elements of the second parameter from i·step on. Its accumulators begin at start. In the end
// accumulator j becomes join of j and j+h for h = n/2, n/4 … 1, and the first is element i of the first parameter.
type kernel struct {
	table   string // the variable of package simd that lists the kernel
	field   string // of the struct in that table; "" where the table holds functions
	form    string // the type of that struct
	args    []arg
	fold    int // 0 for a row
	join    func(m machine, a, b value) value
	start   func(m machine) value
	down    bool         // sums or the best of columns, see columns.go
	find    bool         // the kernel finds the place of the best element of each line
	inner   kind         // the widest type in the program, if wider than the parameters
	only    string       // the only level of amd64 that has the kernel, if there is one
	same    []kernelName // functions of other element types with the same instructions
	notNEON string       // the reason, where NEON has no form of it
	swap    string       // the table with the row for exchanged operands, of the same type; the kernel has no body then
	body    func(m machine)
	usual   func(m machine) // the fast path: it computes the same as body, where the program has no doubts; nil if there is none

	pairs    bool            // the fast path is of float32 alone, so its vectors have twice as many lanes as body's
	masked   bool            // many elements are −∞, as in masks: steps in doubt have an unrolled loop of their own
	beside   func(m machine) // stores other results, a whole register at once, which don't wait for the operands that the body waits for
	streamed int             // the parameter that streams: the first, or a result of beside
	still    int             // the parameter that is an array of lanes instead of a row, any one of which an element may meet; 0 if there is none
	ahead    int             // the parameter that is prefetched beyond the part in use; 0 if there is none
}

// stepLanes is the most elements in a step of a row of float32 that is computed in float64: four vectors of eight.
const stepLanes = 32

type kernelName struct{ field, from, to string }

type arg struct {
	name   string
	kind   kind
	number bool
}

// function returns the name of the function for a field and an instruction set.
func (k *kernel) function(field, level string) string {
	return strings.ToLower(k.table[:1]) + k.table[1:] + field + level
}

func (k *kernel) lines() bool { return k.join != nil && !k.down || k.find }

func (k *kernel) signature() string {
	var s []string
	for _, a := range k.args {
		t := a.kind.golang()
		switch {
		case k.fold > 0 && k.join == nil && len(s) == 0:
			t = fmt.Sprintf("*[%d]%s", k.fold, t)
		case k.still > 0 && len(s) == k.still:
			t = fmt.Sprintf("*[%d]%s", stepLanes, t)
		case !a.number:
			t = "[]" + t
		}
		s = append(s, a.name+" "+t)
	}
	if k.lines() {
		s = append(s, "step, n int")
	}
	if k.down {
		s = append(s, "w int")
	}
	if k.form == "" && k.streams() {
		s = append(s, "stream bool")
	}
	return "func(" + strings.Join(s, ", ") + ")"
}

// lanes returns the number of elements of the widest type in a register.
func (k *kernel) lanes(bytes int) int {
	widest, args := k.inner.size(), k.args
	if k.down {
		args = args[:2]
	}
	for _, a := range args {
		widest = max(widest, a.kind.size())
	}
	return bytes / widest
}

func one(dst, a kind) []arg { return []arg{{"dst", dst, false}, {"a", a, false}} }
func two(dst, a kind) []arg { return append(one(dst, a), arg{"b", a, false}) }

// A list collects kernels.
type list []kernel

// row1 and row2 add a kernel for each kind, which stores the result of f.
func (l *list) row1(table string, f func(m machine, a value) value, kinds ...kind) {
	for _, k := range kinds {
		l.add(kernel{table: table, form: "Rows1", field: k.String(), args: one(k, k), body: func(m machine) { m.store(0, f(m, m.load(1))) }})
	}
}

func (l *list) row2(table string, f func(m machine, a, b value) value, kinds ...kind) {
	for _, k := range kinds {
		l.add(kernel{table: table, form: "Rows2", field: k.String(), args: two(k, k), body: func(m machine) { m.store(0, f(m, m.load(1), m.load(2))) }})
	}
}

func (l *list) add(k kernel) { *l = append(*l, k) }

// function adds the row of a function of float32, and the row of the same function of a product and a sum, with three operands. The NaNs of
// the sum needn't be canonical, as the function's are. In float64 the second row is for AVX-512 alone: with AVX2 fewer vectors take turns
// then, and nothing is gained.
func (l *list) function(k kernel) {
	k.form, k.field, k.args = "Rows1", "F32", one(F32, F32)
	l.add(k)
	if k.inner == F64 {
		k.only = "AVX512"
	}
	k.field, k.args = "MulAddF32", append(two(F32, F32), arg{"c", F32, false})
	body, usual := k.body, k.usual
	k.body = func(m machine) { body(summed{m}) }
	if usual != nil {
		k.usual = func(m machine) { usual(summed{m}) }
	}
	l.add(k)
}

// summed is a machine whose first operand is a·b + c of the three operands, with the product and the sum rounded.
type summed struct{ machine }

func (m summed) load(int) value {
	return m.add(m.mul(m.machine.load(1), m.machine.load(2)), m.machine.load(3))
}

// unsigned makes the kernels of a table for signed integers serve the unsigned ones too.
func (l list) unsigned(table string) {
	for i := range l {
		if k := l[i].args[0].kind; l[i].table == table && k.signed() {
			l[i].same = []kernelName{{(k - I8 + U8).String(), "[]" + k.golang(), "[]" + (k - I8 + U8).golang()}}
		}
	}
}

// only512 restricts kernels of a table to AVX-512, where AVX2 lacks instructions for them.
func (l list) only512(table string, kinds ...kind) {
	for i := range l {
		if l[i].table == table && slices.Contains(kinds, l[i].args[0].kind) {
			l[i].only = "AVX512"
		}
	}
}

func arithmetic() (l list) {
	l.row2("Add", func(m machine, a, b value) value { return canon(m, m.add(a, b)) }, I8, I16, I32, I64, F32, F64)
	l.row2("Sub", func(m machine, a, b value) value { return canon(m, m.sub(a, b)) }, I8, I16, I32, I64, F32, F64)
	l.row2("Mul", func(m machine, a, b value) value { return canon(m, m.mul(a, b)) }, I16, I32, I64, F32, F64)
	l.row2("Div", func(m machine, a, b value) value { return canon(m, m.div(a, b)) }, F32, F64)
	l.unsigned("Add")
	l.unsigned("Sub")
	l.unsigned("Mul")
	l.only512("Mul", I64)
	for i := range l {
		if l[i].table == "Mul" && l[i].args[0].kind == I64 {
			l[i].notNEON = "it has no product of 64-bit integers, and a plain loop has one in an instruction"
		}
	}

	for _, k := range []kind{F32, F64} {
		l.add(kernel{table: "MulAdd", form: "Rows3", field: k.String(), args: append(two(k, k), arg{"c", k, false}), body: func(m machine) {
			m.store(0, canon(m, m.add(m.mul(m.load(1), m.load(2)), m.load(3))))
		}})
	}

	l.row2("Max", largest, I8, I16, I32, I64, U8, U16, U32, U64, F32, F64)
	l.row2("Min", smallest, I8, I16, I32, I64, U8, U16, U32, U64, F32, F64)
	l.only512("Max", I64, U64)
	l.only512("Min", I64, U64)
	for _, k := range []kind{F32, F64} {
		number := append(one(k, k), arg{"p", k, true})
		l.add(kernel{table: "SubNumber" + k.String()[1:], args: number, body: func(m machine) { m.store(0, canon(m, m.sub(m.load(1), m.load(2)))) }})
		l.add(kernel{table: "DivNumber" + k.String()[1:], args: number, body: func(m machine) { m.store(0, canon(m, m.div(m.load(1), m.load(2)))) }})
	}
	for _, k := range []kind{F32, F64} {
		l.add(kernel{table: "Clip", form: "RowsP", field: k.String(), args: append(one(k, k), arg{"p", k, true}, arg{"q", k, true}), body: func(m machine) {
			m.store(0, smallest(m, largest(m, m.load(1), m.load(2)), m.load(3)))
		}})
	}

	for _, k := range []kind{F32, F64} { // activations by formulas, in float64 and rounded once, except LeakyRelu
		narrow := func(m machine, v value) value {
			if k == F32 {
				v = m.convert(F32, v)
			}
			return v
		}
		l.add(kernel{table: "HardSwish", form: "Rows1", field: k.String(), args: one(k, k), inner: F64, body: func(m machine) {
			a := m.load(1)
			v := wide(m, a)
			y := narrow(m, m.div(m.mul(v, m.add(v, f64(m, 3))), f64(m, 6)))
			y = m.sel(m.cmp(ge, a, number(m, k, 3)), a, y)
			y = m.sel(m.cmp(le, a, number(m, k, -3)), number(m, k, math.Copysign(0, -1)), y)
			m.store(0, canon(m, y))
		}})
		numbers := append(one(k, k), arg{"p", k, true}, arg{"q", k, true})
		l.add(kernel{table: "HardSigmoid", form: "RowsP", field: k.String(), args: numbers, inner: F64, body: func(m machine) {
			v := m.add(m.mul(wide(m, m.load(2)), wide(m, m.load(1))), wide(m, m.load(3)))
			m.store(0, canon(m, narrow(m, largest(m, f64(m, 0), smallest(m, f64(m, 1), v)))))
		}})
		l.add(kernel{table: "LeakyRelu", form: "RowsP", field: k.String(), args: numbers, body: func(m machine) {
			a := m.load(1)
			m.store(0, canon(m, m.sel(m.cmp(lt, a, number(m, k, 0)), m.mul(a, m.load(2)), a)))
		}})
	}

	affine := func(m machine) value { // (a − mean) · factor + bias in float64
		return m.add(m.mul(m.sub(wide(m, m.load(1)), m.load(2)), m.load(3)), m.load(4))
	}
	numbers := []arg{{"mean", F64, true}, {"factor", F64, true}, {"bias", F64, true}}
	for _, k := range []kind{F32, F64} { // rounded once
		l.add(kernel{table: "Affine" + k.String()[1:], args: append(one(k, k), numbers...), body: func(m machine) {
			v := affine(m)
			if k == F32 {
				v = m.convert(F32, v)
			}
			m.store(0, canon(m, v))
		}})
	}
	rows := []arg{{"mean", F64, false}, {"factor", F64, false}, {"bias", F64, false}} // by element
	for _, k := range []kind{F32, F64} {
		l.add(kernel{table: "AffineRow" + k.String()[1:], args: append(one(k, k), rows...), body: func(m machine) {
			v := affine(m)
			if k == F32 {
				v = m.convert(F32, v)
			}
			m.store(0, canon(m, v))
		}})
	}
	for _, k := range []kind{F32, F64} { // a normalization: (a − mean) · factor · scale + bias, rounded once
		for _, by := range []struct {
			table  string
			number bool
		}{{"Normalize", true}, {"NormalizeRow", false}} {
			args := append(one(k, k), arg{"mean", F64, true}, arg{"factor", F64, true}, arg{"scale", F64, by.number}, arg{"bias", F64, by.number})
			l.add(kernel{table: by.table + k.String()[1:], args: args, body: func(m machine) {
				v := m.mul(m.sub(wide(m, m.load(1)), m.load(2)), m.load(3))
				v = m.add(m.mul(v, m.load(4)), m.load(5))
				if k == F32 {
					v = m.convert(F32, v)
				}
				m.store(0, canon(m, v))
			}})
		}
	}
	l.add(kernel{table: "AffineOdd", args: append(one(F32, F32), numbers...), body: func(m machine) { m.store(0, toOdd(m, affine(m))) }}) // to odd

	for _, terms := range meanTerms { // in the order of package reduce
		args := []arg{{"dst", F32, false}}
		for i := range terms {
			args = append(args, arg{string(rune('a' + i)), F32, false})
		}
		l.add(kernel{table: fmt.Sprintf("Mean%d", terms), args: append(args, arg{"n", F64, true}), body: func(m machine) {
			var lane [16]value
			for i := range terms {
				lane[i] = wide(m, m.load(1+i))
			}
			for h := len(lane) / 2; h > 0; h /= 2 {
				for i := h; i < min(terms, 2*h); i++ {
					lane[i-h] = m.add(lane[i-h], lane[i])
				}
			}
			m.store(0, canon(m, m.convert(F32, m.div(lane[0], m.load(1+terms)))))
		}})
	}

	return l
}

func signs() (l list) {
	l.row1("Abs", func(m machine, a value) value {
		if a.kind.signed() {
			return m.max(a, m.sub(m.constant(a.kind, 0), a))
		}
		return m.and(a, m.constant(a.kind, a.kind.top()-1))
	}, I8, I16, I32, I64, F32, F64)
	l.only512("Abs", I64)
	l.row1("Neg", func(m machine, a value) value {
		if a.kind.signed() {
			return m.sub(m.constant(a.kind, 0), a)
		}
		return m.xor(a, m.constant(a.kind, a.kind.top()))
	}, I8, I16, I32, I64, F32, F64)
	l.row1("Sqrt", func(m machine, a value) value { return canon(m, m.sqrt(a)) }, F32, F64)
	l.row1("Reciprocal", func(m machine, a value) value { return canon(m, m.div(number(m, a.kind, 1), a)) }, F32, F64)
	l.row1("Square", func(m machine, a value) value { return canon(m, m.mul(a, a)) }, F32, F64)
	for how, table := range []string{toEven: "Round", down: "Floor", up: "Ceil", toZero: "Trunc"} {
		l.row1(table, func(m machine, a value) value { return canon(m, m.round(a, rounding(how))) }, F32, F64)
	}
	relu := func(m machine, a value) value {
		zero := m.constant(a.kind, 0)
		if a.kind.signed() {
			return m.max(a, zero)
		}
		return canon(m, m.sel(m.cmp(le, a, zero), zero, a))
	}
	l.row1("Relu", relu, I8, I16, I32, I64, F64)
	l.function(kernel{table: "Relu", body: func(m machine) { m.store(0, relu(m, m.load(1))) }})
	l.only512("Relu", I64)

	return l
}

func comparisons() (l list) {
	for p, table := range []string{eq: "Equal", lt: "Less", le: "LessOrEqual", ne: "NotEqual"} {
		for _, k := range []kind{I32, I64, U8, F32, F64} {
			l.add(kernel{table: table, form: "RowsCmp", field: k.String(), args: two(B8, k), body: func(m machine) {
				m.store(0, m.bools(m.cmp(pred(p), m.load(1), m.load(2))))
			}})
		}
	}
	for _, k := range []kind{I32, I64, U8, F32, F64} {
		l.add(kernel{table: "Greater", form: "RowsCmp", field: k.String(), args: two(B8, k), swap: "Less"})
		l.add(kernel{table: "GreaterOrEqual", form: "RowsCmp", field: k.String(), args: two(B8, k), swap: "LessOrEqual"})
	}
	return l
}

func conversions() (l list) {
	for _, k := range []kind{U8, U16, U32, U64} {
		args := []arg{{"dst", k, false}, {"mask", B8, false}, {"a", k, false}, {"b", k, false}}
		l.add(kernel{table: "Where", form: "RowsWhere", field: k.String(), args: args, body: func(m machine) {
			m.store(0, m.sel(m.mask(m.load(1), k), m.load(2), m.load(3)))
		}})
	}

	l.add(kernel{table: "Canon32", args: one(F32, F32)[:1], body: func(m machine) { m.store(0, canon(m, m.load(0))) }})
	l.add(kernel{table: "Canon64", args: one(F64, F64)[:1], body: func(m machine) { m.store(0, canon(m, m.load(0))) }})
	l.add(kernel{table: "WidenF32", args: one(F64, F32), body: func(m machine) { m.store(0, canon(m, m.convert(F64, m.load(1)))) }})
	l.add(kernel{table: "NarrowF64", args: one(F32, F64), body: func(m machine) { m.store(0, canon(m, m.convert(F32, m.load(1)))) }})
	l.add(kernel{table: "OddF64", args: one(F32, F64), body: func(m machine) { m.store(0, toOdd(m, m.load(1))) }})
	l.add(kernel{table: "HalvesU64", args: []arg{{"dst", U32, false}, {"a", U64, false}}, body: func(m machine) { m.store(0, m.convert(U32, m.load(1))) }})
	l.add(kernel{table: "WidenBF16", args: one(F32, U16), body: func(m machine) {
		m.store(0, m.as(F32, m.shl(m.convert(U32, m.load(1)), 16)))
	}})
	l.add(kernel{table: "NarrowBF16", args: one(U16, F32), body: func(m machine) {
		a := m.load(1)
		b := m.as(U32, a)
		up := m.add(m.constant(U32, 0x7fff), m.and(m.shr(b, 16), m.constant(U32, 1))) // to nearest, even on a tie
		m.store(0, m.upper(m.sum(m.cmp(eq, a, a), b, up, m.constant(U32, 0x7fc00000))))
	}})
	l.add(kernel{table: "WidenF16", args: one(F32, U16), body: func(m machine) { m.store(0, m.whole(m.load(1))) }})
	l.add(kernel{table: "NarrowF16", args: one(U16, F32), body: func(m machine) { m.store(0, m.half(canon(m, m.load(1)))) }})
	return l
}

// sums are the reductions.
func sums() (l list) {
	for _, k := range []kind{F32, F64} {
		lane, x := arg{"lane", F64, false}, arg{"x", k, false}
		l.add(kernel{table: "SumLanes" + k.String()[1:], fold: 32, args: []arg{lane, x}, body: func(m machine) {
			m.store(0, m.accumulate(m.load(0), wide(m, m.load(1))))
		}})
		l.add(kernel{table: "SquareLanes" + k.String()[1:], fold: 32, args: []arg{lane, x, {"shift", F64, true}}, body: func(m machine) {
			d := m.sub(wide(m, m.load(1)), m.load(2))
			m.store(0, m.fma(d, d, m.load(0)))
		}})
		down := func(table string, dst kind, from float64, join, body func(m machine, a, b value) value) {
			l.add(kernel{table: table + k.String()[1:], fold: 1, down: true, args: []arg{{"dst", dst, false}, x, {"rows", I64, false}, {"ends", I64, false}},
				start: func(m machine) value { return number(m, dst, from) }, join: join,
				body: func(m machine) {
					a := m.load(1)
					if dst == F64 {
						a = wide(m, a)
					}
					m.store(0, body(m, m.load(0), a))
				}})
		}
		down("SumColumns", F64, math.Copysign(0, -1), machine.add, machine.accumulate)
		largest := func(m machine, a, b value) value { return m.peak(a, b, true) }
		smallest := func(m machine, a, b value) value { return m.peak(a, b, false) }
		down("MaxColumns", k, math.Inf(-1), largest, largest)
		down("MinColumns", k, math.Inf(1), smallest, smallest)
	}
	positions(&l)
	return l
}

// positions keep the key and the place of the best element so far, for a row of outputs: the first of equals, the first NaN, −0 < +0. A key
// has the bits of a number, changed so that keys order like signed integers. The key of NaN is the largest.
func positions(l *list) {
	for _, k := range []kind{F32, F64} {
		for _, table := range []string{"ArgMaxRow", "ArgMinRow"} {
			i := k - F32 + I32
			args := []arg{{"key", i, false}, {"at", i, false}, {"a", k, false}, {"i", i, true}}
			l.add(kernel{table: table + k.String()[1:], args: args, body: func(m machine) {
				a := m.load(2)
				if table == "ArgMinRow" {
					a = m.xor(a, m.constant(k, k.top()))
				}
				key := m.as(i, canon(m, a))
				key = m.sel(m.cmp(lt, key, m.constant(i, 0)), m.xor(key, m.constant(i, k.top()-1)), key)
				better := m.cmp(gt, key, m.load(0))
				at := m.sel(better, m.load(3), m.load(1))
				m.store(0, m.sel(better, key, m.load(0)))
				m.store(1, at)
			}})
		}
	}
}

// toOdd rounds to odd: to that one of the two nearest float32 whose last bit is set. Rounding the result to a shorter float then acts like a
// single rounding.
func toOdd(m machine, a value) value {
	size := m.constant(U64, math.MaxInt64)
	f := m.convert(F32, a)
	is, to := m.and(m.as(U64, a), size), m.and(m.as(U64, m.convert(F64, f)), size)
	less := m.sub(is, to)
	past, off := m.convert(U32, m.shr(less, 63)), m.convert(U32, m.shr(m.or(less, m.sub(to, is)), 63))
	return m.as(F32, m.or(m.sub(m.as(U32, f), past), off))
}

// wide returns a float as a float64.
func wide(m machine, v value) value {
	if v.kind == F64 {
		return v
	}
	return m.convert(F64, v)
}

// meanTerms lists the numbers of rows that have a kernel for their mean: the elements of windows with sides up to 3.
var meanTerms = []int{2, 3, 4, 6, 9}

// largest and smallest are max and min with the rule for NaN.
func largest(m machine, a, b value) value  { return ruled(m, m.max(a, b), a, b) }
func smallest(m machine, a, b value) value { return ruled(m, m.min(a, b), a, b) }

func ruled(m machine, v, a, b value) value {
	if !v.kind.float() {
		return v
	}
	return m.sel(m.cmp(unordered, a, b), nan(m, v.kind), v)
}
