// Package vectors runs encoders of texts from folders as Hugging Face has them: a tokenizer.json, an ONNX file, and the
// files of sentence-transformers and transformers beside them.
//
//	m, err := vectors.Open("all-MiniLM-L6-v2")
//	defer m.Close()
//	rows, err := m.Embed(ctx, []string{"a text", "another"})
//
// [Model.Embed] gives vectors, [Model.Entities] labels of words with their bytes, [Model.Classify] labels of texts,
// and [Model.Rerank] scores of pairs. The ONNX file decides: token or sentence embeddings are for Embed, logits for the
// others.
//
// # Bits
//
// A vector depends on its text and the model alone, not on the texts beside it. Texts run together only where they have
// equally many tokens, so there is no padding. An encoder whose rows depend on each other runs each text alone: one that
// quantizes by the range of a batch, or one whose first texts get other bits together than alone. Where the ONNX file fixes the
// number of tokens, every text is padded to that number.
//
// Pooling adds float32 numbers in the order of the tokens, in float64, divides, and rounds once. So does Normalize.
//
// # Files
//
//	onnx/model.onnx, model.onnx        the first that is there; Settings.File names another
//	tokenizer.json                     see package text
//	modules.json                       Transformer, Pooling, Dense, Normalize; another module is an error
//	1_Pooling/config.json              cls, max, mean, mean_sqrt_len_tokens, weightedmean, lasttoken, or several
//	config_sentence_transformers.json  prompts, default_prompt_name
//	sentence_bert_config.json          max_seq_length, do_lower_case
//	tokenizer_config.json              model_max_length, where max_seq_length isn't there
//	config.json                        max_position_embeddings likewise, id2label, problem_type, is_matryoshka, matryoshka_dimensions
//
// A text with more tokens than the model takes is a [LengthError]. It is cut where tokenizer.json has a truncation, or
// Options.Cut says so.
//
// Sources: Pooling, Normalize and Dense of github.com/huggingface/sentence-transformers, TokenClassificationPipeline and
// TextClassificationPipeline of github.com/huggingface/transformers.
package vectors
