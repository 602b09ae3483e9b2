package simd

// linesWithin panics unless all lines, of n elements at multiples of step, lie within all elements.
func linesWithin(lines, all, step, n int) {
	if lines > 0 && (n < 0 || n > all || step < 0 || lines > 1 && step > (all-n)/(lines-1)) {
		panic("simd: lines out of range")
	}
}

// columnsWithin panics unless
//
//   - w columns of all rows, which begin at the offsets in rows, lie within all elements,
//   - there are lanes, and their ends go up to all rows,
//   - there is room for the sums of 1, 2, 4 and so on up to all lanes.
func columnsWithin(room, all int, rows, ends []int64, w int) {
	last := int64(all - w) // the last place where a row may begin
	low := last            // becomes negative if last, a row or its distance from last is
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
