// Asks a server for embeddings by the package openai, and prints the answers as lines of JSON.
// Usage: node client.mjs URL FOLDER, where FOLDER holds node_modules.
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

const OpenAI = createRequire(join(resolve(process.argv[3]), "x.js"))("openai").default;
const client = new OpenAI({ apiKey: "none", baseURL: process.argv[2] + "/v1", maxRetries: 0 });
const calls = [
  { model: "tiny", input: "the red house" }, // the client asks for base64 by itself
  { model: "tiny", input: ["the red house", "", "東京 \u{1f600} \"quotes\""], encoding_format: "float" },
  { model: "tiny", input: [2, 10, 11, 3] },
  { model: "tiny", input: [[2, 10, 3], [2, 3]], encoding_format: "base64" },
  { model: "tiny", input: "a green house", dimensions: 8 },
  { model: "other", input: "x" },
  { model: "tiny", input: "red ".repeat(100) },
  { model: "tiny", input: [] },
];
for (const call of calls) {
  try {
    const r = await client.embeddings.create(call);
    console.log(JSON.stringify({ model: r.model, usage: r.usage, data: r.data.map((d) => d.embedding) }));
  } catch (e) {
    console.log(JSON.stringify({ kind: e.constructor.name, status: e.status, message: e.message, type: e.type }));
  }
}
