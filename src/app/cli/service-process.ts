/**
 * The process of `tallyhouse start`: configuration, service, signals, exit. The only file that ends the process.
 *
 * Standard output is for the operator, standard error for the log. Exit code 0 after a drain, 1 if the service could
 * not start or lost a store.
 */

import { type Config, ConfigError, loadConfig, processEnvironment } from '../../config.ts';
import { MigrationError } from '../../core/migrations.ts';
import { EmbeddedClickHouseError } from '../../embedded/chdb-engine.ts';
import { DataDirectoryError } from '../../embedded/data-directory.ts';
import { EventLogError } from '../../embedded/event-log/files.ts';
import { EmbeddedPostgresError } from '../../embedded/postgres-binaries.ts';
import { createLogger, type Logger } from '../../log.ts';
import { misspeltLine, misspeltSettings } from '../failures/misspelt-settings.ts';
import { StoreFailure } from '../failures/store-failure.ts';
import { hasGuide } from '../http/http-app.ts';
import { type Service, startService } from '../service/service.ts';

const EXPECTED = [
  ConfigError,
  DataDirectoryError,
  EmbeddedPostgresError,
  EmbeddedClickHouseError,
  EventLogError,
  MigrationError,
  StoreFailure,
];

/** After 30 s of draining, the rest takes a few seconds. Container managers kill soon afterwards. */
const STOP_MS_MAX = 42_000;

/** Runs the service until it is stopped; ends the process. */
export async function runService(): Promise<never> {
  try {
    return await started();
  } catch (error) {
    const isExpected = EXPECTED.some((expected) => error instanceof expected);
    const text = isExpected && error instanceof Error ? error.message : textOf(error);
    fail(`${text}\ntallyhouse: run "tallyhouse doctor" (npm run doctor) to see what is wrong`);
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

async function started(): Promise<never> {
  const env = processEnvironment();
  const config = loadConfig(env);
  const log = createLogger(config);
  for (const misspelt of misspeltSettings(env)) log.warn({ ...misspelt }, misspeltLine(misspelt));
  surviveForgottenRejections(log);
  const startedAt = performance.now();
  const stopRequested = nextSignal();
  const service = await startService(config, log);
  announce(service, config);
  const problems = service.problems();
  const started = { url: service.url, startMs: Math.round(performance.now() - startedAt) };
  if (problems.length === 0) log.info(started, 'ready');
  else log.error({ ...started, problems }, 'not ready');
  const reason = await Promise.race([stopRequested, service.lost.then((why) => ({ why }))]);
  if ('why' in reason) fail(reason.why);
  exitOnNextSignal();
  log.info({ signal: reason.signal }, 'draining');
  exitAfter(STOP_MS_MAX, log);
  await service.close();
  log.info('stopped');
  process.exit(0);
}

/**
 * A safety net: every promise of a store and of its library is awaited where it is created. A promise that is not
 * awaited may be rejected for an external reason, such as a full disk. That must not end the service, because nothing
 * acknowledged depends on it.
 */
function surviveForgottenRejections(log: Logger): void {
  process.on('unhandledRejection', (err) => {
    log.error({ err }, 'a promise was rejected and nobody waited for it; the service continues');
  });
}

/** A signal during the start is remembered and handled once the service is up. */
function nextSignal(): Promise<{ signal: NodeJS.Signals }> {
  return new Promise((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, (signal) => resolve({ signal }));
  });
}

/** A second signal means that the operator does not want to wait. */
function exitOnNextSignal(): void {
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, () => process.exit(1));
}

/** Exits even if something hangs: acknowledged events are on disk, and pending jobs are done after the next start. */
function exitAfter(ms: number, log: Logger): void {
  const limit = setTimeout(() => {
    log.error('stopping takes too long: the process ends now');
    process.exit(1);
  }, ms);
  limit.unref();
}

function announce(service: Service, config: Config): void {
  const problems = service.problems();
  const lines =
    problems.length === 0
      ? [`tallyhouse is ready at ${service.url}`]
      : [`tallyhouse runs at ${service.url} and is NOT ready:`, ...problems.map((problem) => `  ${problem}`)];
  lines.push(`  Console        ${service.consoleLink ?? `${service.url}/console`}`);
  if (service.consoleLink !== null) lines.push('  (signs in once, on this machine, within an hour)');
  lines.push(...service.notes.map((note) => `  Note: ${note}`));
  if (hasGuide()) lines.push(`  Guide          ${service.url}/guide`);
  lines.push(`  API reference  ${service.url}/docs`);
  if (service.newToken !== null) {
    lines.push(
      `  API token      ${service.newToken}`,
      `  (kept in ${config.dataDir}/api-token; shown only this once)`,
    );
  }
  process.stdout.write(`${lines.join('\n')}\n`);
}

function fail(line: string): never {
  process.stderr.write(`tallyhouse: ${line}\n`);
  process.exit(1);
}
