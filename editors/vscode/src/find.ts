import { existsSync } from "node:fs";
import path from "node:path";

import type { Outcome, Program } from "./run";
import type { Settings } from "./settings";

/** A program that answers as servelint. `from` says where it was found, for people. */
export interface Server extends Program {
  from: string;
  version: string;
}

/** What was looked at and why it does not do, a sentence each. */
export interface Missing {
  tried: string[];
}

/** What the search asks of the machine. */
export interface Machine {
  /** the interpreter that the Python extension has selected */
  selectedPython: () => Promise<string | undefined>;
  /** where the extension is installed */
  extension: string;
  onPath: (name: string) => string | undefined;
  run: (program: Program, args: string[]) => Promise<Outcome>;
}

/**
 * What runs a Python's servelint. `-m servelint` would look into the current folder first, which is the workspace: a file
 * servelint.py or yaml.py in there would be run in its place, whoever wrote it.
 */
export const OF_PYTHON = ["-c", "import sys; sys.path[:1] == [''] and sys.path.pop(0); from servelint.cli import main; sys.exit(main())"];

interface Candidate extends Program {
  from: string;
}

export function isMissing(found: Server | Missing): found is Missing {
  return "tried" in found;
}

/**
 * The servelint to run. A path in the settings is the only candidate; otherwise the first of the environment's, the one on
 * PATH and the bundled one that can be a language server, in the order that importStrategy says.
 */
export async function find(settings: Settings, machine: Machine): Promise<Server | Missing> {
  const tried: string[] = [];
  for (const candidate of await candidates(settings, machine, tried)) {
    const fault = await whyNot(candidate, machine);
    if (typeof fault === "object") {
      return { ...candidate, ...fault };
    }
    tried.push(`${candidate.from}: ${fault}`);
  }
  return { tried };
}

async function whyNot(candidate: Candidate, machine: Machine): Promise<string | { version: string }> {
  const version = await machine.run(candidate, ["--version"]);
  if (version.status !== 0) {
    return said(version);
  }
  // a server that hears nothing ends; one that lacks what it needs, or a servelint that is no server yet, ends with 2
  const server = await machine.run(candidate, ["lsp"]);
  return server.status === 2 || server.status === null ? said(server) : { version: version.stdout.trim().replace(/^servelint /, "") };
}

async function candidates(settings: Settings, machine: Machine, tried: string[]): Promise<Candidate[]> {
  if (settings.path !== "") {
    const command = /[\\/]/.test(settings.path) ? settings.path : machine.onPath(settings.path);
    const from = `servelint.path (${settings.path})`;
    if (command === undefined) {
      tried.push(`${from}: there is no such program on PATH`);
      return [];
    }
    return [{ command, args: [], from }];
  }
  const python = settings.interpreter || (await machine.selectedPython());
  const named = settings.interpreter === "" ? "the selected Python" : "servelint.interpreter";
  const environment: Candidate[] =
    python === undefined ? [] : [{ command: python, args: OF_PYTHON, from: `${named} (${python})` }];
  const own = machine.onPath("servelint");
  if (own !== undefined) {
    environment.push({ command: own, args: [], from: `PATH (${own})` });
  } else {
    tried.push("PATH: there is no servelint on it");
  }
  const bundled = ofBundle(python, machine);
  if (bundled.length === 0 && settings.importStrategy === "useBundled") {
    tried.push("the bundled servelint: this package of the extension brings none");
  }
  return settings.importStrategy === "useBundled" ? [...bundled, ...environment] : [...environment, ...bundled];
}

/** The servelint that the extension brings, under the interpreters that may run it. */
function ofBundle(python: string | undefined, machine: Machine): Candidate[] {
  const script = path.join(machine.extension, "bundled", "servelint.py");
  if (!existsSync(script)) {
    return [];
  }
  const pythons = [python, machine.onPath("python3"), machine.onPath("python")].filter((one) => one !== undefined);
  return [...new Set(pythons)].map((command) => ({ command, args: [script], from: `the bundled servelint under ${command}` }));
}

function said(outcome: Outcome): string {
  const last = outcome.stderr.trim().split(/\r?\n/).at(-1)?.replace(/^servelint: /, "");
  return last || `ended with status ${outcome.status}`;
}
