/**
 * Backups that a ClickHouse server writes and reads itself (`BACKUP DATABASE`, `RESTORE DATABASE`), at the place named
 * in BACKUP_CLICKHOUSE. The server works asynchronously; this process polls its progress.
 */

import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { type ClickHousePlace, readClickHousePlace } from '../../../core/backup-settings.ts';
import { messageOf } from '../../../core/failures.ts';
import { HOUR_MS } from '../../../core/time.ts';
import type { ClickHouse } from '../../../metering/client/clickhouse.ts';
import { stringLiteral } from '../../../metering/client/clickhouse-parameters.ts';
import { CommandFailure } from '../../failures/command-failure.ts';

export interface ServerWork {
  /** ClickHouse's id of the operation. */
  readonly id: string;
  /** `backup … of ClickHouse`, for messages. */
  readonly what: string;
}

const POLL_MS = 250;
/** A longer operation means that the server has lost it. */
const WORK_MS_MAX = 48 * HOUR_MS;
/** Maximum length of a server's error; stack traces follow. */
const ERROR_LENGTH_MAX = 500;

const tableRow = z.object({ name: z.string(), id: z.string(), rows: z.coerce.number() });
export type ServerTable = z.output<typeof tableRow>;

/** The tables with rows, and the current number of rows. */
export async function serverTables(clickhouse: ClickHouse): Promise<ServerTable[]> {
  return await clickhouse.query({
    sql: `SELECT name, toString(uuid) AS id, assumeNotNull(total_rows) AS rows FROM system.tables
      WHERE database = currentDatabase() AND engine LIKE '%MergeTree' ORDER BY name`,
    lane: 'ingest',
    schema: tableRow,
  });
}

/** The place of ClickHouse's backups. Throws a `CommandFailure` if the setting is missing. */
export function clickhousePlace(setting: string | undefined): ClickHousePlace {
  const place = setting === undefined ? null : readClickHousePlace(setting);
  if (place === null)
    throw new CommandFailure(
      "BACKUP_CLICKHOUSE is not set: it says where the ClickHouse server writes its part of a backup, such as Disk('backups', 'tallyhouse')",
    );
  return place;
}

interface BackedUpDatabase {
  readonly database: string;
  readonly place: ClickHousePlace;
  readonly name: string;
  /** The backup whose files are not written again, or null. */
  readonly base: string | null;
}

/** The server has started when this resolves. */
export async function beginBackup(
  clickhouse: ClickHouse,
  { database, place, name, base }: BackedUpDatabase,
): Promise<ServerWork> {
  const id = randomUUID();
  const settings = [
    `id = ${stringLiteral(id)}`,
    ...(base === null ? [] : [`base_backup = ${placeText(place, base)}`]),
  ];
  const sql = `BACKUP DATABASE \`${database}\` TO ${placeText(place, name)} SETTINGS ${settings.join(', ')} ASYNC`;
  await said(place, `backup ${name} of ClickHouse`, () => clickhouse.command(sql));
  return { id, what: `backup ${name} of ClickHouse` };
}

interface RestoredDatabase {
  readonly from: string;
  readonly into: string;
  readonly place: ClickHousePlace;
  readonly name: string;
}

export async function beginRestore(
  clickhouse: ClickHouse,
  { from, into, place, name }: RestoredDatabase,
): Promise<ServerWork> {
  const id = randomUUID();
  const sql = `RESTORE DATABASE \`${from}\` AS \`${into}\` FROM ${placeText(place, name)} SETTINGS id = ${stringLiteral(id)} ASYNC`;
  await said(place, `restore of ${name} into ClickHouse`, () => clickhouse.command(sql));
  return { id, what: `restore of ${name} into ClickHouse` };
}

const workRow = z.object({
  status: z.string(),
  error: z.string(),
  bytes: z.coerce.number(),
});

/** Waits for its end. Returns the size of the backup, including its base. Throws a `CommandFailure`. */
export async function endOfWork(
  clickhouse: ClickHouse,
  place: ClickHousePlace,
  { id, what }: ServerWork,
): Promise<number> {
  const untilMs = performance.now() + WORK_MS_MAX;
  while (performance.now() < untilMs) {
    const [row] = await clickhouse.query({
      sql: 'SELECT toString(status) AS status, error, total_size AS bytes FROM system.backups WHERE id = {id:String}',
      params: { id },
      lane: 'ingest',
      schema: workRow,
    });
    if (row === undefined)
      throw new CommandFailure(`the server does not know its ${what} any more: was it restarted?`);
    if (row.status === 'BACKUP_CREATED' || row.status === 'RESTORED') return row.bytes;
    if (!UNDER_WAY.includes(row.status)) throw failed(place, what, row.error);
    await pause(POLL_MS);
  }
  throw new CommandFailure(`the ${what} has not ended after ${WORK_MS_MAX / HOUR_MS} hours`);
}

const UNDER_WAY = ['CREATING_BACKUP', 'RESTORING'];

async function said(place: ClickHousePlace, what: string, work: () => Promise<void>): Promise<void> {
  await work().catch((error: unknown) => {
    throw failed(place, what, messageOf(error));
  });
}

/** The server's message, without the keys in the setting. */
function failed({ secrets }: ClickHousePlace, what: string, words: string): CommandFailure {
  const [line = ''] = words.split(/, Stack trace|\n/);
  const open = secrets.reduce((text, secret) => text.replaceAll(secret, '[hidden]'), line);
  const hint = open.includes('BACKUP_NOT_FOUND')
    ? '; where the files of an earlier backup are gone, `backup --full` begins again'
    : '';
  return new CommandFailure(`the ${what} has failed: ${open.slice(0, ERROR_LENGTH_MAX)}${hint}`);
}

/** The place with the name of a backup appended to its path. */
function placeText({ kind, before, path, after }: ClickHousePlace, name: string): string {
  const inner = path === '' || path.endsWith('/') ? `${path}${name}` : `${path}/${name}`;
  return `${kind}(${[...before, inner, ...after].map(stringLiteral).join(', ')})`;
}
