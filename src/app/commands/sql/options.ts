/** The command line of a query and its help text. */
import { extname } from 'node:path';
import { parseArgs } from 'node:util';
import { PARQUET_TYPE } from '../../../api/http/answer-form.ts';
import { CommandFailure } from '../running-service.ts';

export interface SqlOptions {
  readonly sql: string;
  /** Null: a table on the terminal. */
  readonly output: OutputFile | null;
  /** Null: as the environment of the service says. */
  readonly url: string | null;
  readonly token: string | null;
}

export interface OutputFile {
  readonly path: string;
  readonly accept: string;
}

export const HELP = `Usage: npm run sql -- "SELECT …" [options]

Asks the running service one query over the usage and invoices of all customers, and prints a table.
The views and the language are in docs/sql.md. It finds the service and its token as the service does:
PORT, HOST, API_TOKEN or DATA_DIR.

Options:
  --output FILE     writes a file instead: .csv, .json or .parquet
  --url URL         where the service is
  --token TOKEN     a token of scope read
  --help            show this text

Exit code: 0 answered, 2 wrong call, or the query was refused.
`;

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.csv': 'text/csv',
  '.json': 'application/json',
  '.parquet': PARQUET_TYPE,
};

/** Reads the arguments after the script's name. Throws `CommandFailure` naming a wrong one. */
export function parseOptions(args: readonly string[]): SqlOptions | 'help' {
  const { values, positionals } = parsed(args);
  if (values.help === true) return 'help';
  const [sql, ...others] = positionals;
  if (sql === undefined) throw wrong('a query is missing');
  if (others.length > 0) throw wrong('the query must be one argument: put it in quotes');
  return {
    sql,
    output: values.output === undefined ? null : outputFile(values.output),
    url: values.url ?? null,
    token: values.token ?? null,
  };
}

function outputFile(path: string): OutputFile {
  const accept = MEDIA_TYPES[extname(path).toLowerCase()];
  if (accept === undefined) throw wrong('--output must end in .csv, .json or .parquet');
  return { path, accept };
}

function parsed(args: readonly string[]) {
  const text = { type: 'string' } as const;
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { output: text, url: text, token: text, help: { type: 'boolean', short: 'h' } },
    });
  } catch (error) {
    throw wrong(error instanceof Error ? error.message : String(error));
  }
}

function wrong(problem: string): CommandFailure {
  return new CommandFailure(`${problem}\nSee: npm run sql -- --help`);
}
