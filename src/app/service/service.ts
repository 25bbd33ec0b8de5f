/**
 * The running service: data directory, stores, application, HTTP server; stopped in reverse order.
 *
 * Owns only the order of start and stop. Does not exit the process.
 */
import type { AddressInfo } from 'node:net';
import type { ServerType } from '@hono/node-server';
import { type Config, processEnvironment } from '../../config.ts';
import { firstToken, replaceKeptToken, tokenFileOf } from '../../embedded/api-token.ts';
import { takeDataDirectory } from '../../embedded/data-directory.ts';
import { requireNotMoved } from '../../embedded/move-record.ts';
import type { Logger } from '../../log.ts';
import { reportedWait } from '../../runtime/reported-wait.ts';
import type { Application } from '../application/application-parts.ts';
import { openBackupChannel } from '../backups/backup-channel.ts';
import { type Backups, createBackups } from '../backups/backups.ts';
import { drain } from '../http/drain.ts';
import {
  connectionsMaxFor,
  descriptorLimit,
  descriptorsOpen,
  lowLimitLine,
} from '../http/file-descriptors.ts';
import { createHttpServer, HTTP_LIMITS, listen } from '../http/http-server.ts';
import { openMoveChannel } from '../move/move-channel.ts';
import { requireWholeMove } from '../move/unfinished-move.ts';
import { createWriteGate, type WriteGate } from '../move/write-gate.ts';
import { type Stores, startStores } from '../stores/stores.ts';
import { startTracing } from '../tracing/tracing.ts';
import { createPlace, type Place } from './moved-place.ts';

export interface Service {
  readonly url: string;
  /** To be shown to the operator, once; null if there was a token already. */
  readonly newToken: string | null;
  /** Set with `newToken`: the address that opens the console once, on this machine. */
  readonly consoleLink: string | null;
  /** Notes for the operator on a start that is otherwise fine, a line each. */
  readonly notes: readonly string[];
  /** The reasons why it is not ready, a line each. */
  problems(): readonly string[];
  /** Resolves with the reason, on one line, when the service cannot continue. */
  readonly lost: Promise<string>;
  /**
   * Drains: no new connections, running requests are answered, then everything is closed. Queries that still run after
   * 30 s are cancelled.
   */
  close(): Promise<void>;
}

/** Longer requests and jobs are ended when the service stops. */
const DRAIN_WAIT_MS = 30_000;

/** Starts everything. If a step fails, earlier steps are undone before this throws. */
export async function startService(config: Config, log: Logger): Promise<Service> {
  const undo: Array<() => Promise<void>> = [];
  const unwind = async () => {
    for (let step = undo.pop(); step !== undefined; step = undo.pop()) await step();
  };
  const undoLater = (work: () => Promise<void>) => {
    const step = once(work);
    undo.push(step);
    return step;
  };
  try {
    const backups = await createBackups({ config, log, env: processEnvironment() });
    const step = reportedTo(log);
    const directory = await step('the lock of DATA_DIR', () => takeDataDirectory(config.dataDir));
    undo.push(() => directory.release());
    await step('the record of a move', () => requireHere(config));
    const { tracer, close: closeTracing } = await startTracing(config.tracesEndpoint, log);
    undo.push(closeTracing);
    const [stores, { createApplication }] = await Promise.all([
      startStores(config, { log, tracer, holdMerges: true }),
      // Most of the code, which is loaded while the stores start.
      import('../application/application.ts'),
    ]);
    const closeStores = undoLater(() => stores.close());
    const gate = createWriteGate();
    const application = await step('answers of the stores, which have started', () =>
      createApplication({
        ...{ config, log, tracer, stores, gate, ...firstTokenIn(config, log) },
        backups: config.backupDir === undefined ? undefined : backups,
      }),
    );
    await application.giveQuestions();
    const closeApplication = undoLater(() => application.close());
    const endBackups = undoLater(await allowBackups(config, backups, { stores, application, log }));
    const place = createPlace({
      ...{ dataDir: config.dataDir, log, stores, application, waitMs: DRAIN_WAIT_MS },
      close: [endBackups, closeApplication, closeStores],
    });
    undo.push(await allowMove(config, { stores, application, log, gate, place }));
    const { server, lowLimit } = await createServer(place, application, log);
    await step(`PORT ${config.port} of HOST ${config.host}`, () => listen(server, config));
    const { requestsEnded, endJobs } = application;
    const { cancelQueries } = stores.clickhouse;
    undo.push(() => drain({ server, waitMs: DRAIN_WAIT_MS, requestsEnded, endJobs, cancelQueries }));
    return {
      url: urlOf(server, config),
      newToken: application.newToken,
      notes: [...application.notes, ...(lowLimit === null ? [] : [lowLimit])],
      consoleLink: consoleLinkOf(server, application.consoleLink),
      problems: () => application.problems(),
      lost: stores.lost,
      close: unwind,
    };
  } catch (error) {
    await unwind();
    throw error;
  }
}

function reportedTo(log: Logger) {
  return <Result>(what: string, work: () => Promise<Result>) =>
    reportedWait({ what, say: (line) => log.warn(line) }, work);
}

