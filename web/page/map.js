// The drawing of a layout: a grid for each coordinate of the modes before the last two, and
// the memory with the coordinate at each offset.
import { h } from "./dom.js";

const maxMemory = 4096; // slots that are drawn

// grids draws the cells of a picture; differs marks some of them. The heading is name, and what a cell has.
export function grids(p, differs, name = "Offsets", has = "of each coordinate") {
  const per = p.rows * p.cols, n = p.offsets.length;
  if (n === 0) return [h("p", { class: "lead" }, "This layout has no elements.")];
  const tables = [];
  for (let from = 0; from < n; from += per) {
    const head = h("tr", {}, h("td", { class: "corner", "aria-hidden": "true" }), Array.from({ length: p.cols }, (_, c) => h("th", { scope: "col", class: p.colCuts[c] ? "cut-left" : undefined }, String(p.firstCol + c * p.step[1]))));
    const rows = [];
    for (let r = 0; r < p.rows; r++) {
      const cells = [];
      for (let c = 0; c < p.cols; c++) {
        const i = from + r * p.cols + c;
        if (i >= n) break;
        const cls = [p.groups[i] >= 0 ? "g" + p.groups[i] : "", p.colCuts[c] ? "cut-left" : "", p.rowCuts[r] ? "cut-top" : "", differs?.has(i) ? "differs" : ""].filter(Boolean).join(" ");
        cells.push(h("td", { class: cls, "data-i": i, tabindex: i === 0 ? 0 : -1 }, p.offsets[i], p.labels ? h("small", {}, p.labels[i]) : null));
      }
      rows.push(h("tr", {}, h("th", { scope: "row", class: p.rowCuts[r] ? "cut-top" : undefined }, String(p.shape.length === 1 ? p.firstRow + r * p.cols : p.firstRow + r * p.step[0])), cells));
    }
    const by = p.by ? ", a colour for each " + p.by : "";
    const part = p.titles[from / per];
    const title = part && from > 0 ? h("caption", {}, part) : h("caption", {}, name + " ", h("small", {}, has + by + (part ? "; " + part : "")));
    tables.push(h("table", { class: "grid" }, title, h("thead", {}, head), h("tbody", {}, rows)));
  }
  return tables;
}

// memory draws the offsets in order, with the coordinate at each.
export function memory(p) {
  if (p.offsets.length === 0) return [];
  const offs = p.offsets.map(BigInt);
  let lo = offs[0], hi = offs[0];
  for (const o of offs) { if (o < lo) lo = o; if (o > hi) hi = o; }
  if (hi - lo >= BigInt(maxMemory)) {
    return [h("p", { class: "lead" }, `The memory isn’t drawn: offsets ${lo} to ${hi} are more than ${maxMemory}.`)];
  }
  const slots = Array.from({ length: Number(hi - lo) + 1 }, () => []);
  offs.forEach((o, i) => slots[Number(o - lo)].push(i));
  const wide = p.cols < 4 || p.cols > 32 ? 16 : p.cols;
  const rows = [];
  for (let at = 0; at < slots.length; at += wide) {
    rows.push(h("tr", {}, slots.slice(at, at + wide).map((held, k) => {
      const off = String(lo + BigInt(at + k));
      if (held.length === 0) return h("td", { "data-o": off }, h("small", {}, off), h("small", {}, "·"));
      const g = p.groups[held[0]];
      return h("td", { class: g >= 0 ? "g" + g : "held", "data-o": off, "data-i": held[0] }, h("small", {}, off), h("small", {}, p.coords[held[0]] + (held.length > 1 ? "×" + held.length : "")));
    })));
  }
  return [h("table", { class: "grid memory" }, h("caption", {}, "Memory ", h("small", {}, "with the coordinate at each offset")), h("tbody", {}, rows))];
}

// watch lights up what belongs together in several places, by pointer and by arrow keys:
// cells with the same key, which is an offset or a coordinate. pictures has the picture of
// each place, key gives a cell's, and say gets the picture, the index and the key, or null.
export function watch(places, pictures, key, say) {
  const keyOf = (k, e) => key(pictures()[k], e.dataset.i === undefined ? null : Number(e.dataset.i), e.dataset.o);
  const light = (k, target) => {
    for (const place of places) for (const e of place.querySelectorAll("td.on")) e.classList.remove("on");
    const all = pictures();
    if (!target || !all[k]) { say(null); return; }
    const wanted = keyOf(k, target);
    places.forEach((place, n) => {
      if (all[n]) for (const e of place.querySelectorAll("td[data-i], td[data-o]")) if (keyOf(n, e) === wanted) e.classList.add("on");
    });
    say(all[k], target.dataset.i === undefined ? null : Number(target.dataset.i), wanted);
  };
  const cell = e => e.target.closest?.("td[data-i], td[data-o]");
  places.forEach((place, k) => {
    place.addEventListener("pointerover", e => light(k, cell(e)));
    place.addEventListener("pointerleave", () => light(k, null));
    place.addEventListener("focusin", e => light(k, cell(e)));
    place.addEventListener("keydown", e => {
      const p = pictures()[k], td = cell(e);
      if (!td || !p || td.dataset.o !== undefined) return;
      const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -p.cols, ArrowDown: p.cols, Home: -Number(td.dataset.i), End: p.offsets.length - 1 - Number(td.dataset.i) }[e.key];
      if (step === undefined) return;
      const next = place.querySelector(`td[data-i="${Number(td.dataset.i) + step}"]`);
      e.preventDefault();
      if (!next) return;
      td.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    });
  });
}
