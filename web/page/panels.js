// A panel draws one tab. It gets a function that says whether its answer is still wanted.
import { ask, cleared, say } from "./asking.js";
import { devices } from "./devices.js";
import { $, copy, facts, h, mono, plural, show, toast } from "./dom.js";
import { grids, memory, watch } from "./map.js";
import { question, set, state } from "./state.js";
import { tensors } from "./tensors.js";

let picture = null, pair = [null, null], fragment = null;

const hint = "Point at a cell, or move with the arrow keys.";
const spans = parts => parts.map(([k, v]) => h("span", {}, k + " ", h("b", {}, v)));

function readout(p, i, off) {
  if (!p) { show("readout", "A layout, shape:stride, takes each coordinate to an offset: each index times its stride, added up. " + hint); return; }
  if (i === null) { show("readout", "offset ", h("b", {}, off), " holds no element that is drawn"); return; }
  const parts = [["coordinate", "(" + p.coords[i] + ")"], ["offset", off], ["bits", BigInt(off) >= 0n ? BigInt(off).toString(2) : "–"]];
  if (p.labels) parts.push(["thread", p.labels[i]]);
  const same = p.offsets.filter(o => o === off).length;
  if (same > 1) parts.push(["elements there", String(same)]);
  show("readout", spans(parts));
}

function readout2(p, _, coord) {
  if (!p) { show("readout2", hint); return; }
  const offset = q => q.offsets[q.coords.indexOf(coord)] ?? "–";
  show("readout2", spans([["coordinate", "(" + coord + ")"], ["first", offset(pair[0])], ["second", offset(pair[1])]]));
}

watch([$("map"), $("memory")], () => [picture, picture], (p, i, o) => o ?? p.offsets[i], readout);
watch([$("owners")], () => [fragment], (p, i) => p.labels?.[i]?.split(" ")[0] ?? i, () => {});
watch([$("left"), $("right")], () => pair, (p, i) => p.coords[i], readout2);

// overview draws a large matrix as blocks. A choice of one draws the coordinates from there on.
function overview(p) {
  const b = p.blocks, held = document.activeElement.closest("#blocks td")?.dataset.i;
  if (!b) { show("blocks"); return; }
  const near = (x, k) => x + b.step[k] > p.at[k] && x < p.at[k] + [p.rows, p.cols][k];
  const framed = new Set(b.coords.flatMap((c, i) => c.split(",").map(Number).every(near) ? [i] : []));
  show("blocks", grids(b, framed, `Blocks of ${b.step[0]} × ${b.step[1]}`, "the offset of the first coordinate; a frame around the part below"));
  if (held) $("blocks").querySelector(`td[data-i="${held}"]`)?.focus();
}

const choose = e => {
  const i = e.target.closest?.("td[data-i]")?.dataset.i;
  if (i && picture?.blocks && (e.type === "click" || e.key === "Enter")) set({ at: picture.blocks.coords[Number(i)] });
};
$("blocks").addEventListener("click", choose);
$("blocks").addEventListener("keydown", choose);
watch([$("blocks")], () => [picture?.blocks], (p, i) => p.offsets[i], readout);

function slices(p, place = "slice") {
  const rank = p.shape.length;
  if (!p.part) { show(place); return; }
  const move = (k, to) => set({ at: p.at.map((x, i) => i === k ? Math.max(0, to) : x).join(",") });
  const items = p.at.map((at, k) => {
    const n = Number(p.shape[k]);
    const shown = k < rank - 2 ? 1 : rank === 1 ? p.offsets.length : k === rank - 2 ? p.rows : p.cols;
    if (shown >= n) return null;
    const name = k < rank - 2 ? "mode " + k : rank === 1 ? "coordinates" : k === rank - 2 ? "rows" : "columns";
    return h("span", {}, name,
      h("button", { "aria-label": name + " back", on: { click: () => move(k, at - shown) } }, "‹"),
      h("input", { value: String(at), inputmode: "numeric", "aria-label": "first of " + name, on: { change: e => move(k, Number(e.target.value) || 0) } }),
      h("button", { "aria-label": name + " on", on: { click: () => move(k, at + shown) } }, "›"),
      shown === 1 ? `of ${p.shape[k]}` : `to ${at + shown - 1} of ${p.shape[k]}`);
  });
  show(place, h("span", {}, `${p.offsets.length} of ${p.size} coordinates are drawn`), items);
}

