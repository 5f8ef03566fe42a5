// Compiles the Python of the playground with Pyodide's own Python, so that a browser does not have to: pack.mjs IN OUT LIBRARY_OUT
import { loadPyodide } from "pyodide";
import { readFileSync, writeFileSync } from "node:fs";

const [, , given, out, libraryOut] = process.argv;
const python = await loadPyodide();

const pack = (bytes) => {
  python.unpackArchive(new Uint8Array(bytes), "zip", { extractDir: "/tmp/whole" });
  python.runPython(`
import compileall, os, py_compile, shutil, zipfile

unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
compileall.compile_dir("/tmp/whole", legacy=True, quiet=2, optimize=2, invalidation_mode=unchecked)
with zipfile.ZipFile("/tmp/packed.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
    for folder, _, names in sorted(os.walk("/tmp/whole")):
        for name in sorted(names):
            path = os.path.join(folder, name)
            if not os.path.exists(path + "c"):
                packed.write(path, os.path.relpath(path, "/tmp/whole"))
shutil.rmtree("/tmp/whole")
`);
  return python.FS.readFile("/tmp/packed.zip");
};

writeFileSync(out, pack(readFileSync(given)));
writeFileSync(libraryOut, pack(readFileSync(new URL("node_modules/pyodide/python_stdlib.zip", import.meta.url))));
