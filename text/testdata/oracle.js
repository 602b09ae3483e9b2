// Answers for the tests as Hugging Face's tokenizers do: a request as JSON on each line, its answer on a line of output.
// Run: node oracle.js FOLDER, where FOLDER has node_modules/tokenizers.
const path = require('path'), fs = require('fs')
const T = require(path.join(path.resolve(process.argv[2]), 'node_modules', 'tokenizers'))

const plain = e => ({
  ids: e.getIds(), types: e.getTypeIds(), tokens: e.getTokens(), spans: e.getOffsets(), words: e.getWordIds(),
  texts: e.getSequenceIds(), special: e.getSpecialTokensMask(), attention: e.getAttentionMask(), overflow: e.getOverflowing().map(plain),
})

let t
const commands = {
  open: s => { t = T.Tokenizer.fromString(s); return true },
  file: s => { const at = process.hrtime.bigint(); t = T.Tokenizer.fromFile(s); return Number(process.hrtime.bigint() - at) },
  encode: async ([text, pair, addSpecialTokens]) => plain(await t.encode(text, pair, { addSpecialTokens })),
  batch: async list => {
    const out = []
    for (const [text, pair, addSpecialTokens] of list) {
      try { out.push(plain(await t.encode(text, pair, { addSpecialTokens }))) } catch (e) { out.push({ error: e.message }) }
    }
    return out
  },
  decode: ([ids, skip]) => t.decode(ids, skip),
  normalize: s => t.getNormalizer().normalizeString(s),
  ids: ([content, n]) => Array.from({ length: n }, (_, i) => t.idToToken(i)),
  // time encodes the lines of a file, and returns nanoseconds and the number of tokens.
  time: async file => {
    const lines = fs.readFileSync(file, 'utf8').split('\n')
    for (const l of lines.slice(0, 100)) await t.encode(l, null, { addSpecialTokens: false })
    const at = process.hrtime.bigint()
    let n = 0
    for (const l of lines) n += (await t.encode(l, null, { addSpecialTokens: false })).getLength()
    return [Number(process.hrtime.bigint() - at), n]
  },
}

async function main() {
  for await (const line of require('readline').createInterface({ input: process.stdin, crlfDelay: Infinity, terminal: false })) {
    const [name, argument] = JSON.parse(line)
    let answer
    try { answer = { answer: await commands[name](argument) } } catch (e) { answer = { error: e.message } }
    fs.writeSync(1, JSON.stringify(answer) + '\n')
  }
}
main()
