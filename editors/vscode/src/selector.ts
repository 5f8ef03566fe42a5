/** The languages whose documents may launch a server; the byte test of the server itself drops the rest unparsed. */
export const LANGUAGES = [
  "bat",
  "dockercompose",
  "dockerfile",
  "dotenv",
  "helm",
  "ini",
  "json",
  "jsonc",
  "just",
  "makefile",
  "markdown",
  "plaintext",
  "properties",
  "shellscript",
  "yaml",
];

/** Files whose language VS Code may not know: .env, systemd and Quadlet units, Procfile, templates. */
const NAMES = "**/{.env,.env.*,*.env,*.service,*.container,Procfile,*.slurm,*.sbatch,*.j2,*.tpl,*.gotmpl}";

export const SELECTOR = [
  ...["file", "untitled"].flatMap((scheme) => LANGUAGES.map((language) => ({ scheme, language }))),
  { scheme: "file", pattern: NAMES },
];
