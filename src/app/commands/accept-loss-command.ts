/**
 * The command that accepts the loss of damaged or missing data, while the service runs and is not ready:
 * `tallyhouse accept-loss usage_events/202611_1_5_1`.
 */
import { lossName } from '../../metering/stored-parts/part-losses.ts';
import { recordSystemChanges, type SystemChange } from '../../store/access/system-changes.ts';
import { createDatabase, type Database } from '../../store/base/database.ts';
import { acceptLoss, type RecordedLoss, unsettledLosses } from '../../store/events/event-store.ts';
import type { PostgresConnection } from '../../store/postgres-driver/connect-postgres.ts';
import { CommandFailure } from '../failures/command-failure.ts';

/**
 * Accepts the losses with these names, all or none, and returns the lines to print. The record stores each with the
 * time of its acceptance. Without a name it lists the losses.
 */
export async function acceptLossCommand(
  names: readonly string[],
  connection: PostgresConnection,
): Promise<string[]> {
  const pool = createDatabase(connection);
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
      if (loss === null)
        throw new CommandFailure(`${name} is not among the open losses: tallyhouse accept-loss lists them`);
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
