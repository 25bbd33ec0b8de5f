/** The command line of `tallyhouse demo`. */
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import {
  CUSTOMERS_DEFAULT,
  CUSTOMERS_MAX,
  type DemoOptions,
  EVENTS_DEFAULT,
  EVENTS_MAX,
} from '../../demo/options.ts';
import { WrongCall } from '../failures/command-failure.ts';
import type { Run } from './run.ts';
import { described } from './subcommand.ts';
import { countUpTo, httpUrl } from './values.ts';

export function defineDemo(program: CommandUnknownOpts, run: Run<DemoOptions>): void {
  described(program.command('demo'), {
    summary: 'meter and bill a simulated month, and prove that every sum agrees',
    description: `Sends a month of traffic of an AI API company through the public API, shows usage, an invoice and its daily breakdown, and proves that every sum agrees to the last digit. A customer with negotiated terms shows commits, credits, an explained line and ledgers; its PDF and CSV files stay in the temporary directory. Another one has seats, each with its own credits, and shows what each seat has left. On its own server the month ends: the invoices are issued, and delivered to a stand-in of Stripe on this machine, and the sums of both sides are compared.`,
    examples: [
      ['tallyhouse demo', 'its own server on temporary data'],
      ['tallyhouse demo --events 20000 --customers 5', 'a small one'],
      ['tallyhouse demo --url http://127.0.0.1:3000 --token "$TOKEN"', 'on a running service'],
    ],
    exitCodes: '0 all sums agree, 1 one does not or the demo could not run, 2 wrong call, 130 interrupted',
  })
    .option('--url <url>', 'use this running server; what was shown stays there', httpUrl)
    .option('--token <token>', 'API token of that server (DATA_DIR/api-token)')
    .option('--events <n>', 'events to simulate', countUpTo(EVENTS_MAX), EVENTS_DEFAULT)
    .option('--customers <n>', 'customers to simulate', countUpTo(CUSTOMERS_MAX), CUSTOMERS_DEFAULT)
    .option(
      '--trace <file>',
      'replay real LLM requests instead: CSV with TIMESTAMP,ContextTokens,GeneratedTokens; shows the margin per model on a managed rate card too',
    )
    .option('--keep', "keep the data of the demo's own server and say where it is", false)
    .action(({ url, token, events, customers, trace, keep }) =>
      run({ server: serverOf(url, token), traceFile: trace ?? null, events, customers, keep }),
    );
}

function serverOf(url: string | undefined, token: string | undefined): DemoOptions['server'] {
  if (url === undefined) {
    if (token === undefined) return null;
    throw new WrongCall('--token goes with --url: the demo creates the token of the server that it starts');
  }
  if (token !== undefined && token !== '') return { url: new URL(url), token };
  throw new WrongCall(
    '--url needs --token: the server printed its token at the first start and keeps it in DATA_DIR/api-token',
  );
}
