import * as vscode from "vscode";
import { LanguageClient, type LanguageClientOptions, type ServerOptions, TransportKind } from "vscode-languageclient/node";

import * as commands from "./commands";
import { find, isMissing, type Missing, type Server } from "./find";
import { Pages } from "./pages";
import { onPath, type Outcome, run } from "./run";
import { SELECTOR } from "./selector";
import * as settings from "./settings";

let extension: Extension | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  extension = new Extension(context);
  await extension.begin();
}

export async function deactivate(): Promise<void> {
  await extension?.stop();
}

class Extension {
  private readonly log = vscode.window.createOutputChannel("servelint", { log: true });
  private readonly pages = new Pages();
  private client: LanguageClient | undefined;
  private server: Server | undefined;
  private looked = false;
  /** starts, stops and restarts come one after another */
  private last: Promise<void> = Promise.resolve();

  constructor(private readonly context: vscode.ExtensionContext) {}

  async begin(): Promise<void> {
    const asked: commands.Context = {
      pages: this.pages,
      settings: this.settings,
      folder,
      run: (args, input) => this.run(args, input),
    };
    this.context.subscriptions.push(
      this.log,
      this.pages,
      vscode.workspace.registerTextDocumentContentProvider(Pages.scheme, this.pages),
      vscode.commands.registerCommand("servelint.showLaunches", () => commands.showLaunches(asked)),
      vscode.commands.registerCommand("servelint.memoryPlan", () => commands.memoryPlan(asked)),
      vscode.commands.registerCommand("servelint.explain", (...topic: unknown[]) => commands.explain(asked, ...topic)),
      vscode.commands.registerCommand("servelint.restart", () => this.restart()),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.restart()),
      vscode.workspace.onDidChangeConfiguration(async (change) => {
        if (settings.OF_THE_PROGRAM.some((name) => change.affectsConfiguration(`servelint.${name}`))) {
          await this.restart();
        }
      }),
    );
    // the server starts with the first document that is its own; where none was found, no other document asks again
    this.context.subscriptions.push(
      vscode.workspace.onDidOpenTextDocument(async (document) => {
        if (!this.looked && isOurs(document)) {
          await this.start();
        }
      }),
    );
    if (vscode.workspace.textDocuments.some(isOurs)) {
      await this.start();
    }
  }

  stop(): Promise<void> {
    return this.afterwards(() => this.end());
  }

  private start(): Promise<void> {
    return this.afterwards(async () => {
      if (this.client === undefined) {
        await this.launch();
      }
    });
  }

  private restart(): Promise<void> {
    return this.afterwards(async () => {
      await this.end();
      await this.launch();
    });
  }

  private afterwards(what: () => Promise<void>): Promise<void> {
    this.last = this.last.then(what, what);
    return this.last;
  }

  private async end(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    this.server = undefined;
    await client?.dispose();
  }

  private readonly settings = (uri?: vscode.Uri): settings.Settings => {
    const section = vscode.workspace.getConfiguration("servelint", uri);
    const found = settings.read((name) => section.get(name));
    const at = folder();
    return { ...found, path: settings.resolved(found.path, at), interpreter: settings.resolved(found.interpreter, at) };
  };

  private async launch(): Promise<void> {
    this.looked = true;
    const chosen = this.settings();
    const found = await find(chosen, { selectedPython, extension: this.context.extensionPath, onPath, run });
    if (isMissing(found)) {
      await this.tell(found);
      return;
    }
    this.server = found;
    this.log.info(`servelint ${found.version}, ${found.from}: ${[found.command, ...found.args].join(" ")}`);
    const cwd = folder();
    const options: ServerOptions = {
      command: found.command,
      args: [...found.args, "lsp", ...chosen.args],
      transport: TransportKind.stdio,
      options: cwd === undefined ? {} : { cwd },
    };
    const clientOptions: LanguageClientOptions = {
      documentSelector: SELECTOR,
      initializationOptions: settings.initializationOptions(chosen),
      synchronize: { configurationSection: "servelint" },
      outputChannel: this.log,
      diagnosticCollectionName: "servelint",
      middleware: {
        // the server's lenses are words only; here they lead to the whole plan
        provideCodeLenses: async (document, token, next) => (await next(document, token))?.map(leading),
      },
    };
    this.client = new LanguageClient("servelint", "servelint", options, clientOptions);
    try {
      await this.client.start();
    } catch (error) {
      this.log.error(`the server did not start: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  private async run(args: string[], input?: string): Promise<Outcome | undefined> {
    await this.start();
    if (this.server === undefined) {
      return undefined;
    }
    const cwd = folder();
    return run(this.server, args, { ...(cwd === undefined ? {} : { cwd }), ...(input === undefined ? {} : { input }) });
  }

  private async tell(missing: Missing): Promise<void> {
    this.log.error(["no servelint was found that can be a language server", ...missing.tried].join("\n  "));
    void vscode.window
      .showErrorMessage(
        "No servelint was found that can be a language server: pip install 'servelint[lsp]' into the selected Python environment, or set servelint.path.",
        "Open settings",
        "Show log",
      )
      .then(async (choice) => {
        if (choice === "Open settings") {
          await vscode.commands.executeCommand("workbench.action.openSettings", "servelint.path");
        } else if (choice === "Show log") {
          this.log.show();
        }
      });
  }
}

function leading(lens: vscode.CodeLens): vscode.CodeLens {
  if (lens.command?.command === "") {
    lens.command.command = "servelint.memoryPlan";
    lens.command.tooltip = "the memory plan";
  }
  return lens;
}

function isOurs(document: vscode.TextDocument): boolean {
  return vscode.languages.match(SELECTOR, document) > 0;
}

function folder(): string | undefined {
  return vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
}

/** What is read here of the interface of the extension ms-python.python. */
interface PythonExtension {
  environments?: { getActiveEnvironmentPath?: (resource?: vscode.Uri) => { path: string } };
}

/** The interpreter that the Python extension has selected. A workspace that is not trusted has no say in what is run. */
async function selectedPython(): Promise<string | undefined> {
  const python = vscode.extensions.getExtension<PythonExtension>("ms-python.python");
  if (python === undefined || !vscode.workspace.isTrusted) {
    return undefined;
  }
  try {
    const environments = (await python.activate()).environments;
    return environments?.getActiveEnvironmentPath?.(vscode.workspace.workspaceFolders?.[0]?.uri).path;
  } catch {
    return undefined; // it could not be activated, which it says itself
  }
}
