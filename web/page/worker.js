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

// readable is what models.wasm reads: parts of a file, here at once, as Go's code expects.
function readable({ blob, url, size, path }) {
  return {
    size: blob ? blob.size : size, path,
    read(at, n) {
      try {
        if (blob) return new Uint8Array(new FileReaderSync().readAsArrayBuffer(blob.slice(at, at + n)));
        if (n === 0) return new Uint8Array(0);
        const x = new XMLHttpRequest();
        x.open("GET", url, false);
        x.responseType = "arraybuffer";
        x.setRequestHeader("Range", `bytes=${at}-${at + n - 1}`);
        x.send();
        if (x.status !== 206) return `the server answers ${x.status}`;
        return new Uint8Array(x.response);
      } catch (e) {
        return String(e.message || e);
      }
    },
  };
}

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
  const { begin, id, question, file, pixels } = event.data;
  if (begin) {
    start(begin).catch(e => postMessage({ died: String(e.message || e) }));
    return;
  }
  try {
    const more = file?.folder ? file.folder.map(readable) : file ? readable(file) : pixels ?? null;
    postMessage({ id, answer: self.ashlarAnswer(JSON.stringify(question), more) });
  } catch (e) {
    postMessage({ id, died: String(e.message || e) });
  }
};
