package layout

import "testing"

var total int

// BenchmarkOffset compares At, which checks the coordinate, with the sum of products
// written out: on a matrix, and on one in 8×8 tiles of rank 2 and depth 2.
func BenchmarkOffset(b *testing.B) {
	flat, nested := MustParse("(64,64):(64,1)"), MustParse("((8,8),(8,8)):((8,512),(1,64))")
	run := func(name string, l Layout, offset func(l *Layout, coord []int) int) {
		b.Run(name, func(b *testing.B) {
			coord, sum := make([]int, 2), 0
			for i := 0; b.Loop(); i++ {
				coord[0], coord[1] = i&63, i>>6&63
				sum += offset(&l, coord)
			}
			total = sum
		})
	}
	run("inline dot product", flat, func(l *Layout, coord []int) (off int) {
		for i, c := range coord {
			off += c * l.in.Str[i&7]
		}
		return off
	})
	at := func(l *Layout, coord []int) int { off, _ := l.At(coord); return off }
	run("flat", flat, at)
	run("nested", nested, at)
}
