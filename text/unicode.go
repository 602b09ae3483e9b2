package text

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// tablesText has a line for each set or map of code points: its name, then ranges, or code points with their images.
// testdata/tables.js writes it by asking the reference about every code point, so it pins the versions of Unicode that
// the crates of the reference have, whatever the version of Go's own tables.
//
//go:embed tables.txt
var tablesText string

var tableLines = sync.OnceValue(func() map[string]string {
	m := make(map[string]string)
	for line := range strings.Lines(tablesText) {
		name, items, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		m[name] = items
	}
	return m
})

// ranges calls f for each range of a set.
func ranges(items string, f func(lo, hi rune)) {
	for item := range strings.FieldsSeq(items) {
		first, last, two := strings.Cut(item, "-")
		lo := hex(first)
		hi := lo
		if two {
			hi = hex(last)
		}
		f(lo, hi)
	}
}

// images calls f for each entry of a map.
func images(items string, f func(r rune, to []rune)) {
	for item := range strings.FieldsSeq(items) {
		from, list, _ := strings.Cut(item, "=")
		var to []rune
		for s := range strings.SplitSeq(list, "+") {
			to = append(to, hex(s))
		}
		f(hex(from), to)
	}
}

func hex(s string) rune {
	n, err := strconv.ParseUint(s, 16, 32)
	if err != nil {
		panic("text: tables.txt: " + err.Error())
	}
	return rune(n)
}

// Bits of props.
const (
	bertRemoved uint64 = 1 << iota // by clean_text
	rustSpace                      // White_Space
	chinese                        // by handle_chinese_chars
	accent                         // Mn of the crate unicode_categories
	punctuation                    // ASCII's, and P of unicode_categories
	numeric                        // N of Rust's standard library
	combining                      // marks of the crate unicode-normalization-alignments
	regexWord                      // \w of the crate regex
	regexSpace                     // \s of the crate regex
	onigL                          // \p{L} of Oniguruma, and so on
	onigN
	onigS    // \s
	onigHigh // [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]
	onigLow  // [\p{Ll}\p{Lm}\p{Lo}\p{M}]
	onigM
	onigP     // \p{P} and \p{S}
	hasNFD    // has a canonical decomposition
	hasNFKD   // has a compatibility decomposition
	isSecond  // is the second of two characters that compose
	hasLower  // has another lower case
	pictogram // Extended_Pictographic

	classShift    = 32 // 8 bits: the canonical combining class
	graphemeShift = 40 // 4 bits: Grapheme_Cluster_Break
	conjunctShift = 44 // 2 bits: Indic_Conjunct_Break
	scriptShift   = 48 // 8 bits: the script of UnicodeScripts
)

// Values of Grapheme_Cluster_Break and Indic_Conjunct_Break (Unicode Standard Annex 29).
const (
	gAny = iota
	gControl
	gCR
	gLF
	gExtend
	gZWJ
	gSpacing
	gPrepend
	gRegional
	gL
	gV
	gT
	gLV
	gLVT

	conjunctNone      = 0
	conjunctConsonant = 1
	conjunctLinker    = 2
	conjunctExtend    = 3
)

// Hangul syllables compose by a rule (The Unicode Standard, section 3.12).
const (
	hangulS, hangulL, hangulV, hangulT = 0xac00, 0x1100, 0x1161, 0x11a7
	hangulLs, hangulVs, hangulTs       = 19, 21, 28
	hangulCount                        = hangulLs * hangulVs * hangulTs
)

const pageBits = 7

// A database has the properties of all code points.
type database struct {
	pages      [(utf8.MaxRune + 1) >> pageBits]*[1 << pageBits]uint64
	lower      map[rune][]rune
	canonical  map[rune][]rune // NFD of one character, except Hangul syllables
	compatible map[rune][]rune // NFKD, where it differs from NFD
	composed   map[[2]rune]rune
}

func (d *database) props(r rune) uint64 {
	return d.pages[uint32(r)>>pageBits][r&(1<<pageBits-1)]
}

func (d *database) has(r rune, bits uint64) bool { return d.props(r)&bits != 0 }

func (d *database) class(r rune) uint8 { return uint8(d.props(r) >> classShift) }

