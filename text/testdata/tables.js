// Writes tables.txt: the Unicode tables that Hugging Face's tokenizers 0.23.2 answers by, found by asking it about every
// code point. Run: node tables.js FOLDER > tables.txt, where FOLDER has node_modules/tokenizers.
const path = require('path')
const T = require(path.join(path.resolve(process.argv[2]), 'node_modules', 'tokenizers'))

const all = []
for (let c = 0; c <= 0x10ffff; c++) if (c < 0xd800 || c > 0xdfff) all.push(c)
const str = c => String.fromCodePoint(c)
const hex = c => c.toString(16)

function ranges(cs) {
  const out = []
  for (let i = 0; i < cs.length;) {
    let j = i
    while (j + 1 < cs.length && cs[j + 1] === cs[j] + 1) j++
    out.push(i === j ? hex(cs[i]) : hex(cs[i]) + '-' + hex(cs[j]))
    i = j + 1
  }
  return out
}
const set = (name, cs) => console.log(name + ' ' + ranges(cs).join(' '))
const map = (name, entries) => console.log(name + ' ' + entries.map(([c, to]) => hex(c) + '=' + [...to].map(x => hex(x.codePointAt(0))).join('+')).join(' '))

// answers returns each string normalized. No normalizer changes the character between them.
function answers(n, strings) {
  const out = []
  for (let i = 0; i < strings.length; i += 4096) {
    const part = strings.slice(i, i + 4096).map(s => s.includes('\u{1F600}') ? '' : s)
    const got = n.normalizeString(part.join('\u{1F600}')).split('\u{1F600}')
    if (got.length !== part.length) throw new Error('the separator is gone at ' + i)
    got.forEach((g, j) => out.push(part[j] === '' ? n.normalizeString(strings[i + j]) : g))
  }
  return out
}
const normalized = (name, n) => answers(n, all.map(str))
const sep = 0x1f600

// Which code points a pattern matches, in order: Split leaves the others.
function matched(pattern) {
  const t = T.Tokenizer.fromString(JSON.stringify({
    version: '1.0', added_tokens: [], normalizer: null, post_processor: null, decoder: null,
    pre_tokenizer: pattern, model: { type: 'WordLevel', vocab: { x: 0 }, unk_token: 'x' },
  })).getPreTokenizer()
  return unsplit(t)
}
function unsplit(t) {
  const left = new Uint8Array(all.length)
  for (const [, [a, b]] of t.preTokenizeString(all.map(str).join(''))) left.fill(1, a, b)
  return all.filter((_, i) => !left[i])
}
const split = re => matched({ type: 'Split', pattern: { Regex: re }, behavior: 'Removed', invert: false })

// bert: the characters that clean_text and strip_accents remove, and punctuation, of the crate unicode_categories.
const options = (a, b, c, d) => T.bertNormalizer({ cleanText: a, handleChineseChars: b, stripAccents: c, lowercase: d })
let got = normalized('bert', options(true, false, false, false))
set('bert-removed', all.filter((c, i) => got[i] === ''))
set('bert-space', all.filter((c, i) => got[i] === ' '))
got = normalized('chinese', options(false, true, false, false))
set('bert-chinese', all.filter((c, i) => got[i] !== str(c)))
const nfd = normalized('nfd', T.nfdNormalizer())
got = normalized('accents', options(false, false, true, false))
set('bert-accents', all.filter((c, i) => got[i] === ''))
set('punctuation', matched({ type: 'Punctuation', behavior: 'Removed' }))
set('digits', matched({ type: 'Digits', individual_digits: false }).length ? [] : unsplitDigits())
function unsplitDigits() {
  const t = T.digitsPreTokenizer(true), out = []
  // A digit is a piece of its own between two letters.
  for (let i = 0; i < all.length; i += 4096) {
    const part = all.slice(i, i + 4096), s = part.map(c => 'a' + str(c) + 'a').join('')
    for (const [, [a, b]] of t.preTokenizeString(s)) if (b - a === 1 && a % 3 === 1) out.push(part[(a - 1) / 3])
  }
  return out
}

