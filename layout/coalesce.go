package layout

// Coalesce returns the layout of fewest modes with the same offset for every
// linear coordinate (colexicographic, as Offset): nesting is flattened, extents
// of 1 go, and a mode that continues the one before it is merged with it. There
// is one such layout. As in CuTe, a single element gives 1:0; an empty layout
// gives 0:0.
//
//	(2,(1,6)):(1,(6,2)) → 12:1
func (l Layout) Coalesce() Layout {
	var p leaves
	p.coalesce(l.in.All())
	if p.n == 0 {
		p.add(1, 0)
	}
	ext, str := p.slices()
	return must(build("Coalesce", ext, str, nil))
}

// CoalesceByMode coalesces the parts of l that stand at the integers of profile,
// whose values don't matter, each apart: (1,1) the first two modes, ((1,1),1) the
// first two of the first mode, and the second; an integer coalesces all of l. Modes
// beyond a list are kept. It fails when the profile has a hole, or a list with more
// entries than l has modes there.
//
//	(2,(1,6)):(1,(6,2)) by (1,1) → (2,6):(1,2)
func (l Layout) CoalesceByMode(profile Tuple) (Layout, error) {
	if _, ok := profile.Int(); ok {
		return l.Coalesce(), nil
	}
	if !profile.IsList() || profile.Rank() > l.Rank() {
		return Layout{}, fail("CoalesceByMode", ErrShape, "profile %v doesn't fit %v", profile, l)
	}
	var w writer
	for i := range l.Rank() {
		mode := l.Mode(i)
		if i < profile.Rank() {
			var err error
			if mode, err = mode.CoalesceByMode(profile.Entry(i)); err != nil {
				return Layout{}, err
			}
		}
		w.join(&mode)
	}
	return w.layout("CoalesceByMode")
}
