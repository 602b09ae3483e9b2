// The worker runs one program in WebAssembly. It answers one question after another; the
// page ends it to stop a question, and starts another with the same compiled module.
"use strict";

importScripts("wasm_exec.js");

async function load(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(url + ": " + response.status + " " + response.statusText);
  let bytes = await response.arrayBuffer();
  const head = new Uint8Array(bytes, 0, 2);
  if (head[0] === 0x1f && head[1] === 0x8b) { // some servers unpack it themselves
    bytes = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  }
  return WebAssembly.compile(bytes);
}

let files = null; // what models.wasm reads, by number

async function start({ url, module }) {
  if (!module) {
    module = await load(url);
    postMessage({ module });
  }
  const go = new Go();
  const instance = await WebAssembly.instantiate(module, go.importObject);
  go.run(instance).then(() => postMessage({ died: "the program ended" }), e => postMessage({ died: String(e) }));
  postMessage({ ready: true });
}

onmessage = event => {
  const { begin, id, question, file } = event.data;
  if (begin) {
    start(begin).catch(e => postMessage({ died: String(e.message || e) }));
    return;
  }
  if (file !== undefined) files = file;
  try {
    postMessage({ id, answer: self.ashlarAnswer(JSON.stringify(question), files) });
  } catch (e) {
    postMessage({ id, died: String(e.message || e) });
  }
};
