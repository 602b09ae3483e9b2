// The tab of devices: a tensor over named axes, and on a mesh of devices.
import { ask, cleared } from "./asking.js";
import { facts, h, mono, plural, show } from "./dom.js";
import { question, set, state } from "./state.js";

const none = why => [h("span", { class: "bad" }, "none"), ": " + why];

export async function devices(wanted) {
  const a = await ask(question("axes", { a: state.names, b: "", by: state.tensor, find: state.element, what: "laneid,warpid" }), "axes", { a: "names", by: "tensor", find: "element", "": "names" });
  if (!wanted()) return;
  if (a) cleared(["names", "tensor", "element"]);
  show("places", a ? facts([
    ["layout", mono(a.layout)],
    ["elements", String(a.size)],
    ...a.axes.map(x => ["axis", mono(x)]),
    ...(a.owners ?? []).map(x => ["owner of (" + state.element.trim() + ")", mono(x, "good")]),
    ...(a.forms ?? []).map(f => [f.name, f.reason ? h("span", { class: "soft" }, "none: " + f.reason) : mono(f.text)]),
  ]) : []);
  const m = await ask(question("mesh", { a: state.tensor, find: state.element, even: state.parts === "even" }), "mesh", { a: "tensor", find: "element", elem: "to", "": "place" });
  if (!wanted()) return;
  if (!m) { show("held"); show("moved"); return; }
  cleared(["tensor", "mesh", "place", "to", "element"]);
  show("held",
    facts([
      ["mesh", mono(m.mesh)],
      ["placement", mono(m.place)],
      ["named axes", m.axes ? [mono(m.axes), " ", h("button", { on: { click: () => set({ names: m.axes }) } }, "Show them above")] : none(m.reason)],
      m.owners && ["owners of (" + state.element.trim() + ")", mono(m.owners.join(" "), "good")],
    ]),
    m.rows ? h("div", { class: "scroll" }, boxes(m)) : null,
    h("div", { class: "scroll" }, h("table", { class: "facts times" }, h("thead", {}, h("tr", {}, ["device", "at", "elements", "part"].map(t => h("th", { scope: "col", class: t === "elements" ? "num" : undefined }, t)))),
      h("tbody", {}, m.devices.map(d => h("tr", {}, h("th", { scope: "row" }, String(d.number)), h("td", { class: "mono" }, d.at.join(",")), h("td", { class: "num" }, String(d.elements)), h("td", { class: "mono" }, d.text)))))));
  const e = m.exchange;
  show("moved", e ? [
    h("h3", {}, e.name + " to " + e.place),
    facts([
      ["bytes", `${e.bytes} on all links, and no plan of these stages has fewer than ${e.bound}`],
      ["busiest link", plural(e.busiest, "byte")],
      ...e.stages.map(s => [s.name, `${plural(s.steps, "step")} to ${s.place}: ${plural(s.bytes, "byte")} of at least ${s.bound}`]),
    ]),
    e.links.length ? h("div", { class: "scroll" }, h("table", { class: "facts times" }, h("thead", {}, h("tr", {}, ["link", "bytes"].map(t => h("th", { scope: "col", class: t === "bytes" ? "num" : undefined }, t)))),
      h("tbody", {}, e.links.map(l => h("tr", {}, h("th", { scope: "row" }, `${l.from} to ${l.to}`), h("td", { class: "num" }, String(l.bytes))))))) : null,
  ] : []);
}

// boxes draws the parts between all cuts, each with the devices that have it. The first one gives the colour.
function boxes(m) {
  return h("table", { class: "grid" }, h("caption", {}, "Devices ", h("small", {}, "of each box; a colour for each first device")),
    h("thead", {}, h("tr", {}, h("td", { class: "corner", "aria-hidden": "true" }), m.columns.map(c => h("th", { scope: "col" }, c)))),
    h("tbody", {}, m.rows.map(r => h("tr", {}, h("th", { scope: "row" }, r.name), r.cells.map(c => h("td", { class: c.length ? "g" + c[0] % 12 : "" }, c.join(" ")))))));
}
