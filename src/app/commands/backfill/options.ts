/** The command line of the backfill and its help text. */
import { parseArgs } from 'node:util';
import { BackfillFailure, EXIT, reasonOf } from './failure.ts';

export interface BackfillOptions {
  readonly file: string;
  /** Where lines that are no valid events go; null: the first of them ends the run. */
  readonly reportFile: string | null;
  /** Begin at the first line, whatever an earlier run has done. */
  readonly restart: boolean;
}

export const HELP = `Usage: npm run backfill -- FILE [options]

Loads usage events of any age: one JSON event a line, plain or gzip. An event whose transaction_id is
stored already is left out, so running the same file again is safe, and goes on where the last run ended.
With the embedded stores the service must be stopped; with CLICKHOUSE_URL it may go on running.

Options:
  --skip-invalid REPORT  write lines that are no valid events to REPORT (NDJSON) and go on;
                         without it the first of them ends the run
  --restart              begin at the first line instead of where the last run ended
  --help                 show this text

Exit code: 0 everything is stored, 1 it could not go on (run it again), 2 wrong call or configuration,
3 ended at an invalid line, 4 everything but the lines in REPORT is stored, 130 interrupted.
`;

/** Reads the arguments after the script's name. Throws `BackfillFailure` naming a wrong one. */
export function parseOptions(args: readonly string[]): BackfillOptions | 'help' {
  const { values, positionals } = parse(args);
  if (values.help === true) return 'help';
  const [file] = positionals;
  if (file === undefined || positionals.length > 1) {
    throw usage(file === undefined ? 'FILE is missing' : 'there can be one FILE only');
  }
  const reportFile = values['skip-invalid'] ?? null;
  if (reportFile === '') throw usage('--skip-invalid needs the name of a file');
  return { file, reportFile, restart: values.restart === true };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        'skip-invalid': { type: 'string' },
        restart: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
      allowPositionals: true,
    });
  } catch (error) {
    throw usage(reasonOf(error));
  }
}

function usage(problem: string): BackfillFailure {
  return new BackfillFailure(`${problem}\nSee: npm run backfill -- --help`, EXIT.usage);
}
