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
  // matched returns which of some code points a regular expression finds.
  matched: ([Regex, points]) => {
    const s = JSON.stringify({ version: '1.0', added_tokens: [], pre_tokenizer: { type: 'Split', pattern: { Regex }, behavior: 'Removed', invert: false }, model: { type: 'WordLevel', vocab: { x: 0 }, unk_token: 'x' } })
    const found = points.map(() => true)
    for (const [, [a, b]] of T.Tokenizer.fromString(s).getPreTokenizer().preTokenizeString(points.map(c => String.fromCodePoint(c)).join(''))) found.fill(false, a, b)
    return found
  },
  decode: ([ids, skip]) => t.decode(ids, skip),
  normalize: s => t.getNormalizer().normalizeString(s),
  ids: ([content, n]) => Array.from({ length: n }, (_, i) => t.idToToken(i)),
  // time encodes the lines of a file, and returns nanoseconds, the number of tokens and microseconds of the processor.
  time: async file => {
    const lines = fs.readFileSync(file, 'utf8').split('\n')
    const batches = []
    for (let i = 0; i < lines.length; i += 1000) batches.push(lines.slice(i, i + 1000))
    await t.encodeBatch(batches[0], { addSpecialTokens: false })
    const at = process.hrtime.bigint(), cpu = process.cpuUsage()
    let n = 0
    for (const b of batches) for (const e of await t.encodeBatch(b, { addSpecialTokens: false })) n += e.getLength()
    const { user, system } = process.cpuUsage(cpu)
    return [Number(process.hrtime.bigint() - at), n, user + system]
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
