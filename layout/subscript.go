package layout

import "strconv"

// ParseSlice reads the indices of a slice as NumPy's users write them between
// brackets, for Slice:
//
//	slice = [ index { "," index } [ "," ] ]
//	index = number | range | "..." | "None" | "newaxis"
//	range = [ bound ] ":" [ bound ] [ ":" [ bound ] ]
//	bound = number | "None"
//
// A number has an optional sign; spaces may stand around everything. The empty
// text gives no index, which selects everything. It fails, naming the byte, on
// other text, numbers that don't fit an int, a step of 0 and a second "...".
func ParseSlice(s string) ([]Index, error) {
	p := parser{text: s, op: "ParseSlice"}
	var idx []Index
	dots := false
	for p.skip(); p.at < len(s); p.skip() {
		if len(idx) == maxRank {
			return nil, p.fault("more than " + strconv.Itoa(maxRank) + " indices")
		}
		at := p.at
		x, err := p.index()
		if err != nil {
			return nil, err
		}
		if x.kind == ellipsis && dots {
			p.at = at
			return nil, p.fault("a second '...'; one stands for all axes that aren't named")
		}
		dots = dots || x.kind == ellipsis
		idx = append(idx, x)
		if p.skip(); p.at < len(s) && !p.take(',') {
			return nil, p.fault("want ',' or the end")
		}
	}
	return idx, nil
}

// index reads one entry of the list.
func (p *parser) index() (Index, error) {
	switch {
	case p.word("..."):
		return Ellipsis(), nil
	case p.word("newaxis"):
		return NewAxis(), nil
	}
	at := p.skip()
	start, err := p.bound()
	if err != nil {
		return Index{}, err
	}
	given := p.at > at
	if !p.take(':') {
		switch {
		case !given:
			return Index{}, p.fault("want an index: 2, 1:3, ::-1, None or ...")
		case start == None:
			return NewAxis(), nil
		}
		return Point(start), nil
	}
	stop, err := p.bound()
	if err != nil {
		return Index{}, err
	}
	step := None
	if p.take(':') {
		at := p.skip()
		if step, err = p.bound(); err != nil {
			return Index{}, err
		}
		if step == 0 {
			p.at = at
			return Index{}, p.fault("the step is 0; -1 reverses, 1 keeps")
		}
	}
	return Range(start, stop, step), nil
}

// bound reads a number, or gives None for the word or for nothing.
func (p *parser) bound() (int, error) {
	if p.word("None") || p.at == len(p.text) || p.text[p.at] == ':' || p.text[p.at] == ',' {
		return None, nil
	}
	v, err := p.number()
	if v == None {
		v++ // as far beyond every axis, and not an omitted bound
	}
	return v, err
}

func (p *parser) word(w string) bool {
	if p.skip(); len(p.text)-p.at < len(w) || p.text[p.at:p.at+len(w)] != w {
		return false
	}
	p.at += len(w)
	return true
}
