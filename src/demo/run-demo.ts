/**
 * The demo (`tallyhouse demo`): starts its own server if none is given, tells the story, and removes every process and
 * all data at its end, also after Ctrl-C.
 */

import { formatSeconds } from '../app/commands/terminal/number-format.ts';
import { createTerminal, type Terminal } from '../app/commands/terminal/terminal.ts';
import { formatInstant } from '../core/time.ts';
import { checkAccess, serviceNow } from './billing-api.ts';
import { companyStory } from './company-story.ts';
import { createHttpApi } from './http-api.ts';
import type { DemoOptions } from './options.ts';
import { type OwnServer, startOwnServer } from './own-server.ts';
import { tellStory } from './story.ts';
import { type StripeStandIn, startStripeStandIn } from './stripe/stand-in.ts';
import { checkTrace, type Trace, traceStory } from './trace-story.ts';

const EXIT_AGREES = 0;
const EXIT_FAILED = 1;
const EXIT_INTERRUPTED = 130;

/** Returns the exit code. Throws a `DemoFailure` for errors that the user can fix. */
export async function runDemo(options: DemoOptions): Promise<number> {
  const terminal = createTerminal(process.stdout);
  const interruption = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => interruption.abort());
  }
  try {
    return (await run(options, terminal, interruption.signal)) ? EXIT_AGREES : EXIT_FAILED;
  } catch (error) {
    if (!interruption.signal.aborted) throw error;
    process.stderr.write('\ninterrupted\n');
    return EXIT_INTERRUPTED;
  }
}

async function run(options: DemoOptions, terminal: Terminal, signal: AbortSignal): Promise<boolean> {
  const trace = options.traceFile === null ? null : await checkTrace(options.traceFile);
  if (options.server !== null) {
    return runAgainst({ ...options.server, stripe: null }, trace, options, terminal, signal);
  }
  const startedMs = performance.now();
  const stripe = await startStripeStandIn();
  try {
    return await runOnOwnServer(stripe, startedMs, trace, options, terminal, signal);
  } finally {
    await stripe.close();
  }
}

async function runOnOwnServer(
  stripe: StripeStandIn,
  startedMs: number,
  trace: Trace | null,
  options: DemoOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<boolean> {
  const server = await startOwnServer(signal, { now: Date.now(), stripe });
  terminal.line(
    `The demo's own server on temporary data is ready after ${formatSeconds((performance.now() - startedMs) / 1000)}: ${server.url.href}`,
  );
  try {
    return await runAgainst({ ...server, stripe }, trace, options, terminal, signal);
  } finally {
    await server.stop({ keepData: options.keep });
    if (options.keep) terminal.line(keptDataText(server));
  }
}

async function runAgainst(
  server: { readonly url: URL; readonly token: string; readonly stripe: StripeStandIn | null },
  trace: Trace | null,
  options: DemoOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<boolean> {
  const api = createHttpApi({ ...server, signal });
  await checkAccess(api);
  const now = await serviceNow(api, Date.now);
  const story = trace === null ? companyStory(options, now) : traceStory(trace, now);
  return tellStory(api, terminal, story, { isReached: options.server === null, stripe: server.stripe });
}

function keptDataText(server: OwnServer): string {
  return [
    '',
    `The data is kept in ${server.dataDirectory}. To look around in it:`,
    `  DATA_DIR=${server.dataDirectory} API_TOKEN=${server.token} SANDBOX_NOW=${formatInstant(Date.now())} npm start`,
  ].join('\n');
}
