package text

import "slices"

// A change is a character of a transformed text: n is 1 for one that is inserted behind the character before it, 0 for one
// that replaces a character, and −k for one behind whose character k more are removed.
type change struct {
	r     rune
	n     int
	class uint8
}

// A normalForm is one of NFD, NFC, NFKD and NFKC, by Unicode Standard Annex 15.
type normalForm struct{ compatible, compose bool }

// unchanged says whether a text is surely in the form already.
func (f normalForm) unchanged(b []byte) bool {
	limit := byte(0x80)
	if f.compose && !f.compatible {
		limit = 0xcc // below U+0300
	}
	for _, c := range b {
		if c >= limit {
			return false
		}
	}
	return true
}

// changes appends the form of b to dst.
func (f normalForm) changes(d *database, dst []change, b []byte) []change {
	from := len(dst)
	for i := 0; i < len(b); {
		r, n := decodeRune(b, i)
		i += n
		p := d.props(r)
		switch {
		case r >= hangulS && r < hangulS+hangulCount:
			s := r - hangulS
			dst = append(dst, change{r: hangulL + s/(hangulVs*hangulTs)}, change{r: hangulV + s/hangulTs%hangulVs, n: 1})
			if t := s % hangulTs; t != 0 {
				dst = append(dst, change{r: hangulT + t, n: 1})
			}
		case f.compatible && p&hasNFKD != 0:
			dst = appendImage(d, dst, d.compatible[r])
		case p&hasNFD != 0:
			dst = appendImage(d, dst, d.canonical[r])
		default:
			dst = append(dst, change{r: r, class: uint8(p >> classShift)})
		}
	}
	sortMarks(dst[from:])
	if f.compose {
		return dst[:from+len(compose(d, dst[from:]))]
	}
	return dst
}

func appendImage(d *database, dst []change, to []rune) []change {
	for i, r := range to {
		dst = append(dst, change{r: r, n: min(i, 1), class: d.class(r)})
	}
	return dst
}

// sortMarks brings each run of marks into the order of their classes, equal ones as they are.
func sortMarks(c []change) {
	for i := 0; i < len(c); i++ {
		from := i
		for i < len(c) && c[i].class != 0 {
			i++
		}
		if marks := c[from:i]; len(marks) > 1 {
			slices.SortStableFunc(marks, func(a, b change) int { return int(a.class) - int(b.class) })
		}
	}
}

// compose replaces pairs by the characters that they compose, in place.
func compose(d *database, c []change) []change {
	out := c[:0]
	base := -1     // the place in out of the last character that is no mark
	var last uint8 // the class of the last mark behind it, 0 if there is none
	for _, x := range c {
		if base >= 0 && d.has(x.r, isSecond) && (last == 0 && len(out) == base+1 || last != 0 && last < x.class) {
			if r, ok := d.pair(out[base].r, x.r); ok {
				out[base].r, out[base].n = r, out[base].n+x.n-1
				continue
			}
		}
		if x.class == 0 {
			base, last = len(out), 0
		} else if base >= 0 {
			last = x.class
		}
		out = append(out, x)
	}
	return out
}

// pair returns the character that a and b compose.
func (d *database) pair(a, b rune) (rune, bool) {
	switch {
	case a >= hangulL && a < hangulL+hangulLs && b >= hangulV && b < hangulV+hangulVs:
		return hangulS + ((a-hangulL)*hangulVs+b-hangulV)*hangulTs, true
	case a >= hangulS && a < hangulS+hangulCount && (a-hangulS)%hangulTs == 0 && b > hangulT && b < hangulT+hangulTs:
		return a + b - hangulT, true
	}
	r, ok := d.composed[[2]rune{a, b}]
	return r, ok
}
