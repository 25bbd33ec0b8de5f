/** The command line of the backfill and its help text. */
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { BackfillFailure, EXIT, reasonOf } from './failure.ts';
import type { Format } from './files/input-file.ts';
import { type Mapping, MappingProblem, mappingOfArguments, mappingOfFile } from './rows/mapping.ts';

export interface BackfillOptions {
  /** A file, a folder, or an address of an S3-compatible store. */
  readonly source: string;
  /** Null: each file says by its content or name. */
  readonly format: Format | null;
  readonly mapping: Mapping | { readonly file: string } | null;
  /** Null: a comma, or a tab in .tsv. */
  readonly delimiter: string | null;
  /** Where lines that are no valid events go; null: the first of them ends the run. */
  readonly reportFile: string | null;
  /** Begin at the first line, whatever an earlier run has done. */
  readonly restart: boolean;
}

export const HELP = `Usage: npm run backfill -- SOURCE [options]

Loads usage events of any age from SOURCE: a file, a folder, or s3://bucket/prefix. Files are JSON Lines or
CSV, plain or gzip, or Parquet. An event whose transaction_id is stored already is left out, so running the
same again is safe, and goes on where the last run ended. With the embedded stores the service must be
stopped; with CLICKHOUSE_URL it may go on running.

A line of JSON is an event as POST /v1/ingest takes it, unless a mapping is given. Columns of tables that are
called transaction_id, customer_id, event_type and timestamp are those; the others are properties.

Options:
  --map FIELD=COLUMN,…   which column is transaction_id, customer_id, event_type, timestamp
  --event-type X         the event type of all rows
  --properties A,B       which columns are properties; without it all that nothing else takes
  --timestamps FORM      how times are written: rfc3339 (with an offset), utc (without one, in UTC),
                         s, ms, us or ns (a number since 1970)
  --mapping FILE         all of that as JSON, and more: docs/backfill.md
  --format FORMAT        json, csv or parquet, where the names of files do not say it
  --delimiter X          between the cells of CSV: one character, or tab; comma by default, tab for .tsv
  --skip-invalid REPORT  write lines that are no valid events to REPORT (JSON Lines) and go on;
                         without it the first of them ends the run
  --restart              begin at the first line instead of where the last run ended
  --help                 show this text

Examples:
  npm run backfill -- events.jsonl.gz
  npm run backfill -- calls.csv --map transaction_id=id,customer_id=org,timestamp=at --event-type call
  npm run backfill -- s3://exports/usage/ --mapping usage.json --skip-invalid invalid.jsonl

s3:// needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and takes AWS_SESSION_TOKEN, AWS_REGION and
AWS_ENDPOINT_URL (any S3-compatible store).

Exit code: 0 everything is stored, 1 it could not go on (run it again), 2 wrong call or configuration,
3 ended at an invalid line, 4 everything but the lines in REPORT is stored, 130 interrupted.
`;

const FORMATS: readonly Format[] = ['json', 'csv', 'parquet'];

/** Reads the arguments after the script's name. Throws `BackfillFailure` naming a wrong one. */
export function parseOptions(args: readonly string[]): BackfillOptions | 'help' {
  const { values, positionals } = parse(args);
  if (values.help === true) return 'help';
  const [source] = positionals;
  if (source === undefined || positionals.length > 1) {
    throw usage(source === undefined ? 'SOURCE is missing' : 'there can be one SOURCE only');
  }
  const reportFile = values['skip-invalid'] ?? null;
  if (reportFile === '') throw usage('--skip-invalid needs the name of a file');
  const format = FORMATS.find((each) => each === values.format) ?? null;
  if (values.format !== undefined && format === null)
    throw usage(`--format must be one of ${FORMATS.join(', ')}`);
  return {
    source,
    format,
    mapping: mappingOf(values),
    delimiter: delimiterOf(values.delimiter),
    reportFile,
    restart: values.restart === true,
  };
}

/** The mapping that is meant, read from its file. Throws `BackfillFailure`. */
export async function readMapping({ mapping }: BackfillOptions): Promise<Mapping | null> {
  if (mapping === null || !('file' in mapping)) return mapping;
  const text = await readFile(mapping.file, 'utf8').catch((error: unknown) => {
    throw new BackfillFailure(`cannot read ${mapping.file}: ${reasonOf(error)}`, EXIT.usage);
  });
  try {
    return mappingOfFile(text);
  } catch (error) {
    throw error instanceof MappingProblem
      ? new BackfillFailure(`${mapping.file}: ${error.message}`, EXIT.usage)
      : error;
  }
}

type Values = ReturnType<typeof parse>['values'];

function mappingOf(values: Values): BackfillOptions['mapping'] {
  const given = {
    map: values.map,
    eventType: values['event-type'],
    properties: values.properties,
    timestamps: values.timestamps,
  };
  try {
    const mapping = mappingOfArguments(given);
    if (values.mapping === undefined) return mapping;
    if (mapping !== null) throw new MappingProblem('--mapping says all of it: leave --map and its like out');
    return { file: values.mapping };
  } catch (error) {
    throw error instanceof MappingProblem ? usage(error.message) : error;
  }
}

function delimiterOf(given: string | undefined): string | null {
  if (given === undefined) return null;
  const delimiter = given === 'tab' ? '\t' : given;
  if (!/^[\t -~]$/.test(delimiter) || delimiter === '"')
    throw usage('--delimiter must be one character, or tab');
  return delimiter;
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        map: { type: 'string' },
        mapping: { type: 'string' },
        'event-type': { type: 'string' },
        properties: { type: 'string' },
        timestamps: { type: 'string' },
        format: { type: 'string' },
        delimiter: { type: 'string' },
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
