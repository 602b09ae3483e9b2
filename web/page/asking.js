// What the panels ask the program about layouts, and the faults of what was typed, each beside its field.
import { Answers } from "./answers.js";
import { $, h, mono, show, toast, yes } from "./dom.js";
import { inputs, view } from "./state.js";

export const layouts = new Answers("layouts.wasm.gz", busy);
const working = new Set(); // those whose question takes long
export function busy(who, on) {
  if (on) working.add(who); else working.delete(who);
  $("busy").hidden = working.size === 0;
}

// ask answers a question, or shows its fault beside the field and returns null. The fields of a fault may have other names on the page.
export async function ask(q, kind, names = {}) {
  const mine = view.generation;
  let out;
  try {
    out = await layouts.ask(q, kind);
  } catch (e) {
    if (e.message === "stopped") toast("Stopped");
    else if (e.message !== "replaced") fault({ field: "a", text: "The program ended: " + e.message });
    return null;
  }
  if (mine !== view.generation) return null;
  if (out.fault) { fault({ ...out.fault, field: names[out.fault.field ?? ""] ?? out.fault.field }); return null; }
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
