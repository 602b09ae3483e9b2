package simd

// linesWithin panics unless all of some lines, n elements at multiples of step, lie within so many elements.
func linesWithin(lines, all, step, n int) {
	if lines > 0 && (n < 0 || n > all || step < 0 || lines > 1 && step > (all-n)/(lines-1)) {
		panic("simd: lines out of range")
	}
}

// columnsWithin panics unless w columns of all rows, which begin where rows says, lie within so many elements, the ends
// of lanes, of which there are some, go up to all rows, and there is room for the sums of 1, 2, 4 to all lanes.
func columnsWithin(room, all int, rows, ends []int64, w int) {
	last := int64(all - w) // where a row may begin
	low := last            // negative if that is, a row or its distance from there
	for _, r := range rows {
		low |= r | (last - r)
	}
	end, ordered := int64(0), true
	for _, e := range ends {
		end, ordered = e, ordered && e >= end
	}
	levels := 1
	for n := len(ends); n > 1; n /= 2 {
		levels++
	}
	if w < 0 || w > room/levels || low < 0 || end != int64(len(rows)) || !ordered || len(ends) == 0 {
		panic("simd: columns out of range")
	}
}