// unicodeData returns the database, built at the first call.
var unicodeData = sync.OnceValue(func() *database {
	d := &database{lower: make(map[rune][]rune), canonical: make(map[rune][]rune), compatible: make(map[rune][]rune), composed: make(map[[2]rune]rune)}
	blank := new([1 << pageBits]uint64)
	for i := range d.pages {
		d.pages[i] = blank
	}
	set := func(r rune, bits uint64) {
		p := &d.pages[uint32(r)>>pageBits]
		if *p == blank {
			*p = new([1 << pageBits]uint64)
		}
		(*p)[r&(1<<pageBits-1)] |= bits
	}
	lines := tableLines()
	sets := func(bits uint64, names ...string) {
		for _, name := range names {
			// Whole pages of ideographs are one page, to hold the database small.
			ranges(lines[name], func(lo, hi rune) {
				for r := lo; r <= hi; r++ {
					set(r, bits)
				}
			})
		}
	}
	for _, s := range []struct {
		bits  uint64
		names string
	}{
		{bertRemoved, "bert-removed"}, {rustSpace, "space"}, {chinese, "bert-chinese"}, {accent, "bert-accents"},
		{punctuation, "punctuation"}, {numeric, "digits"}, {combining, "combining"}, {regexWord, "regex-w"}, {regexSpace, "regex-s"},
		{onigL, "onig-Lu onig-Ll onig-Lt onig-Lm onig-Lo"}, {onigN, "onig-Nd onig-Nl onig-No"}, {onigS, "onig-s"},
		{onigHigh, "onig-Lu onig-Lt onig-Lm onig-Lo onig-Mn onig-Mc onig-Me"}, {onigLow, "onig-Ll onig-Lm onig-Lo onig-Mn onig-Mc onig-Me"},
		{onigM, "onig-Mn onig-Mc onig-Me"},
		{onigP, "onig-Pc onig-Pd onig-Ps onig-Pe onig-Pi onig-Pf onig-Po onig-Sm onig-Sc onig-Sk onig-So"},
		{pictogram, "grapheme-pictographic"},
		{gControl << graphemeShift, "grapheme-control"}, {gExtend << graphemeShift, "grapheme-extend"}, {gSpacing << graphemeShift, "grapheme-spacing"},
		{gPrepend << graphemeShift, "grapheme-prepend"}, {gRegional << graphemeShift, "grapheme-regional"}, {gL << graphemeShift, "grapheme-L"},
		{gV << graphemeShift, "grapheme-V"}, {gT << graphemeShift, "grapheme-T"}, {gLV << graphemeShift, "grapheme-LV"}, {gLVT << graphemeShift, "grapheme-LVT"},
		{conjunctConsonant << conjunctShift, "grapheme-consonant"}, {conjunctLinker << conjunctShift, "grapheme-linker"},
		{conjunctExtend << conjunctShift, "grapheme-conjoin"},
	} {
		sets(s.bits, strings.Fields(s.names)...)
	}
	set('\r', gCR<<graphemeShift)
	set('\n', gLF<<graphemeShift)
	set(0x200d, gZWJ<<graphemeShift)
	for name := range lines {
		if n, ok := strings.CutPrefix(name, "ccc-"); ok {
			class, _ := strconv.ParseUint(n, 10, 8)
			sets(class<<classShift, name)
		}
		if n, ok := strings.CutPrefix(name, "script-"); ok {
			script, _ := strconv.ParseUint(n, 10, 8)
			sets(script<<scriptShift, name)
		}
	}
	images(lines["lower"], func(r rune, to []rune) {
		d.lower[r] = to
		set(r, hasLower)
	})
	images(lines["nfd"], func(r rune, to []rune) {
		d.canonical[r] = to
		set(r, hasNFD)
	})
	images(lines["nfkd"], func(r rune, to []rune) {
		d.compatible[r] = to
		set(r, hasNFKD)
	})
	images(lines["compose"], func(r rune, to []rune) {
		d.composed[[2]rune(to)] = r
		set(to[1], isSecond)
	})
	for r := rune(hangulV); r < hangulV+hangulVs; r++ {
		set(r, isSecond)
	}
	for r := rune(hangulT + 1); r < hangulT+hangulTs; r++ {
		set(r, isSecond)
	}
	d.share()
	return d
})

// share makes equal pages one page.
func (d *database) share() {
	seen := make(map[[1 << pageBits]uint64]*[1 << pageBits]uint64)
	for i, p := range d.pages {
		if q := seen[*p]; q != nil {
			d.pages[i] = q
		} else {
			seen[*p] = p
		}
	}
}
