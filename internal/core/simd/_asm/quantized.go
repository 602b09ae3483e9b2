package main

// quantized are the rows between numbers and their codes in bytes, which package cast defines. The rows for AVX2 serve AVX-512
// too.
func quantized() (l list) {
	for _, k := range []kind{U8, I8} {
		lo, hi := 0.0, 255.0
		if k == I8 {
			lo, hi = -128, 127
		}
		// saturated returns whole numbers as bytes, and 0 for NaN.
		saturated := func(m machine, v value) value {
			if k == I8 {
				v = m.sel(m.cmp(unordered, v, v), number(m, v.kind, 0), v)
			}
			v = m.limit(m.limit(v, number(m, v.kind, lo), true), number(m, v.kind, hi), false)
			return m.convert(k, m.convert(I32, v))
		}
		l.add(kernel{table: "Quantize" + k.String(), only: "AVX2", args: []arg{{"dst", k, false}, {"a", F32, false}, {"scale", F32, false}, {"zero", F32, false}}, body: func(m machine) {
			m.store(0, saturated(m, m.add(m.round(m.div(m.load(1), m.load(2)), toEven), m.load(3))))
		}})
		l.add(kernel{table: "Dequantize" + k.String(), only: "AVX2", args: []arg{{"dst", F32, false}, {"a", k, false}, {"scale", F32, false}, {"zero", F32, false}}, body: func(m machine) {
			v := m.convert(F32, m.convert(I32, m.load(1)))
			m.store(0, canon(m, m.mul(m.sub(v, m.load(3)), m.load(2))))
		}})
		l.add(kernel{table: "Float" + k.String(), only: "AVX2", args: []arg{{"dst", F32, false}, {"a", k, false}}, body: func(m machine) {
			m.store(0, m.convert(F32, m.convert(I32, m.load(1))))
		}})
		l.add(kernel{table: "Requantize" + k.String(), only: "AVX2", args: []arg{{"dst", k, false}, {"sums", I32, false}, {"factor", F64, false}, {"plus", F64, false}, {"scale", F64, true}, {"zero", F64, true}}, body: func(m machine) {
			v := m.mul(m.add(m.convert(F64, m.load(1)), m.load(3)), m.load(2))
			m.store(0, saturated(m, m.add(m.round(m.div(v, m.load(4)), toEven), m.load(5))))
		}})
		l.add(kernel{table: "RequantizeRow" + k.String(), only: "AVX2", args: []arg{{"dst", k, false}, {"sums", I32, false}, {"factor", F64, true}, {"plus", F64, true}, {"scale", F64, true}, {"zero", F64, true}}, body: func(m machine) {
			v := m.mul(m.add(m.convert(F64, m.load(1)), m.load(3)), m.load(2))
			m.store(0, saturated(m, m.add(m.round(m.div(v, m.load(4)), toEven), m.load(5))))
		}})
	}
	return l
}
