// Packages the extension: out/servelint-VERSION.vsix, or with --target linux-x64 (what scripts/bundle.mjs has bundled for)
// out/servelint-VERSION-linux-x64.vsix.
import { copyFileSync, existsSync, readFileSync } from "node:fs";
import path from "node:path";

import { createVSIX } from "@vscode/vsce";

const root = path.dirname(import.meta.dirname);
const { version } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
const at = process.argv.indexOf("--target");
const target = at === -1 ? undefined : process.argv[at + 1];

const bundled = path.join(root, "bundled", "TARGET");
const bundledFor = existsSync(bundled) ? readFileSync(bundled, "utf8").trim() : undefined;
if (bundledFor !== target) {
  // a package for every platform must not carry the compiled parts of one
  const what = bundledFor === undefined ? `nothing is bundled; run scripts/bundle.mjs ${target}` : `bundled/ is for ${bundledFor}; name it as --target, or delete it`;
  console.error(`package.mjs: ${what}`);
  process.exit(2);
}

copyFileSync(path.join(root, "..", "..", "LICENSE"), path.join(root, "LICENSE"));
await import("./build.mjs");
const packagePath = path.join(root, "out", `servelint-${version}${target === undefined ? "" : `-${target}`}.vsix`);
await createVSIX({ cwd: root, packagePath, ...(target === undefined ? {} : { target }), dependencies: false, skipLicense: false });