// Normalization of the crate unicode-normalization-alignments.
got = normalized('strip', T.stripAccentsNormalizer())
set('combining', all.filter((c, i) => got[i] === ''))
const hangul = c => c >= 0xac00 && c <= 0xd7a3
map('nfd', all.map((c, i) => [c, nfd[i]]).filter(([c, s]) => s !== str(c) && !hangul(c)))
const nfkd = normalized('nfkd', T.nfkdNormalizer())
map('nfkd', all.map((c, i) => [c, nfkd[i]]).filter(([c, s], i) => s !== nfd[i] && !hangul(c)))
const nfc = normalized('nfc', T.nfcNormalizer())
const pairs = []
all.forEach((c, i) => {
  if (hangul(c) || nfd[i] === str(c) || nfc[i] !== str(c)) return
  const parts = [...nfd[i]], head = T.nfcNormalizer().normalizeString(parts.slice(0, -1).join(''))
  if ([...head].length !== 1) throw new Error('no pair for ' + hex(c))
  pairs.push([c, head + parts[parts.length - 1]])
})
map('compose', pairs)
// The class of X by its order beside marks whose class is known: X moves behind R if its class is larger.
const marks = [[0x334, 1], [0x16ff0, 6], [0x93c, 7], [0x3099, 8], [0x94d, 9], [0x5b0, 10], [0x5b1, 11], [0x5b2, 12], [0x5b3, 13], [0x5b4, 14], [0x5b5, 15],
  [0x5b6, 16], [0x5b7, 17], [0x5b8, 18], [0x5b9, 19], [0x5bb, 20], [0x5bc, 21], [0x5bd, 22], [0x5bf, 23], [0x5c1, 24], [0x5c2, 25], [0xfb1e, 26],
  [0x64b, 27], [0x64c, 28], [0x64d, 29], [0x64e, 30], [0x64f, 31], [0x650, 32], [0x651, 33], [0x652, 34], [0x670, 35], [0x711, 36], [0xc55, 84],
  [0xc56, 91], [0xe38, 103], [0xe48, 107], [0xeb8, 118], [0xec8, 122], [0xf71, 129], [0xf72, 130], [0xf74, 132], [0x321, 202], [0x1dfa, 218], [0x31b, 216],
  [0x316, 220], [0x59a, 222], [0x302e, 224], [0x1d16d, 226], [0x5ae, 228], [0x301, 230], [0x315, 232], [0x35c, 233], [0x35d, 234], [0x345, 240]]
const plain = all.filter((c, i) => nfd[i] === str(c) && c !== sep)
const order = (f) => answers(T.nfdNormalizer(), plain.map(f))
const isMark = new Set()
let o = order(c => 'a' + str(c) + '\u0334')
plain.forEach((c, i) => { if (o[i] !== 'a' + str(c) + '\u0334') isMark.add(c) })
o = order(c => 'a\u0301' + str(c))
plain.forEach((c, i) => { if (o[i] !== 'a\u0301' + str(c) && nfdHas(o[i], c)) isMark.add(c) })
function nfdHas(s, c) { return s.includes(str(c)) }
const classes = new Map()
const members = [...isMark]
for (const c of members) {
  let lo = 1, hi = 255 // the class is in [lo, hi]
  for (const [m, k] of marks) {
    if (!isMark.has(m)) continue // its class is another in this version
    const a = T.nfdNormalizer().normalizeString('a' + str(c) + str(m)), b = T.nfdNormalizer().normalizeString('a' + str(m) + str(c))
    if (a === 'a' + str(m) + str(c) && m !== c) lo = Math.max(lo, k + 1)
    else if (b === 'a' + str(c) + str(m) && m !== c) hi = Math.min(hi, k - 1)
    else lo = hi = k
  }
  classes.set(c, lo === hi ? lo : lo) // 214 and other classes between two marks: their order is right
}
const byClass = new Map()
for (const c of members.sort((a, b) => a - b)) { const k = classes.get(c); if (!byClass.has(k)) byClass.set(k, []); byClass.get(k).push(c) }
for (const k of [...byClass.keys()].sort((a, b) => a - b)) set('ccc-' + k, byClass.get(k))

