/** The command line of `tallyhouse backfill` (docs/how-to/backfill.md). */
import { type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { type BackfillOptions, backfillOptions } from '../commands/backfill/options.ts';
import type { Run } from './run.ts';
import { described } from './subcommand.ts';

const DESCRIPTION = `Loads usage events of any age from SOURCE: a file, a folder, or s3://bucket/prefix. Files are JSON Lines or CSV, plain or gzip, or Parquet. An event whose transaction_id is stored already is left out, so running the same again is safe, and continues where the last run ended. With the embedded stores the service must be stopped; with CLICKHOUSE_URL it may keep running.

A line of JSON is an event as POST /v1/ingest takes it, unless a mapping is given. Columns of tables that are called transaction_id, customer_id, event_type and timestamp are those; the others are properties.`;

const NOTES = `s3:// needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and takes AWS_SESSION_TOKEN, AWS_REGION and AWS_ENDPOINT_URL (any S3-compatible store).`;

export function defineBackfill(program: CommandUnknownOpts, run: Run<BackfillOptions>): void {
  described(program.command('backfill'), {
    summary: 'load usage events of any age from files or S3',
    description: DESCRIPTION,
    examples: [
      ['tallyhouse backfill events.jsonl.gz', 'events as POST /v1/ingest takes them'],
      [
        'tallyhouse backfill calls.csv --map transaction_id=id,customer_id=org,timestamp=at --event-type call',
        'a table of another system',
      ],
      [
        'tallyhouse backfill s3://exports/usage/ --mapping usage.json --skip-invalid invalid.jsonl',
        'all files below a prefix; what is no event is reported',
      ],
    ],
    notes: NOTES,
    exitCodes:
      '0 everything is stored, 1 it could not continue (run it again), 2 wrong call or configuration, 3 ended at an invalid line, 4 everything but the lines in REPORT is stored, 130 interrupted',
  })
    .argument('<source>', 'a file, a folder, or s3://bucket/prefix')
    .option('--map <field=column,…>', 'which column is transaction_id, customer_id, event_type, timestamp')
    .option('--event-type <type>', 'the event type of all rows')
    .option('--properties <a,b>', 'which columns are properties; without it all that nothing else takes')
    .option(
      '--timestamps <form>',
      'how times are written: rfc3339 (with an offset), utc (without one, in UTC), s, ms, us or ns (a number since 1970)',
    )
    .option('--mapping <file>', 'all of that as JSON, and more: docs/how-to/backfill.md')
    .addOption(
      new Option('--format <format>', 'where the names of files do not say it').choices([
        'json',
        'csv',
        'parquet',
      ] as const),
    )
    .option(
      '--delimiter <x>',
      'between the cells of CSV: one character, or tab; comma by default, tab for .tsv',
    )
    .option(
      '--skip-invalid <report>',
      'write lines that are no valid events to this file (JSON Lines) and continue; without it the first of them ends the run',
    )
    .option('--restart', 'begin at the first line instead of where the last run ended')
    .action((source, given) => run(backfillOptions(source, given)));
}
