// Records what ONNX Runtime gives for the models of packages/*.json, and writes it into these files:
//
//	npm install --no-save onnxruntime-node@1.30.0
//	node conformance/record.mjs MODELS packages/NAME.json...
//
// MODELS is the folder that holds the package's models, as the suite packages leaves it in its cache.
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const require = createRequire(join(process.cwd(), "x.js"))
const ort = require('onnxruntime-node')
const { version } = require('onnxruntime-node/package.json')
const most = 300 // elements recorded of an output

const arrays = { float32: Float32Array, float64: Float64Array, int32: Int32Array, int64: BigInt64Array, uint8: Uint8Array, int16: Int16Array }

// The same numbers as packageInput.value.
function input(spec, run) {
  const shape = spec.Shape ?? []
  const n = shape.reduce((a, b) => a * b, 1)
  const vals = new Array(n).fill(0)
  if (spec.Values) {
    spec.Values.forEach((v, i) => { vals[i] = v })
  } else if (spec.Fill === 'noise') {
    let x = ((spec.Seed ?? 0) + run) >>> 0
    for (let i = 0; i < n; i++) {
      x = (Math.imul(x, 1664525) + 1013904223) >>> 0
      vals[i] = (spec.Low ?? 0) + ((spec.High ?? 0) - (spec.Low ?? 0)) * (x / 4294967296)
    }
  } else if (spec.Fill === 'wave') {
    for (let i = 0; i < n; i++) {
      const at = ((i + run * n) % spec.Period) / spec.Period
      vals[i] = (spec.Low ?? 0) + ((spec.High ?? 0) - (spec.Low ?? 0)) * Math.abs(1 - 2 * at)
    }
  }
  if (spec.Type === 'string') return new ort.Tensor('string', vals, shape)
  const data = spec.Type === 'int64' ? vals.map(v => BigInt(v)) : vals
  return new ort.Tensor(spec.Type, arrays[spec.Type].from(data), shape)
}

// number writes a float32 by the shortest decimals that give it back.
function number(v, type) {
  if (type !== 'float32') return typeof v === 'bigint' ? Number(v) : v
  for (let p = 1; p < 10; p++) {
    const short = Number(v.toPrecision(p))
    if (Math.fround(short) === v) return short
  }
  return v
}

const [folder, ...files] = process.argv.slice(2)
for (const file of files) {
  const spec = JSON.parse(readFileSync(file, 'utf8'))
  for (const m of spec.Models) {
    const bytes = readFileSync(join(folder, m.File))
    m.SHA256 = createHash('sha256').update(bytes).digest('hex')
    const s = await ort.InferenceSession.create(bytes, { logSeverityLevel: 3, intraOpNumThreads: 1 })
    const wanted = s.outputNames.filter(name => !(m.Left && m.Left[name]))
    let got
    for (let run = 0; run < (m.Runs ?? 1); run++) {
      const feeds = {}
      for (const [name, spec] of Object.entries(m.Inputs)) {
        const from = m.State?.[name]
        feeds[name] = from && run > 0 ? got[from] : input(spec, run)
      }
      got = await s.run(feeds, wanted)
    }
    m.Recorder = `onnxruntime-node ${version}`
    m.Want = {}
    for (const name of wanted) {
      const t = got[name]
      const every = Math.max(1, Math.ceil(t.data.length / most))
      const w = { Type: t.type, Shape: t.dims }
      if (every > 1) w.Every = every
      w.Values = []
      for (let i = 0; i < t.data.length; i += every) w.Values.push(number(t.data[i], t.type))
      m.Want[name] = w
    }
  }
  // Lists of numbers stand on one line.
  const text = JSON.stringify(spec, null, 1).replace(/\[\s+([^[\]{}]*?)\s+\]/g, (_, list) => '[' + list.replace(/\s*\n\s*/g, ' ') + ']')
  writeFileSync(file, text + '\n')
}