function firstTokenIn(config: Pick<Config, 'dataDir'>, log: Logger) {
  return {
    firstToken: () => firstToken(config.dataDir),
    replaceFirstToken: (isFormer: (text: string) => boolean, text: string) =>
      replaceFirstToken(config, log, isFormer, text),
  };
}

interface CreatedServer {
  readonly server: ServerType;
  /** Null if enough connections can be open. */
  readonly lowLimit: string | null;
}

async function createServer(
  place: Place,
  { refuseUnreadable }: Pick<Application, 'refuseUnreadable'>,
  log: Logger,
): Promise<CreatedServer> {
  const descriptors = await descriptorLimit();
  const connectionsMax = connectionsMaxFor(descriptors, await descriptorsOpen());
  const lowLimit = lowLimitLine(descriptors, connectionsMax);
  if (lowLimit !== null) log.warn({ descriptors, connectionsMax }, lowLimit);
  const limits = { ...HTTP_LIMITS, connectionsMax };
  const server = createHttpServer((request, bindings) => place.fetch(request, bindings), limits);
  server.on('clientError', refuseUnreadable);
  return { server, lowLimit };
}

function replaceFirstToken(
  { dataDir }: Pick<Config, 'dataDir'>,
  log: Logger,
  isFormer: (text: string) => boolean,
  text: string,
): void {
  try {
    replaceKeptToken(dataDir, isFormer, text);
  } catch (err) {
    log.warn({ err }, `the new token could not be kept in ${tokenFileOf(dataDir)}`);
  }
}

interface BackedUp {
  readonly stores: Pick<Stores, 'clickhouse'>;
  readonly application: Pick<Application, 'problems'>;
  readonly log: Logger;
}

/** Servers are backed up without this process. Returns the function that stops it. */
async function allowBackups(
  { clickhouseUrl, dataDir }: Pick<Config, 'clickhouseUrl' | 'dataDir'>,
  backups: Backups,
  { stores, application, log }: BackedUp,
): Promise<() => Promise<void>> {
  if (clickhouseUrl !== undefined) return async () => {};
  const channel = await openBackupChannel({
    ...{ dataDir, log, clickhouse: stores.clickhouse },
    problem: () => application.problems()[0] ?? null,
    onDone: (backup) => backups.noteDone(backup),
    onFailed: () => backups.noteFailed(),
  });
  backups.start();
  return async () => {
    await backups.close();
    await channel.close();
  };
}

/** The stores of this DATA_DIR, unless both are servers. Throws an error for the operator if they are elsewhere. */
async function requireHere({ dataDir, databaseUrl, clickhouseUrl }: Config): Promise<void> {
  if (databaseUrl === undefined || clickhouseUrl === undefined) await requireNotMoved(dataDir);
  if (databaseUrl !== undefined) await requireWholeMove(databaseUrl);
}

interface Moved extends BackedUp {
  readonly gate: WriteGate;
  readonly place: Place;
}

/** Both stores, or none. Returns the function that stops it. */
async function allowMove(
  { databaseUrl, clickhouseUrl, dataDir }: Pick<Config, 'databaseUrl' | 'clickhouseUrl' | 'dataDir'>,
  { stores, application, log, gate, place }: Moved,
): Promise<() => Promise<void>> {
  if (databaseUrl !== undefined || clickhouseUrl !== undefined) return async () => {};
  let left: Promise<void> = Promise.resolve();
  const channel = await openMoveChannel({
    ...{ dataDir, log, gate, clickhouse: stores.clickhouse },
    problem: () => application.problems()[0] ?? null,
    onMoved: () => {
      left = place
        .leave()
        .catch((err: unknown) => log.error({ err }, 'the moved stores could not be closed'));
    },
  });
  return async () => {
    await channel.close();
    await left;
  };
}

/** The first call does the work, and later ones wait for it. */
function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => {
    done ??= work();
    return done;
  };
}

/** The address under which this machine reaches a server that listens there. */
const LOOPBACK_OF: Readonly<Record<string, string>> = {
  '0.0.0.0': '127.0.0.1',
  '::': '127.0.0.1',
  '::1': '[::1]',
};

/** The fragment stays in the browser: it is in no request line, no log and no referrer. */
function consoleLinkOf(server: ServerType, link: string | null): string | null {
  const address = server.address() as AddressInfo | string | null;
  if (link === null || typeof address !== 'object' || address === null) return null;
  const host = LOOPBACK_OF[address.address] ?? (address.address.startsWith('127.') ? address.address : null);
  return host === null ? null : `http://${host}:${address.port}/console#${link}`;
}

function urlOf(server: ServerType, config: Pick<Config, 'host' | 'port'>): string {
  const address = server.address() as AddressInfo | string | null;
  const port = typeof address === 'object' && address !== null ? address.port : config.port;
  // If it listens on every address, the loopback address is shown.
  const isAny = config.host === '0.0.0.0' || config.host === '::';
  const host = isAny ? 'localhost' : config.host.includes(':') ? `[${config.host}]` : config.host;
  return `http://${host}:${port}`;
}
