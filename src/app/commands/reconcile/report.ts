/** The report of a reconciliation: lines for people as they are found, or one JSON document at the end. */
import type { Terminal } from '../terminal/terminal.ts';

export interface Report {
  /** The terminal for progress. */
  readonly progress: Terminal;
  /** Lines for people, which a document omits. */
  lines(lines: readonly string[]): void;
  /** An item for a list of the document. */
  add(list: ReportList, one: object): void;
  /** Members of the document. */
  set(members: Readonly<Record<string, unknown>>): void;
  /** Writes the document. */
  end(): void;
}

type ReportList = 'differences' | 'unchecked' | 'provider_sums' | 'provider_differences';

/** The maximum of each list. Further items are only counted. */
const LISTED_MAX = 10_000;

interface ReportOptions {
  readonly json: boolean;
  readonly terminal: Terminal;
  readonly progress: Terminal;
}

export function createReport({ json, terminal, progress }: ReportOptions): Report {
  let members: Readonly<Record<string, unknown>> = {};
  const lists: Record<ReportList, object[]> = {
    differences: [],
    unchecked: [],
    provider_sums: [],
    provider_differences: [],
  };
  return {
    progress,
    lines(lines) {
      if (!json) for (const line of lines) terminal.line(line);
    },
    add(list, one) {
      if (json && lists[list].length < LISTED_MAX) lists[list].push(one);
    },
    set(more) {
      members = { ...members, ...more };
    },
    end() {
      if (json) terminal.line(JSON.stringify({ ...members, ...lists }, null, 2));
    },
  };
}
