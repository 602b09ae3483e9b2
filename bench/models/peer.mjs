// Runs models with ONNX Runtime for main.go. A line of standard input names a model, its inputs, the threads and for how long to run it.
// The answer is a line: the times of the runs in milliseconds, the time of loading, by how many KiB the resident memory grew, and the files of the outputs.
// One process runs one model.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { readFileSync, writeFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'

const ort = createRequire(join(process.argv.at(-1), 'x.js'))('onnxruntime-node')
const arrays = { float32: Float32Array, float64: Float64Array, int64: BigInt64Array, int32: Int32Array, int16: Int16Array, int8: Int8Array,
  uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array, uint64: BigUint64Array, bool: Uint8Array }
const linux = process.platform === 'linux' // else nothing says the memory
const resident = (name) => linux ? Number(new RegExp(`${name}:\\s*(\\d+)`).exec(readFileSync('/proc/self/status', 'utf8'))[1]) : 0
let open, before // the session, and the resident memory before it

function tensor({ Type, Shape, File }) {
  const b = readFileSync(File)
  return new ort.Tensor(Type, new arrays[Type](b.buffer.slice(b.byteOffset, b.byteOffset + b.length)), Shape)
}

// kernels returns the mean times of operators, and the sums of the nodes' times, without Reorder and with it. A node's time is the mean of its lowest quarter.
function kernels(dir, n) {
  const Ops = {}, nodes = {}
  for (const file of readdirSync(dir)) {
    for (const e of JSON.parse(readFileSync(join(dir, file), 'utf8'))) {
      if (e.cat === 'Node' && e.name.endsWith('_kernel_time')) {
        Ops[e.args.op_name] = (Ops[e.args.op_name] ?? 0) + e.dur / 1e3 / n
        const node = nodes[e.name] ??= { times: [], reorder: e.args.op_name.startsWith('Reorder') }
        node.times.push(e.dur / 1e3)
      }
    }
  }
  let Nodes = 0, Reorders = 0
  for (const { times, reorder } of Object.values(nodes)) {
    const low = times.sort((a, b) => a - b).slice(0, Math.ceil(times.length / 4))
    const time = low.reduce((a, b) => a + b) / low.length
    if (reorder) Reorders += time
    else Nodes += time
  }
  return { Ops, Nodes, Reorders }
}

async function answer({ Model, Threads, Inputs, Seconds, Profile, Outputs, Processor }) {
  const options = { intraOpNumThreads: Threads, interOpNumThreads: 1, logSeverityLevel: 3 }
  const feeds = Object.fromEntries(Inputs.map((i) => [i.Name, tensor(i)]))
  if (Profile) {
    const dir = mkdtempSync(join(tmpdir(), 'ort'))
    const s = await ort.InferenceSession.create(Model, { ...options, enableProfiling: true, profileFilePrefix: join(dir, 'p') })
    let n = 0
    for (const end = performance.now() + 1e3 * Seconds; n === 0 || performance.now() < end; n++) await s.run(feeds)
    s.endProfiling()
    const times = kernels(dir, n)
    rmSync(dir, { recursive: true })
    return times
  }
  const begin = performance.now()
  if (!open) {
    if (linux) writeFileSync('/proc/self/clear_refs', '5') // the peak begins again
    before = resident('VmRSS')
  }
  open ??= await ort.InferenceSession.create(Model, options)
  const Load = performance.now() - begin
  const Times = []
  const used = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1e3 }
  const now = Processor ? used : () => performance.now()
  let out
  for (const end = performance.now() + 1e3 * Seconds; Times.length === 0 || performance.now() < end;) {
    const from = now()
    out = await open.run(feeds)
    Times.push(now() - from)
  }
  const results = []
  for (const [Name, t] of Object.entries(out)) {
    if (Outputs && ArrayBuffer.isView(t.data)) {
      const File = join(Outputs, `${results.length}.bin`)
      writeFileSync(File, new Uint8Array(t.data.buffer, t.data.byteOffset, t.data.byteLength))
      results.push({ Name, Type: t.type, Shape: t.dims, File })
    }
  }
  return { Times, Load, Peak: resident('VmHWM') - before, Results: results }
}

for await (const line of createInterface({ input: process.stdin })) {
  try {
    console.log(JSON.stringify(await answer(JSON.parse(line))))
  } catch (e) {
    console.log(JSON.stringify({ Error: String(e.message ?? e) }))
  }
}
