import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, defaultHighlightStyle, HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { dockerFile } from "@codemirror/legacy-modes/mode/dockerfile";
import { shell } from "@codemirror/legacy-modes/mode/shell";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { Compartment, EditorState } from "@codemirror/state";
import { EditorView, hoverTooltip, keymap, lineNumbers } from "@codemirror/view";

const EXAMPLES = JSON.parse(document.getElementById("data-examples").textContent);
const form = document.getElementById("playground-form");
const state = document.getElementById("playground-state");
const list = document.getElementById("playground-findings");
const launches = document.getElementById("playground-launches");
const memory = document.getElementById("playground-memory");
const base = new URL("../", document.querySelector("script[data-playground]").src);
const worker = new Worker(new URL("worker.js", document.querySelector("script[data-playground]").src), { type: "module" });

const waiting = new Map();
let last = 0;
const ask = (message) => new Promise((resolve, reject) => {
  const id = ++last;
  waiting.set(id, { resolve, reject });
  worker.postMessage({ ...message, id });
});

const kinds = {
  "compose.yml": () => yaml(), "manifest.yaml": () => yaml(), "values.yaml": () => yaml(),
  "run.sh": () => StreamLanguage.define(shell), Dockerfile: () => StreamLanguage.define(dockerFile),
};
const language = new Compartment();
const languageOf = (name) => (kinds[name] || (() => []))();
// the colours are the editor's own where the page is light; the style sheet names others for a dark page
const colours = HighlightStyle.define(
  defaultHighlightStyle.specs.map((one) => (one.color ? { ...one, color: `var(--code-${one.color.slice(1)}, ${one.color})` } : one)));
const scheme = new Compartment();
const schemeOf = () => EditorView.theme({}, { dark: document.body.dataset.mdColorScheme === "slate" });
const severities = { error: "error", warning: "warning", info: "info" };

function markdown(text) {
  // the few forms that servelint's hover has: bold, code, links, lists
  const node = document.createElement("div");
  node.className = "playground-hover";
  for (const line of text.split("\n")) {
    const row = node.appendChild(document.createElement("div"));
    const parts = line.split(/(`[^`]*`|\*\*[^*]*\*\*|\[[^\]]*\]\(https?:[^)]*\))/);
    for (const part of parts) {
      const link = /^\[([^\]]*)\]\((https?:[^)]*)\)$/.exec(part);
      if (link) {
        const made = row.appendChild(document.createElement("a"));
        made.href = link[2];
        made.textContent = link[1];
      } else if (part.startsWith("`") && part.length > 1) row.appendChild(document.createElement("code")).textContent = part.slice(1, -1);
      else if (part.startsWith("**")) row.appendChild(document.createElement("strong")).textContent = part.slice(2, -2);
      else row.append(part.replace(/\\([^\w\s])/g, "$1"));
    }
  }
  return node;
}

const points = (text) => {
  // servelint counts code points, the editor UTF-16 units
  const ascii = !/[\ud800-\udfff]/.test(text);
  if (ascii) return { to: (at) => at, from: (at) => at };
  const units = [0];
  for (const sign of text) units.push(units.at(-1) + sign.length);
  return { to: (at) => units[Math.min(at, units.length - 1)], from: (at) => units.findIndex((unit) => unit >= at) };
};

const view = new EditorView({
  parent: document.getElementById("playground-editor"),
  state: EditorState.create({
    doc: "",
    extensions: [
      lineNumbers(), history(), bracketMatching(), lintGutter(), language.of([]), syntaxHighlighting(colours, { fallback: true }),
      scheme.of(schemeOf()), EditorView.contentAttributes.of({ "aria-label": "file to check", tabindex: "0" }),
      keymap.of([...defaultKeymap, ...historyKeymap, ...lintKeymap]),
      EditorView.updateListener.of((update) => update.docChanged && later()),
      hoverTooltip(async (where, position) => {
        const text = where.state.doc.toString(), map = points(text);
        const found = await ask({ kind: "hover", offset: map.from(position) }).catch(() => null);
        return found && { pos: map.to(found.from), end: map.to(found.to), above: true, create: () => ({ dom: markdown(found.markdown) }) };
      }),
    ],
  }),
});

new MutationObserver(() => view.dispatch({ effects: scheme.reconfigure(schemeOf()) }))
  .observe(document.body, { attributes: true, attributeFilter: ["data-md-color-scheme"] });

let timer = 0, turn = 0;
const later = () => {
  clearTimeout(timer);
  timer = setTimeout(check, 120);
};

const asked = () => {
  const values = Object.fromEntries(new FormData(form));
  return { engine: values.engine, version: values.version, profile: values.profile, gpu: values.gpu, gpu_count: Number(values.gpu_count) || null };
};

const element = (name, attributes, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
};

const titleOf = (fix) => fix.title + (fix.safe ? "" : " (changes what the launch does)");
const apply = (fix, map) => () => view.dispatch({ changes: fix.edits.map((edit) => ({ from: map.to(edit.from), to: map.to(edit.to), insert: edit.text })) });

