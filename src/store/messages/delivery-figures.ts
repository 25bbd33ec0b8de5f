/** Figures of pending deliveries, for `/metrics`. */
import { sql } from 'drizzle-orm';
import type { Instant } from '../../core/time.ts';
import { instantFromPostgres } from '../base/columns.ts';
import type { Database } from '../base/database.ts';
import { webhookDeliveries, webhookMessages } from './webhooks.tables.ts';

export interface WaitingDeliveries {
  readonly pending: number;
  /** When the oldest of their messages was written, in real time; null without any. */
  readonly oldestAt: Instant | null;
}

/** Reads an index of all pending deliveries. */
export async function loadWaitingDeliveries(db: Database): Promise<WaitingDeliveries> {
  const rows = await db.execute<{ pending: string; oldest: string | null }>(sql`
    select waiting.pending, to_char(m.stored_at, 'YYYY-MM-DD HH24:MI:SS.MS+00') as oldest
    from (
      select count(*) as pending, min(sequence) as first from ${webhookDeliveries} where status = 'PENDING'
    ) as waiting
    left join ${webhookDeliveries} d on d.sequence = waiting.first
    left join ${webhookMessages} m on m.id = d.message_id`);
  const [{ pending, oldest } = { pending: '0', oldest: null }] = rows;
  return { pending: Number(pending), oldestAt: oldest === null ? null : instantFromPostgres(oldest) };
}
