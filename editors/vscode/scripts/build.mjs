// Bundles the extension into out/extension.js, or with --tests the tests into out/test.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

import { build } from "esbuild";

const root = path.dirname(import.meta.dirname);
const common = { absWorkingDir: root, bundle: true, platform: "node", target: "node20", logLevel: "warning" };

/** The licences of the packages that are bundled, which ask to go where their code goes. */
function notices(inputs) {
  const packages = new Set(Object.keys(inputs).flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []));
  const texts = [...packages].toSorted().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(path.join(root, folder, "package.json"), "utf8"));
    const file = readdirSync(path.join(root, folder)).find((one) => /^licen[cs]e/i.test(one));
    if (file === undefined) {
      throw new Error(`${name} has no licence file`);
    }
    return `${name} ${version} (${license})\n\n${readFileSync(path.join(root, folder, file), "utf8").trim()}\n`;
  });
  return texts.join(`\n${"-".repeat(80)}\n\n`);
}

if (process.argv.includes("--tests")) {
  rmSync(path.join(root, "out", "test"), { recursive: true, force: true });
  await build({
    ...common,
    format: "esm",
    entryPoints: readdirSync(path.join(root, "test"))
      .filter((name) => name.endsWith(".test.ts"))
      .map((name) => path.join("test", name)),
    outdir: "out/test",
    outExtension: { ".js": ".mjs" },
    // what is bundled may be CommonJS, and requires node's own modules
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    // the editor is not there; what the tested code asks of it is in test/vscode.ts
    alias: { vscode: path.join(root, "test", "vscode.ts") },
    sourcemap: "inline",
  });
} else {
  const { metafile } = await build({
    ...common,
    format: "cjs",
    entryPoints: ["src/extension.ts"],
    outfile: "out/extension.js",
    external: ["vscode"],
    minify: true,
    metafile: true,
  });
  writeFileSync(path.join(root, "out", "NOTICES.txt"), notices(metafile.inputs));
}