async function check() {
  const mine = ++turn, text = view.state.doc.toString(), name = form.elements.kind.value;
  const began = performance.now();
  let found;
  try {
    found = await ask({ kind: "check", name, text, asked: asked() });
  } catch (error) {
    state.textContent = String(error);
    return;
  }
  if (mine !== turn || text !== view.state.doc.toString()) return;
  const map = points(text);
  const rank = { error: 0, warning: 1, info: 2 };
  found.findings.sort((one, other) => rank[one.severity] - rank[other.severity] || one.from - other.from);
  const marks = found.findings.map((one) => ({
    from: map.to(one.from), to: Math.max(map.to(one.to), map.to(one.from)), severity: severities[one.severity],
    source: one.rule, message: one.message + (one.advice ? "; " + one.advice : ""),
    actions: one.fix && one.fix.edits.length ? [{ name: titleOf(one.fix), apply: apply(one.fix, map) }] : [],
  }));
  for (const one of found.problems) {
    const line = view.state.doc.line(Math.min(Math.max(one.line || 1, 1), view.state.doc.lines));
    marks.push({ from: line.from, to: line.to, severity: "error", message: one.message });
  }
  view.dispatch(setDiagnostics(view.state, marks));
  const count = found.findings.length;
  state.textContent = `${count} ${count === 1 ? "finding" : "findings"} in ${found.launches.length} ${found.launches.length === 1 ? "launch" : "launches"} (${Math.round(performance.now() - began)} ms)`;
  const unread = found.problems.map((one) => element("li", { class: "error" }, element("strong", {}, "not read"), ` line ${one.line || 1}: ${one.message}`));
  list.replaceChildren(...unread, ...found.findings.map((one) => {
    const go = element("button", { type: "button" }, "line " + one.line);
    go.addEventListener("click", () => {
      view.dispatch({ selection: { anchor: map.to(one.from), head: map.to(one.to) }, scrollIntoView: true });
      view.focus();
    });
    const rule = element("a", { href: new URL("rules/" + one.rule + "/", base).href }, one.rule);
    const row = element("li", { class: one.severity }, element("strong", {}, one.severity), " ", go, " ", one.message, " ", rule);
    if (one.advice) row.append(element("div", {}, "help: " + one.advice));
    if (one.fix && one.fix.edits.length) {
      const fix = element("button", { type: "button" }, titleOf(one.fix));
      fix.addEventListener("click", apply(one.fix, map));
      row.append(element("div", {}, fix));
    }
    return row;
  }));
  launches.replaceChildren(...found.launches.map((one) => element("li", {}, `${one.name} ${one.version || "(no version is pinned)"}, line ${one.line}: `, element("code", {}, one.argv.join(" ")))));
  memory.textContent = found.memory.join("\n\n") || "Choose a GPU to see the memory plan.";
  keep();
}

const packed = async (value) => {
  const stream = new Blob([JSON.stringify(value)]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
};
const unpacked = async (text) => {
  const bytes = Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (sign) => sign.charCodeAt(0));
  return JSON.parse(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"))).text());
};
const keep = async () => window.history.replaceState(null, "", "#" + await packed({ ...Object.fromEntries(new FormData(form)), text: view.state.doc.toString() }));

const show = (name, text) => {
  form.elements.kind.value = name;
  view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text }, effects: language.reconfigure(languageOf(name)) });
};

const fill = (select, values, empty) => select.replaceChildren(element("option", { value: "" }, empty), ...values.map((value) => element("option", { value }, value)));
let facts = { engines: {}, gpus: [] };

form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("input", (event) => {
  if (event.target.name === "engine") fill(form.elements.version, facts.engines[event.target.value] || [], "as in the file");
  if (event.target.name === "kind") view.dispatch({ effects: language.reconfigure(languageOf(event.target.value)) });
  if (event.target.name === "example" && event.target.value) show(event.target.value.split("|")[0], EXAMPLES[event.target.value]);
  later();
});

worker.onmessage = async ({ data }) => {
  if (data.failed) {
    state.textContent = "servelint could not be loaded: " + data.failed;
  } else if (data.ready) {
    facts = data.ready;
    fill(form.elements.engine, Object.keys(facts.engines), "as in the file");
    fill(form.elements.version, [], "as in the file");
    fill(form.elements.gpu, facts.gpus, "not known");
    const given = location.hash.length > 1 ? await unpacked(location.hash.slice(1)).catch(() => null) : null;
    if (given) {
      fill(form.elements.version, facts.engines[given.engine] || [], "as in the file");
      for (const [name, value] of Object.entries(given)) if (form.elements[name]) form.elements[name].value = value;
      show(given.kind, given.text);
    } else {
      const first = Object.keys(EXAMPLES)[0];
      show(first.split("|")[0], EXAMPLES[first]);
    }
    document.body.dataset.playground = "ready";
    check();
  } else {
    const one = waiting.get(data.id);
    waiting.delete(data.id);
    if (data.error) one.reject(data.error);
    else one.resolve(data.result);
  }
};

if ("serviceWorker" in navigator) navigator.serviceWorker.register(new URL("sw.js", document.querySelector("script[data-playground]").src)).catch(() => {});
