// Runs models with ONNX Runtime on one thread, for main.go. A line of standard input names a model, its inputs and for how long to run it; the answer is the
// least time of a run in microseconds.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const ort = createRequire(join(process.argv.at(-1), 'x.js'))('onnxruntime-node')
const arrays = { float32: Float32Array, int64: BigInt64Array }
const sessions = new Map()

for await (const line of createInterface({ input: process.stdin })) {
  const { Path, Inputs, Seconds } = JSON.parse(line)
  if (!sessions.has(Path)) {
    sessions.set(Path, await ort.InferenceSession.create(Path, { intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 3 }))
  }
  const feeds = {}
  for (const { Name, Type, Shape, Elems } of Inputs) {
    feeds[Name] = new ort.Tensor(Type, arrays[Type].from(Type === 'int64' ? Elems.map(BigInt) : Elems), Shape)
  }
  let least = Infinity
  for (const end = performance.now() + 1e3 * Seconds; performance.now() < end;) {
    const from = performance.now()
    await sessions.get(Path).run(feeds)
    least = Math.min(least, performance.now() - from)
  }
  console.log(1e3 * least)
}
