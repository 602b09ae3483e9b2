package text

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"unicode/utf8"
)

// A precompiled replaces characters by a map of SentencePiece: a trie in a double array, and the texts that it leads to.
type precompiled struct {
	units []uint32
	texts []byte // each ends with NUL
}

func (n *precompiled) read(o object) error {
	v, ok := o.fields["precompiled_charsmap"]
	if !ok {
		return o.errorf(`has no "precompiled_charsmap"`)
	}
	s, err := v.str()
	if err != nil {
		return err
	}
	data, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return v.errorf("is no base64: %v", err)
	}
	if err := n.decode(data); err != nil {
		return v.errorf("%v", err)
	}
	return nil
}

// decode reads the length of the trie, its units, and the texts. It refuses a trie that leads out of itself or of the texts.
func (n *precompiled) decode(data []byte) error {
	if len(data) < 4 {
		return fmt.Errorf("has %d bytes, too few for a map", len(data))
	}
	size := binary.LittleEndian.Uint32(data)
	data = data[4:]
	if size%4 != 0 || size == 0 || uint64(size) > uint64(len(data)) {
		return fmt.Errorf("says that its trie has %d bytes, of %d", size, len(data))
	}
	n.units = make([]uint32, size/4)
	for i := range n.units {
		n.units[i] = binary.LittleEndian.Uint32(data[4*i:])
	}
	n.texts = data[size:]
	if i := invalidUTF8(n.texts); i >= 0 {
		return fmt.Errorf("has texts that aren't UTF-8 from byte %d on", i)
	}
	seen := make([]bool, len(n.units))
	bases := []uint32{0 ^ offset(n.units[0])}
	for len(bases) > 0 {
		base := bases[len(bases)-1]
		bases = bases[:len(bases)-1]
		for c := uint32(1); c < 256; c++ {
			at := base ^ c
			if at >= uint32(len(n.units)) {
				return fmt.Errorf("has a trie that leads to unit %d, of %d", at, len(n.units))
			}
			u := n.units[at]
			if u&(1<<31|0xff) != c || seen[at] {
				continue
			}
			seen[at] = true
			next := at ^ offset(u)
			if u>>8&1 != 0 {
				if next >= uint32(len(n.units)) {
					return fmt.Errorf("has a trie that leads to unit %d, of %d", next, len(n.units))
				}
				if i := n.units[next] &^ (1 << 31); i > uint32(len(n.texts)) || i < uint32(len(n.texts)) && !utf8.RuneStart(n.texts[i]) {
					return fmt.Errorf("has a trie that leads to byte %d of the texts, which have %d", i, len(n.texts))
				}
			}
			bases = append(bases, next)
		}
	}
	return nil
}

func offset(unit uint32) uint32 { return unit >> 10 << (unit & (1 << 9) >> 6) }

// lookup returns the text for the shortest key that b begins with.
func (n *precompiled) lookup(b []byte) ([]byte, bool) {
	at := offset(n.units[0])
	for _, c := range b {
		if c == 0 {
			break
		}
		at ^= uint32(c)
		if at >= uint32(len(n.units)) {
			break
		}
		u := n.units[at]
		if u&(1<<31|0xff) != uint32(c) {
			break
		}
		at ^= offset(u)
		if u>>8&1 != 0 {
			text := n.texts[n.units[at]&^(1<<31):]
			if end := bytes.IndexByte(text, 0); end >= 0 {
				text = text[:end]
			}
			return text, true
		}
	}
	return nil, false
}

// normalize replaces clusters of less than 6 bytes, else their characters. A key that is but the beginning of a cluster
// replaces all of it, as in the reference.
func (n *precompiled) normalize(a *aligned) error {
	d := unicodeData()
	changes, changed := a.changes[:0], false
	for i := 0; i < len(a.b); {
		if err := a.left.fits(int64(len(changes))); err != nil {
			return err
		}
		end := i + cluster(d, a.b[i:])
		if end-i < 6 {
			if text, ok := n.lookup(a.b[i:end]); ok {
				changes, changed = replaced(changes, a.b[i:end], text), true
				i = end
				continue
			}
		}
		for i < end {
			if err := a.left.fits(int64(len(changes))); err != nil {
				return err
			}
			r, size := decodeRune(a.b, i)
			if text, ok := n.lookup(a.b[i : i+size]); ok {
				changes, changed = replaced(changes, a.b[i:i+size], text), true
			} else {
				changes = append(changes, change{r: r})
			}
			i += size
		}
	}
	a.changes = changes
	if !changed {
		return nil
	}
	return a.transform(changes, 0)
}

// replaced appends the characters of text in place of old's: the last ones are inserted if text is longer; if it is
// shorter, the last one, or the character before, removes the rest.
func replaced(changes []change, old, text []byte) []change {
	for i := 0; i < len(text); {
		r, n := decodeRune(text, i)
		changes = append(changes, change{r: r})
		i += n
	}
	more := utf8.RuneCount(text) - utf8.RuneCount(old)
	for i := 1; i <= more; i++ {
		changes[len(changes)-i].n = 1
	}
	if more < 0 && len(changes) > 0 {
		changes[len(changes)-1].n += more
	}
	return changes
}

// cluster returns the length of the extended grapheme cluster that b begins with (Unicode Standard Annex 29).
func cluster(d *database, b []byte) int {
	r, end := decodeRune(b, 0)
	kind := func(p uint64) int { return int(p >> graphemeShift & 15) }
	p := d.props(r)
	before := kind(p)
	regional := before == gRegional // an odd number of them so far
	pictograph := p&pictogram != 0  // a pictograph, then Extend
	joined := false                 // the same, then ZWJ
	conjunct := conjunctOf(p) == conjunctConsonant
	linked := false // a consonant, then a linker among Extend
	for end < len(b) {
		r, n := decodeRune(b, end)
		p := d.props(r)
		k, c := kind(p), conjunctOf(p)
		if !extends(before, k, regional, joined && p&pictogram != 0, conjunct && linked && c == conjunctConsonant) {
			break
		}
		joined = pictograph && k == gZWJ
		pictograph = p&pictogram != 0 || pictograph && k == gExtend
		switch c {
		case conjunctConsonant:
			conjunct, linked = true, false
		case conjunctLinker:
			linked = conjunct
		case conjunctExtend:
		default:
			conjunct, linked = false, false
		}
		regional = k == gRegional && !regional
		before = k
		end += n
	}
	return end
}

func conjunctOf(p uint64) int { return int(p >> conjunctShift & 3) }

// extends says whether there is no boundary between two kinds of characters.
func extends(a, b int, regional, pictographs, conjuncts bool) bool {
	switch {
	case a == gCR && b == gLF:
		return true
	case a == gControl || a == gCR || a == gLF || b == gControl || b == gCR || b == gLF:
		return false
	case a == gL && (b == gL || b == gV || b == gLV || b == gLVT), (a == gLV || a == gV) && (b == gV || b == gT), (a == gLVT || a == gT) && b == gT:
		return true
	case b == gExtend || b == gZWJ || b == gSpacing || a == gPrepend:
		return true
	case conjuncts || pictographs:
		return true
	}
	return a == gRegional && b == gRegional && regional
}