// Lower case of Rust's standard library.
got = normalized('lower', T.lowercase())
map('lower', all.map((c, i) => [c, got[i]]).filter(([c, s]) => s !== str(c)))
got = normalized('strip', T.stripNormalizer(true, true))
set('space', all.filter(c => T.stripNormalizer(true, false).normalizeString(str(c) + 'a') === 'a'))

// Words of the crate regex, by Whitespace: \w+|[^\w\s]+ between two word characters.
const word = [], other = []
{
  const t = T.whitespacePreTokenizer()
  for (let i = 0; i < all.length; i += 4096) {
    const part = all.slice(i, i + 4096)
    const piece = new Map(t.preTokenizeString(part.map(c => 'a' + str(c) + 'b').join(' ')).map(([, [a, b]]) => [a, b]))
    part.forEach((c, j) => { if (piece.get(4 * j) === 4 * j + 3) word.push(c); else if (piece.get(4 * j + 1) === 4 * j + 2) other.push(c) })
  }
}
set('regex-w', word)
const inWord = new Set(word), inOther = new Set(other)
set('regex-s', all.filter(c => !inWord.has(c) && !inOther.has(c)))

// Oniguruma: categories, scripts and short classes.
for (const k of ['Lu', 'Ll', 'Lt', 'Lm', 'Lo', 'Mn', 'Mc', 'Me', 'Nd', 'Nl', 'No', 'Pc', 'Pd', 'Ps', 'Pe', 'Pi', 'Pf', 'Po', 'Sm', 'Sc', 'Sk', 'So', 'Zs', 'Zl', 'Zp', 'Cc', 'Cf', 'Co'])
  set('onig-' + k, split('\\p{' + k + '}'))
set('onig-s', split('\\s'))
set('onig-w', split('\\w'))
set('onig-d', split('\\d'))
set('onig-h', split('\\h'))
for (const k of ['Alphabetic', 'White_Space', 'Emoji', 'Extended_Pictographic', 'Uppercase', 'Lowercase', 'Ideographic']) set('onig-' + k, split('\\p{' + k + '}'))
for (const k of ['alnum', 'alpha', 'blank', 'cntrl', 'digit', 'graph', 'lower', 'print', 'punct', 'space', 'upper', 'xdigit', 'word']) set('onig-[' + k + ']', split('[[:' + k + ':]]'))
const names = new Set()
for (const s of `Adlam Ahom Anatolian_Hieroglyphs Arabic Armenian Avestan Balinese Bamum Bassa_Vah Batak Bengali Bhaiksuki Bopomofo Brahmi Braille Buginese Buhid
Canadian_Aboriginal Carian Caucasian_Albanian Chakma Cham Cherokee Chorasmian Common Coptic Cuneiform Cypriot Cypro_Minoan Cyrillic Deseret Devanagari Dives_Akuru Dogra Duployan
Egyptian_Hieroglyphs Elbasan Elymaic Ethiopic Georgian Glagolitic Gothic Grantha Greek Gujarati Gunjala_Gondi Gurmukhi Han Hangul Hanifi_Rohingya Hanunoo Hatran Hebrew
Hiragana Imperial_Aramaic Inherited Inscriptional_Pahlavi Inscriptional_Parthian Javanese Kaithi Kannada Katakana Kawi Kayah_Li Kharoshthi Khitan_Small_Script Khmer Khojki
Khudawadi Lao Latin Lepcha Limbu Linear_A Linear_B Lisu Lycian Lydian Mahajani Makasar Malayalam Mandaic Manichaean Marchen Masaram_Gondi Medefaidrin Meetei_Mayek
Mende_Kikakui Meroitic_Cursive Meroitic_Hieroglyphs Miao Modi Mongolian Mro Multani Myanmar Nabataean Nag_Mundari Nandinagari New_Tai_Lue Newa Nko Nushu
Nyiakeng_Puachue_Hmong Ogham Ol_Chiki Old_Hungarian Old_Italic Old_North_Arabian Old_Permic Old_Persian Old_Sogdian Old_South_Arabian Old_Turkic Old_Uyghur Oriya Osage
Osmanya Pahawh_Hmong Palmyrene Pau_Cin_Hau Phags_Pa Phoenician Psalter_Pahlavi Rejang Runic Samaritan Saurashtra Sharada Shavian Siddham SignWriting Sinhala Sogdian
Sora_Sompeng Soyombo Sundanese Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le Tai_Tham Tai_Viet Takri Tamil Tangsa Tangut Telugu Thaana Thai Tibetan Tifinagh Tirhuta Toto
Ugaritic Vai Vithkuqi Wancho Warang_Citi Yezidi Yi Zanabazar_Square Garay Gurung_Khema Kirat_Rai Ol_Onal Sunuwar Todhri Tulu_Tigalari`.split(/\s+/)) names.add(s)
const scripts = []
for (const k of names) {
  let cs
  try { cs = split('\\p{' + k + '}') } catch (e) { continue } // a script of a later version
  scripts.push([k, cs])
  set('onig-' + k, cs)
}

