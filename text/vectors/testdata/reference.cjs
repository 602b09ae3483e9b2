// Runs encoders by ONNX Runtime. Reads lines of JSON: file, output, and the inputs of a batch as lists of lists of integers. Prints for
// each line the shape and the numbers of the output.
// Usage: node reference.cjs FOLDER, where FOLDER holds node_modules.
const { createRequire } = require("node:module");
const { join, resolve } = require("node:path");
const ort = createRequire(join(resolve(process.argv[2]), "x.js"))("onnxruntime-node");

const sessions = new Map();
async function answer(line) {
  const { file, output, inputs } = JSON.parse(line);
  if (!sessions.has(file)) sessions.set(file, await ort.InferenceSession.create(file, { graphOptimizationLevel: "disabled" }));
  const feeds = {};
  for (const [name, rows] of Object.entries(inputs)) {
    feeds[name] = new ort.Tensor("int64", BigInt64Array.from(rows.flat(), BigInt), [rows.length, rows[0].length]);
  }
  const t = (await sessions.get(file).run(feeds))[output];
  console.log(JSON.stringify({ shape: t.dims.map(Number), data: Array.from(t.data) }));
}

(async () => {
  for await (const line of require("node:readline").createInterface({ input: process.stdin })) await answer(line);
})();
