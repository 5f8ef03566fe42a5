// Runs servelint in the page's own process: Pyodide, and tree-sitter's grammar of bash.
import { Language, Parser } from "web-tree-sitter";

const here = (name) => new URL(name, self.location).href;
const tell = (message) => self.postMessage(message);

function flat(parser, text) {
  const tree = parser.parse(text);
  const kinds = new Map(), names = [], rows = [];
  const cursor = tree.walk();
  const visit = (parent) => {
    const node = cursor.currentNode;
    let kind = kinds.get(node.type);
    if (kind === undefined) {
      kind = names.length;
      kinds.set(node.type, kind);
      names.push(node.type);
    }
    const me = rows.length;
    rows.push([kind, node.startIndex, node.endIndex, (node.isNamed ? 1 : 0) | (node.hasError ? 2 : 0), parent, cursor.currentFieldName || 0]);
    if (cursor.gotoFirstChild()) {
      do visit(me);
      while (cursor.gotoNextSibling());
      cursor.gotoParent();
    }
  };
  visit(-1);
  const result = JSON.stringify([names, rows]);
  cursor.delete();
  tree.delete();
  return result;
}

async function start() {
  const archive = fetch(here("python.zip")).then((answer) => answer.arrayBuffer());
  const source = fetch(here("judge.py")).then((answer) => answer.text());
  const bash = Parser.init({ locateFile: (name) => here(name) }).then(() => Language.load(here("tree-sitter-bash.wasm")));
  const { loadPyodide } = await import(here("pyodide/pyodide.mjs"));
  const python = await loadPyodide({ indexURL: here("pyodide/") });
  const language = await bash;
  const parser = new Parser();
  parser.setLanguage(language);
  python.registerJsModule("tree_sitter_js", { parse: (text) => flat(parser, text) });
  python.unpackArchive(new Uint8Array(await archive), "zip", { extractDir: "/home/pyodide" });
  python.runPython(await source);
  return { check: python.globals.get("check"), hover: python.globals.get("hover"), choices: python.globals.get("choices") };
}

const ready = start();
ready.then((judge) => tell({ ready: JSON.parse(judge.choices()) }), (error) => tell({ failed: String(error) }));

self.onmessage = async ({ data }) => {
  const judge = await ready;
  try {
    if (data.kind === "check") tell({ id: data.id, result: JSON.parse(judge.check(data.name, data.text, JSON.stringify(data.asked))) });
    else tell({ id: data.id, result: JSON.parse(judge.hover(data.offset)) });
  } catch (error) {
    tell({ id: data.id, error: String(error) });
  }
};
