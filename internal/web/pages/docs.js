// Draws /openapi.json: operations with their fields, and a form that sends one.
const put = (parent, tag, text, props = {}) => {
  const e = Object.assign(document.createElement(tag), props);
  if (text) e.textContent = text;
  parent.append(e);
  return e;
};

const resolve = (doc, s) => (s && s.$ref ? doc.components.schemas[s.$ref.split("/").pop()] : s);

const kind = (doc, s) => {
  if (!s) return "";
  if (s.$ref) return s.$ref.split("/").pop();
  if (s.oneOf) return s.oneOf.map((x) => kind(doc, x)).join(" or ");
  if (s.type === "array" || (Array.isArray(s.type) && s.type.includes("array"))) return `list of ${kind(doc, s.items)}`;
  return [].concat(s.type || "anything").join(" or ");
};

const fields = (parent, doc, schema, title) => {
  const s = resolve(doc, schema);
  if (!s || !s.properties) return;
  put(parent, "h3", title);
  const table = put(parent, "table");
  const head = put(put(table, "thead"), "tr");
  for (const h of ["field", "type", "meaning"]) put(head, "th", h, { scope: "col" });
  const body = put(table, "tbody");
  const must = s.required || [];
  const names = Object.keys(s.properties).sort((a, b) => must.includes(b) - must.includes(a) || a.localeCompare(b));
  for (const name of names) {
    const row = put(body, "tr");
    put(put(row, "td"), "code", name);
    put(row, "td", kind(doc, s.properties[name]) + (title === "Request" && must.includes(name) ? ", required" : ""), { className: "soft" });
    put(row, "td", s.properties[name].description || "");
  }
};

const send = async (method, path, body, out) => {
  out.textContent = "…";
  const headers = {};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const token = document.querySelector("#token input").value;
  if (token) headers.Authorization = `Bearer ${token}`;
  try {
    const r = await fetch(path, { method, headers, body });
    if (r.status === 401) document.querySelector("#token").hidden = false;
    const text = await r.text();
    let shown = text;
    try { shown = JSON.stringify(JSON.parse(text), null, 2); } catch { /* not JSON: shown as it came */ }
    out.textContent = `${r.status}\n${shown}`;
  } catch (e) {
    out.textContent = `The server did not answer: ${e.message}`;
  }
};

const form = (section, method, path, op, doc) => {
  const content = op.requestBody && op.requestBody.content["application/json"];
  const params = (op.parameters || []).filter((p) => p.in !== "header");
  const inputs = params.map((p) => {
    const l = put(put(section, "p"), "label", `${p.name} `);
    if (p.description) put(l, "span", `(${p.description}) `, { className: "soft" });
    return [p, put(l, "input", "", { value: p.example ?? p.schema?.default ?? "", name: p.name })];
  });
  let area;
  if (content) {
    const l = put(section, "label", "Body");
    const example = content.example ?? {};
    area = put(l, "textarea", "", { value: JSON.stringify(example, null, 2), spellcheck: false });
  }
  const button = put(put(section, "p"), "button", "Send", { type: "button" });
  const out = put(section, "pre", "", { hidden: true });
  out.setAttribute("aria-live", "polite");
  button.addEventListener("click", () => {
    let url = path;
    const query = new URLSearchParams();
    for (const [p, input] of inputs) {
      if (p.in === "path") url = url.replace(`{${p.name}}`, encodeURIComponent(input.value));
      else if (input.value) query.set(p.name, input.value);
    }
    if (query.size) url += `?${query}`;
    out.hidden = false;
    send(method, url, area && area.value, out);
  });
};

const draw = (doc) => {
  document.querySelector("#about").textContent = doc.info.description;
  const nav = document.querySelector("#nav");
  const main = document.querySelector("#main");
  const all = Object.entries(doc.paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, op]) => ({ path, method, op })));
  for (const { name } of doc.tags) {
    put(nav, "h2", name);
    const list = put(nav, "ul");
    for (const { path, method, op } of all.filter((x) => x.op.tags[0] === name)) {
      put(put(list, "li"), "a", op.summary, { href: `#${op.operationId}` });
      const section = put(main, "section", "", { id: op.operationId });
      put(section, "h2", op.summary);
      const line = put(section, "p");
      put(line, "span", method.toUpperCase() + " ", { className: "method" });
      put(line, "code", path);
      if (op.description) put(section, "p", op.description);
      const content = op.requestBody && op.requestBody.content["application/json"];
      if (content) fields(section, doc, content.schema, "Request");
      const answer = op.responses["200"]?.content?.["application/json"];
      if (answer) fields(section, doc, answer.schema, "Answer");
      const events = op.responses["200"]?.content?.["text/event-stream"]?.["x-events"] ?? {};
      for (const [name, schema] of Object.entries(events)) if (!answer || name === "progress") fields(section, doc, schema, `Event ${name}`);
      form(section, method.toUpperCase(), path, op, doc);
    }
  }
};

try {
  const r = await fetch("/openapi.json");
  if (!r.ok) throw new Error(`status ${r.status}`);
  draw(await r.json());
} catch (e) {
  document.querySelector("#about").textContent = `The description cannot be read: ${e.message}`;
}
