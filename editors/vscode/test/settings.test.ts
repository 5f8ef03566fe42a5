import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { describe, it } from "node:test";

import { LANGUAGES, SELECTOR } from "../src/selector";
import { commandOptions, DEFAULTS, initializationOptions, OF_THE_PROGRAM, read, resolved, type Settings } from "../src/settings";

interface Manifest {
  version: string;
  activationEvents: string[];
  contributes: { configuration: { properties: Record<string, { default: unknown }> }; commands: { command: string }[] };
  capabilities: { untrustedWorkspaces: { restrictedConfigurations: string[] } };
}

const root = process.cwd();
const manifest = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as Manifest;
const settings = (some: Partial<Settings>): Settings => ({ ...DEFAULTS, ...some });

describe("package.json", () => {
  it("declares the settings that are read, with the same defaults", () => {
    const declared = Object.entries(manifest.contributes.configuration.properties).map(([name, { default: standard }]) => [name.replace("servelint.", ""), standard]);
    assert.deepEqual(Object.fromEntries(declared), DEFAULTS);
  });

  it("lets no workspace that is not trusted say what runs", () => {
    assert.deepEqual(manifest.capabilities.untrustedWorkspaces.restrictedConfigurations.toSorted(), OF_THE_PROGRAM.map((name) => `servelint.${name}`).toSorted());
  });

  it("wakes the extension for the languages that it serves", () => {
    assert.deepEqual(manifest.activationEvents, LANGUAGES.map((language) => `onLanguage:${language}`));
    assert.deepEqual(SELECTOR.filter((one) => "language" in one && one.scheme === "file").map((one) => "language" in one && one.language), LANGUAGES);
  });

  it("has servelint's version", () => {
    const [, version] = /^__version__ = "(.*)"$/m.exec(readFileSync(path.join(root, "..", "..", "src", "servelint", "__init__.py"), "utf8")) ?? [];
    assert.equal(manifest.version, version);
  });
});

describe("the settings", () => {
  it("are those of the section, else the defaults", () => {
    const section: Record<string, unknown> = { gpu: "h200", profile: "strict" };
    assert.deepEqual(read(<T>(name: string) => section[name] as T), settings({ gpu: "h200", profile: "strict" }));
  });

  it("go to the server without those that say how it is started", () => {
    const options = initializationOptions(settings({ path: "/opt/servelint", engineVersions: { vllm: "0.27.1" }, gpuCount: 8, codeLens: false }));
    assert.deepEqual(options, {
      engineVersions: { vllm: "0.27.1" },
      gpu: "",
      gpuCount: 8,
      profile: null,
      select: [],
      ignore: [],
      severity: null,
      inlayHints: true,
      codeLens: false,
      unresolvedWords: true,
    });
  });

  it("are options of the commands", () => {
    const said = settings({ engineVersions: { vllm: "0.27.1", sglang: "0.5.9" }, gpu: "h200", gpuCount: 8 });
    const releases = ["--engine-version", "vllm=0.27.1", "--engine-version", "sglang=0.5.9"];
    assert.deepEqual(commandOptions(said, { gpu: false }), releases);
    assert.deepEqual(commandOptions(said, { gpu: true }), [...releases, "--gpu", "h200", "--gpu-count", "8"]);
    assert.deepEqual(commandOptions(DEFAULTS, { gpu: true }), []);
  });
});

describe("a path in the settings", () => {
  it("may start at home or at the workspace", () => {
    assert.equal(resolved("~/bin/servelint", "/work"), path.join(homedir(), "bin", "servelint"));
    assert.equal(resolved("${workspaceFolder}/.venv/bin/servelint", "/work"), "/work/.venv/bin/servelint");
    assert.equal(resolved(".venv/bin/servelint", "/work"), "/work/.venv/bin/servelint");
  });

  it("may be a name for PATH, or nothing", () => {
    assert.equal(resolved("servelint-nightly", "/work"), "servelint-nightly");
    assert.equal(resolved("", "/work"), "");
    assert.equal(resolved("~other/servelint", undefined), "~other/servelint");
  });
});
