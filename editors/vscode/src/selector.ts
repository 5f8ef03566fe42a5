/** The languages whose documents may launch a server; the byte test of the server itself drops the rest unparsed. */
export const LANGUAGES = [
  "bat",
  "dockercompose",
  "dockerfile",
  "dotenv",
  "fish",
  "hcl",
  "helm",
  "ini",
  "jenkinsfile",
  "json",
  "jsonc",
  "just",
  "makefile",
  "markdown",
  "nix",
  "plaintext",
  "powershell",
  "properties",
  "restructuredtext",
  "shellscript",
  "terraform",
  "yaml",
];

/** Files whose language VS Code may not know: .env, systemd and Quadlet units, Procfile, templates. */
const NAMES = "**/{*-Modelfile,*[._-]Containerfile,*[._-]Containerfile[._-]*,*[._-]Dockerfile,*[._-]Dockerfile[._-]*,*_Modelfile,*.apptainer,apptainer,*.bash,*.bat,*.cmd,*.command,*.conf,*.container,Containerfile,Containerfile[._-]*,*.cron,*.crontab,crontab,*.def,Dockerfile,Dockerfile[._-]*,*.env,*.env.*,*.fish,fly.*.toml,*.fly.toml,fly.toml,GNUMakefile,GNUMakefile.*,*.hcl,*.ini,*.ipynb,*.jenkins,*.Jenkinsfile,Jenkinsfile,Jenkinsfile.*,*.job,*.just,*.justfile,.justfile,justfile,*.ksh,*.lsf,*.mak,Makefile,Makefile.*,*.markdown,*.md,*.mdx,*.mk,*.modelfile,Modelfile,Modelfile-*,Modelfile.*,Modelfile_*,*.nix,*.nomad,override.conf,*.pbs,*.plist,Procfile,Procfile.*,*.ps1,*.py,*.qsub,*.rst,*.sbatch,*.service,serving.properties,*.sh,*.singularity,singularity,singularity.*,*.slurm,*.tf,*.tiltfile,Tiltfile,*.zsh,*.j2,*.jinja,*.jinja2,*.tmpl,*.tpl,*.tftpl,*.gotmpl}";

export const SELECTOR = [
  ...["file", "untitled"].flatMap((scheme) => LANGUAGES.map((language) => ({ scheme, language }))),
  { scheme: "file", pattern: NAMES },
];
