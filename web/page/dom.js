// h makes an element: h("td", {class: "x", on: {click: f}}, child, …). Text is never read as HTML.
export function h(tag, props = {}, ...children) {
  const svg = tag === "svg" || tag === "rect" || tag === "text" || tag === "g";
  const e = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [k, v] of Object.entries(props)) {
    if (v === undefined || v === null || v === false) continue;
    if (k === "on") for (const [name, f] of Object.entries(v)) e.addEventListener(name, f);
    else e.setAttribute(k, v === true ? "" : v);
  }
  e.append(...children.flat(Infinity).filter(c => c !== null && c !== undefined && c !== false));
  return e;
}

export const $ = id => document.getElementById(id);

export function show(id, ...children) { $(id).replaceChildren(...children.flat(Infinity).filter(Boolean)); }

let gone;
export function toast(text) {
  const t = $("toast");
  t.textContent = text;
  t.classList.add("on");
  clearTimeout(gone);
  gone = setTimeout(() => t.classList.remove("on"), 2500);
}

export async function copy(text, what = "Copied") {
  try {
    await navigator.clipboard.writeText(text);
    toast(what);
  } catch {
    toast("The browser refuses to copy; select the text instead");
  }
}

// facts is a table of names and what is known of them.
export function facts(rows) {
  return h("table", { class: "facts" }, h("tbody", {}, rows.filter(Boolean).map(([name, ...cells]) => h("tr", {}, h("th", { scope: "row" }, name), cells.map(c => c instanceof Node && c.tagName === "TD" ? c : h("td", {}, c))))));
}

export const mono = (text, cls = "") => h("span", { class: "mono " + cls }, text);
export const yes = b => b === null || b === undefined ? "not known" : b ? "yes" : "no";
export const plural = (n, what) => n + " " + what + (n === 1 ? "" : "s");
