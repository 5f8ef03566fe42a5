/** A launch as `servelint launches --format json` tells it, as far as it is read here. */
export interface Launch {
  /** 1-based, both included */
  line: number;
  end_line: number;
  engine: string;
}

/** Something that `servelint explain` has a page of: a rule's id, or an engine and a name of it. */
export type Topic = string[];

const NAME = /--[A-Za-z][\w.-]*|\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/g;

/** The option or environment variable that stands at a column (0-based) of a line. */
export function nameAt(line: string, column: number): string | undefined {
  for (const match of line.matchAll(NAME)) {
    if (match.index <= column && column <= match.index + match[0].length) {
      return match[0];
    }
  }
  return undefined;
}

/** The engines of the launches that a line (0-based) is in; where it is in none, those of all. */
export function enginesAt(launches: Launch[], line: number): string[] {
  const here = launches.filter((launch) => launch.line <= line + 1 && line + 1 <= launch.end_line);
  return [...new Set((here.length > 0 ? here : launches).map((launch) => launch.engine))];
}

/** What can be explained at a place: the rules that speak there first, then the name that stands there. */
export function topicsAt(rules: string[], name: string | undefined, engines: string[]): Topic[] {
  const ids = [...new Set(rules)].map((rule) => [rule]);
  return name === undefined ? ids : [...ids, ...engines.map((engine) => [engine, name])];
}
