import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";

import { find, isMissing, type Machine, OF_PYTHON } from "../src/find";
import { onPath, type Outcome, run } from "../src/run";
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
    onPath: (name) => (Object.keys(programs).some((words) => words.split(" ")[0] === `/bin/${name}`) ? `/bin/${name}` : undefined),
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
    const here = machine({ "/env/bin/python -m servelint": [version, ended], "/bin/servelint": [version, ended] }, { python: "/env/bin/python" });
    const found = await find(settings(), here);
    assert.ok(!isMissing(found));
    assert.deepEqual([found.command, found.args, found.version], ["/env/bin/python", OF_PYTHON, "0.1.0"]);
    assert.equal(found.from, "the selected Python (/env/bin/python)");
  });

  it("is the one on PATH where the selected Python has none", async () => {
    const here = machine({ "/env/bin/python -m servelint": [noModule, noModule], "/bin/servelint": [version, ended] }, { python: "/env/bin/python" });
    const found = await find(settings(), here);
    assert.ok(!isMissing(found));
    assert.deepEqual([found.command, found.args, found.from], ["/bin/servelint", [], "PATH (/bin/servelint)"]);
  });

  it("is passed over where it lacks what a server needs", async () => {
    const here = machine({ "/env/bin/python -m servelint": [version, noPygls], "/bin/servelint": [version, ended] }, { python: "/env/bin/python" });
    const found = await find(settings(), here);
    assert.ok(!isMissing(found));
    assert.equal(found.from, "PATH (/bin/servelint)");
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
    const here = machine({ "/bin/servelint": [version, ended] });
    const found = await find(settings({ path: "/opt/servelint" }), here);
    assert.ok(isMissing(found));
    assert.deepEqual(found.tried, ["servelint.path (/opt/servelint): spawn servelint ENOENT"]);
  });

  it("may be a name, which is looked for on PATH and nowhere else", async () => {
    const found = await find(settings({ path: "servelint" }), machine({ "/bin/servelint": [version, ended] }));
    assert.ok(!isMissing(found));
    assert.equal(found.command, "/bin/servelint");
    const none = await find(settings({ path: "servelint-nightly" }), machine({}));
    assert.ok(isMissing(none));
    assert.deepEqual(none.tried, ["servelint.path (servelint-nightly): there is no such program on PATH"]);
  });
});

describe("where none is found", () => {
  it("each candidate is told with its reason", async () => {
    const here = machine({ "/env/bin/python -m servelint": [version, noPygls] }, { python: "/env/bin/python" });
    const found = await find(settings(), here);
    assert.ok(isMissing(found));
    assert.deepEqual(found.tried, [
      "PATH: there is no servelint on it",
      "the selected Python (/env/bin/python): the language server needs pygls (No module named 'pygls'); pip install 'servelint[lsp]'",
    ]);
  });

  it("a package without a bundled servelint says so to those who want it", async () => {
    const found = await find(settings({ importStrategy: "useBundled" }), machine({}));
    assert.ok(isMissing(found));
    assert.deepEqual(found.tried, ["PATH: there is no servelint on it", "the bundled servelint: this package of the extension brings none"]);
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
    const found = await find(settings(), machine({ [`/bin/python ${script()}`]: [version, ended] }, { extension }));
    assert.ok(!isMissing(found));
    assert.deepEqual([found.command, found.args], ["/bin/python", [script()]]);
  });

  it("comes first for those who want it", async () => {
    const here = machine({ "/bin/servelint": [version, ended], [`/env/bin/python ${script()}`]: [version, ended] }, { python: "/env/bin/python", extension });
    const found = await find(settings({ importStrategy: "useBundled" }), here);
    assert.ok(!isMissing(found));
    assert.equal(found.from, "the bundled servelint under /env/bin/python");
  });
});

describe("a name", () => {
  const before = { path: process.env["PATH"], folder: process.cwd() };
  after(() => {
    process.env["PATH"] = before.path;
    process.chdir(before.folder);
  });

  it("is looked for in the folders of PATH, not in the current one", () => {
    const folder = mkdtempSync(path.join(tmpdir(), "servelint-"));
    const file = path.join(folder, process.platform === "win32" ? "served.exe" : "served");
    writeFileSync(file, "", { mode: 0o755 });
    process.env["PATH"] = [".", folder].join(path.delimiter);
    assert.equal(onPath("served"), file);
    process.chdir(folder);
    process.env["PATH"] = ".";
    assert.equal(onPath("served"), undefined);
    process.chdir(before.folder);
    rmSync(folder, { recursive: true });
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
