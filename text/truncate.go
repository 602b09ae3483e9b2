package text

import (
	"fmt"
)

// Truncation cuts encodings that are too long. The zero value cuts nothing.
type Truncation struct {
	MaxTokens int    // with the special tokens; 0 is no limit
	Stride    int    // tokens that a window of Overflow shares with the one before
	Left      bool   // cut at the beginning, not at the end
	Strategy  string // LongestFirst, or empty; OnlyFirst or OnlySecond of a pair
	Empty     bool   // with MaxTokens 0: cut everything, as a file's max_length 0 does
}

func readTruncation(v value) (t Truncation, err error) {
	o, err := v.object("direction", "max_length", "strategy", "stride")
	if err != nil {
		return t, err
	}
	if t.MaxTokens, err = required(o, "max_length", value.length); err != nil {
		return t, err
	}
	t.Empty = t.MaxTokens == 0
	if t.Stride, err = required(o, "stride", value.length); err != nil {
		return t, err
	}
	if t.Strategy, err = required(o, "strategy", value.str); err != nil {
		return t, err
	}
	if s := t.Strategy; s != "LongestFirst" && s != "OnlyFirst" && s != "OnlySecond" {
		return t, o.fields["strategy"].errorf("is %q, not LongestFirst, OnlyFirst or OnlySecond", s)
	}
	t.Left, err = readLeft(o)
	return t, err
}

// readLeft reads a direction.
func readLeft(o object) (bool, error) {
	d, err := field(o, "direction", value.str, "Right")
	if err == nil && d != "Left" && d != "Right" {
		err = o.fields["direction"].errorf("is %q, neither Left nor Right", d)
	}
	return d == "Left", err
}

// apply truncates one or two encodings so that they have room for added tokens.
func (t Truncation) apply(list []*Encoding, added int, left *budget) error {
	most := t.MaxTokens - added
	if most < 0 {
		return fmt.Errorf("truncation to %d tokens leaves no room for %d special tokens", t.MaxTokens, added)
	}
	total, lengths := 0, [2]int{}
	for i, e := range list {
		lengths[i] = len(e.IDs)
		total += len(e.IDs)
	}
	if most == 0 {
		for _, e := range list {
			if err := e.truncate(0, t.Stride, t.Left, left); err != nil {
				return err
			}
		}
		return nil
	}
	if total <= most {
		return nil
	}
	switch t.Strategy {
	case "OnlyFirst", "OnlySecond":
		i := 0
		if t.Strategy == "OnlySecond" {
			i = 1
		}
		if i >= len(list) {
			return fmt.Errorf("truncation OnlySecond has no second text")
		}
		if lengths[i] <= total-most {
			return fmt.Errorf("truncation %s to %d tokens: text %d has %d, of which %d would have to go", t.Strategy, t.MaxTokens, i, lengths[i], total-most)
		}
		return list[i].truncate(lengths[i]-(total-most), t.Stride, t.Left, left)
	case "", "LongestFirst":
	default:
		return fmt.Errorf("truncation has the strategy %q, not LongestFirst, OnlyFirst or OnlySecond", t.Strategy)
	}
	if len(list) == 1 {
		return list[0].truncate(most, t.Stride, t.Left, left)
	}
	// The shorter one stays as it is, if it has at most half of the room.
	short, long := 0, 1
	if lengths[0] > lengths[1] {
		short, long = 1, 0
	}
	n := [2]int{lengths[0], lengths[1]}
	if n[short] > most {
		n[long] = n[short]
	} else {
		n[long] = max(n[short], most-n[short])
	}
	if n[0]+n[1] > most {
		n[short] = most / 2
		n[long] = n[short] + most%2
	}
	for i, e := range list {
		if err := e.truncate(n[i], t.Stride, t.Left, left); err != nil {
			return err
		}
	}
	return nil
}

