package layout

// IsCompact reports whether the offsets are 0, 1, …, Size-1, each exactly once,
// in whatever order: the elements fill a stretch of memory without holes.
func (l Layout) IsCompact() bool {
	if l.IsRowMajor() {
		return true
	}
	n := l.Size()
	for want := 1; want < n; { // find the leaf that continues the offsets covered so far
		next := 0
		for i := range l.Leaves() {
			if e, s := l.Leaf(i); e > 1 && s == want {
				next = want * e
				break
			}
		}
		if next == 0 {
			return false
		}
		want = next
	}
	return true
}

// Runs returns the loops of the row-major order, the fastest first, as extents
// and strides; neighbours that continue each other are merged.
func (l Layout) Runs() (ext, str []int) {
	for _, r := range l.rowRuns(nil) {
		ext, str = append(ext, r.ext), append(str, r.str)
	}
	return ext, str
}
