/** The command line of `tallyhouse reconcile` (docs/how-to/reconciliation.md). */
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { type ReconcileOptions, rangeOf } from '../commands/reconcile/options.ts';
import type { Run } from './run.ts';
import { FINDING, serviceArguments, TOKEN_OPTION, URL_OPTION } from './service-options.ts';
import { described } from './subcommand.ts';
import { dayOrInstant, httpUrl } from './values.ts';

export function defineReconcile(
  program: CommandUnknownOpts,
  run: Run<ReconcileOptions>,
  now: () => number,
): void {
  described(program.command('reconcile'), {
    summary: 'compare usage, breakdowns, invoices and what providers have',
    description: `Asks the running service to compare usage, breakdowns, invoices and schedules, and what was billed with what billing providers have, by month, status and amount. Prints what is not equal, a line each. Nothing is changed. ${FINDING}`,
    examples: [
      ['tallyhouse reconcile', 'the last month and this one'],
      ['tallyhouse reconcile --from 2026-11-01 --to 2026-12-01', 'one month'],
      ['tallyhouse reconcile --json', 'one JSON document for programs'],
    ],
    notes: 'Usage that arrived after its invoice was issued is counted in the summary, and is no difference.',
    exitCodes:
      '0 everything agrees, 1 differences were found or the service could not be asked, 2 wrong call',
  })
    .option('--from <date>', 'first day of the range; the start of the last month by default', dayOrInstant)
    .option('--to <date>', 'its end, exclusive; now by default', dayOrInstant)
    .option('--customer <id>', 'one customer instead of all')
    .option(...URL_OPTION, httpUrl)
    .option(...TOKEN_OPTION)
    .option('--json', 'one JSON document instead of lines')
    .action(({ from, to, customer, json = false, ...given }) =>
      run({
        ...serviceArguments(given),
        range: rangeOf(from, to, now()),
        customerId: customer ?? null,
        json,
      }),
    );
}
