package image

import (
	"crypto/sha256"
	"encoding/hex"
	"math/big"
	"math/bits"
	"slices"
	"testing"

	_ "github.com/ashlar-go/ashlar/internal/seeded"

	"pgregory.net/rapid"
)

// average runs area on a whole picture.
func average(pix []uint8, h, w, c, h2, w2 int) []uint8 {
	out := make([]uint8, h2*w2*c)
	seen := 0
	area(h, w, c, func(y int, dst []uint8) { copy(dst, pix[y*w*c:][:w*c]) }, h2, w2, func(y int, row []uint8) {
		if y != seen {
			panic("rows out of order")
		}
		seen++
		copy(out[y*w2*c:][:w2*c], row)
	})
	if seen != h2 {
		panic("rows missing")
	}
	return out
}

// overlap is the length that [a, a+1) and [b·n/m, (b+1)·n/m) have in common.
func overlap(a, b, n, m int) *big.Rat {
	lo, hi := big.NewRat(int64(b)*int64(n), int64(m)), big.NewRat(int64(b+1)*int64(n), int64(m))
	if x := big.NewRat(int64(a), 1); x.Cmp(lo) > 0 {
		lo = x
	}
	if x := big.NewRat(int64(a+1), 1); x.Cmp(hi) < 0 {
		hi = x
	}
	if d := new(big.Rat).Sub(hi, lo); d.Sign() > 0 {
		return d
	}
	return new(big.Rat)
}

// nearest rounds a non-negative number to the nearest integer, a half up.
func nearest(r *big.Rat) uint8 {
	r = new(big.Rat).Add(r, big.NewRat(1, 2))
	return uint8(new(big.Int).Quo(r.Num(), r.Denom()).Int64())
}

// averageRat is the definition in the package comment, in rational numbers.
func averageRat(pix []uint8, h, w, c, h2, w2 int) []uint8 {
	out := make([]uint8, h2*w2*c)
	for y2 := range h2 {
		for x2 := range w2 {
			for k := range c {
				sum, weights := new(big.Rat), new(big.Rat)
				for y := range h {
					for x := range w {
						weight := new(big.Rat).Mul(overlap(y, y2, h, h2), overlap(x, x2, w, w2))
						if c == 4 && k < 3 {
							weight.Mul(weight, big.NewRat(int64(pix[(y*w+x)*c+3]), 1))
						}
						weights.Add(weights, weight)
						sum.Add(sum, weight.Mul(weight, big.NewRat(int64(pix[(y*w+x)*c+k]), 1)))
					}
				}
				if weights.Sign() != 0 {
					out[(y2*w2+x2)*c+k] = nearest(sum.Quo(sum, weights))
				}
			}
		}
	}
	return out
}

func TestAreaIsTheExactMean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		side := rapid.IntRange(1, 9)
		h, w, h2, w2 := side.Draw(t, "h"), side.Draw(t, "w"), side.Draw(t, "h2"), side.Draw(t, "w2")
		c := rapid.SampledFrom([]int{1, 3, 4}).Draw(t, "c")
		sample := rapid.OneOf(rapid.Uint8(), rapid.SampledFrom([]uint8{0, 1, 254, 255}))
		pix := rapid.SliceOfN(sample, h*w*c, h*w*c).Draw(t, "pix")
		want := averageRat(pix, h, w, c, h2, w2)
		if h == h2 && w == w2 {
			want = pix // nothing is resized: also what no alpha shows stays
		}
		if got := average(pix, h, w, c, h2, w2); !slices.Equal(got, want) {
			t.Fatalf("%d×%d×%d to %d×%d:\n%v\ngot  %v\nwant %v", h, w, c, h2, w2, pix, got, want)
		}
	})
}

