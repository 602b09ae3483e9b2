// Prints the scores that @ricky0123/vad-web has for chunks of 512 samples: node scores.cjs MODULES MODEL SAMPLES, a file of float32.
const fs = require("fs");
console.debug = console.log = () => {}; // the package says how it goes
const [modules, model, samples] = process.argv.slice(2);
const ort = require(modules + "/onnxruntime-node");
const { Silero } = require(modules + "/@ricky0123/vad-web/dist/models/silero.js");

(async () => {
  const vad = await Silero.new(ort, async () => new Uint8Array(fs.readFileSync(model)));
  const bytes = fs.readFileSync(samples);
  const x = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  for (let i = 0; i + 512 <= x.length; i += 512) {
    process.stdout.write((await vad.process(x.slice(i, i + 512))).isSpeech + "\n");
  }
})();
