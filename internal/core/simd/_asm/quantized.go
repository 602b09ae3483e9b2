package main

// quantized are the rows between numbers and their codes of 8 and 16 bits, which package cast defines. The rows for AVX2 serve AVX-512
// too.
func quantized() (l list) {
	for _, k := range []kind{U8, I8, U16, I16} {
		lo, hi := 0.0, 255.0
		switch k {
		case I8:
			lo, hi = -128, 127
		case U16:
			hi = 65535
		case I16:
			lo, hi = -32768, 32767
		}
		// saturated returns whole numbers as codes, and 0 for NaN.
		saturated := func(m machine, v value) value {
			if lo < 0 {
				v = m.sel(m.cmp(unordered, v, v), number(m, v.kind, 0), v)
			}
			v = m.limit(m.limit(v, number(m, v.kind, lo), true), number(m, v.kind, hi), false)
			return m.convert(k, m.convert(I32, v))
		}
		for _, one := range []bool{false, true} { // scale and zero point, which all elements of a row have
			row := ""
			if one {
				row = "Row"
			}
			l.add(kernel{table: "Quantize" + row + k.String(), only: "AVX2", args: []arg{{"dst", k, false}, {"a", F32, false}, {"scale", F32, one}, {"zero", F32, one}}, body: func(m machine) {
				m.store(0, saturated(m, m.add(m.round(m.div(m.load(1), m.load(2)), toEven), m.load(3))))
			}})
			l.add(kernel{table: "Dequantize" + row + k.String(), only: "AVX2", args: []arg{{"dst", F32, false}, {"a", k, false}, {"scale", F32, one}, {"zero", F32, one}}, body: func(m machine) {
				v := m.convert(F32, m.convert(I32, m.load(1)))
				m.store(0, canon(m, m.mul(m.sub(v, m.load(3)), m.load(2))))
			}})
		}
		l.add(kernel{table: "Float" + k.String(), only: "AVX2", args: []arg{{"dst", F32, false}, {"a", k, false}}, body: func(m machine) {
			m.store(0, m.convert(F32, m.convert(I32, m.load(1))))
		}})
		if k.size() > 1 {
			continue
		}
		// near stores a whole number next to a quotient, and whether the quotient is so far from it that another one may be the right one.
		near := func(m machine, q, zero, tie value) {
			r := m.round(q, toEven)
			m.store(1, m.as(U8, m.bools(m.cmp(gt, m.magnitude(m.sub(q, r), number(m, F32, 1)), tie))))
			r = m.limit(m.limit(m.add(r, zero), number(m, F32, lo), true), number(m, F32, hi), false)
			m.store(0, m.convert(k, m.convert(I32, r)))
		}
		l.add(kernel{table: "RequantizeNear" + k.String(), only: "AVX2", args: []arg{{"dst", k, false}, {"doubts", U8, false}, {"sums", I32, false}, {"plus", I32, false}, {"factor", F32, false}, {"zero", F32, true}, {"tie", F32, true}}, body: func(m machine) {
			near(m, m.mul(m.convert(F32, m.add(m.load(2), m.load(3))), m.load(4)), m.load(5), m.load(6))
		}})
		l.add(kernel{table: "SumNear" + k.String(), only: "AVX2", args: []arg{{"dst", k, false}, {"doubts", U8, false}, {"a", k, false}, {"b", k, false}, {"byA", F32, true}, {"byB", F32, true}, {"plus", F32, true}, {"zero", F32, true}, {"tie", F32, true}}, body: func(m machine) {
			of := func(i int) value { return m.convert(F32, m.convert(I32, m.load(i))) }
			near(m, m.fma(of(2), m.load(4), m.fma(of(3), m.load(5), m.load(6))), m.load(7), m.load(8))
		}})
		l.add(kernel{table: "Requantize" + k.String(), only: "AVX2", args: []arg{{"dst", k, false}, {"sums", I32, false}, {"factor", F64, false}, {"plus", F64, false}, {"scale", F64, true}, {"zero", F64, true}}, body: func(m machine) {
			v := m.mul(m.add(m.convert(F64, m.load(1)), m.load(3)), m.load(2))
			m.store(0, saturated(m, m.add(m.round(m.div(v, m.load(4)), toEven), m.load(5))))
		}})
	}
	return l
}
