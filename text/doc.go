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
//	Unicode 8   unicode_categories, for punctuation and accents of BERT
//	Unicode 9   unicode-normalization-alignments 0.1.12, for NFC to NFKD and StripAccents
//	Unicode 16  regex-syntax 0.8.11, for Whitespace and the words around added tokens
//	Unicode 16  onig 6.5.3, for regular expressions
//	Unicode 17  unicode-segmentation 1.13.3, for Precompiled
//	Unicode 17  Rust's standard library, for Lowercase, Strip and Digits
//
// UnicodeScripts has a table of its own. The file tables.txt holds their answers for every code point, so the results
// don't depend on Go's version. A test makes the file anew by the reference, and compares.
//
// # Regular expressions
//
// Split and Replace have expressions of Oniguruma. The known ones, of GPT-2, Llama, Qwen and GPT-4o, run as automata that read a text
// once. Others run by backtracking within a number of steps in proportion to the text, and end with an error beyond it.
// Captures, back references, conditions and recursion are refused.
//
// # Bounds
//
// All parts of a file share the steps of a text, the bytes that the text may grow to, and the tokens that windows and
// padding copy. Each of the three is in proportion to the text. Beyond one of them Encode returns an error.
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
//   - Spans of tokens behind the end of a text, from a suffix or from the bytes of a prefix, are bytes there. Here they
//     stop at the end.
//   - An overflow has overflows again there. Here it has none.
//   - It skips ids that no token has when it decodes. Here they are an error.
//
// As there, truncation reads words only until there are enough tokens; Overflow has the tokens that the last word brought beyond. An
// added token has the id of the vocabulary, or the next free one, whatever the file says.
package text