async function layout(wanted) {
  const p = await ask(question("map"), "map");
  if (!wanted()) return;
  $("by-label").hidden = !state.colour;
  if (p) {
    cleared(["a", "by"]);
    picture = p;
    say(p);
    slices(p);
    overview(p);
    show("map", grids(p));
    show("memory", memory(p));
    for (const e of document.querySelectorAll(".drawings")) e.classList.remove("stale");
    readout(null);
    if (!performance.getEntriesByName("drawn").length) performance.mark("drawn");
  } else if (!picture) {
    readout(null);
  }
  const e = await ask(question("explain"), "explain");
  if (!wanted()) return;
  show("steps", e?.steps?.length ? [h("h2", {}, "Steps"), facts([...e.steps.map(s => [s.rule, [s.text, (s.published ?? []).map(a => h("p", {}, h("span", { class: "bad" }, a.rules + " goes wrong here"), ": ", mono(a.layout), a.wrong ? ", " + missed(a.wrong) : ""))]]),
    ["answer", e.answer ? mono(e.answer, "good") : [h("span", { class: "bad" }, "none"), ": " + e.why + (e.missing ? "; " + missed(e.missing) : "")]]])] : []);
  if (state.find.trim() && p) {
    const f = await ask(question("find"), "find");
    if (!wanted()) return;
    if (f) {
      $("found").textContent = f.text;
      for (const e of document.querySelectorAll("#map td[data-i]")) e.classList.toggle("on", p.offsets[Number(e.dataset.i)] === f.offset);
    }
  } else {
    $("found").textContent = "";
  }
}

for (const b of document.querySelectorAll("[data-copy]")) {
  b.addEventListener("click", async () => {
    const form = b.dataset.copy;
    const r = await ask(question("copy", { what: form === "png" ? "svg" : form }), "copy");
    if (!r) return;
    if (form !== "png") { copy(r.text, form.toUpperCase() + " copied"); return; }
    try {
      const blob = await raster(r.text);
      await navigator.clipboard.write([new ClipboardItem({ "image/png": blob })]);
      toast("PNG copied");
    } catch (e) {
      toast("The browser refuses to copy a picture: " + e.message);
    }
  });
}

// raster paints an SVG twice as large as it says, as PNG.
export async function raster(svg) {
  const url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    const img = new Image();
    img.src = url;
    await img.decode();
    const c = h("canvas", { width: img.naturalWidth * 2, height: img.naturalHeight * 2 });
    c.getContext("2d").drawImage(img, 0, 0, c.width, c.height);
    return await new Promise((done, failed) => c.toBlob(b => b ? done(b) : failed(new Error("it is too large")), "image/png"));
  } finally {
    URL.revokeObjectURL(url);
  }
}

async function compare(wanted) {
  const left = await ask(question("map", { colour: "", by: "" }), "map");
  if (!wanted() || !left) return;
  cleared(["a"]);
  say(left);
  if (!state.b.trim()) { show("difference", h("p", { class: "lead" }, "Type a second layout.")); show("left", grids(left)); show("right"); return; }
  const right = await ask(question("map", { a: state.b, colour: "", by: "" }), "map2");
  const d = right && await ask(question("compare"));
  if (!wanted()) return;
  if (!right || !d) return;
  cleared(["b"]);
  pair = [left, right];
  const other = new Map(right.coords.map((c, i) => [c, right.offsets[i]]));
  const own = new Map(left.coords.map((c, i) => [c, left.offsets[i]]));
  const differ = (p, q) => new Set(p.coords.flatMap((c, i) => q.has(c) && q.get(c) === p.offsets[i] ? [] : [i]));
  show("left", grids(left, differ(left, other)));
  show("right", grids(right, differ(right, own)));
  for (const e of document.querySelectorAll(".pair")) e.classList.remove("stale");
  const same = !d.first;
  show("difference", facts([
    ["functions", h("span", { class: same ? "good" : "bad" }, same ? "equal" : "different")],
    ["equal offsets", `${d.equal} of ${Math.max(...d.size)} coordinates`],
    d.first && ["first difference", (d.first.coord ? `coordinate (${d.first.coord})` : `coordinate ${d.first.index}`) + ": " + d.first.reason],
    ["reach the same offsets", d.offsets ? "yes" : "no"],
  ]));
  readout2(null);
}

const ops = ["compose", "complement", "coalesce", "left_inverse", "right_inverse", "logical_divide", "zipped_divide", "tiled_divide", "flat_divide", "logical_product", "zipped_product", "tiled_product", "flat_product", "product_by"];
show("ops", ops.map(o => h("option", { value: o }, o)));
let seed = 1, faulty = null;

