// The real server, spoken to as an editor speaks. It is the one of SERVELINT_PYTHON, where that is set, else the one on PATH;
// where neither is there, these are skipped.
import assert from "node:assert/strict";
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { pathToFileURL } from "node:url";

import {
  type CodeAction,
  CodeActionRequest,
  CompletionRequest,
  createProtocolConnection,
  type Diagnostic,
  DiagnosticSeverity,
  DidChangeTextDocumentNotification,
  DidOpenTextDocumentNotification,
  ExitNotification,
  type Hover,
  HoverRequest,
  InitializedNotification,
  InitializeRequest,
  type InitializeResult,
  type MarkupContent,
  type Position,
  type ProtocolConnection,
  type PublishDiagnosticsParams,
  PublishDiagnosticsNotification,
  ShutdownRequest,
  StreamMessageReader,
  StreamMessageWriter,
  type TextEdit,
} from "vscode-languageserver-protocol/node";

import { find, isMissing } from "../src/find";
import { onPath, run } from "../src/run";
import { DEFAULTS, initializationOptions } from "../src/settings";

const examples = path.join(process.cwd(), "..", "..", "examples");
const python = process.env["SERVELINT_PYTHON"];
const server = await find({ ...DEFAULTS, interpreter: python ?? "" }, { selectedPython: async () => undefined, extension: "/nowhere", onPath, run });
if (isMissing(server) && python !== undefined) {
  throw new Error(server.tried.join("\n"));
}

/** One server with what an editor keeps of it. */
class Session {
  readonly connection: ProtocolConnection;
  readonly process: ChildProcessWithoutNullStreams;
  readonly diagnostics = new Map<string, PublishDiagnosticsParams>();
  private readonly awaited: { uri: string; version: number; take: (items: Diagnostic[]) => void }[] = [];
  capabilities: InitializeResult["capabilities"] = {};

  constructor(command: string, args: string[]) {
    this.process = spawn(command, args);
    this.process.stderr.pipe(process.stderr);
    this.connection = createProtocolConnection(new StreamMessageReader(this.process.stdout), new StreamMessageWriter(this.process.stdin));
    this.connection.onNotification(PublishDiagnosticsNotification.type, (told) => {
      this.diagnostics.set(told.uri, told);
      for (const one of this.awaited.filter(({ uri, version }) => uri === told.uri && version === told.version)) {
        one.take(told.diagnostics);
      }
    });
    this.connection.listen();
  }

  async begin(settings: Record<string, unknown>): Promise<void> {
    const { capabilities } = await this.connection.sendRequest(InitializeRequest.type, {
      processId: process.pid,
      rootUri: String(pathToFileURL(examples)),
      workspaceFolders: [{ uri: String(pathToFileURL(examples)), name: "examples" }],
      initializationOptions: settings,
      capabilities: {
        textDocument: {
          publishDiagnostics: { relatedInformation: true, codeDescriptionSupport: true, versionSupport: true },
          hover: { contentFormat: ["markdown"] },
          codeAction: {
            codeActionLiteralSupport: { codeActionKind: { valueSet: ["quickfix"] } },
            resolveSupport: { properties: ["edit"] },
            dataSupport: true,
          },
        },
      },
    });
    this.capabilities = capabilities;
    await this.connection.sendNotification(InitializedNotification.type, {});
  }

  /** The findings of a text that is opened; its server's own version of it is 1. */
  async open(uri: string, languageId: string, text: string): Promise<Diagnostic[]> {
    const told = this.told(uri, 1);
    await this.connection.sendNotification(DidOpenTextDocumentNotification.type, { textDocument: { uri, languageId, version: 1, text } });
    return told;
  }

  async change(uri: string, version: number, text: string): Promise<Diagnostic[]> {
    const told = this.told(uri, version);
    await this.connection.sendNotification(DidChangeTextDocumentNotification.type, { textDocument: { uri, version }, contentChanges: [{ text }] });
    return told;
  }

  /** Ends the server as the protocol wants it; its exit code. */
  async end(): Promise<number | null> {
    const ended = once(this.process, "exit");
    await this.connection.sendRequest(ShutdownRequest.type);
    await this.connection.sendNotification(ExitNotification.type);
    const [status] = (await ended) as [number | null];
    this.connection.dispose();
    return status;
  }

  private told(uri: string, version: number): Promise<Diagnostic[]> {
    return new Promise((take) => this.awaited.push({ uri, version, take }));
  }
}

function offset(text: string, at: Position): number {
  const lines = text.split("\n");
  return lines.slice(0, at.line).reduce((sum, line) => sum + line.length + 1, 0) + at.character;
}

/** A text with edits applied, from the last to the first. */
function applied(text: string, edits: TextEdit[]): string {
  return edits
    .toSorted((one, other) => offset(text, other.range.start) - offset(text, one.range.start))
    .reduce((now, edit) => now.slice(0, offset(text, edit.range.start)) + edit.newText + now.slice(offset(text, edit.range.end)), text);
}

/** Where a word stands first. */
function placeOf(text: string, word: string): Position {
  const before = text.slice(0, text.indexOf(word)).split("\n");
  return { line: before.length - 1, character: before.at(-1)?.length ?? 0 };
}

