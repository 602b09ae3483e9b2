package float

import "math"

// FMABlock32 computes a block of a matrix product, m by n by k, in one chain of fused steps per element: for i < m and j < n
//
//	c[i*ldc+j] = acc, where acc = +0, then acc = FMA32(a[i*aRow+l*aCol], b[l*ldb+j], acc) for each l < k in order
//
// so that k = 0 gives +0. Columns of b and c are contiguous; the strides of a, and ldb and ldc, are any from 0 on that keep the indices in
// range, or it panics. c must not overlap a or b. NaNs are not made canonical.
//
// Four chains stay in registers: four columns of a row, or four rows of a column where fewer than four columns are left. The speed in
// million steps a second, for any m and n from 4 up, beside that with rows of accumulators in the first-level cache:
//
//	             chains  rows
//	amd64          1510  1440
//	WebAssembly     720   555
//
// A tile of 2 by 4 is no faster.
func FMABlock32(c []float32, ldc int, a []float32, aRow, aCol int, b []float32, ldb int, m, n, k int) {
	if k <= 0 {
		for i := range m {
			clear(c[i*ldc : i*ldc+n])
		}
		return
	}
	full := n &^ 3
	for i := range m {
		for j := 0; j < full; j += 4 {
			fmaRowOf4(c[i*ldc+j:i*ldc+j+4], a[i*aRow:], aCol, b[j:], ldb, k)
		}
	}
	for j := full; j < n; j++ {
		i := 0
		for ; i+4 <= m; i += 4 {
			c0, c1, c2, c3 := fmaColumnOf4(a[i*aRow:], aRow, aCol, b[j:], ldb, k)
			c[i*ldc+j], c[(i+1)*ldc+j], c[(i+2)*ldc+j], c[(i+3)*ldc+j] = c0, c1, c2, c3
		}
		for ; i < m; i++ {
			acc := float32(0)
			for l := range k {
				acc = FMA32(a[i*aRow+l*aCol], b[l*ldb+j], acc)
			}
			c[i*ldc+j] = acc
		}
	}
}

// fmaRowOf4 computes four columns of a row of FMABlock32.
func fmaRowOf4(c []float32, a []float32, aCol int, b []float32, ldb, k int) {
	var c0, c1, c2, c3 float32
	ia, ib := 0, 0
	for ; k > 0; k-- {
		bs := b[ib : ib+4 : ib+4]
		x := float64(a[ia])
		p0, p1, p2, p3 := float64(x*float64(bs[0])), float64(x*float64(bs[1])), float64(x*float64(bs[2])), float64(x*float64(bs[3]))
		d0, d1, d2, d3 := float64(c0), float64(c1), float64(c2), float64(c3)
		s0, s1, s2, s3 := p0+d0, p1+d1, p2+d2, p3+d3
		if anyLowZero(s0, s1, s2, s3) && !(exactSum(p0, d0, s0) && exactSum(p1, d1, s1) && exactSum(p2, d2, s2) && exactSum(p3, d3, s3)) {
			s0, s1, s2, s3 = roundOdd4(p0, p1, p2, p3, d0, d1, d2, d3)
		}
		c0, c1, c2, c3 = float32(s0), float32(s1), float32(s2), float32(s3)
		ia += aCol
		ib += ldb
	}
	c = c[:4]
	c[0], c[1], c[2], c[3] = c0, c1, c2, c3
}

// fmaColumnOf4 computes four rows of a column of FMABlock32.
func fmaColumnOf4(a []float32, aRow, aCol int, b []float32, ldb, k int) (c0, c1, c2, c3 float32) {
	ia, ib := 0, 0
	for ; k > 0; k-- {
		x := float64(b[ib])
		p0, p1, p2, p3 := float64(x*float64(a[ia])), float64(x*float64(a[ia+aRow])), float64(x*float64(a[ia+2*aRow])), float64(x*float64(a[ia+3*aRow]))
		d0, d1, d2, d3 := float64(c0), float64(c1), float64(c2), float64(c3)
		s0, s1, s2, s3 := p0+d0, p1+d1, p2+d2, p3+d3
		if anyLowZero(s0, s1, s2, s3) && !(exactSum(p0, d0, s0) && exactSum(p1, d1, s1) && exactSum(p2, d2, s2) && exactSum(p3, d3, s3)) {
			s0, s1, s2, s3 = roundOdd4(p0, p1, p2, p3, d0, d1, d2, d3)
		}
		c0, c1, c2, c3 = float32(s0), float32(s1), float32(s2), float32(s3)
		ia += aCol
		ib += ldb
	}
	return c0, c1, c2, c3
}

