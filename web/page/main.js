import { Answers } from "./answers.js";
import { $, copy, h, mono, show, toast, yes } from "./dom.js";
import { panels } from "./panels.js";

// The state is what was typed: text by field. It is the page's address, too.
const defaults = {
  tab: "layout", a: "(8,8):(8,1) / <2:1,4:1>", b: "", colour: "", by: "", at: "", find: "", op: "compose",
  banks: "32x4", elem: "4", access0: "row", access1: "column", access2: "", vector: "16", solve: "", file: "",
};
export const state = { ...defaults };
const past = [];

export const layouts = new Answers("layouts.wasm.gz", busy);
const working = new Set(); // those whose question takes long
export function busy(who, on) {
  if (on) working.add(who); else working.delete(who);
  $("busy").hidden = working.size === 0;
}

const inputs = [...document.querySelectorAll("[data-field]")];

// address is the state as the part of the address behind #.
function address() {
  const p = new URLSearchParams();
  for (const [k, v] of Object.entries(state)) if (v !== defaults[k]) p.set(k, v);
  return p.toString();
}

function fill() {
  for (const e of inputs) if (e.value !== state[e.dataset.field] && e !== document.activeElement) e.value = state[e.dataset.field];
}

// set changes fields, remembers what they were, and draws.
export function set(change, remember = true) {
  const before = { ...state };
  Object.assign(state, change);
  if (JSON.stringify(before) === JSON.stringify(state)) { if (!running) idle(); return; }
  if (remember) remembered(before);
  for (const k of Object.keys(change)) for (const e of inputs) if (e.dataset.field === k && e.value !== state[k]) e.value = state[k];
  keep();
  refresh();
}

let typing = 0;
function remembered(before) {
  past.push(before);
  if (past.length > 200) past.shift();
  $("undo").disabled = false;
}

function keep() {
  const text = address();
  try { history.replaceState(null, "", text.length > 60000 ? location.pathname : "#" + text); } catch { /* too often, or too long: the next change does it */ }
}

function undo() {
  const before = past.pop();
  $("undo").disabled = past.length === 0;
  if (!before) return;
  Object.assign(state, before);
  typing = 0;
  for (const e of inputs) e.value = state[e.dataset.field];
  keep();
  refresh();
}

function load() {
  const p = new URLSearchParams(location.hash.slice(1));
  for (const k of Object.keys(state)) state[k] = p.get(k) ?? defaults[k];
  if (!panels[state.tab]) state.tab = "layout";
  for (const e of inputs) e.value = state[e.dataset.field];
  if (!["", "threads", "values", "tile"].includes(state.colour)) state.colour = "";
  refresh();
}

// question has the fields that an operation reads.
export function question(op, more = {}) {
  return {
    op, a: state.a, b: state.b, colour: state.colour, by: state.by, find: state.find, banks: state.banks, elem: state.elem, vector: state.vector,
    at: state.at.split(",").filter(s => /^\d{1,15}$/.test(s)).map(Number), access: [state.access0, state.access1, state.access2], ...more,
  };
}

// ask answers a question, or shows its fault beside the field and returns null.
export async function ask(q, kind) {
  const mine = generation;
  let out;
  try {
    out = await layouts.ask(q, kind);
  } catch (e) {
    if (e.message === "stopped") toast("Stopped");
    else if (e.message !== "replaced") fault({ field: "a", text: "The program ended: " + e.message });
    return null;
  }
  if (mine !== generation) return null;
  if (out.fault) { fault(out.fault); return null; }
  return out.answer;
}

export function fault(f) {
  const at = $("fault-" + f.field) ?? $("fault-a");
  const mark = f.mark?.split("\n");
  at.replaceChildren(...[mark ? h("pre", {}, mark[0] + "\n", h("span", { class: "caret" }, mark[1])) : null, f.text].filter(Boolean));
  for (const e of inputs) if (e.dataset.field === f.field) e.setAttribute("aria-invalid", "true");
  if (at.id === "fault-a") $("facts").replaceChildren();
  for (const e of document.querySelectorAll(".drawings, .pair")) e.classList.add("stale");
}

