package text

import (
	"math/rand/v2"
	"strings"
)

// samples are texts in many scripts, and characters that tokenizers get wrong.
var samples = []string{
	"The quick brown fox jumps over the lazy dog. ", "Don't you think it's 3.14 or 1,000,000?! ", "I'LL we'Re THEY'VE you'd 'ſ it'S ", "ÄÖÜ straße GROSS ﬀ ﬃ ŉ ",
	"Zażółć gęślą jaźń ", "Příliš žluťoučký kůň ", "Đặng Thị Hồng ậ ", "İstanbul ıI ", "Ελληνικά ΣΊΣΥΦΟΣ ς ", "Привет, мир! ёЁйЙ ", "Українська їЇ ", "שלום עוֹלָם ",
	"مَرْحَبًا بالعالم ", "اردو زبان ۱۲۳ ", "नमस्ते दुनिया क्षत्रिय ", "বাংলা ভাষা ", "ਪੰਜਾਬੀ ", "ગુજરાતી ", "தமிழ் மொழி ", "తెలుగు ", "ಕನ್ನಡ ", "മലയാളം ", "සිංහල ", "ภาษาไทย น้ำ ๑๒๓ ",
	"ລາວ ", "བོད་སྐད་ ", "မြန်မာ ", "ქართული ᲐᲑ ", "Հայերեն և ", "አማርኛ ", "ខ្មែរ ", "ᏣᎳᎩ ꭰ ", "ᐃᓄᒃᑎᑐᑦ ", "日本語テキスト カナー ｶﾞ ", "中文字符测试，你好。", "한국어 한글 각 ", "𠀀𠀁 㐀 豈 ",
	"👩\u200d👩\u200d👧\u200d👦 👍🏽 🇩🇪🇫🇷🇺 ❤️ ☕ ", "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f 🧑🏿\u200d🚀 ", "e\u0301 e\u0323\u0301 e\u0301\u0323 a\u0315\u0300\u05ae ", "\u0301\u0301 leading ", "q\u0307\u0323 ḍ̇ ", "\u1100\u1161\u11a8 \u1100\u1161 \uac00\u11a8 ", "क्\u200dष ন্ত ",
	"\x00\x01\x07\x1b\x7f\u0080\u009f ", "\u00a0\u1680\u2000\u2003\u2009\u200b\u202f\u205f\u3000\ufeff ", "\u2028\u2029\u0085\v\f ", "\r\n\n\r  \n \t\t x", "   ", "\n\n\n", "\t", "▁▁ a▁b ", "Ġ ĠĠa Ċ ",
	"ﷺ ﷽ ", "①②③ ½ ⅷ Ⅷ ², 𝟘𝟙 ", "𝔾𝕠𝕠𝕕 𝕞𝕠𝕣𝕟𝕚𝕟𝕘 ", "㍿ ㎏ ℃ Å Ω K ", "“quotes” ‘single’ — dash… ¿qué? ", "<s> </s> [CLS] [SEP] [MASK] <mask> <|endoftext|> <pad>", "<s [CLS <|endof text|> ]SEP[ <0x0A> <unk>",
	"foo_bar.baz(qux) { return x != y; } /* c */ ", "http://example.com/a?b=c&d=e#f ", "user@example.org ", "a/b\\c//\r\n/ ", "12345678901234567890 1 22 333 4444 ", "ABCdefGHI jKlMnO XMLHttpRequest ", "ǅ ǈ ᾈ ʰˢ ªº ",
	"\ufffd \ufffe \uffff \U0010ffff \ue000 \U000e0001 ", "\u0378\u0530\u2065 ", "\u0600\u0601 \u06dd1 \U000110bd ", "\u200d\u200c\u200e ", "ᬓ᭄ᬓ ꦏ꧀ꦏ ", "𖵩 𑄣𑄴 ", "ß ẞ ſ ﬅ st ss ", "\u0345\u0399 ᾳ ",
}

// randomText draws a text: samples whole and cut, single characters of any plane, and some extra strings, cut too.
func randomText(r *rand.Rand, extra []string) string {
	var b strings.Builder
	for range r.IntN(8) {
		switch k := r.IntN(10); {
		case k < 4:
			b.WriteString(samples[r.IntN(len(samples))])
		case k < 6:
			b.WriteString(cutAnywhere(r, samples[r.IntN(len(samples))]))
		case k < 7:
			for range r.IntN(6) {
				b.WriteRune(randomRune(r))
			}
		case k < 9 && len(extra) > 0:
			s := extra[r.IntN(len(extra))]
			if r.IntN(3) == 0 {
				s = cutAnywhere(r, s)
			}
			b.WriteString(s)
			if r.IntN(3) == 0 {
				b.WriteString(strings.Repeat(" ", r.IntN(3)))
			}
		default:
			s := []rune(samples[r.IntN(len(samples))])
			b.WriteString(strings.Repeat(string(s[r.IntN(len(s))]), 1+r.IntN(5)))
		}
	}
	return b.String()
}

// cutAnywhere returns a part of s between two characters.
func cutAnywhere(r *rand.Rand, s string) string {
	runes := []rune(s)
	i := r.IntN(len(runes) + 1)
	return string(runes[i : i+r.IntN(len(runes)-i+1)])
}

func randomRune(r *rand.Rand) rune {
	limits := []int{0x80, 0x250, 0x1000, 0x3000, 0x10000, 0x20000, 0x110000}
	for {
		if c := rune(r.IntN(limits[r.IntN(len(limits))])); c < 0xd800 || c > 0xdfff {
			return c
		}
	}
}
