/**
 * The command that accepts the loss of damaged or missing data, while the service runs and is not ready:
 * `npm run accept-loss -- usage_events/202611_1_5_1`. Without a name it lists the losses.
 */
import { lossName } from '../../metering/stored-parts/part-losses.ts';
import { recordSystemChanges, type SystemChange } from '../../store/access/system-changes.ts';
import { createDatabase, type Database } from '../../store/base/database.ts';
import { acceptLoss, type RecordedLoss, unsettledLosses } from '../../store/events/event-store.ts';
import type { PostgresConnection } from '../../store/postgres-driver/connect-postgres.ts';

/** A call that cannot be carried out. The message is for the operator. */
export class AcceptLossError extends Error {
  override readonly name = 'AcceptLossError';
}

const USAGE =
  'Usage: npm run accept-loss -- NAME...   NAME as GET /readyz shows it; without one, lists the losses';

/**
 * Accepts the losses with these names, all or none, and returns the lines to print. The record keeps each with
 * the time of its acceptance.
 */
export async function acceptLossCommand(
  names: readonly string[],
  findDatabase: () => Promise<PostgresConnection>,
): Promise<string[]> {
  const option = names.find((name) => name.startsWith('-'));
  if (option !== undefined) throw new AcceptLossError(USAGE);
  const pool = createDatabase(await findDatabase());
  try {
    return names.length === 0 ? await openLosses(pool.db) : await acceptAll(pool.db, names);
  } finally {
    await pool.close();
  }
}

async function openLosses(db: Database): Promise<string[]> {
  const open = (await unsettledLosses(db)).filter(({ acceptedAt }) => acceptedAt === null);
  return open.length === 0 ? ['Nothing is lost.'] : open.map(sizeOf);
}

async function acceptAll(db: Database, names: readonly string[]): Promise<string[]> {
  const losses = await db.transaction(async (tx) => {
    const losses: RecordedLoss[] = [];
    for (const name of new Set(names)) {
      const [table = '', ...part] = name.split('/');
      const loss = await acceptLoss(tx, { table, part: part.join('/') }, Date.now());
      if (loss === null) throw new AcceptLossError(`${name} is not among the open losses.\n${USAGE}`);
      losses.push(loss);
    }
    await recordSystemChanges(tx, { kind: 'command', name: 'accept-loss' }, Date.now(), losses.map(accepted));
    return losses;
  });
  return losses.map((loss) => `Accepted the loss of ${sizeOf(loss)}`);
}

function accepted(loss: RecordedLoss): SystemChange {
  const description = `Accept the loss of ${sizeOf(loss)}`;
  return { action: 'acceptLoss', resourceType: 'event_store_loss', resourceId: loss.id, description };
}

function sizeOf(loss: RecordedLoss): string {
  return `${lossName(loss)}: ${loss.rows ?? 'an unknown number of'} rows (${loss.kind})`;
}
