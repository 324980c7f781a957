// Draws /openapi.json: operations with their fields, and a form that sends one. Its own
// words are in the page's language; what the description says is in English.
const words = {
  en: {
    title: "Ridgeline API", page: "The page", document: "OpenAPI document", token: "Token", reading: "Reading the description…", operations: "Operations",
    field: "field", type: "type", meaning: "meaning", required: "required", request: "Request", answer: "Answer", event: "Event", body: "Body", send: "Send",
    silent: "The server did not answer:", unread: "The description cannot be read:",
  },
  vi: {
    title: "API của Ridgeline", page: "Trang chính", document: "Tài liệu OpenAPI", token: "Token", reading: "Đang đọc mô tả…", operations: "Các thao tác",
    field: "trường", type: "kiểu", meaning: "ý nghĩa", required: "bắt buộc", request: "Yêu cầu", answer: "Trả lời", event: "Sự kiện", body: "Nội dung gửi", send: "Gửi",
    silent: "Máy chủ không trả lời:", unread: "Không đọc được mô tả:",
    english: "Phần tham khảo dưới đây bằng tiếng Anh, như tài liệu OpenAPI mà nó được lấy ra.",
  },
};

// The language is that of the page (web/src/i18n): chosen there, else the browser's.
const chosen = () => {
  try {
    return localStorage.getItem("ridgeline.language");
  } catch {
    return null; // no storage
  }
};
const lang = [chosen() ?? "", ...navigator.languages].map((l) => l.toLowerCase().split("-")[0]).find((l) => l in words) ?? "en";
const t = words[lang];
document.documentElement.lang = lang;
document.title = t.title;
for (const e of document.querySelectorAll("[data-say]")) e.textContent = t[e.dataset.say];
document.querySelector("#nav").setAttribute("aria-label", t.operations);
if (t.english) Object.assign(document.querySelector("#english"), { textContent: t.english, hidden: false });

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
  put(parent, "h3", title, { lang });
  const table = put(parent, "table");
  const head = put(put(table, "thead"), "tr");
  for (const h of [t.field, t.type, t.meaning]) put(head, "th", h, { scope: "col", lang });
  const body = put(table, "tbody");
  const must = s.required || [];
  const names = Object.keys(s.properties).sort((a, b) => must.includes(b) - must.includes(a) || a.localeCompare(b));
  for (const name of names) {
    const row = put(body, "tr");
    put(put(row, "td"), "code", name);
    put(row, "td", kind(doc, s.properties[name]) + (title === t.request && must.includes(name) ? `, ${t.required}` : ""), { className: "soft" });
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
    out.textContent = `${t.silent} ${e.message}`;
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
    const l = put(section, "label", t.body, { lang });
    const example = content.example ?? {};
    area = put(l, "textarea", "", { value: JSON.stringify(example, null, 2), spellcheck: false });
  }
  const button = put(put(section, "p"), "button", t.send, { type: "button", lang });
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
  Object.assign(document.querySelector("#about"), { textContent: doc.info.description, lang: "en" });
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
      if (content) fields(section, doc, content.schema, t.request);
      const answer = op.responses["200"]?.content?.["application/json"];
      if (answer) fields(section, doc, answer.schema, t.answer);
      const events = op.responses["200"]?.content?.["text/event-stream"]?.["x-events"] ?? {};
      for (const [name, schema] of Object.entries(events)) if (!answer || name === "progress") fields(section, doc, schema, `${t.event} ${name}`);
      form(section, method.toUpperCase(), path, op, doc);
    }
  }
};

try {
  const r = await fetch("/openapi.json");
  if (!r.ok) throw new Error(`status ${r.status}`);
  draw(await r.json());
} catch (e) {
  document.querySelector("#about").textContent = `${t.unread} ${e.message}`;
}
