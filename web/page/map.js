// The drawing of a layout: a grid for each coordinate of the modes before the last two, and
// the memory with the coordinate at each offset.
import { h } from "./dom.js";

const maxMemory = 4096; // slots that are drawn

// grids draws the cells of a picture; differs marks some of them.
export function grids(p, differs) {
  const per = p.rows * p.cols, n = p.offsets.length;
  if (n === 0) return [h("p", { class: "lead" }, "This layout has no elements.")];
  const tables = [];
  for (let from = 0; from < n; from += per) {
    const head = h("tr", {}, h("td", { class: "corner", "aria-hidden": "true" }), Array.from({ length: p.cols }, (_, c) => h("th", { scope: "col", class: p.colCuts[c] ? "cut-left" : undefined }, String(p.firstCol + c))));
    const rows = [];
    for (let r = 0; r < p.rows; r++) {
      const cells = [];
      for (let c = 0; c < p.cols; c++) {
        const i = from + r * p.cols + c;
        if (i >= n) break;
        const cls = [p.groups[i] >= 0 ? "g" + p.groups[i] : "", p.colCuts[c] ? "cut-left" : "", p.rowCuts[r] ? "cut-top" : "", differs?.has(i) ? "differs" : ""].filter(Boolean).join(" ");
        cells.push(h("td", { class: cls, "data-i": i, tabindex: i === 0 ? 0 : -1 }, p.offsets[i], p.labels ? h("small", {}, p.labels[i]) : null));
      }
      rows.push(h("tr", {}, h("th", { scope: "row", class: p.rowCuts[r] ? "cut-top" : undefined }, String(p.shape.length === 1 ? p.firstRow + r * p.cols : p.firstRow + r)), cells));
    }
    const by = p.by ? ", a colour for each " + p.by : "";
    const part = p.titles[from / per];
    const title = part && from > 0 ? h("caption", {}, part) : h("caption", {}, "Offsets ", h("small", {}, "of each coordinate" + by + (part ? "; " + part : "")));
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

// watch lights up a cell, the others with its offset, and its place in memory, by pointer
// and by arrow keys; say gets the picture and the index, or null.
export function watch(places, picture, say) {
  const light = target => {
    for (const place of places) for (const e of place.querySelectorAll("td.on")) e.classList.remove("on");
    const p = picture();
    if (!target || !p) { say(p, null); return; }
    const i = target.dataset.i === undefined ? null : Number(target.dataset.i);
    const off = target.dataset.o ?? p.offsets[i];
    for (const place of places) {
      for (const e of place.querySelectorAll("td[data-i], td[data-o]")) {
        if ((e.dataset.o ?? p.offsets[Number(e.dataset.i)]) === off) e.classList.add("on");
      }
    }
    if (target.dataset.o === undefined) target.classList.add("on");
    say(p, i, off);
  };
  const cell = e => e.target.closest?.("td[data-i], td[data-o]");
  for (const place of places) {
    place.addEventListener("pointerover", e => light(cell(e)));
    place.addEventListener("pointerleave", () => light(null));
    place.addEventListener("focusin", e => light(cell(e)));
    place.addEventListener("keydown", e => {
      const p = picture(), td = cell(e);
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
  }
  return light;
}
