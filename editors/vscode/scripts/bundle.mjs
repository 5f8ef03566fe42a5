// Puts a server into bundled/, for packages that bring one: node scripts/bundle.mjs linux-x64
//
// Some of servelint's dependencies are compiled, each for one platform and one release of Python. Their wheels for all the
// releases go into one folder: the compiled files have the release in their names, the others are the same in each.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const root = path.dirname(import.meta.dirname);
// not 3.10: pip takes the conditions of dependencies ("python_version < 3.11") for those of the Python that it runs under
const PYTHONS = ["3.11", "3.12", "3.13"];
// the names of VS Code, and the platform tags of wheels that such a machine takes
const TARGETS = {
  "linux-x64": ["manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64"],
  "linux-arm64": ["manylinux_2_28_aarch64", "manylinux_2_17_aarch64", "manylinux2014_aarch64"],
  "alpine-x64": ["musllinux_1_2_x86_64", "musllinux_1_1_x86_64"],
  "darwin-x64": ["macosx_11_0_x86_64", "macosx_10_13_x86_64", "macosx_10_12_x86_64", "macosx_10_9_x86_64"],
  "darwin-arm64": ["macosx_11_0_arm64"],
  "win32-x64": ["win_amd64"],
};
const START = `"""Runs the servelint that lies beside this file: python servelint.py lsp"""

import os
import sys

if "%d.%d" % sys.version_info[:2] not in ${JSON.stringify(PYTHONS)}:
    sys.exit("the bundled servelint runs under Python ${PYTHONS[0]} to ${PYTHONS.at(-1)}, this one is %d.%d" % sys.version_info[:2])

sys.path[0] = os.path.join(os.path.dirname(os.path.abspath(__file__)), "libs")

from servelint.cli import main

sys.exit(main())
`;

function run(command, ...args) {
  const { status, error, stdout } = spawnSync(command, args, { stdio: ["ignore", "pipe", "inherit"], encoding: "utf8" });
  if (status !== 0) {
    throw new Error(`${command} ${args.join(" ")}: ${error?.message ?? `status ${status}`}`);
  }
  return stdout;
}

const target = process.argv[2];
const tags = TARGETS[target];
if (tags === undefined) {
  console.error(`bundle.mjs: name one of ${Object.keys(TARGETS).join(", ")}`);
  process.exit(2);
}

const python = process.env.PYTHON ?? "python3";
const bundled = path.join(root, "bundled");
const work = mkdtempSync(path.join(tmpdir(), "servelint-bundle-"));
try {
  run(python, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", work, path.join(root, "..", ".."));
  const [wheel] = readdirSync(work);
  rmSync(bundled, { recursive: true, force: true });
  mkdirSync(bundled);
  const same = path.join(work, "constraints.txt");
  writeFileSync(same, "");
  for (const version of PYTHONS) {
    const folder = path.join(work, version);
    const platforms = tags.flatMap((tag) => ["--platform", tag]);
    const options = ["--only-binary=:all:", "--no-compile", "--python-version", version, "--implementation", "cp", ...platforms];
    run(python, "-m", "pip", "install", "--quiet", "--target", folder, "--constraint", same, ...options, `${path.join(work, wheel)}[lsp]`);
    // what is the same in each must be of one version
    writeFileSync(same, run(python, "-m", "pip", "list", "--path", folder, "--format", "freeze"));
    rmSync(path.join(folder, "bin"), { recursive: true, force: true });
    cpSync(folder, path.join(bundled, "libs"), { recursive: true });
  }
  writeFileSync(path.join(bundled, "servelint.py"), START);
  writeFileSync(path.join(bundled, "TARGET"), `${target}\n`);
} finally {
  rmSync(work, { recursive: true, force: true });
}
