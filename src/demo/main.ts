/**
 * Entry of `npm run demo`: reads the options, starts a server of its own where none is given, runs the demo, and
 * leaves no process and no data behind, also after Ctrl-C.
 */

import { formatSeconds } from '../app/commands/terminal/number-format.ts';
import { createTerminal, type Terminal } from '../app/commands/terminal/terminal.ts';
import { formatInstant } from '../core/time.ts';
import { checkAccess, serviceNow } from './billing-api.ts';
import { companyStory } from './company-story.ts';
import { DemoFailure } from './failure.ts';
import { createHttpApi } from './http-api.ts';
import { type DemoOptions, HELP, parseOptions } from './options.ts';
import { type OwnServer, startOwnServer } from './own-server.ts';
import { tellStory } from './story.ts';
import { type StripeStandIn, startStripeStandIn } from './stripe/stand-in.ts';
import { checkTrace, type Trace, traceStory } from './trace-story.ts';

const EXIT_AGREES = 0;
const EXIT_FAILED = 1;
const EXIT_WRONG_OPTION = 2;
const EXIT_INTERRUPTED = 130;

async function main(): Promise<number> {
  const terminal = createTerminal(process.stdout);
  const options = readOptions();
  if (options === null) return EXIT_WRONG_OPTION;
  if (options === 'help') {
    process.stdout.write(HELP);
    return EXIT_AGREES;
  }
  const interruption = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => interruption.abort());
  }
  try {
    return (await run(options, terminal, interruption.signal)) ? EXIT_AGREES : EXIT_FAILED;
  } catch (error) {
    if (interruption.signal.aborted) {
      process.stderr.write('\ninterrupted\n');
      return EXIT_INTERRUPTED;
    }
    if (!(error instanceof DemoFailure)) throw error;
    process.stderr.write(`\ntallyhouse demo: ${error.message}\n`);
    return EXIT_FAILED;
  }
}

function readOptions(): DemoOptions | 'help' | null {
  try {
    return parseOptions(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof DemoFailure)) throw error;
    process.stderr.write(`tallyhouse demo: ${error.message}\n`);
    return null;
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
    `A server of its own on temporary data is ready after ${formatSeconds((performance.now() - startedMs) / 1000)}: ${server.url.href}`,
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

process.exitCode = await main();
