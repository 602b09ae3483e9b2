"""Writes a tokenizer.json with a Unigram model that SentencePiece trains, as those of XLM-R and T5 are.

Run: python3 unigram.py CORPUS.txt VOCABULARY OUT.json. Needs Debian's python3-sentencepiece and python3-protobuf.
"""
import base64
import io
import json
import sys

import sentencepiece
from sentencepiece import sentencepiece_model_pb2

corpus, size, out = sys.argv[1:4]
model = io.BytesIO()
with open(corpus, encoding="utf-8") as f:
    lines = [line.strip()[:2000] for line in f][:60000]
sentencepiece.SentencePieceTrainer.train(
    sentence_iterator=iter(lines), model_writer=model, vocab_size=int(size), character_coverage=0.9999,
    byte_fallback=len(sys.argv) > 4, hard_vocab_limit=False, normalization_rule_name="nmt_nfkc", num_threads=1, minloglevel=2)
proto = sentencepiece_model_pb2.ModelProto()
proto.ParseFromString(model.getvalue())
tokenizer = {
    "version": "1.0", "truncation": None, "padding": None,
    "added_tokens": [{"id": i, "content": t, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
                     for i, t in enumerate(["<unk>", "<s>", "</s>"])],
    "normalizer": {"type": "Sequence", "normalizers": [
        {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(proto.normalizer_spec.precompiled_charsmap).decode()},
        {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}]},
    "pre_tokenizer": {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True},
    "post_processor": {"type": "TemplateProcessing",
                       "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "</s>", "type_id": 0}}],
                       "pair": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "</s>", "type_id": 0}},
                                {"Sequence": {"id": "B", "type_id": 0}}, {"SpecialToken": {"id": "</s>", "type_id": 0}}],
                       "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}, "</s>": {"id": "</s>", "ids": [2], "tokens": ["</s>"]}}},
    "decoder": {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True},
    "model": {"type": "Unigram", "unk_id": 0, "vocab": [[p.piece, p.score] for p in proto.pieces], "byte_fallback": len(sys.argv) > 4},
}
with open(out, "w", encoding="utf-8") as f:
    json.dump(tokenizer, f, ensure_ascii=False)
