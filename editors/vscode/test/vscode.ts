// What the tested modules ask of the editor, as far as they ask.

export interface Shown {
  path: string;
  text: string;
}

interface Provider {
  provideTextDocumentContent: (uri: Uri) => string;
}

interface Line {
  text: string;
}

export interface Document {
  uri: Uri;
  fileName: string;
  getText: () => string;
  lineAt: (line: number) => Line;
}

export class Uri {
  private constructor(
    readonly scheme: string,
    readonly path: string,
  ) {}

  static from({ scheme, path }: { scheme: string; path: string }): Uri {
    return new Uri(scheme, path);
  }
}

export class EventEmitter<T> {
  private readonly listeners: ((event: T) => void)[] = [];
  readonly event = (listener: (event: T) => void): void => {
    this.listeners.push(listener);
  };

  fire(event: T): void {
    this.listeners.forEach((listener) => listener(event));
  }

  dispose(): void {
    this.listeners.length = 0;
  }
}

export const ViewColumn = { Beside: -2 };

/** What the test sets, and what it reads afterwards. */
export const editor = {
  provider: undefined as Provider | undefined,
  shown: [] as Shown[],
  told: [] as string[],
  offered: [] as string[][],
  /** the answer to a quick pick: the item with this index */
  picks: undefined as number | undefined,
  diagnostics: [] as unknown[],
  reset(): void {
    Object.assign(editor, { shown: [], told: [], offered: [], picks: undefined, diagnostics: [] });
    window.activeTextEditor = undefined;
  },
};

export const workspace = {
  async openTextDocument(uri: Uri): Promise<{ uri: Uri }> {
    return { uri };
  },
};

export const window = {
  activeTextEditor: undefined as { document: Document; selection: { active: { line: number; character: number } } } | undefined,
  async showTextDocument({ uri }: { uri: Uri }): Promise<void> {
    editor.shown.push({ path: uri.path, text: editor.provider?.provideTextDocumentContent(uri) ?? "" });
  },
  async showInformationMessage(message: string): Promise<void> {
    editor.told.push(message);
  },
  async showQuickPick<T extends string | { label: string }>(items: T[]): Promise<T | undefined> {
    editor.offered.push(items.map((item) => (typeof item === "string" ? item : item.label)));
    return editor.picks === undefined ? undefined : items[editor.picks];
  },
};

export const languages = {
  getDiagnostics: (): unknown[] => editor.diagnostics,
  setTextDocumentLanguage: async <T>(document: T): Promise<T> => document,
};
