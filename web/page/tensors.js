// The panel of files: what is in them, a tensor's last two axes, and a model's run on a picture.
import { Answers } from "./answers.js";
import { busy } from "./asking.js";
import { $, facts, h, mono, plural, show, toast } from "./dom.js";
import { set, state } from "./state.js";

const models = new Answers("models.wasm.gz", busy);
$("stop").addEventListener("click", () => models.stop());

let file = null, listing = null, at = [], drawn = "", opened = 0, known = false; // known: the program has read what is in the file
models.lost = () => { known = false; };
const failed = text => { $("fault-file").textContent = text; };

async function ask(op, more = {}, extra = {}) {
  try {
    if (!known && file && op !== "open") await models.ask({ op: "open", name: file.name }, "open", { file });
    const out = await models.ask({ op, ...more }, op, extra);
    failed(out.fault ? out.fault.text : "");
    if (out.fault) return null;
    known = true;
    return out.answer;
  } catch (e) {
    if (e.message !== "replaced") failed(e.message === "stopped" ? "Stopped." : `The program ended: ${e.message}. Open the file again.`);
    return null;
  }
}

// open reads a file or a folder; a picture goes to the model that is open, and an array to the receipt.
async function open(f) {
  if (/^image\//.test(f.type)) { await run(f); return; }
  if (/\.txt$/i.test(f.name)) { await named(f.name, f); return; }
  if (/\.json$/i.test(f.name)) { given = [f]; await verify(); return; }
  if (given && listing?.kind === "onnx" && /\.(np[yz]|safetensors)$/i.test(f.name)) { given = [...given.filter(g => g.name !== f.name), f]; await verify(); return; }
  const next = f.url || f.folder ? f : { blob: f, name: f.name, size: f.size }, mine = ++opened;
  drawn = "";
  if (!listing) show("tensors", h("p", { class: "lead" }, `Reading ${f.name}…`));
  const list = await ask("open", { name: f.name }, { file: next });
  if (mine !== opened) { known = false; return; }
  if (!list) { if (!listing) show("tensors"); return; }
  file = next;
  listing = list;
  labels = photo = null;
  at = [];
  draw();
  if (list.kind !== "onnx") given = null;
  if (given) await verify();
  else if (list.tensors?.length && list.kind !== "onnx") await pick(list.tensors[0].name);
}

// several opens files that come together, beside a receipt all of them: the receipt and the model before the inputs.
// A model comes with its labels.
const rank = f => /\.json$/i.test(f.name) ? 0 : /\.onnx$/i.test(f.name) ? 1 : /\.txt$/i.test(f.name) ? 2 : 3;
async function several(list) {
  const sorted = [...list].sort((x, y) => rank(x) - rank(y));
  const first = rank(sorted[0]) === 1 && rank(sorted[1] ?? sorted[0]) === 2 ? 2 : 1;
  for (const f of sorted.slice(0, given || rank(sorted[0]) === 0 ? list.length : first)) await open(f);
}

let labels = null, photo = null; // of the open model: the names of its classes, and the picture that it ran on
const mostLabels = 1 << 20;
async function named(name, source) {
  if (listing?.kind !== "onnx") { failed(`${name}: names of classes are for a model; open an ONNX file first`); return; }
  if (source.size > mostLabels) { failed(`${name}: it is too long for a list of classes`); return; }
  labels = { name, text: await source.text() };
  $("labels").textContent = ` ${name} names the classes.`;
  if (photo) await run(photo);
}

let given = null; // the receipt that is verified, and the inputs
async function verify() {
  const name = given[0].name;
  if (listing?.kind !== "onnx") {
    listing = null;
    show("tensors", h("h2", {}, name), h("p", { class: "lead", id: "verified" }, "Drop the model of the receipt."));
    return;
  }
  show("ran", h("p", { class: "lead" }, `Verifying ${name}…`));
  const v = await ask("verify", {}, { file: { folder: given.map(f => ({ path: f.name, blob: f })) } });
  if (!v) { show("ran"); return; }
  const said = {
    equal: "Equal. The model gives what the receipt says, bit for bit.",
    model: `The model is the receipt’s. To run it again, drop ${plural(v.wants?.length, "input")}: ${v.wants?.join(", ")}.`,
    differs: `Differs: ${v.what}.`, undecided: `Can’t be decided: ${v.what}.`,
  };
  show("ran",
    h("h2", {}, `Receipt ${name}`),
    h("p", { class: "lead", id: "verified" }, said[v.answer]),
    facts([["it has", mono(v.has)], ["root", mono(v.root)], v.sides && ["receipt", mono(v.sides[0] || "nothing")], v.sides && ["here", mono(v.sides[1] || "nothing")], v.value && ["here it is", mono(v.value)]]),
    h("p", {}, h("button", { on: { click: () => { given = null; show("ran"); } } }, "Put the receipt away")));
}

const size = n => n < 1024 ? n + " B" : n < 2 ** 20 ? (n / 1024).toFixed(1) + " KiB" : n < 2 ** 30 ? (n / 2 ** 20).toFixed(1) + " MiB" : (n / 2 ** 30).toFixed(2) + " GiB";

function draw() {
  const n = listing.tensors?.length ?? 0;
  const rows = (listing.tensors ?? []).map(t => h("tr", { class: "pick", "data-name": t.name, on: { click: () => { at = []; pick(t.name); } } },
    h("td", {}, h("button", { class: "plain mono" }, t.name)), h("td", {}, t.type), h("td", { class: "mono" }, "(" + (t.shape ?? []).join(",") + ")", t.chunks ? h("span", { class: "soft" }, " " + t.chunks) : null), h("td", { class: "num" }, size(t.bytes))));
  show("tensors",
    h("h2", {}, file.name),
    h("p", { class: "lead" }, `${listing.kind}, ${size(file.size)}, ${plural(n + (listing.more ?? 0), listing.kind === "onnx" ? "weight" : "tensor")}` + (listing.more ? `, of which ${n} are listed` : "")),
    listing.notes ? h("ul", { class: "notes" }, listing.notes.map(t => h("li", {}, t))) : null,
    listing.kind === "onnx" ? h("p", { class: "lead" }, "Drop a picture, and the model runs on it. Drop a text file that names a class in each line. Drop a receipt, and the model is verified.", h("span", { id: "labels" })) : null,
    h("div", { id: "ran" }),
    n ? h("div", { class: "scroll list" }, h("table", { class: "facts" }, h("thead", {}, h("tr", {}, ["name", "type", "shape", "size"].map((t, i) => h("th", { scope: "col", class: i === 3 ? "num" : "" }, t)))), h("tbody", {}, rows))) : null,
    h("div", { id: "tensor" }),
    listing.graph ? [h("h2", {}, "Graph"), h("div", { class: "scroll", id: "graph" }, image(listing.graph, "the model’s graph"))] : null);
  if (listing.kind !== "onnx") return;
  $("ran").before(h("label", { class: "button" }, "Choose a picture ", h("input", { type: "file", id: "photo", accept: "image/*", on: { change: e => { const f = e.target.files[0]; if (f) run(f); e.target.value = ""; } } })));
}

// image shows SVG as a picture of its own, in which no script runs.
function image(svg, alt) {
  const url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  return h("img", { src: url, alt, class: "graph", on: { load: () => URL.revokeObjectURL(url) } });
}

async function pick(name) {
  drawn = name;
  for (const e of document.querySelectorAll("#tensors tr.pick")) e.classList.toggle("picked", e.dataset.name === name);
  const v = await ask("tensor", { name, at });
  if (!v || drawn !== name || !$("tensor")) return;
  const shape = v.entry.shape ?? [], s = v.stats;
  const steps = shape.slice(0, -2).map((n, k) => h("label", {}, "axis " + k + " ", h("input", {
    type: "number", class: "tiny", min: 0, max: n - 1, value: at[k] ?? 0,
    on: { change: e => { at = shape.slice(0, -2).map((_, i) => i === k ? Math.min(Math.max(0, Number(e.target.value) || 0), n - 1) : at[i] ?? 0); pick(name); } },
  }), ` of ${n}`));
  const part = v.have < v.rows ? `, the first ${v.have} of ${v.rows} rows` : "";
  show("tensor",
    h("h2", {}, name),
    h("p", { class: "fields" }, steps, h("span", { class: "soft" }, `${plural(v.read, "element")} read${part}`),
      v.entry.layout ? h("button", { on: { click: () => set({ tab: "layout", a: v.entry.layout, at: "" }) } }, "See its layout") : null),
    facts([
      s.least !== undefined && ["least, most", mono(s.least + "   " + s.most)],
      s.mean !== undefined && ["mean, deviation", mono(s.mean + "   " + s.deviation)],
      ["zeros, NaN, infinite", mono([s.zero, s.nan, s.infinite].join("   "))],
    ]),
    h("div", { class: "drawings" },
      v.heat ? h("figure", {}, h("figcaption", {}, "Heatmap ", h("small", {}, v.legend)), h("img", { class: "heat", alt: "heatmap: " + v.legend, src: "data:image/png;base64," + v.heat })) : null,
      s.histogram ? h("figure", {}, h("figcaption", {}, "Histogram ", h("small", {}, `from ${s.least} to ${s.most}`)), histogram(s.histogram)) : null),
    h("h3", {}, "Elements"),
    h("div", { class: "scroll" }, values(v)),
    v.bytes ? [h("h3", {}, "Memory"), h("div", { class: "scroll" }, bytes(v.bytes))] : null);
}

function histogram(v) {
  const most = Math.max(...v, 1), high = 120;
  return h("svg", { class: "bars histogram", viewBox: `0 0 ${v.length * 10} ${high}`, role: "img", "aria-label": "counts: " + v.join(" ") },
    v.map((x, i) => h("rect", { x: i * 10 + .5, width: 9, y: high - x / most * high, height: x / most * high })));
}

function values(v) {
  const more = v.columns > v.table[0]?.length;
  return h("table", { class: "grid values" },
    h("thead", {}, h("tr", {}, h("td", { class: "corner" }), (v.table[0] ?? []).map((_, j) => h("th", { scope: "col" }, String(j))), more ? h("th", {}, `… ${v.columns}`) : null)),
    h("tbody", {}, v.table.map((row, i) => h("tr", {}, h("th", { scope: "row" }, String(i)), row.map(x => h("td", {}, x)))), v.rows > v.table.length ? h("tr", {}, h("th", {}, `… ${v.rows}`)) : null));
}

function bytes(list) {
  return h("table", { class: "grid values" }, h("thead", {}, h("tr", {}, ["offset", "coordinate", "bytes", "element"].map(t => h("th", { scope: "col" }, t)))),
    h("tbody", {}, list.map(b => h("tr", {}, h("th", { scope: "row" }, b.offset), h("td", {}, b.coord), h("td", {}, b.hex), h("td", {}, b.value)))));
}

// run paints a picture in the model's size and runs the model on it.
async function run(f) {
  const want = await ask("picture");
  if (!want) return;
  let bitmap;
  try {
    bitmap = await createImageBitmap(f);
  } catch (e) {
    failed(`${f.name}: the browser can’t read this picture`);
    return;
  }
  const c = h("canvas", { width: want.width, height: want.height });
  const g = c.getContext("2d");
  g.drawImage(bitmap, 0, 0, want.width, want.height);
  const pixels = new Uint8Array(g.getImageData(0, 0, want.width, want.height).data.buffer);
  const r = await ask("run", { labels: labels?.text ?? "" }, { pixels });
  if (!r) return;
  photo = f;
  const slow = [...r.nodes].sort((x, y) => y.part - x.part).slice(0, 12);
  show("ran",
    h("h2", {}, `Run on ${f.name}`),
    h("p", { class: "lead" }, `The picture in ${want.width}×${want.height} pixels, ${want.channels === 1 ? "grey" : "red, green, blue"}, 0 to 1. ${plural(r.count, "node")} in ${plural(r.nodes.length, "step")} took ${r.total}` + (r.warm ? ", in the second of two runs." : ".")),
    facts((r.outputs ?? []).map(o => [o.name, o.classes ? [ranked(o.classes), mono(o.text)] : mono(o.text)])),
    h("div", { class: "scroll" }, h("table", { class: "facts times" }, h("thead", {}, h("tr", {}, ["the slowest steps", "time", "part", "result"].map((t, i) => h("th", { scope: "col", class: i === 1 || i === 2 ? "num" : "" }, t)))),
      h("tbody", {}, slow.map(n => h("tr", {}, h("td", {}, n.op, n.name ? h("span", { class: "soft" }, " " + n.name) : null), h("td", { class: "num" }, n.time), h("td", { class: "num" }, (100 * n.part).toFixed(1) + " %"), h("td", { class: "mono" }, n.shape)))))));
  if (r.graph && $("graph")) show("graph", image(r.graph, "the model’s graph with the time of each node"));
}

// ranked shows the best classes, with a bar for each.
function ranked(list) {
  return h("div", { class: "classes" }, list.map((c, i) => [h(i ? "span" : "b", {}, c.name), h("span", { class: "num" }, c.score),
    h("svg", { class: "part", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" }, h("rect", { width: 100 * c.part, height: 10 }))]));
}

const drop = $("drop");
for (const name of ["dragover", "dragenter"]) addEventListener(name, e => { e.preventDefault(); drop.classList.add("over"); });
addEventListener("dragleave", e => { if (!e.relatedTarget) drop.classList.remove("over"); });
addEventListener("drop", e => {
  e.preventDefault();
  drop.classList.remove("over");
  const f = e.dataTransfer.files[0], root = e.dataTransfer.items[0]?.webkitGetAsEntry?.();
  if (!f && !root) { toast("Drop a file or a folder"); return; }
  set({ tab: "tensors" });
  if (root?.isDirectory) walk(root); else several([...e.dataTransfer.files]);
});

// walk opens a dropped folder: it lists the files, and reads none.
const most = 200000; // files of a folder
async function walk(root) {
  const folder = [], waiting = [[root, ""]];
  try {
    while (waiting.length) {
      const [entry, path] = waiting.pop(), reader = entry.createReader();
      for (let part; (part = await new Promise((done, no) => reader.readEntries(done, no))).length;) {
        for (const e of part) {
          if (e.isDirectory) waiting.push([e, path + e.name + "/"]);
          else folder.push({ path: path + e.name, blob: await new Promise((done, no) => e.file(done, no)) });
        }
        if (folder.length + waiting.length > most) throw new Error(`it has more than ${most} files; zip it, and drop the zip file`);
      }
    }
  } catch (e) {
    failed(`${root.name}: ${e.message}`);
    return;
  }
  openFolder(root.name, folder);
}

function openFolder(name, folder) { return open({ name, folder, size: folder.reduce((n, f) => n + f.blob.size, 0) }); }

$("file").addEventListener("change", e => { const list = [...e.target.files]; e.target.value = ""; if (list.length) several(list); });
$("folder").addEventListener("change", e => {
  const list = [...e.target.files];
  e.target.value = "";
  if (list.length === 0 || list.length > most) { failed(list.length ? `the folder has more than ${most} files; zip it, and choose the zip file` : "the folder is empty"); return; }
  const root = list[0].webkitRelativePath.split("/")[0];
  openFolder(root, list.map(f => ({ path: f.webkitRelativePath.slice(root.length + 1), blob: f })));
});

function nameOf(url) {
  const name = url.pathname.split("/").pop();
  try { return decodeURIComponent(name); } catch { return name; }
}

let served = "";
export async function tensors() {
  if (!state.file || served === state.file) return;
  served = state.file;
  let url;
  try { url = new URL(state.file, location.href); } catch { failed("the link names no file"); return; }
  if (url.origin !== location.origin) { failed("a link opens files of its own server alone"); return; }
  let head;
  try {
    head = await fetch(url, { method: "HEAD" });
  } catch (e) {
    failed(`${state.file}: ${e.message}`);
    return;
  }
  if (!head.ok) { failed(`${state.file}: ${head.status} ${head.statusText}`); return; }
  await open({ url: url.href, name: nameOf(url), size: Number(head.headers.get("Content-Length")), type: "" });
  if (!state.labels || listing?.kind !== "onnx") return;
  const beside = new URL(state.labels, location.href);
  if (beside.origin !== location.origin) { failed("a link opens files of its own server alone"); return; }
  const r = await fetch(beside);
  if (r.ok) await named(nameOf(beside), new Blob([await r.text()]));
}
