// Runs a model in ONNX Runtime: node run.mjs MODULES MODEL INPUT DIMS OUTPUT < floats > numbers. It writes float64, little-endian.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const [modules, model, input, dims, output] = process.argv.slice(2);
const ort = createRequire(modules + "/")("onnxruntime-node");
const bytes = readFileSync(0);
const x = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
const session = await ort.InferenceSession.create(model);
const out = await session.run({ [input]: new ort.Tensor("float32", x, dims.split("x").map(Number)) });
process.stdout.write(Buffer.from(Float64Array.from(out[output].data).buffer));