async function verdict(wanted) {
  const one = ["coalesce", "left_inverse", "right_inverse"].includes(state.op);
  const number = ["complement", "product_by"].includes(state.op);
  $("b-field").hidden = one;
  $("a-label").textContent = one || number ? "Layout" : "First layout";
  $("b-label").textContent = number ? "Number" : "Second layout";
  const v = state.b.trim() || one ? await ask(question("verdict", { what: state.op }), "verdict") : null;
  if (!wanted()) return;
  if (v) {
    cleared(["a", "b"]);
    $("facts").replaceChildren();
    show("verdict", facts([
      ["exact", v.exact ? mono(v.exact) : "none", v.exact ? (v.enumerated ? "found by trying every coordinate" : h("span", { class: "good" }, "right")) : v.missing ? missed(v.missing) : v.refused],
      ...v.published.map(a => [a.rules, a.layout ? mono(a.layout) : "–", said(a)]),
    ]));
  } else if (!state.b.trim() && !one) {
    show("verdict", h("p", { class: "lead" }, number ? "Type a number." : "Type a second layout."));
  } else {
    show("verdict");
  }
  if (!faulty) await search(wanted);
}

const missed = m => `at coordinate ${m.coord?.length > 1 ? `(${m.coord})` : m.index}: ${m.reason}`;

function said(a) {
  if (a.wrong) {
    return [h("span", { class: "bad" }, "wrong"), " " + missed(a.wrong)];
  }
  return { right: h("span", { class: "good" }, "right"), refused: "refuses", malformed: "gives no layout: an extent is below 1", unchecked: "not checked: too large" }[a.kind];
}

async function search(wanted) {
  const list = await ask(question("faults", { seed, n: 150 }), "faults");
  if (!list || !wanted()) return;
  const best = new Map((faulty ?? []).map(f => [f.rules + f.op + f.kind, f]));
  for (const f of list) {
    const key = f.rules + f.op + f.kind, old = best.get(key);
    if (!old || f.verdict.args.join(" ").length < old.verdict.args.join(" ").length) best.set(key, f);
  }
  faulty = [...best.values()].sort((x, y) => x.op.localeCompare(y.op) || x.rules.localeCompare(y.rules) || x.kind.localeCompare(y.kind));
  const row = f => {
    const wrong = f.verdict.published.find(a => a.rules === f.rules);
    const pick = () => set({ op: f.op, a: f.verdict.args[0], b: f.verdict.args[1] ?? "" });
    return h("tr", { class: "pick", on: { click: pick } },
      h("td", {}, h("button", { on: { click: e => { e.stopPropagation(); pick(); } } }, f.op)),
      h("td", { class: "mono" }, f.verdict.args.join("  ")), h("td", {}, f.rules), h("td", { class: "mono" }, wrong.layout), h("td", { class: "mono" }, f.verdict.exact ?? "none"), h("td", {}, f.kind));
  };
  show("faults", h("table", { class: "facts" }, h("thead", {}, h("tr", {}, ["operation", "input", "rules", "their answer", "exact", "how it is wrong"].map(t => h("th", { scope: "col" }, t)))), h("tbody", {}, faulty.map(row))));
}
$("more-faults").addEventListener("click", () => { seed++; search(() => true); });

async function banks(wanted) {
  const r = await ask(question("banks"), "banks");
  if (!wanted() || !r) return;
  cleared(["a", "banks", "elem", "lines", "align", "access0", "access1", "access2"]);
  show("facts", h("span", {}, h("b", {}, r.layout)));
  const p = r.accesses.some(a => a.traffic) ? await ask(question("map", { colour: "", by: "" }), "map") : null;
  if (!wanted()) return;
  show("reports", r.accesses.map(a => report(a, p)));
  await solve(wanted);
}

function report(a, p) {
  const clean = a.conflicts === 0;
  return h("div", { class: "report" }, h("h3", {}, a.access),
    h("p", {}, h("span", { class: clean ? "good" : "bad" }, clean ? "no conflicts" : plural(a.conflicts, "conflict")),
      ` in ${plural(a.steps, "step")} and ${plural(a.phases, "phase")}: ${plural(a.cycles, "cycle")}` + (clean ? "" : ` instead of ${a.phases}`),
      a.split ? h("span", { class: "bad" }, `; ${plural(a.split, "vector")} split`) : null),
    a.worst ? h("p", { class: "soft" }, `The fullest phase, step ${a.worst.step} from thread ${a.worst.thread}: ${Math.max(...a.worst.per_bank)} words in bank ${a.worst.per_bank.indexOf(Math.max(...a.worst.per_bank))}.`) : null,
    h("div", { class: "scroll" }, bars(a.worst ? a.worst.per_bank : a.per_bank, a.worst ? "words in each bank in the fullest phase" : "words in each bank, all phases")),
    a.traffic ? moved(a.traffic, p) : null);
}

