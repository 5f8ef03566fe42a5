import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";

import { type Context, explain, memoryPlan, nameIn, ruleOf, rulesOf, showLaunches } from "../src/commands";
import { enginesAt, nameAt } from "../src/cursor";
import { Pages } from "../src/pages";
import type { Outcome } from "../src/run";
import { DEFAULTS } from "../src/settings";
import { editor, Uri, window } from "./vscode";

const TEXT = ["services:", "  llm:", "    command: >", "      --kv-cache-dtype turboquant_k8v4", "    environment:", "      VLLM_NO_USAGE_STATS: 1"];
const LAUNCHES = JSON.stringify({ launches: [{ line: 2, end_line: 6, engine: "vllm" }, { line: 20, end_line: 30, engine: "sglang" }], errors: [] });

let ran: { args: string[]; input: string | undefined }[] = [];

/** A servelint that says this to a command, whose name is the first argument. */
function context(says: Record<string, Partial<Outcome>>): Context {
  const pages = new Pages();
  editor.provider = pages as unknown as typeof editor.provider;
  return {
    pages,
    settings: () => ({ ...DEFAULTS, gpu: "h100-80gb" }),
    folder: () => "/work",
    run: async (args, input) => {
      ran.push({ args, input });
      const name = args.includes("json") ? "json" : (args[0] ?? "");
      return { status: 0, stdout: "", stderr: "", ...says[name] };
    },
  };
}

/** Opens the text with the cursor at a line and a column, both from 0. */
function open(line = 0, character = 0, path = "/work/deploy/compose.yml"): void {
  window.activeTextEditor = {
    document: {
      uri: Uri.from({ scheme: "file", path }),
      fileName: path,
      getText: () => TEXT.join("\n"),
      lineAt: (number) => ({ text: TEXT[number] ?? "" }),
    },
    selection: { active: { line, character } },
  };
}

const finding = (rule: string, here = true) => ({ source: "servelint", code: { value: rule, target: "https://example.org" }, range: { contains: () => here } });

beforeEach(() => {
  editor.reset();
  ran = [];
});

describe("Show launches", () => {
  it("shows what servelint sees in the text of the editor, saved or not", async () => {
    open();
    await showLaunches(context({ launches: { stdout: "deploy/compose.yml:2: vLLM 0.27.1\n" } }));
    assert.deepEqual(ran, [{ args: ["launches", "-", "--stdin-filename", "deploy/compose.yml"], input: TEXT.join("\n") }]);
    assert.deepEqual(editor.shown, [{ path: "/work/deploy/compose.yml/Launches (compose.yml)", text: "deploy/compose.yml:2: vLLM 0.27.1\n" }]);
  });

  it("shows the sentence where there is no launch", async () => {
    open();
    await showLaunches(context({ launches: { stderr: "servelint: no launch found\n" } }));
    assert.equal(editor.shown[0]?.text, "servelint: no launch found\n");
  });

  it("asks for a file where none is open", async () => {
    await showLaunches(context({}));
    assert.deepEqual([ran, editor.shown], [[], []]);
    assert.deepEqual(editor.told, ["servelint: open a file that launches an inference server first"]);
  });
});

describe("Memory plan", () => {
  it("is made for the GPU of the settings", async () => {
    open();
    await memoryPlan(context({ memory: { stdout: "fits\n" } }));
    assert.deepEqual(ran[0]?.args, ["memory", "-", "--stdin-filename", "deploy/compose.yml", "--gpu", "h100-80gb"]);
    assert.equal(editor.shown[0]?.path, "/work/deploy/compose.yml/Memory plan (compose.yml)");
  });

  it("fills the same page anew", async () => {
    open();
    const says = { memory: { stdout: "fits\n" } };
    const asked = context(says);
    await memoryPlan(asked);
    says.memory.stdout = "refused\n";
    await memoryPlan(asked);
    assert.deepEqual(editor.shown.map((page) => page.text), ["fits\n", "refused\n"]);
    assert.equal(new Set(editor.shown.map((page) => page.path)).size, 1);
  });
});

