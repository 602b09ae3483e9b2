package layout

// Filter returns the coalesced layout of the leaves that move: leaves of extent 1
// or stride 0 are left out. It has the same offsets as l. An offset that l has k
// times, it has k/p times; p is the product of the extents left out. A single
// offset gives 1:0; no offset gives 0:0.
//
//	(2,4,3):(1,0,2) → 6:1
func (l Layout) Filter() Layout { return l.choose(func(str int) bool { return str != 0 }, false) }

// Nullspace returns the layout N of the linear coordinates that leaves of stride 0
// reach: l(i + N(j)) = l(i) whenever i is 0 in those leaves, and in particular
// l(N(j)) = 0. Its size is Size(l) by the size of the other leaves. It is
// coalesced; an empty l gives 0:0.
//
//	(2,4,3):(1,0,2) → 4:2
func (l Layout) Nullspace() Layout { return l.choose(func(str int) bool { return str == 0 }, true) }

// choose coalesces the leaves whose strides are wanted. With places, the stride of
// a leaf becomes its step in linear coordinates.
func (l *Layout) choose(wanted func(str int) bool, places bool) Layout {
	var w writer
	ext, str := l.in.All()
	if l.Size() == 0 {
		return l.Coalesce()
	}
	place := 1
	for k, e := range ext {
		if wanted(str[k]) {
			s := str[k]
			if places {
				s = place
			}
			w.leaf(e, s)
		}
		place *= e
	}
	out := must(w.layout("Filter")) // offsets of l, or coordinates
	return out.Coalesce()
}
