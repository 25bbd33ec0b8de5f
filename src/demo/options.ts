/** The command line of the demo: its options, their defaults and limits, and the help text. */
import { parseArgs } from 'node:util';
import { DemoFailure } from './failure.ts';

export interface DemoOptions {
  /** The running server to use, or null for one of our own on temporary data. */
  readonly server: { readonly url: URL; readonly token: string } | null;
  /** A CSV file of real requests to replay instead of the simulated traffic. */
  readonly traceFile: string | null;
  readonly events: number;
  readonly customers: number;
  /** Leave the data of our own server behind. */
  readonly keep: boolean;
}

const EVENTS_DEFAULT = 500_000;
const CUSTOMERS_DEFAULT = 20;
/** Ten million events take a quarter of an hour; use the benchmarks for more. */
const EVENTS_MAX = 10_000_000;
/** The proof reads usage, invoice and breakdown of every customer one by one. */
const CUSTOMERS_MAX = 500;

export const HELP = `Usage: npm run demo -- [options]

Sends a month of traffic of an AI API company through the public API, shows usage, an invoice and its
daily breakdown, and proves that every sum agrees to the last digit. A customer with negotiated terms shows
commits, credits, an explained line and ledgers; its PDF and CSV files stay in the temporary directory. Another
one has seats with credits of their own, and shows what each seat has left. On its own server the month ends: the
invoices are issued, and delivered to a stand-in of Stripe on this machine, and the sums of both sides are compared.

Options:
  --url URL        use this running server; without it the demo starts its own on temporary data
  --token TOKEN    API token of that server (it printed it at its first start: DATA_DIR/api-token)
  --events N       events to simulate (default ${EVENTS_DEFAULT.toLocaleString('en-US')})
  --customers N    customers to simulate (default ${CUSTOMERS_DEFAULT})
  --trace FILE     replay real LLM requests instead: CSV with TIMESTAMP,ContextTokens,GeneratedTokens;
                   shows the margin per model on a managed rate card too
  --keep           keep the data of the demo's own server and say where it is
  --help           show this text

Exit code: 0 when all sums agree, 1 when any does not or the demo could not run, 2 for a wrong option.
`;

/** Reads the arguments after the script's name. Returns 'help' for `--help`; throws `DemoFailure` naming a wrong option. */
export function parseOptions(args: readonly string[]): DemoOptions | 'help' {
  const { values } = parse(args);
  if (values.help === true) return 'help';
  return {
    server: parseServer(values.url, values.token),
    traceFile: values.trace ?? null,
    events: parseCount('--events', values.events, EVENTS_DEFAULT, EVENTS_MAX),
    customers: parseCount('--customers', values.customers, CUSTOMERS_DEFAULT, CUSTOMERS_MAX),
    keep: values.keep === true,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        url: { type: 'string' },
        token: { type: 'string' },
        events: { type: 'string' },
        customers: { type: 'string' },
        trace: { type: 'string' },
        keep: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new DemoFailure(`${message}\nSee: npm run demo -- --help`);
  }
}

function parseServer(url: string | undefined, token: string | undefined): DemoOptions['server'] {
  if (url === undefined) {
    if (token === undefined) return null;
    throw new DemoFailure('--token goes with --url: the demo gives a server of its own a token of its own');
  }
  if (token === undefined || token === '') {
    throw new DemoFailure(
      '--url needs --token: the server printed its token at the first start and keeps it in DATA_DIR/api-token',
    );
  }
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed === null || (parsed.protocol !== 'http:' && parsed.protocol !== 'https:')) {
    throw new DemoFailure(`--url must be an http or https address like http://127.0.0.1:3000, not "${url}"`);
  }
  return { url: parsed, token };
}

function parseCount(option: string, text: string | undefined, byDefault: number, max: number): number {
  if (text === undefined) return byDefault;
  const count = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (count < 1 || count > max) {
    throw new DemoFailure(
      `${option} must be a whole number from 1 to ${max.toLocaleString('en-US')}, not "${text}"`,
    );
  }
  return count;
}
