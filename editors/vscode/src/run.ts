import { spawn } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import path from "node:path";

/** A program and the arguments that come before ours. */
export interface Program {
  command: string;
  args: string[];
}

export interface Outcome {
  /** null: it could not be started, or did not end in time */
  status: number | null;
  stdout: string;
  stderr: string;
}

export interface Surroundings {
  cwd?: string;
  input?: string;
  /** milliseconds */
  timeout?: number;
}

/** Runs a program to its end, without a shell. Never rejects: what went wrong is in stderr. */
export function run(program: Program, args: string[], { cwd, input, timeout = 30_000 }: Surroundings = {}): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = spawn(program.command, [...program.args, ...args], { ...(cwd === undefined ? {} : { cwd }), windowsHide: true });
    const out: Buffer[] = [];
    const error: Buffer[] = [];
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      child.kill();
    }, timeout);
    const end = (status: number | null, more = ""): void => {
      clearTimeout(timer);
      const said = Buffer.concat(error).toString() + more + (late ? `no answer in ${timeout / 1000} seconds\n` : "");
      resolve({ status: late ? null : status, stdout: Buffer.concat(out).toString(), stderr: said });
    };
    child.stdout.on("data", (data: Buffer) => out.push(data));
    child.stderr.on("data", (data: Buffer) => error.push(data));
    child.stdin.on("error", () => undefined); // it ended without reading
    child.on("error", (fault) => end(null, `${fault.message}\n`));
    child.on("close", (status) => end(status));
    child.stdin.end(input ?? "");
  });
}

/**
 * Where a program of this name is on PATH. Windows would look into the current folder first, which is the workspace: hence a
 * whole path, and none from a relative entry.
 */
export function onPath(name: string): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  const file = process.platform === "win32" ? `${name}.exe` : name;
  return folders.map((folder) => path.join(folder, file)).find(isProgram);
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
