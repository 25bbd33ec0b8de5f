/** The command line of `tallyhouse sql` (docs/reference/sql.md). */
import { type CommandUnknownOpts, InvalidArgumentError } from '@commander-js/extra-typings';
import { outputFile, type SqlOptions } from '../commands/sql/options.ts';
import { WrongCall } from '../failures/command-failure.ts';
import type { Run } from './run.ts';
import { FINDING, serviceArguments, TOKEN_OPTION, URL_OPTION } from './service-options.ts';
import { described } from './subcommand.ts';
import { httpUrl } from './values.ts';

export function defineSql(program: CommandUnknownOpts, run: Run<SqlOptions>): void {
  described(program.command('sql'), {
    summary: 'ask one query over the usage and invoices of all customers',
    description: `Asks the running service one query over the usage and invoices of all customers, and prints a table. The views and the language are in docs/reference/sql.md. ${FINDING}`,
    examples: [
      ['tallyhouse sql "SELECT name, created_at FROM customers ORDER BY name"', 'a table'],
      ['tallyhouse sql "SELECT invoice_id, total FROM invoices" --output invoices.parquet', 'a file'],
      ['tallyhouse sql "SELECT count(*) AS n FROM customers" --json', 'the answer as JSON'],
    ],
    exitCodes: '0 answered, 1 refused by the service or not answered, 2 wrong call',
  })
    .argument('<query>', 'one argument, in quotes')
    .option('--output <file>', 'writes a file instead: .csv, .json or .parquet', fileOf)
    .option(...URL_OPTION, httpUrl)
    .option(...TOKEN_OPTION)
    .option('--json', 'the answer of the service as it is, instead of a table')
    .action((sql, { output, json = false, ...given }) => {
      if (json && output !== undefined) throw new WrongCall('--json and --output exclude each other');
      return run({ sql, output: output ?? null, json, ...serviceArguments(given) });
    });
}

function fileOf(path: string) {
  const file = outputFile(path);
  if (file !== null) return file;
  throw new InvalidArgumentError('It must end in .csv, .json or .parquet.');
}
