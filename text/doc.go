// Package text turns texts into tokens as Hugging Face's tokenizer.json files say, and tokens into texts. It gives the same
// ids, masks and spans as Hugging Face tokenizers 0.23.2, or an error.
//
// [Open] reads a file. It refuses a part that it doesn't know by its name and its byte. [Tokenizer.Encode] returns an
// [Encoding]: ids, types, masks, tokens, and for each token its [Span] in the original text, in bytes and in characters.
// The token stands for text[Start:End]. A token that is a part of a character has the span of the whole character.
//
// # Parts
//
//	normalizers     BertNormalizer, NFC, NFD, NFKC, NFKD, Lowercase, Strip, StripAccents, Replace, Prepend, Nmt,
//	                Precompiled, ByteLevel, Sequence
//	pre-tokenizers  BertPreTokenizer, ByteLevel, Metaspace, Whitespace, WhitespaceSplit, Punctuation, Digits, Split,
//	                CharDelimiterSplit, UnicodeScripts, FixedLength, Sequence
//	models          BPE without dropout, WordPiece, Unigram, WordLevel
//	processors      TemplateProcessing, BertProcessing, RobertaProcessing, ByteLevel, Sequence
//	decoders        ByteLevel, WordPiece, Metaspace, BPEDecoder, CTC, Fuse, ByteFallback, Strip, Replace, Sequence
//
// # Unicode
//
// The reference answers by the tables of several crates, each with its version of Unicode:
//
//	unicode-normalization-alignments  0.1.12
//	regex-syntax                      0.8.11
//	onig                              6.5.3
//	unicode-segmentation              1.13.3
//
// Besides, it has the crate unicode_categories and Rust's standard library. The file tables.txt holds their answer for every code point, so the results don't depend on Go's version.
//
// # Regular expressions
//
// Split and Replace have expressions of Oniguruma. The known ones, of GPT-2, Llama, Qwen and GPT-4o, run as automata that read a text
// once. Others run by backtracking within a number of steps in proportion to the text, and end with an error beyond it.
// Captures, back references, conditions and recursion are refused.
//
// # Where this package differs
//
// The reference has faults, where this package does otherwise.
//
//   - It ends its process where a part leaves a character without a place, where a stride isn't below the length, at an
//     added token that is normalized to nothing, and where a Strip decoder cuts more than there is. Here these are errors,
//     except the last two: the token isn't found, and the text is empty.
//   - Where truncation allows fewer tokens than there are special ones, it doesn't truncate. Here it is an error.
//   - Of added tokens that are equal once normalized it takes any one. Here it is the first of the file.
//   - Spans of tokens behind the end of a text, from a suffix, are bytes there. Here they are empty, at the end.
//   - An overflow has overflows again there. Here it has none.
//   - It skips ids that no token has when it decodes. Here they are an error.
//
// As there, truncation reads words only until there are enough tokens; Overflow has the tokens that the last word brought beyond. An
// added token has the id of the vocabulary, or the next free one, whatever the file says.
package text
