import path from "node:path";

import * as vscode from "vscode";

import { enginesAt, type Launch, nameAt, type Topic, topicsAt } from "./cursor";
import type { Pages } from "./pages";
import type { Outcome } from "./run";
import { commandOptions, type Settings } from "./settings";

/** What the commands ask of the extension. */
export interface Context {
  pages: Pages;
  /** as they are for a file */
  settings: (uri: vscode.Uri) => Settings;
  /** where servelint is run */
  folder: () => string | undefined;
  /** runs the servelint that was found, in the folder of the workspace; undefined if there is none, which was said then */
  run: (args: string[], input?: string) => Promise<Outcome | undefined>;
}

export async function showLaunches(context: Context): Promise<void> {
  await showOfDocument(context, "launches", "Launches");
}

export async function memoryPlan(context: Context): Promise<void> {
  await showOfDocument(context, "memory", "Memory plan");
}

/** topic: what to explain; else what is at the cursor; else the user is asked. */
export async function explain(context: Context, ...topic: unknown[]): Promise<void> {
  const given = topic.flat().filter((word): word is string => typeof word === "string" && word !== "");
  const chosen = given.length > 0 ? given : await chooseTopic(context);
  if (chosen === undefined) {
    return;
  }
  const outcome = await context.run(["explain", ...chosen]);
  if (outcome !== undefined) {
    await show(context, `/explain/${chosen.join("/")}`, outcome);
  }
}

async function showOfDocument(context: Context, command: "launches" | "memory", title: string): Promise<void> {
  const document = ofFile(vscode.window.activeTextEditor?.document);
  if (document === undefined) {
    void vscode.window.showInformationMessage("servelint: open a file that launches an inference server first");
    return;
  }
  const outcome = await runOn(context, command, document);
  if (outcome !== undefined) {
    // not ending in the file's own name: the page is no YAML
    await show(context, path.posix.join("/", document.uri.path, `${title} (${path.posix.basename(document.uri.path)})`), outcome);
  }
}

/** Runs a command on a document as it stands in the editor, saved or not. */
async function runOn(context: Context, command: "launches" | "memory", document: vscode.TextDocument, ...more: string[]): Promise<Outcome | undefined> {
  const options = commandOptions(context.settings(document.uri), { gpu: command === "memory" });
  const name = nameIn(context.folder(), document.fileName);
  return context.run([command, "-", "--stdin-filename", name, ...options, ...more], document.getText());
}

/** A file as people name it: from the folder, where it is below that. */
export function nameIn(folder: string | undefined, file: string): string {
  const name = folder === undefined ? file : path.relative(folder, file);
  return name.startsWith("..") || path.isAbsolute(name) ? file : name;
}

/** What was printed; where that is nothing, what was said of it. */
async function show(context: Context, page: string, outcome: Outcome): Promise<void> {
  const text = [outcome.stdout.trimEnd(), outcome.stderr.trimEnd()].filter((part) => part !== "").join("\n\n");
  await context.pages.show(page, `${text}\n`);
}

async function chooseTopic(context: Context): Promise<Topic | undefined> {
  const topics = await topicsAtCursor(context);
  if (topics.length === 1) {
    return topics[0];
  }
  if (topics.length > 1) {
    const picked = await vscode.window.showQuickPick(
      topics.map((topic) => topic.join(" ")),
      { placeHolder: "what to explain" },
    );
    return picked?.split(" ");
  }
  return askForTopic(context);
}

async function topicsAtCursor(context: Context): Promise<Topic[]> {
  const editor = vscode.window.activeTextEditor;
  const document = ofFile(editor?.document);
  if (editor === undefined || document === undefined) {
    return [];
  }
  const at = editor.selection.active;
  const rules = vscode.languages
    .getDiagnostics(document.uri)
    .filter((diagnostic) => diagnostic.source === "servelint" && diagnostic.range.contains(at))
    .map(ruleOf);
  const name = nameAt(document.lineAt(at.line).text, at.character);
  return topicsAt(
    rules.filter((rule) => rule !== undefined),
    name,
    name === undefined ? [] : await enginesOf(context, document, at.line),
  );
}

export function ruleOf(diagnostic: { code?: vscode.Diagnostic["code"] | undefined }): string | undefined {
  const code = typeof diagnostic.code === "object" ? diagnostic.code.value : diagnostic.code;
  return code === undefined ? undefined : String(code);
}

async function enginesOf(context: Context, document: vscode.TextDocument, line: number): Promise<string[]> {
  const outcome = await runOn(context, "launches", document, "--format", "json");
  try {
    return enginesAt((JSON.parse(outcome?.stdout ?? "") as { launches: Launch[] }).launches, line);
  } catch {
    return []; // no JSON: an error, which the server tells as well
  }
}

async function askForTopic(context: Context): Promise<Topic | undefined> {
  const outcome = await context.run(["rules"]);
  if (outcome === undefined) {
    return undefined;
  }
  const picked = await vscode.window.showQuickPick(rulesOf(outcome.stdout), {
    placeHolder: "a rule; or put the cursor on a finding, an option or a variable first",
    matchOnDescription: true,
  });
  return picked === undefined ? undefined : [picked.label];
}

/** The lines of `servelint rules`: id, severity, title. */
export function rulesOf(listed: string): { label: string; description: string }[] {
  return listed.split(/\r?\n/).flatMap((line) => {
    const [, label, rest] = /^(\S+\/\S+)\s+(.*)$/.exec(line) ?? [];
    return label === undefined || rest === undefined ? [] : [{ label, description: rest.replace(/\s+/g, " ") }];
  });
}

function ofFile(document: vscode.TextDocument | undefined): vscode.TextDocument | undefined {
  return document !== undefined && ["file", "untitled"].includes(document.uri.scheme) ? document : undefined;
}
