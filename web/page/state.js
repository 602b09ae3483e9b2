// The state of the page: what was typed, by field. It is the page's address, too. It knows no panel: main.js says what draws it.
import { $ } from "./dom.js";

export const defaults = {
  tab: "layout", a: "(8,8):(8,1) / <2:1,4:1>", b: "", colour: "", by: "", at: "", find: "", op: "compose",
  banks: "32x4", elem: "4", access0: "row", access1: "column", access2: "", lines: "nvidia", align: "256", threads: "32", vector: "16", solve: "", instruction: "sm80.mma.m16n8k16.f16", operand: "A", file: "", labels: "",
  names: "S[(2,64,64):(1@row,64,1)] + R[4:1@col]", tensor: "(128,64)", element: "", mesh: "row=2,col=4 on 2xring4", place: "S(0) R", to: "R S(1)", parts: "",
};
export const state = { ...defaults };
export const inputs = [...document.querySelectorAll("[data-field]")];
export const view = { generation: 0, running: false, draw() {} }; // of the state; a newer generation takes the place of an older one
const past = [];

// address is the state as the part of the address behind #.
function address() {
  const p = new URLSearchParams();
  for (const [k, v] of Object.entries(state)) if (v !== defaults[k]) p.set(k, v);
  return p.toString();
}

// set changes fields, remembers what they were, and draws.
export function set(change, remember = true) {
  const before = { ...state };
  Object.assign(state, change);
  if (JSON.stringify(before) === JSON.stringify(state)) { if (!view.running) idle(); return; }
  if (remember) remembered(before);
  for (const k of Object.keys(change)) for (const e of inputs) if (e.dataset.field === k && e.value !== state[k]) e.value = state[k];
  keep();
  view.draw();
}

let typing = 0;
function remembered(before) {
  past.push(before);
  if (past.length > 200) past.shift();
  $("undo").disabled = false;
}

// typed sets a field to what is typed: a burst of typing is one step of undo.
export function typed(field, value) {
  const now = Date.now();
  set({ [field]: value }, now - typing > 1200);
  typing = now;
}

function keep() {
  const text = address();
  try { history.replaceState(null, "", text.length > 60000 ? location.pathname : "#" + text); } catch { /* too often, or too long: the next change does it */ }
}

export function undo() {
  const before = past.pop();
  $("undo").disabled = past.length === 0;
  if (!before) return;
  Object.assign(state, before);
  typing = 0;
  for (const e of inputs) e.value = state[e.dataset.field];
  keep();
  view.draw();
}

// load takes the state from the address; tabs are those that there are.
export function load(tabs) {
  const p = new URLSearchParams(location.hash.slice(1));
  for (const k of Object.keys(state)) state[k] = p.get(k) ?? defaults[k];
  if (!tabs[state.tab]) state.tab = "layout";
  for (const e of inputs) e.value = state[e.dataset.field];
  if (!["", "threads", "values", "tile"].includes(state.colour)) state.colour = "";
  view.draw();
}

// question has the fields that an operation reads.
export function question(op, more = {}) {
  return {
    op, a: state.a, b: state.b, colour: state.colour, by: state.by, find: state.find, banks: state.banks, elem: state.elem, vector: state.vector, lines: state.lines, align: state.align, threads: state.threads, mesh: state.mesh, place: state.place, to: state.to,
    at: state.at.split(",").filter(s => /^\d{1,15}$/.test(s)).map(Number), access: [state.access0, state.access1, state.access2], ...more,
  };
}

export const idle = () => document.body.setAttribute("aria-busy", "false");
