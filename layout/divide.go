package layout

import "strings"

// LogicalDivide returns a ∘ (b, b*), where b* = Complement(b, Size(a)): the layout
// of rank 2 whose first mode is the part of a that tile b names, and whose second
// mode counts the tiles.
//
//	(4,2,3):(2,1,8) / 4:2 → ((2,2),(2,3)):((4,1),(2,8))
//
// If the tiles don't fill a evenly, the number of tiles is rounded up, and the
// surplus coordinates lie past the end of a. Here the size is 12:
//
//	10:1 / 4:1 → (4,3):(1,4)
//
// It fails when b has no complement, or the composition has no layout.
func LogicalDivide(a, b Layout) (Layout, error) { return divide("LogicalDivide", a, b) }

// ZippedDivide is LogicalDivide: (tile, rest). It stands beside ZippedDivideByMode,
// where the two differ.
func ZippedDivide(a, b Layout) (Layout, error) { return divide("ZippedDivide", a, b) }

// TiledDivide is LogicalDivide with the modes of the rest side by side:
// (tile, rest0, rest1, …).
func TiledDivide(a, b Layout) (Layout, error) {
	d, err := divide("TiledDivide", a, b)
	if err != nil {
		return Layout{}, err
	}
	rest := d.Mode(1)
	var w writer
	w.mode(&d, 0)
	w.modes(&rest)
	return w.layout("TiledDivide")
}

// FlatDivide is LogicalDivide with all modes side by side:
// (tile0, tile1, …, rest0, rest1, …).
func FlatDivide(a, b Layout) (Layout, error) {
	d, err := divide("FlatDivide", a, b)
	if err != nil {
		return Layout{}, err
	}
	tile, rest := d.Mode(0), d.Mode(1)
	var w writer
	w.modes(&tile)
	w.modes(&rest)
	return w.layout("FlatDivide")
}

// LogicalDivideByMode divides mode i of a by tiler[i] with LogicalDivide, so that
// it becomes (tile, rest); modes beyond the tiler are kept. It fails when the tiler
// has more modes than a, or a division fails.
//
//	(8,8):(8,1) by 2:1, 4:1 → ((2,4),(4,2)):((8,16),(1,4))
func LogicalDivideByMode(a Layout, tiler ...Layout) (Layout, error) {
	tiles, rests, err := divideByMode("LogicalDivideByMode", &a, tiler)
	if err != nil {
		return Layout{}, err
	}
	var w writer
	for i := range tiles {
		w.joinAll([]Layout{tiles[i], rests[i]}, true)
	}
	for i := len(tiles); i < len(rests); i++ {
		w.join(&rests[i])
	}
	return w.layout("LogicalDivideByMode")
}

// ZippedDivideByMode divides as LogicalDivideByMode and gathers the tiles in the
// first mode, the rests and the modes beyond the tiler in the second:
// ((tile0, tile1, …), (rest0, rest1, …)). With one entry the brackets go.
//
//	(8,8):(8,1) by 2:1, 4:1 → ((2,4),(4,2)):((8,1),(16,4))
func ZippedDivideByMode(a Layout, tiler ...Layout) (Layout, error) {
	return gather("ZippedDivideByMode", &a, tiler, true, true)
}

// TiledDivideByMode is ZippedDivideByMode with the rests side by side:
// ((tile0, tile1, …), rest0, rest1, …).
func TiledDivideByMode(a Layout, tiler ...Layout) (Layout, error) {
	return gather("TiledDivideByMode", &a, tiler, true, false)
}

// FlatDivideByMode is ZippedDivideByMode with everything side by side:
// (tile0, tile1, …, rest0, rest1, …).
func FlatDivideByMode(a Layout, tiler ...Layout) (Layout, error) {
	return gather("FlatDivideByMode", &a, tiler, false, false)
}

// divide is LogicalDivide under another name.
func divide(op string, a, b Layout) (Layout, error) {
	rest, err := Complement(b, a.Size())
	if err != nil {
		return Layout{}, renamed(op, err, quotient(a, b))
	}
	var w writer
	w.join(&b)
	w.join(&rest)
	both, err := w.layout(op)
	if err != nil {
		return Layout{}, err
	}
	var r writer
	if err := r.compose(op, &a, &both); err != nil {
		return Layout{}, renamed(op, err, quotient(a, b))
	}
	return r.layout(op)
}

func quotient(a, b Layout) string { return clip(a.String()) + " / " + clip(b.String()) }

// divideByMode returns the tile and the rest of each mode, and the modes beyond
// the tiler as further rests.
func divideByMode(op string, a *Layout, tiler []Layout) (tiles, rests []Layout, err error) {
	var w writer
	err = w.byMode(op, a, tiler, func(mode, tile *Layout) error {
		d, err := divide(op, *mode, *tile)
		if err != nil {
			return err
		}
		tiles, rests = append(tiles, d.Mode(0)), append(rests, d.Mode(1))
		return nil
	})
	for i := len(tiler); i < a.Rank() && err == nil; i++ {
		rests = append(rests, a.Mode(i))
	}
	return tiles, rests, err
}

func gather(op string, a *Layout, tiler []Layout, nestTiles, nestRests bool) (Layout, error) {
	tiles, rests, err := divideByMode(op, a, tiler)
	if err != nil {
		return Layout{}, err
	}
	var w writer
	w.joinAll(tiles, nestTiles)
	w.joinAll(rests, nestRests)
	return w.layout(op)
}

// renamed gives an error of this package the name of the function that was called,
// and the text of its arguments.
func renamed(op string, err error, given ...string) error {
	e, ok := err.(*Error)
	if !ok {
		return err
	}
	return &Error{Op: op, Text: strings.Join(append(given, e.Text), ": "), Err: e.Err}
}
