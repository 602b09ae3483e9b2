import { cleared, fault, layouts } from "./asking.js";
import { $, copy } from "./dom.js";
import { panels } from "./panels.js";
import { defaults, idle, inputs, load, set, state, typed, undo, view } from "./state.js";

// draw shows the tab of the state, or says that the page failed.
view.draw = async () => {
  const mine = ++view.generation;
  view.running = true;
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
  try {
    await panels[state.tab](() => mine === view.generation);
  } catch (e) {
    console.error(e);
    if (mine === view.generation) fault({ text: "The page failed: " + e.message });
  }
  if (mine !== view.generation) return;
  view.running = false;
  document.body.dataset.shown = "";
  idle();
};

let wait;
for (const e of inputs) {
  e.addEventListener("input", () => {
    document.body.setAttribute("aria-busy", "true");
    clearTimeout(wait);
    wait = setTimeout(() => typed(e.dataset.field, e.value), e.tagName === "SELECT" ? 0 : 120);
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
addEventListener("hashchange", () => load(panels));
load(panels);