// moved tells the transactions of an access, and draws the lines over the grid. The elements of the worst request have a frame.
function moved(t, p) {
  const bytes = t.useful_bits / 8, w = t.worst;
  const asked = new Set((w?.coords ?? []).map(String));
  const line = off => Number((BigInt(off) * BigInt(t.bits) + 8n * BigInt(t.base)) / (8n * BigInt(t.memory.line)) % 8n);
  const drawn = p && { ...p, by: `line of ${t.memory.line} bytes`, groups: p.offsets.map(line), labels: undefined };
  return [
    facts([
      ["sectors", `${t.sectors} of ${t.memory.sector} bytes in ${plural(t.lines, "line")}` + (t.sectors > t.fewest ? `, from byte ${t.base} of a line on; ${t.fewest} at the best place` : "")],
      ["useful", `${bytes} of ${t.moved_bytes} bytes, ${(100 * bytes / Math.max(1, t.moved_bytes)).toFixed(1)} %, in ${plural(t.requests, "request")}`],
      w && ["worst", `step ${w.step}, from thread ${w.thread} on: ${w.sectors} sectors for the bits of ${w.needed}` + (Math.abs(w.apart) > 1 ? `; (${w.from}) and (${w.to}) are ${Math.abs(w.apart)} elements apart` : "")],
      ["widest load", (t.widest ? `${plural(t.widest, "element")}, ${t.widest * t.bits / 8} bytes: ` : "none: ") + t.narrow],
    ]),
    drawn ? h("div", { class: "scroll" }, grids(drawn, new Set(p.coords.flatMap((c, i) => asked.has(c) ? [i] : [])))) : null,
    w ? h("p", { class: "soft" }, "The worst request has a frame.") : null,
  ];
}

// bars draws the words of each bank.
function bars(v, title) {
  const n = v.length, wide = n > 64 ? 8 : n > 32 ? 16 : 30, high = 64, most = Math.max(...v, 1);
  return h("svg", { class: "bars", viewBox: `0 0 ${n * wide} ${high + 30}`, role: "img", "aria-label": title + ": " + v.join(" ") },
    v.map((x, b) => [
      h("rect", { x: b * wide + 1, y: high + 14 - x / most * high, width: wide - 2, height: x / most * high, class: x > 1 && most > 1 && x === most && x !== Math.min(...v) ? "full" : "" }),
      wide > 8 && x > 0 ? h("text", { x: b * wide + wide / 2, y: high + 10 - x / most * high }, String(x)) : null,
      wide > 8 || b % 8 === 0 ? h("text", { x: b * wide + wide / 2, y: high + 27 }, String(b)) : null,
    ]));
}

for (const b of document.querySelectorAll("[data-solve]")) b.addEventListener("click", () => set({ solve: b.dataset.solve }));

async function solve(wanted) {
  for (const b of document.querySelectorAll("[data-solve]")) b.setAttribute("aria-pressed", b.dataset.solve === state.solve);
  if (!state.solve) { show("solution"); return; }
  if (state.solve === "order") {
    const o = await ask(question("order"), "solve");
    if (!wanted()) return;
    if (!o) { show("solution"); return; }
    cleared(["threads"]);
    show("solution", facts([["access", mono(o.access, "good")], ["sectors", `${o.traffic.sectors} in ${plural(o.traffic.requests, "request")}`], ["load", plural(o.vector, "element")], ["search", o.why]]),
      h("p", {}, h("button", { on: { click: () => set({ access2: o.access }) } }, "Use it as third access")));
    return;
  }
  const r = await ask(question("solve", { what: state.solve, bare: true }), "solve");
  if (!wanted()) return;
  if (!r) { show("solution"); return; }
  const use = r.answer + " o " + r.layout;
  const answer = r.found ? mono(r.answer, "good") : h("span", { class: "bad" }, r.xor && !r.xor.decided ? "not decided" : "none");
  show("solution", facts([["layout", mono(r.layout + (r.removed ? "   (without " + r.removed + ")" : ""))], ["answer", answer], ["search", r.why]]),
    r.found && r.swizzle && !r.layout.includes(" o ") ? h("p", {}, h("button", { on: { click: () => set({ a: use }) } }, "Use " + use)) : null);
}