describe("servelint lsp", { skip: isMissing(server) && "no servelint that can be a language server is here" }, () => {
  const file = path.join(examples, "broken", "turboquant.yml");
  const uri = String(pathToFileURL(file));
  const text = readFileSync(file, "utf8");
  const rule = "vllm/turboquant-with-spec-decode";
  let session: Session;
  let findings: Diagnostic[] = [];

  before(async () => {
    assert.ok(!isMissing(server));
    session = new Session(server.command, [...server.args, "lsp"]);
    await session.begin(initializationOptions(DEFAULTS));
    findings = await session.open(uri, "yaml", text);
  });
  after(() => session.process.kill());

  it("tells the finding at its characters, with its rule, a link and the other place", () => {
    const finding = findings.find((one) => one.code === rule);
    assert.ok(finding !== undefined, JSON.stringify(findings));
    const start = placeOf(text, "turboquant_k8v4");
    assert.deepEqual(finding.range, { start, end: { ...start, character: start.character + "turboquant_k8v4".length } });
    assert.equal(finding.severity, DiagnosticSeverity.Error);
    assert.equal(finding.source, "servelint");
    assert.match(finding.codeDescription?.href ?? "", /turboquant-with-spec-decode/);
    assert.ok(finding.relatedInformation?.some(({ location }) => location.range.start.line === placeOf(text, "--speculative-config").line));
  });

  it("tells what an option is", async () => {
    const hover = await session.connection.sendRequest(HoverRequest.type, { textDocument: { uri }, position: placeOf(text, "kv-cache-dtype") });
    assert.match(((hover as Hover).contents as MarkupContent).value, /--kv-cache-dtype/);
  });

  it("completes an option of the release", async () => {
    const typed = text.replace("--max-model-len 65536", "--max-mod");
    await session.change(uri, 2, typed);
    const { line, character } = placeOf(typed, "--max-mod");
    const answer = await session.connection.sendRequest(CompletionRequest.type, { textDocument: { uri }, position: { line, character: character + "--max-mod".length } });
    const items = Array.isArray(answer) ? answer : (answer?.items ?? []);
    assert.ok(items.some((item) => item.label === "--max-model-len"), JSON.stringify(items.slice(0, 5)));
    findings = await session.change(uri, 3, text);
  });

  it("mends the finding with its quick fix", async () => {
    const finding = findings.find((one) => one.code === rule);
    assert.ok(finding !== undefined);
    const actions = await session.connection.sendRequest(CodeActionRequest.type, { textDocument: { uri }, range: finding.range, context: { diagnostics: [finding] } });
    const offered = (actions ?? []).filter((one): one is CodeAction => "kind" in one && one.kind === "quickfix");
    const fix = offered.find((one) => one.title.includes("fp8"));
    assert.ok(fix !== undefined, JSON.stringify(offered.map((one) => one.title)));
    const { edit } = fix.edit === undefined ? ((await session.connection.sendRequest("codeAction/resolve", fix)) as CodeAction) : fix;
    const edits = edit?.changes?.[uri] ?? edit?.documentChanges?.flatMap((change) => ("edits" in change ? (change.edits as TextEdit[]) : [])) ?? [];
    const mended = applied(text, edits);
    assert.equal(mended, text.replace("turboquant_k8v4", "fp8"));
    const left = await session.change(uri, 4, mended);
    assert.deepEqual(left.filter((one) => one.code === rule), []);
  });

  it("ends with 0 when it is asked to", async () => {
    assert.equal(await session.end(), 0);
  });
});

describe("a workspace", { skip: python === undefined && "SERVELINT_PYTHON is not set" }, () => {
  it("does not run in servelint's place", async () => {
    assert.ok(!isMissing(server));
    const folder = mkdtempSync(path.join(tmpdir(), "servelint-"));
    try {
      for (const name of ["servelint.py", "yaml.py", "click.py"]) {
        writeFileSync(path.join(folder, name), "print('of the workspace')\n");
      }
      writeFileSync(path.join(folder, "serve.sh"), "vllm serve Qwen/Qwen3-8B\n");
      const outcome = await run(server, ["launches", "serve.sh"], { cwd: folder });
      assert.equal(outcome.status, 0, outcome.stderr);
      assert.match(outcome.stdout, /^serve\.sh:1: vLLM/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe("the settings of the editor", { skip: isMissing(server) && "no servelint that can be a language server is here" }, () => {
  it("hold in the server", async () => {
    assert.ok(!isMissing(server));
    const session = new Session(server.command, [...server.args, "lsp"]);
    try {
      await session.begin(initializationOptions({ ...DEFAULTS, engineVersions: { vllm: "0.33.0" }, ignore: ["container/*"] }));
      const script = "vllm serve Qwen/Qwen3-8B --swap-space 4\n";
      const findings = await session.open(String(pathToFileURL(path.join(examples, "new.sh"))), "shellscript", script);
      assert.deepEqual(findings.map((one) => one.code), ["vllm/removed-option"]);
      assert.equal(await session.end(), 0);
    } finally {
      session.process.kill();
    }
  });
});