// Scripts of UnicodeScripts: a code point is split from a letter of the same script by nothing.
// One piece per run of a script: the run's script is named by its first character.
{
  const t = T.Tokenizer.fromString(JSON.stringify({ version: '1.0', added_tokens: [], normalizer: null, post_processor: null, decoder: null,
    pre_tokenizer: { type: 'UnicodeScripts' }, model: { type: 'WordLevel', vocab: { x: 0 }, unk_token: 'x' } })).getPreTokenizer()
  // A representative for each class, found greedily: c has the class of r if r+c is one piece and c+r, too.
  const same = (a, b) => t.preTokenizeString(str(a) + str(b)).length === 1
  const reps = [], of = new Map()
  let last = -1
  // The space and other characters without a script are one with any script.
  const any = all.filter(c => same(0x61, c) && same(0x44f, c)), isAny = new Set(any)
  set('script-255', any)
  for (const c of all) {
    if (isAny.has(c)) continue
    if (last >= 0 && same(reps[last][0], c)) { reps[last].push(c); continue }
    let k = reps.findIndex(r => same(r[0], c))
    if (k < 0) { reps.push([c]); k = reps.length - 1 } else reps[k].push(c)
    last = k
  }
  reps.forEach((cs, k) => set('script-' + k, cs))
}

// Grapheme clusters by this node's own Unicode, which a test compares with the crate unicode-segmentation.
{
  const g = new Intl.Segmenter('en', { granularity: 'grapheme' })
  const one = s => { let n = 0; for (const _ of g.segment(s)) n++; return n === 1 }
  const K = '\u0915', V = '\u094d', Z = '\u200d', F = '\u{1F469}'
  const sets = { control: [], extend: [], spacing: [], prepend: [], consonant: [], linker: [], conjoin: [], L: [], V: [], T: [], LV: [], LVT: [], pictographic: [], regional: [] }
  for (const c of all) {
    const s = str(c)
    if (c === 13 || c === 10) continue
    if (!one(s + '\u0301')) { sets.control.push(c); continue }
    if (c >= 0x1f1e6 && c <= 0x1f1ff) { sets.regional.push(c); continue }
    if (/\p{Extended_Pictographic}/u.test(s)) sets.pictographic.push(c)
    if (one('a' + s)) {
      if (c === 0x200d) { sets.conjoin.push(c); continue }
      if (one(F + s + Z + F)) { sets.extend.push(c); if (one(K + s + K)) sets.linker.push(c); else if (one(K + s + V + K)) sets.conjoin.push(c) } else { sets.spacing.push(c) }
      continue
    }
    if (one(s + 'a')) { sets.prepend.push(c); continue }
    if (one(s + V + K)) { sets.consonant.push(c); continue }
    const before = one(s + '\u1161'), after = one(s + '\u11a8'), fromL = one('\u1100' + s), fromV = one('\u1161' + s)
    if (before && fromL && !after) sets.L.push(c)
    else if (before && after && fromL && !fromV) sets.LV.push(c)
    else if (before && after && fromV) sets.V.push(c)
    else if (!before && after && fromL) sets.LVT.push(c)
    else if (!before && after && fromV) sets.T.push(c)
  }
  for (const k in sets) set('grapheme-' + k, sets[k])
}