// FMABlock64 is [FMABlock32] in float64, with [FMA64].
func FMABlock64(c []float64, ldc int, a []float64, aRow, aCol int, b []float64, ldb int, m, n, k int) {
	if k <= 0 {
		for i := range m {
			clear(c[i*ldc : i*ldc+n])
		}
		return
	}
	full := n &^ 3
	for j := 0; j < full; j += 4 {
		i := 0
		for ; i+2 <= m; i += 2 {
			fmaTile64(c[i*ldc+j:], ldc, a[i*aRow:], aRow, aCol, b[j:], ldb, k)
		}
		if i < m {
			var c0, c1, c2, c3 float64
			for l := range k {
				x, bs := a[i*aRow+l*aCol], b[l*ldb+j:l*ldb+j+4]
				c0, c1, c2, c3 = FMA64(x, bs[0], c0), FMA64(x, bs[1], c1), FMA64(x, bs[2], c2), FMA64(x, bs[3], c3)
			}
			cs := c[i*ldc+j : i*ldc+j+4]
			cs[0], cs[1], cs[2], cs[3] = c0, c1, c2, c3
		}
	}
	for j := full; j < n; j++ {
		i := 0
		for ; i+4 <= m; i += 4 {
			var c0, c1, c2, c3 float64
			at := i * aRow
			for l := range k {
				y := b[l*ldb+j]
				c0, c1, c2, c3 = FMA64(a[at], y, c0), FMA64(a[at+aRow], y, c1), FMA64(a[at+2*aRow], y, c2), FMA64(a[at+3*aRow], y, c3)
				at += aCol
			}
			c[i*ldc+j], c[(i+1)*ldc+j], c[(i+2)*ldc+j], c[(i+3)*ldc+j] = c0, c1, c2, c3
		}
		for ; i < m; i++ {
			acc := 0.0
			for l := range k {
				acc = FMA64(a[i*aRow+l*aCol], b[l*ldb+j], acc)
			}
			c[i*ldc+j] = acc
		}
	}
}

// fmaTile64 computes 2 rows by 4 columns of FMABlock64.
func fmaTile64(c []float64, ldc int, a []float64, aRow, aCol int, b []float64, ldb, k int) {
	var c0, c1, c2, c3, d0, d1, d2, d3 float64
	ia, ib := 0, 0
	for ; k > 0; k-- {
		bs := b[ib : ib+4 : ib+4]
		x, y := a[ia], a[ia+aRow]
		c0, c1, c2, c3 = FMA64(x, bs[0], c0), FMA64(x, bs[1], c1), FMA64(x, bs[2], c2), FMA64(x, bs[3], c3)
		d0, d1, d2, d3 = FMA64(y, bs[0], d0), FMA64(y, bs[1], d1), FMA64(y, bs[2], d2), FMA64(y, bs[3], d3)
		ia += aCol
		ib += ldb
	}
	cs, ds := c[:4], c[ldc:ldc+4]
	cs[0], cs[1], cs[2], cs[3] = c0, c1, c2, c3
	ds[0], ds[1], ds[2], ds[3] = d0, d1, d2, d3
}

// anyLowZero reports whether the low 28 bits of any of the four are zero. Then FMA32's second rounding may go wrong.
func anyLowZero(s0, s1, s2, s3 float64) bool {
	b0, b1, b2, b3 := math.Float64bits(s0), math.Float64bits(s1), math.Float64bits(s2), math.Float64bits(s3)
	return int64((b0&lowBits-1)|(b1&lowBits-1)|(b2&lowBits-1)|(b3&lowBits-1)) < 0
}

// exactSum reports whether s, p + c rounded, is p + c. (With s - p = c, TwoSum's error is p - (s - c).)
func exactSum(p, c, s float64) bool { return s-p == c && s-c == p }

// roundOdd4 returns four sums rounded to odd. It is kept out of the loops so that they keep their values in registers.
//
//go:noinline
func roundOdd4(p0, p1, p2, p3, c0, c1, c2, c3 float64) (s0, s1, s2, s3 float64) {
	return roundOdd(p0, c0, p0+c0), roundOdd(p1, c1, p1+c1), roundOdd(p2, c2, p2+c2), roundOdd(p3, c3, p3+c3)
}