export function cleared(fields) {
  for (const f of fields) {
    $("fault-" + f)?.replaceChildren();
    for (const e of inputs) if (e.dataset.field === f) e.removeAttribute("aria-invalid");
  }
}

export function say(p) {
  const f = p.facts;
  const rows = [["", mono(f.layout)], ["size", mono(p.size)]];
  if (f.size > 0 && f.known) rows.push(["offsets", mono(p.span[0] + " to " + p.span[1])]);
  rows.push(["injective", mono(yes(f.injective))], ["contiguous", mono(yes(f.contiguous) + (f.order ? ", " + f.order : ""))]);
  show("facts", rows.map(([k, v]) => h("span", {}, k ? k + " " : "", h("b", {}, v.textContent))));
}

let generation = 0, running = false;
const idle = () => document.body.setAttribute("aria-busy", "false");
async function refresh() {
  const mine = ++generation;
  running = true;
  layouts.abandon();
  if (document.body.dataset.tab !== state.tab) cleared(inputs.map(e => e.dataset.field));
  document.body.dataset.tab = state.tab;
  for (const b of document.querySelectorAll("nav [data-tab]")) {
    const on = b.dataset.tab === state.tab;
    b.setAttribute("aria-selected", on);
    b.tabIndex = on ? 0 : -1;
    if (on) b.scrollIntoView({ block: "nearest", inline: "nearest" });
  }
  for (const e of document.querySelectorAll("[data-tabs]")) e.hidden = !e.dataset.tabs.split(" ").includes(state.tab);
  $("a-label").textContent = $("b-field").hidden ? "Layout" : "First layout";
  for (const e of document.querySelectorAll("[data-panel]")) e.hidden = e.dataset.panel !== state.tab;
  document.body.setAttribute("aria-busy", "true");
  await panels[state.tab](() => mine === generation);
  if (mine !== generation) return;
  running = false;
  document.body.dataset.shown = "";
  idle();
}
export { refresh };

let wait;
for (const e of inputs) {
  e.addEventListener("input", () => {
    document.body.setAttribute("aria-busy", "true");
    clearTimeout(wait);
    wait = setTimeout(() => {
      const now = Date.now();
      set({ [e.dataset.field]: e.value }, now - typing > 1200); // one step of undo for a burst of typing
      typing = now;
    }, e.tagName === "SELECT" ? 0 : 120);
  });
}
for (const b of document.querySelectorAll("nav [data-tab]")) b.addEventListener("click", () => set({ tab: b.dataset.tab }));
document.querySelector("nav").addEventListener("keydown", e => {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
  if (!step) return;
  const all = [...document.querySelectorAll("nav [data-tab]")];
  const next = all[(all.findIndex(b => b.dataset.tab === state.tab) + step + all.length) % all.length];
  next.focus();
  next.click();
});
for (const b of document.querySelectorAll("[data-link]")) {
  b.addEventListener("click", () => {
    const p = Object.fromEntries(new URLSearchParams(b.dataset.link.replaceAll("+", "%2B")));
    set({ ...defaults, ...p });
  });
}
for (const e of document.querySelectorAll("nav button")) e.dataset.text = e.textContent;
$("undo").addEventListener("click", undo);
document.addEventListener("keydown", e => { if (e.altKey && e.key.toLowerCase() === "z") { e.preventDefault(); undo(); } });
$("link").addEventListener("click", () => copy(location.href, "Link copied"));
$("stop").addEventListener("click", () => layouts.stop());
const themes = ["", "light", "dark"];
let theme = 0;
try { theme = Math.max(themes.indexOf(localStorage.getItem("theme") ?? ""), 0); } catch { /* no storage */ }
const paint = () => { if (themes[theme]) document.documentElement.dataset.theme = themes[theme]; else delete document.documentElement.dataset.theme; };
paint();
$("theme").addEventListener("click", () => {
  const dark = document.documentElement.dataset.theme ? themes[theme] === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  theme = dark ? 1 : 2;
  paint();
  try { localStorage.setItem("theme", themes[theme]); } catch { /* no storage */ }
});
addEventListener("hashchange", load);
load();
