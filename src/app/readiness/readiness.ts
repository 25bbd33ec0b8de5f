/** Whether the service can accept requests: its stores respond, its data are complete, and there is disk space. */
import type { Readiness } from '../../api/routes/service/routes.ts';
import { SECOND_MS } from '../../core/time.ts';
import { within } from '../../runtime/time-limit.ts';
import type { Database } from '../../store/base/database.ts';
import { databaseIdentity } from '../../store/service/database-identity.ts';
import type { DiskRoom } from './disk-room.ts';
import type { PartsWatch } from './parts-watch.ts';

/** Callers need an answer at once, even while a store stops. */
const CHECK_LIMIT_MS = 2 * SECOND_MS;

interface Checked {
  readonly stores: Pings;
  readonly watch: PartsWatch;
  readonly index: { isBuilt(): boolean; build(): Promise<void> };
  readonly room: Pick<DiskRoom, 'shortage'>;
}

/** Both reject if the store does not respond. */
export interface Pings {
  pingPostgres(): Promise<void>;
  readonly clickhouse: { ping(): Promise<void> };
}

export async function readiness({ stores, watch, index, room }: Checked): Promise<Readiness> {
  const [postgresql, clickhouse] = await Promise.all([
    succeeds(stores.pingPostgres()),
    succeeds(stores.clickhouse.ping()),
  ]);
  // A restored or accepted loss is reflected at once.
  if (watch.problems().length > 0) await succeeds(watch.check().then(() => index.build()));
  const losses = problemsOf(watch, index);
  const shortage = await within(CHECK_LIMIT_MS, room.shortage(), 'no answer in time').catch(
    () => 'the disk of DATA_DIR does not answer',
  );
  const checks = { postgresql, clickhouse, data: losses.length === 0, disk: shortage === null };
  const problems = [
    ...(postgresql ? [] : ['PostgreSQL does not answer']),
    ...(clickhouse ? [] : ['ClickHouse does not answer']),
    ...losses,
    ...(shortage === null ? [] : [shortage]),
  ];
  return { ready: Object.values(checks).every((isFine) => isFine), checks, problems };
}

/** `readiness` with the identity of the database, which is read once. */
export async function identifiedReadiness(
  checked: Checked & { readonly stores: { readonly db: Database } },
): Promise<() => Promise<Readiness>> {
  const dataId = await databaseIdentity(checked.stores.db);
  return async () => ({ ...(await readiness(checked)), dataId });
}

/** Problems of the stored data. */
function problemsOf(watch: PartsWatch, index: Checked['index']): readonly string[] {
  const losses = watch.problems();
  return losses.length > 0 || index.isBuilt() ? losses : ['the index of known events is being built'];
}

function succeeds(check: Promise<unknown>): Promise<boolean> {
  return within(CHECK_LIMIT_MS, check, 'no answer in time').then(
    () => true,
    () => false,
  );
}
