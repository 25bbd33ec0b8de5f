/** The command line of the reconciliation and its help text. */
import { parseArgs } from 'node:util';
import { formatInstant, type Instant, type Interval, parseRfc3339 } from '../../../core/time.ts';
import { CommandFailure } from '../running-service.ts';

export interface ReconcileOptions {
  readonly range: Interval;
  /** Null: all customers. */
  readonly customerId: string | null;
  /** Null: as the environment of the service says. */
  readonly url: string | null;
  readonly token: string | null;
}

export const HELP = `Usage: npm run reconcile -- [options]

Asks the running service to compare usage, breakdowns, invoices and schedules, and what was billed with what
billing providers have, by month, status and amount. Prints what is not equal, a line each. Nothing is changed. It finds the service and its token as the service does: PORT, HOST,
API_TOKEN or DATA_DIR.

Options:
  --from DATE       first day of the range, such as 2026-11-01; the start of the last month by default
  --to DATE         its end, exclusive; now by default
  --customer ID     one customer instead of all
  --url URL         where the service is
  --token TOKEN     a token of scope read
  --help            show this text

Exit code: 0 everything agrees, 1 differences were found, 2 wrong call, or the service could not be asked.
Usage that arrived after its invoice was issued is counted in the summary, and is no difference.
`;

/** Reads the arguments after the script's name. Throws `CommandFailure` naming a wrong one. */
export function parseOptions(args: readonly string[], now: Instant): ReconcileOptions | 'help' {
  const values = parsed(args);
  if (values.help === true) return 'help';
  const start = values.from === undefined ? startOfLastMonth(now) : dateOf('--from', values.from);
  const end = values.to === undefined ? now : dateOf('--to', values.to);
  if (end <= start) {
    throw wrong(`the range from ${formatInstant(start)} to ${formatInstant(end)} has no time in it`);
  }
  return {
    range: { start, end },
    customerId: values.customer ?? null,
    url: values.url ?? null,
    token: values.token ?? null,
  };
}

function startOfLastMonth(now: Instant): Instant {
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - 1);
}

/** A day, or an RFC 3339 timestamp. */
function dateOf(option: string, text: string): Instant {
  const at = parseRfc3339(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text);
  if (at !== null) return at;
  throw wrong(`${option} must be a day such as 2026-11-01, or an RFC 3339 timestamp`);
}

function parsed(args: readonly string[]) {
  const text = { type: 'string' } as const;
  try {
    return parseArgs({
      args: [...args],
      options: {
        from: text,
        to: text,
        customer: text,
        url: text,
        token: text,
        help: { type: 'boolean', short: 'h' },
      },
    }).values;
  } catch (error) {
    throw wrong(error instanceof Error ? error.message : String(error));
  }
}

function wrong(problem: string): CommandFailure {
  return new CommandFailure(`${problem}\nSee: npm run reconcile -- --help`);
}
