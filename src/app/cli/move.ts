/** The command line of `tallyhouse move` (docs/how-to/move-to-servers.md). */
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { MoveOptions } from '../commands/move/options.ts';
import { WrongCall } from '../failures/command-failure.ts';
import type { Run } from './run.ts';
import { described } from './subcommand.ts';
import { textUpTo } from './values.ts';

const URL_LENGTH_MAX = 4_096;
const NAME_LENGTH_MAX = 100;

export function defineMove(program: CommandUnknownOpts, run: Run<MoveOptions>): void {
  described(program.command('move'), {
    summary: 'move the embedded stores to servers',
    description:
      'Moves both embedded stores in DATA_DIR to a PostgreSQL and a ClickHouse server, with the environment of the service, which may run meanwhile. Earlier events are copied while it works. Then it takes no changes and no events until the rest is copied and both sides are compared. From then on the stores here are not opened any more. A move that was interrupted is continued by the same call.',
    examples: [
      [
        'tallyhouse move --to-postgres postgresql://th@db/th --to-clickhouse http://th@ch:8123/th',
        'moves both stores',
      ],
      ['tallyhouse move --to-postgres env:NEW_DB --to-clickhouse env:NEW_CH', 'with URLs of the environment'],
      ['tallyhouse move --abort', 'forgets a move that has not ended; the stores here count as before'],
    ],
    notes:
      'The servers must be empty: nothing is overwritten. URLs have users and passwords as in DATABASE_URL and CLICKHOUSE_URL; neither is shown or stored. Others on the machine can read a command line: env:NAME takes a URL from the environment, or from .env. Create a backup before.',
    exitCodes: '0 moved, or forgotten, 1 refused or failed: the stores here count as before, 2 wrong call',
  })
    .option('--to-postgres <url>', 'DATABASE_URL of the service afterwards', textUpTo(URL_LENGTH_MAX))
    .option('--to-clickhouse <url>', 'CLICKHOUSE_URL of the service afterwards', textUpTo(URL_LENGTH_MAX))
    .option('--cluster <name>', 'CLICKHOUSE_CLUSTER of the service afterwards', textUpTo(NAME_LENGTH_MAX))
    .option('--no-reconcile', 'compare the rows alone, and compute no invoice again on the servers')
    .option('--abort', 'forget a move that has not ended')
    .option('--json', 'one JSON document instead of lines')
    .action((given) => run(optionsOf(given)));
}

interface Given {
  readonly toPostgres?: string | undefined;
  readonly toClickhouse?: string | undefined;
  readonly cluster?: string | undefined;
  readonly reconcile: boolean;
  readonly abort?: boolean | undefined;
  readonly json?: boolean | undefined;
}

function optionsOf({
  toPostgres,
  toClickhouse,
  cluster,
  reconcile,
  abort,
  json = false,
}: Given): MoveOptions {
  if (abort === true) {
    if (toPostgres !== undefined || toClickhouse !== undefined)
      throw new WrongCall('--abort takes no URLs: it forgets the move that DATA_DIR knows of');
    return { kind: 'abort' };
  }
  if (toPostgres === undefined || toClickhouse === undefined)
    throw new WrongCall('it needs --to-postgres and --to-clickhouse, or --abort');
  return {
    kind: 'move',
    postgres: toPostgres,
    clickhouse: toClickhouse,
    cluster: cluster ?? null,
    reconciles: reconcile,
    json,
  };
}