// truncate leaves the first tokens, or the last ones, and puts the others into Overflow.
func (e *Encoding) truncate(most, stride int, fromLeft bool, left *budget) error {
	n := len(e.IDs)
	if most >= n {
		return nil
	}
	if most == 0 {
		all := e.clone()
		e.reset()
		e.Overflow = []Encoding{all}
		return nil
	}
	if stride >= most {
		return fmt.Errorf("truncation to %d tokens of a text has a stride of %d, which leaves no new ones", most, stride)
	}
	type window struct{ start, end int }
	var windows []window
	for k := 0; ; k += most - stride {
		w := window{k, min(k+most, n)}
		if fromLeft {
			w = window{max(0, n-k-most), n - k}
		}
		windows = append(windows, w)
		if err := left.copy(w.end - w.start); err != nil {
			return err
		}
		if !fromLeft && w.end == n || fromLeft && w.start == 0 {
			break
		}
	}
	first := e.slice(windows[0].start, windows[0].end)
	for _, w := range windows[1:] {
		first.Overflow = append(first.Overflow, e.slice(w.start, w.end))
	}
	*e = first
	return nil
}

// Padding makes encodings longer. The zero value adds nothing.
type Padding struct {
	Length   int    // at least so many tokens; 0 is no length
	Longest  bool   // at least as many in each window of Overflow as in the encoding
	Multiple int    // a multiple of so many; 0 is any
	Left     bool   // add at the beginning, not at the end
	ID, Type int64  // of the tokens added
	Token    string // the same
}

func readPadding(v value) (p Padding, err error) {
	o, err := v.object("strategy", "direction", "pad_to_multiple_of", "pad_id", "pad_type_id", "pad_token")
	if err != nil {
		return p, err
	}
	s, ok := o.fields["strategy"]
	if !ok {
		return p, o.errorf(`has no "strategy"`)
	}
	if s.is("{") {
		f, err := s.object("Fixed")
		if err != nil {
			return p, err
		}
		if p.Length, err = required(f, "Fixed", value.length); err != nil {
			return p, err
		}
		if p.Length > maxPadding {
			return p, s.errorf("is %d tokens, more than %d", p.Length, maxPadding)
		}
	} else if name, err := s.str(); err != nil || name != "BatchLongest" {
		return p, s.errorf("is neither BatchLongest nor Fixed")
	}
	p.Longest = p.Length == 0
	if _, ok := o.fields["direction"]; !ok {
		return p, o.errorf(`has no "direction"`)
	}
	if p.Left, err = readLeft(o); err != nil {
		return p, err
	}
	if p.Multiple, err = nullable(o, "pad_to_multiple_of", value.length, 0); err != nil {
		return p, err
	}
	if p.Multiple > maxPadding {
		return p, o.fields["pad_to_multiple_of"].errorf("is %d tokens, more than %d", p.Multiple, maxPadding)
	}
	for _, n := range []struct {
		name string
		to   *int64
	}{{"pad_id", &p.ID}, {"pad_type_id", &p.Type}} {
		id, err := required(o, n.name, value.id)
		if err != nil {
			return p, err
		}
		*n.to = int64(id)
	}
	p.Token, err = required(o, "pad_token", value.str)
	return p, err
}

const maxPadding = 1 << 20 // tokens that a file may ask for

// apply pads e and its overflows.
func (p Padding) apply(e *Encoding, left *budget) error {
	if p.Length <= 0 && p.Multiple <= 0 && !p.Longest {
		return nil
	}
	length := max(p.Length, 0)
	if length == 0 {
		length = len(e.IDs)
	}
	if p.Multiple > 0 && length%p.Multiple > 0 {
		length += p.Multiple - length%p.Multiple
	}
	return p.pad(e, length, left)
}

func (p Padding) pad(e *Encoding, length int, left *budget) error {
	for i := range e.Overflow {
		if err := p.pad(&e.Overflow[i], length, left); err != nil {
			return err
		}
	}
	n := len(e.IDs)
	if n >= length {
		return nil
	}
	if err := left.copy(length - n); err != nil {
		return err
	}
	if !p.Left {
		for range length - n {
			e.add(p.ID, p.Type, p.Token, 0)
		}
		return nil
	}
	var padded Encoding
	for range length - n {
		padded.add(p.ID, p.Type, p.Token, 0)
	}
	padded.append(e, 0, n)
	padded.Overflow = e.Overflow
	*e = padded
	return nil
}
