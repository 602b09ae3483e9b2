package image

// area resizes a picture of h×w pixels with c interleaved channels to h2×w2 pixels, by area average as the package comment
// defines it. row(y, dst) writes source row y; emit gets the rows of the result from the top. Sides fit an int32, and
// h·w at most 2^46.
//
// In units of 1/w2 of a source pixel, a source column x covers [x·w2, (x+1)·w2), and a column x2 of the result covers
// [x2·w, (x2+1)·w). Rows are alike. So weights are integers that sum to h·w. Sums are at most 255²·h·w, less than 2^62.
func area(h, w, c int, row func(y int, dst []uint8), h2, w2 int, emit func(y2 int, row []uint8)) {
	src := make([]uint8, w*c)
	if h == h2 && w == w2 {
		for y := range h {
			row(y, src)
			emit(y, src)
		}
		return
	}
	spans := columns(w, w2)
	out := make([]uint8, w2*c)
	sum := make([]uint64, w2*c) // one source row, averaged over columns only, times w
	acc := make([]uint64, w2*c) // the same, over the rows so far of one row of the result
	whole, H, H2 := uint64(h)*uint64(w), uint64(h), uint64(h2)
	y2 := uint64(0)
	for y := range H {
		row(int(y), src)
		if c == 4 {
			sumAlpha(sum, src, spans, uint64(w2))
		} else {
			sumPlain(sum, src, spans, uint64(w2), c)
		}
		for lo, hi := y*H2, (y+1)*H2; y2 < H2 && y2*H < hi; {
			end := (y2 + 1) * H
			weight := min(hi, end) - max(lo, y2*H)
			for i, s := range sum {
				acc[i] += weight * s
			}
			if end > hi {
				break
			}
			if c == 4 {
				divideAlpha(out, acc, whole)
			} else {
				for i, a := range acc {
					out[i] = uint8((a + whole/2) / whole)
				}
			}
			emit(int(y2), out)
			clear(acc)
			y2++
		}
	}
}

// A span is the source columns under a column of the result: first to last. head and tail are the weights of these two; a
// column between them has weight w2. If first = last, head is its weight and tail is 0.
type span struct {
	first, last int
	head, tail  uint64
}

func columns(w, w2 int) []span {
	s := make([]span, w2)
	W, W2 := uint64(w), uint64(w2)
	for x2 := range W2 {
		lo := x2 * W
		hi := lo + W
		first, last := lo/W2, (hi-1)/W2
		s[x2] = span{first: int(first), last: int(last), head: min(hi, (first+1)*W2) - lo}
		if last > first {
			s[x2].tail = hi - last*W2
		}
	}
	return s
}

func sumPlain(sum []uint64, src []uint8, spans []span, full uint64, c int) {
	i := 0
	for _, p := range spans {
		for k := range c {
			var mid uint64
			for j := (p.first+1)*c + k; j < p.last*c; j += c {
				mid += uint64(src[j])
			}
			sum[i] = p.head*uint64(src[p.first*c+k]) + full*mid + p.tail*uint64(src[p.last*c+k])
			i++
		}
	}
}

// sumAlpha weighs colours by their alpha.
func sumAlpha(sum []uint64, src []uint8, spans []span, full uint64) {
	for i, p := range spans {
		var r, g, b, a uint64
		for x := p.first; x <= p.last; x++ {
			weight := full
			switch x {
			case p.first:
				weight = p.head
			case p.last:
				weight = p.tail
			}
			v := src[4*x : 4*x+4]
			weight *= uint64(v[3])
			r += weight * uint64(v[0])
			g += weight * uint64(v[1])
			b += weight * uint64(v[2])
			a += weight
		}
		sum[4*i], sum[4*i+1], sum[4*i+2], sum[4*i+3] = r, g, b, a
	}
}

func divideAlpha(out []uint8, acc []uint64, whole uint64) {
	for i := 0; i < len(acc); i += 4 {
		a := acc[i+3]
		for k := range 3 {
			out[i+k] = 0
			if a != 0 {
				out[i+k] = uint8((acc[i+k] + a/2) / a)
			}
		}
		out[i+3] = uint8((a + whole/2) / whole)
	}
}
