import { homedir } from "node:os";
import path from "node:path";

/** The section `servelint` of the editor's settings, as package.json declares it. */
export interface Settings {
  path: string;
  importStrategy: "fromEnvironment" | "useBundled";
  interpreter: string;
  args: string[];
  engineVersions: Record<string, string>;
  gpu: string;
  gpuCount: number | null;
  profile: string | null;
  select: string[];
  ignore: string[];
  severity: string | null;
  inlayHints: boolean;
  codeLens: boolean;
  unresolvedWords: boolean;
}

export const DEFAULTS: Settings = {
  path: "",
  importStrategy: "fromEnvironment",
  interpreter: "",
  args: [],
  engineVersions: {},
  gpu: "",
  gpuCount: null,
  profile: null,
  select: [],
  ignore: [],
  severity: null,
  inlayHints: true,
  codeLens: true,
  unresolvedWords: true,
};

/** What says which program runs: a change of these takes a new server. */
export const OF_THE_PROGRAM = ["path", "importStrategy", "interpreter", "args"] as const;

/** The settings that a section of the editor's configuration gives. */
export function read(get: <T>(name: string) => T | undefined): Settings {
  const found: Record<string, unknown> = {};
  for (const [name, standard] of Object.entries(DEFAULTS)) {
    found[name] = get(name) ?? standard;
  }
  return found as unknown as Settings;
}

/** What the server is told as it starts: all but what says how to start it. An empty value says nothing there. */
export function initializationOptions(settings: Settings): Record<string, unknown> {
  const ours = new Set<string>(OF_THE_PROGRAM);
  return Object.fromEntries(Object.entries(settings).filter(([name]) => !ours.has(name)));
}

/** The same as options of `servelint launches`, and with gpu of `servelint memory`. */
export function commandOptions(settings: Settings, { gpu }: { gpu: boolean }): string[] {
  const options: string[] = [];
  for (const [engine, release] of Object.entries(settings.engineVersions)) {
    options.push("--engine-version", `${engine}=${release}`);
  }
  if (gpu && settings.gpu !== "") {
    options.push("--gpu", settings.gpu);
  }
  if (gpu && settings.gpuCount !== null) {
    options.push("--gpu-count", String(settings.gpuCount));
  }
  return options;
}

/** A path of the settings with `~` and `${workspaceFolder}` replaced, relative ones from the folder; "" stays "". */
export function resolved(written: string, folder: string | undefined): string {
  if (written === "") {
    return "";
  }
  const whole = written
    .replace(/^~(?=$|[\\/])/, () => homedir())
    .replaceAll("${workspaceFolder}", () => folder ?? "")
    .replaceAll("${userHome}", () => homedir());
  // a bare name is looked for on PATH
  return /[\\/]/.test(whole) && folder !== undefined ? path.resolve(folder, whole) : whole;
}
