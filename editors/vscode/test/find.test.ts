import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";

import { find, isMissing, type Machine, OF_PYTHON } from "../src/find";
import { type Outcome, run } from "../src/run";
import { DEFAULTS, type Settings } from "../src/settings";

const absent: Outcome = { status: null, stdout: "", stderr: "spawn servelint ENOENT\n" };
const noModule: Outcome = { status: 1, stdout: "", stderr: "ModuleNotFoundError: No module named 'servelint'\n" };
const version: Outcome = { status: 0, stdout: "servelint 0.1.0\n", stderr: "" };
const ended: Outcome = { status: 1, stdout: "", stderr: "" };
const noPygls: Outcome = {
  status: 2,
  stdout: "",
  stderr: "servelint: the language server needs pygls (No module named 'pygls'); pip install 'servelint[lsp]'\n",
};

/** A machine on which these programs are, each with what it says to --version and how it is as a server. */
function machine(programs: Record<string, [Outcome, Outcome]>, { python, extension = "/nowhere" }: { python?: string; extension?: string } = {}): Machine {
  return {
    selectedPython: async () => python,
    extension,
    run: async (program, args) => {
      const words = program.args === OF_PYTHON ? [program.command, "-m", "servelint"] : [program.command, ...program.args];
      const known = programs[words.join(" ")];
      return known === undefined ? absent : args[0] === "--version" ? known[0] : known[1];
    },
  };
}

const settings = (some: Partial<Settings> = {}): Settings => ({ ...DEFAULTS, ...some });

describe("the environment's servelint", () => {
  it("is the selected Python's, before the one on PATH", async () => {
    const here = machine({ "/env/bin/python -m servelint": [version, ended], servelint: [version, ended] }, { python: "/env/bin/python" });
    const found = await find(settings(), here);
    assert.ok(!isMissing(found));
    assert.deepEqual([found.command, found.args, found.version], ["/env/bin/python", OF_PYTHON, "0.1.0"]);
    assert.equal(found.from, "the selected Python (/env/bin/python)");
  });

  it("is the one on PATH where the selected Python has none", async () => {
    const here = machine({ "/env/bin/python -m servelint": [noModule, noModule], servelint: [version, ended] }, { python: "/env/bin/python" });
    const found = await find(settings(), here);
    assert.ok(!isMissing(found));
    assert.deepEqual([found.command, found.args, found.from], ["servelint", [], "PATH"]);
  });

  it("is passed over where it lacks what a server needs", async () => {
    const here = machine({ "/env/bin/python -m servelint": [version, noPygls], servelint: [version, ended] }, { python: "/env/bin/python" });
    const found = await find(settings(), here);
    assert.ok(!isMissing(found));
    assert.equal(found.from, "PATH");
  });

  it("is the set interpreter's before the selected one's", async () => {
    const here = machine({ "/set/python -m servelint": [version, ended], "/env/bin/python -m servelint": [version, ended] }, { python: "/env/bin/python" });
    const found = await find(settings({ interpreter: "/set/python" }), here);
    assert.ok(!isMissing(found));
    assert.equal(found.from, "servelint.interpreter (/set/python)");
  });
});

describe("a path in the settings", () => {
  it("is the only candidate", async () => {
    const here = machine({ servelint: [version, ended] });
    const found = await find(settings({ path: "/opt/servelint" }), here);
    assert.ok(isMissing(found));
    assert.deepEqual(found.tried, ["servelint.path (/opt/servelint): spawn servelint ENOENT"]);
  });
});

describe("where none is found", () => {
  it("each candidate is told with its reason", async () => {
    const here = machine({ "/env/bin/python -m servelint": [version, noPygls] }, { python: "/env/bin/python" });
    const found = await find(settings(), here);
    assert.ok(isMissing(found));
    assert.deepEqual(found.tried, [
      "the selected Python (/env/bin/python): the language server needs pygls (No module named 'pygls'); pip install 'servelint[lsp]'",
      "PATH: spawn servelint ENOENT",
    ]);
  });

  it("a package without a bundled servelint says so to those who want it", async () => {
    const found = await find(settings({ importStrategy: "useBundled" }), machine({}));
    assert.ok(isMissing(found));
    assert.deepEqual(found.tried, ["the bundled servelint: this package of the extension brings none", "PATH: spawn servelint ENOENT"]);
  });
});

describe("a bundled servelint", () => {
  let extension = "";
  before(() => {
    extension = mkdtempSync(path.join(tmpdir(), "servelint-"));
    mkdirSync(path.join(extension, "bundled"));
    writeFileSync(path.join(extension, "bundled", "servelint.py"), "");
  });
  after(() => rmSync(extension, { recursive: true }));

  const script = (): string => path.join(extension, "bundled", "servelint.py");

  it("is the last resort by default, under the first Python that runs it", async () => {
    const found = await find(settings(), machine({ [`python ${script()}`]: [version, ended] }, { extension }));
    assert.ok(!isMissing(found));
    assert.deepEqual([found.command, found.args], ["python", [script()]]);
  });

  it("comes first for those who want it", async () => {
    const here = machine({ servelint: [version, ended], [`/env/bin/python ${script()}`]: [version, ended] }, { python: "/env/bin/python", extension });
    const found = await find(settings({ importStrategy: "useBundled" }), here);
    assert.ok(!isMissing(found));
    assert.equal(found.from, "the bundled servelint under /env/bin/python");
  });
});

describe("a program", () => {
  const node = { command: process.execPath, args: ["-e"] };

  it("gets its input and gives its output and status", async () => {
    const script = "process.stdin.on('data', (d) => process.stdout.write(String(d).toUpperCase())).on('end', () => process.exit(3))";
    assert.deepEqual(await run(node, [script], { input: "vllm ü" }), { status: 3, stdout: "VLLM Ü", stderr: "" });
  });

  it("that is not there is an outcome, not an exception", async () => {
    const outcome = await run({ command: "/nowhere/servelint", args: [] }, ["--version"], { input: "x" });
    assert.equal(outcome.status, null);
    assert.match(outcome.stderr, /ENOENT/);
  });

  it("that does not end is ended", async () => {
    const outcome = await run(node, ["setInterval(() => 0, 1000)"], { timeout: 50 });
    assert.deepEqual(outcome, { status: null, stdout: "", stderr: "no answer in 0.05 seconds\n" });
  });
});
