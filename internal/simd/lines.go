package simd

// linesWithin panics unless all of some lines, n elements at multiples of step, lie within so many elements.
func linesWithin(lines, all, step, n int) {
	if lines > 0 && (n < 0 || n > all || step < 0 || lines > 1 && step > (all-n)/(lines-1)) {
		panic("simd: lines out of range")
	}
}