func TestAreaByHand(t *testing.T) {
	for _, c := range []struct {
		name             string
		pix              []uint8
		h, w, ch, h2, w2 int
		want             []uint8
	}{
		{"halves round up", []uint8{1, 2, 0, 1}, 2, 2, 1, 2, 1, []uint8{2, 1}},
		{"a third is cut", []uint8{0, 0, 1}, 1, 3, 1, 1, 1, []uint8{0}},
		{"a pixel is split", []uint8{0, 90, 30}, 1, 3, 1, 1, 2, []uint8{30, 50}}, // (2·0+1·90)/3, (1·90+2·30)/3
		{"whole factors repeat", []uint8{7, 9}, 1, 2, 1, 2, 4, []uint8{7, 7, 9, 9, 7, 7, 9, 9}},
		{"borders mix", []uint8{0, 100}, 1, 2, 1, 1, 3, []uint8{0, 50, 100}},
		{"one colour stays", []uint8{255, 255, 255, 255, 255, 255}, 2, 3, 1, 5, 7, slices.Repeat([]uint8{255}, 35)},
		{"channels apart", []uint8{0, 10, 20, 100, 30, 21}, 1, 2, 3, 1, 1, []uint8{50, 20, 21}},
		{"what is transparent doesn't bleed", []uint8{200, 100, 50, 255, 0, 255, 0, 0}, 1, 2, 4, 1, 1, []uint8{200, 100, 50, 128}},
		{"alpha weighs", []uint8{100, 0, 0, 255, 0, 100, 0, 85}, 1, 2, 4, 1, 1, []uint8{75, 25, 0, 170}},
		{"nothing to see", []uint8{9, 9, 9, 0, 8, 8, 8, 0}, 1, 2, 4, 1, 1, []uint8{0, 0, 0, 0}},
	} {
		if got := average(c.pix, c.h, c.w, c.ch, c.h2, c.w2); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// The weights of one column sum to the width, at sides that no test picture has.
func TestColumnsAtTheLimits(t *testing.T) {
	for _, c := range [][2]int{{maxSide, 1}, {maxSide, 7}, {1 << 30, 4096}, {1, 1000}, {maxSide - 1, 1000}, {5, 1 << 16}} {
		w, w2 := c[0], c[1]
		next := uint64(0) // where the column must begin, in 1/w2
		for i, s := range columns(w, w2) {
			total := s.head + s.tail
			if s.last > s.first {
				total += uint64(s.last-s.first-1) * uint64(w2)
			}
			if total != uint64(w) || s.first != int(next/uint64(w2)) || s.last >= w {
				t.Fatalf("%d to %d: column %d is %+v, weights sum to %d", w, w2, i, s, total)
			}
			next += uint64(w)
		}
	}
}

// The brightest picture of 2^46 pixels, the largest that is let through, stays within a uint64, alpha and all.
func TestAreaCantOverflow(t *testing.T) {
	const w, rows = 1 << 20, 1 << 26
	sum, out := make([]uint64, 4), make([]uint8, 4)
	sumAlpha(sum, slices.Repeat([]uint8{255}, 4*w), columns(w, 1), 1)
	for i, s := range sum {
		if hi, _ := bits.Mul64(s, rows); hi != 0 {
			t.Fatalf("%d rows of %d overflow", rows, s)
		}
		sum[i] = s * rows
	}
	if divideAlpha(out, sum, w*rows); !slices.Equal(out, []uint8{255, 255, 255, 255}) {
		t.Fatal(out)
	}
}

// These bytes are the promise that a resized picture is the same on every platform.
func TestAreaDigest(t *testing.T) {
	const h, w = 67, 101
	for c, want := range map[int]string{1: "8d7e3f88bc00e195", 3: "f8d71d1daa3a2706", 4: "17139f48c42d0962"} {
		pix, x := make([]uint8, h*w*c), uint32(1)
		for i := range pix {
			x = x*1664525 + 1013904223
			pix[i] = uint8(x >> 24)
		}
		sum := sha256.New()
		for _, to := range [][2]int{{28, 28}, {224, 224}, {1, 1}, {67, 50}, {200, 101}} {
			sum.Write(average(pix, h, w, c, to[0], to[1]))
		}
		if got := hex.EncodeToString(sum.Sum(nil)[:8]); got != want {
			t.Errorf("%d channels: digest %s, want %s", c, got, want)
		}
	}
}

func TestLuma(t *testing.T) {
	for v := range 256 {
		if got := luma(uint8(v), uint8(v), uint8(v)); int(got) != v {
			t.Errorf("grey %d became %d", v, got)
		}
	}
	for _, c := range [][4]uint8{{255, 0, 0, 76}, {0, 255, 0, 150}, {0, 0, 255, 29}, {255, 255, 0, 226}, {1, 2, 3, 2}, {255, 255, 255, 255}} {
		if got := luma(c[0], c[1], c[2]); got != c[3] {
			t.Errorf("luma%v = %d", c, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		r, g, b := rapid.Uint8().Draw(t, "r"), rapid.Uint8().Draw(t, "g"), rapid.Uint8().Draw(t, "b")
		exact := 299*int(r) + 587*int(g) + 114*int(b)
		// Each weight is off by at most half of 1/65536, so the sum by less than 0.006.
		if d := 1000*int(luma(r, g, b)) - exact; d > 506 || d < -506 {
			t.Fatalf("luma(%d,%d,%d) = %d, exactly %d/1000", r, g, b, luma(r, g, b), exact)
		}
	})
}

func TestOverIsNearest(t *testing.T) {
	for v := range 256 {
		for a := range 256 {
			for b := range 256 {
				exact := v*a + b*(255-a)
				if d := 255*int(over(uint8(v), uint8(a), uint8(b))) - exact; d > 127 || d < -127 {
					t.Fatalf("over(%d,%d,%d) = %d, exactly %d/255", v, a, b, over(uint8(v), uint8(a), uint8(b)), exact)
				}
			}
		}
	}
}
