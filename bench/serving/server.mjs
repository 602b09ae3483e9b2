// A server for the digits model on Node's HTTP server and ONNX Runtime, to be measured beside ashlar serve:
//
//	node server.mjs FOLDER MODEL
//
// FOLDER is where onnxruntime-node is installed. It takes the requests that main.go sends, without checking them, and prints
// its address. One thread computes: more make a model of this size slower.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'

const [folder, model] = process.argv.slice(2)
const ort = createRequire(join(resolve(folder), 'x.js'))('onnxruntime-node')
const session = await ort.InferenceSession.create(readFileSync(model), { logSeverityLevel: 3, intraOpNumThreads: 1 })

const server = createServer((request, response) => {
  const parts = []
  request.on('data', part => parts.push(part))
  request.on('end', async () => {
    try {
      const body = parts.length === 1 ? parts[0] : Buffer.concat(parts)
      const length = request.headers['inference-header-content-length']
      const ask = JSON.parse(length ? body.toString('utf8', 0, Number(length)) : body.toString('utf8'))
      const { name, shape, data } = ask.inputs[0]
      const pixels = length ? new Float32Array(body.buffer.slice(body.byteOffset + Number(length), body.byteOffset + body.length)) : Float32Array.from(data)
      const { probability } = await session.run({ [name]: new ort.Tensor('float32', pixels, shape) })
      const output = { name: 'probability', datatype: 'FP32', shape: probability.dims }
      const answer = { model_name: 'digits', model_version: '1', outputs: [output] }
      if (!length) {
        output.data = Array.from(probability.data)
        const text = JSON.stringify(answer)
        response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) })
        response.end(text)
        return
      }
      const raw = Buffer.from(probability.data.buffer, probability.data.byteOffset, probability.data.byteLength)
      output.parameters = { binary_data_size: raw.length }
      const text = Buffer.from(JSON.stringify(answer))
      response.writeHead(200, { 'Content-Type': 'application/octet-stream', 'Inference-Header-Content-Length': text.length, 'Content-Length': text.length + raw.length })
      response.end(Buffer.concat([text, raw]))
    } catch (error) {
      response.writeHead(500)
      response.end(String(error))
    }
  })
})
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))