describe("Explain", () => {
  it("explains what it is given, as a code action gives it", async () => {
    await explain(context({ explain: { stdout: "a page\n" } }), "vllm", "--swap-space");
    assert.deepEqual(ran.map((one) => one.args), [["explain", "vllm", "--swap-space"]]);
    assert.deepEqual(editor.shown, [{ path: "/explain/vllm/--swap-space", text: "a page\n" }]);
  });

  it("explains the option at the cursor, of the engine that is launched there", async () => {
    open(3, 10);
    await explain(context({ json: { stdout: LAUNCHES }, explain: { stdout: "a page\n" } }));
    assert.deepEqual(ran.at(-1)?.args, ["explain", "vllm", "--kv-cache-dtype"]);
  });

  it("asks which, where several things are at the cursor", async () => {
    open(3, 10);
    editor.diagnostics = [finding("vllm/turboquant-with-spec-decode"), finding("vllm/elsewhere", false), { ...finding("other"), source: "yaml" }];
    editor.picks = 0;
    await explain(context({ json: { stdout: LAUNCHES } }));
    assert.deepEqual(editor.offered, [["vllm/turboquant-with-spec-decode", "vllm --kv-cache-dtype"]]);
    assert.deepEqual(ran.at(-1)?.args, ["explain", "vllm/turboquant-with-spec-decode"]);
  });

  it("offers every rule where nothing is at the cursor", async () => {
    open(1, 0);
    editor.picks = 1;
    await explain(context({ rules: { stdout: "container/gpu-request   error    GPUs refused (any engine)\nvllm/removed-option     error    Gone (vLLM)\n" } }));
    assert.deepEqual(ran.map((one) => one.args), [["rules"], ["explain", "vllm/removed-option"]]);
  });

  it("explains nothing where nothing was picked", async () => {
    open(1, 0);
    await explain(context({ rules: { stdout: "container/gpu-request   error    GPUs refused\n" } }));
    assert.deepEqual(ran.map((one) => one.args), [["rules"]]);
    assert.deepEqual(editor.shown, []);
  });
});

describe("what stands at a column", () => {
  it("is an option or a variable, whole", () => {
    assert.equal(nameAt("  - --kv-cache-dtype=fp8", 4), "--kv-cache-dtype");
    assert.equal(nameAt("  - --kv-cache-dtype=fp8", 22), undefined);
    assert.equal(nameAt("      VLLM_NO_USAGE_STATS: 1", 9), "VLLM_NO_USAGE_STATS");
    assert.equal(nameAt("export A=1", 7), undefined);
  });
});

describe("the engines of a line", () => {
  const { launches } = JSON.parse(LAUNCHES) as { launches: { line: number; end_line: number; engine: string }[] };
  it("are those of the launch that it is in, else all", () => {
    assert.deepEqual(enginesAt(launches, 1), ["vllm"]);
    assert.deepEqual(enginesAt(launches, 29), ["sglang"]);
    assert.deepEqual(enginesAt(launches, 10), ["vllm", "sglang"]);
    assert.deepEqual(enginesAt([], 0), []);
  });
});

describe("a rule", () => {
  it("is the code of a diagnostic, with or without a link", () => {
    assert.equal(ruleOf({ code: "vllm/removed-option" }), "vllm/removed-option");
    assert.equal(ruleOf(finding("vllm/removed-option") as unknown as Parameters<typeof ruleOf>[0]), "vllm/removed-option");
    assert.equal(ruleOf({}), undefined);
  });

  it("has a line in the list of rules", () => {
    assert.deepEqual(rulesOf("vllm/removed-option     error    Gone (vLLM)\n\nno rule\n"), [{ label: "vllm/removed-option", description: "error Gone (vLLM)" }]);
  });
});

describe("the name of a file", () => {
  it("starts at the folder, where the file is below that", () => {
    assert.equal(nameIn("/work", "/work/deploy/compose.yml"), "deploy/compose.yml");
    assert.equal(nameIn("/work", "/elsewhere/compose.yml"), "/elsewhere/compose.yml");
    assert.equal(nameIn(undefined, "Untitled-1"), "Untitled-1");
    assert.equal(nameIn("/work", "Untitled-1"), "Untitled-1");
  });
});
