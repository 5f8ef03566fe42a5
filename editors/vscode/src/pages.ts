import * as vscode from "vscode";

/** Read-only documents with what a command printed; one for each path, which a later run fills anew. */
export class Pages implements vscode.TextDocumentContentProvider, vscode.Disposable {
  static readonly scheme = "servelint";

  private readonly texts = new Map<string, string>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;

  provideTextDocumentContent(uri: vscode.Uri): string {
    // a page of the last session: VS Code opens the tab again
    return this.texts.get(uri.path) ?? "this page was not kept; run the command again\n";
  }

  /** path: its last part is the title of the tab */
  async show(path: string, text: string): Promise<void> {
    const uri = vscode.Uri.from({ scheme: Pages.scheme, path });
    this.texts.set(uri.path, text);
    this.changed.fire(uri);
    // a language of their own, for which package.json has lines wrapped
    const document = await vscode.languages.setTextDocumentLanguage(await vscode.workspace.openTextDocument(uri), "servelint-page");
    await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true, preview: true });
  }

  dispose(): void {
    this.changed.dispose();
  }
}