// fragments draws an operand of an instruction, and tells the load that brings it from the layout.
async function fragments(wanted) {
  if (!$("instructions").children.length) {
    const all = await ask({ op: "instruction", what: "" }, "instruction");
    if (!wanted()) return;
    show("instructions", (all?.names ?? []).map(n => h("option", { value: n })));
  }
  const m = await ask({ op: "instruction", what: state.instruction }, "instruction");
  if (!wanted()) return;
  const o = m?.operands?.find(o => o.name === state.operand);
  if (!o) {
    show("owners");
    show("part");
    show("load");
    show("fragment", m ? h("p", { class: "lead" }, m.names ? `${plural(m.names.length, "name")} begin so.` : `${m.name} has no ${state.operand} in registers. ${m.note ?? ""}`) : []);
    if (!m?.name?.startsWith("sm90.wgmma.")) return;
  } else {
    cleared(["what"]);
    show("fragment", facts([["operand", o.axes.map(a => a.name + " " + a.size).join(" × ") + `, ${plural(o.bits, "bit")} each`], ["layout", mono(o.layout)], [plural(o.threads, m.thread), `of ${plural(o.values, "value")} each`], m.note && ["note", m.note], ["source", m.source]]));
    const sizes = o.axes.map(a => a.size);
    const columns = `(${sizes.join(",")}):(${sizes.map((_, i) => sizes.slice(0, i).reduce((x, y) => x * y, 1)).join(",")})`;
    const p = await ask(question("map", { a: columns, colour: "values", by: o.layout }), "map");
    if (!wanted()) return;
    if (p) slices(p, "part"); else show("part");
    fragment = p && { ...p, offsets: p.offsets.map(() => "") };
    show("owners", fragment ? grids(fragment, undefined, "Threads and values") : []);
  }
  const l = await ask(question("load", { what: state.instruction, by: state.operand, access: [] }), "load");
  if (!wanted()) return;
  if (!l) { show("load"); return; }
  cleared(["a", "banks"]);
  const c = l.canonical, r = (l.load ?? c).report;
  show("load", facts([
    l.load && ["load", mono(l.load.with, "good")],
    c && ["descriptor", c.found ? mono(`${c.major}-major, swizzle ${c.swizzle}, leading ${c.leading}, stride ${c.stride}`, "good") : h("span", { class: "bad" }, "none")],
    r && ["conflicts", l.clean ? h("span", { class: "good" }, "none") : h("span", { class: "bad" }, `${r.cycles - r.phases}; ${plural(r.cycles, "cycle")} instead of ${r.phases}`)],
    ...((l.load ?? c).refused ?? []).map(x => ["not " + x.with, x.reason]),
    l.answer && ["swizzle", [mono(l.answer, "good"), ", " + l.why]],
  ]));
}

async function convert(wanted) {
  const list = await ask(question("convert"), "convert");
  if (!wanted() || !list) return;
  cleared(["a", "elem"]);
  $("facts").replaceChildren();
  show("spellings", facts(list.map(s => [s.name, s.text ? mono(s.text) : h("span", { class: "soft" }, "none: " + s.reason), h("td", { class: "num" }, s.text ? h("button", { on: { click: () => copy(s.text, s.name + " copied") } }, "Copy") : null)])));
}

async function infer(wanted) {
  $("b-label").textContent = "Second layout";
  if (!state.b.trim()) { show("inferred", h("p", { class: "lead" }, "Type a second layout.")); show("moves"); return; }
  const b = await ask(question("infer"), "infer");
  if (!wanted()) return;
  if (b) {
    cleared(["a", "b"]);
    $("facts").replaceChildren();
    show("inferred", facts([["B", b.layout ? mono(b.layout, "good") : [h("span", { class: "bad" }, "none"), ": " + b.text]]]));
  } else {
    show("inferred");
  }
  const m = await ask(question("relayout"), "relayout");
  if (!wanted()) return;
  if (!m) { show("moves"); return; }
  cleared(["elem", "vector"]);
  show("moves", facts([
    ["elements", `${m.elements}, in ${plural(m.runs, "run")} that are one in both memories`],
    ["moves", `${m.moves}` + (m.by_width?.length ? ": " + m.by_width.map(w => `${w.moves} of ${plural(w.elements, "element")}`).join(", ") : "")],
    ["everywhere", `vectors of ${plural(m.uniform, "element")}`],
  ]));
}

export const panels = { layout, compare, verdict, banks, fragments, convert, infer, devices, tensors };

