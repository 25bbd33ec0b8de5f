/** Detects servers with incomplete data, because a move to them has not ended. */
import { findMoveMark } from '../../store/base/move-target.ts';
import { reached, StoreFailure } from '../failures/store-failure.ts';

/** Throws a `StoreFailure` if the stores of another place are still in use. */
export async function requireWholeMove(databaseUrl: string): Promise<void> {
  const where = { store: 'PostgreSQL', variable: 'DATABASE_URL', url: databaseUrl } as const;
  const mark = await reached(where, () => findMoveMark({ url: databaseUrl }));
  if (mark === null || mark.isEnded) return;
  throw new StoreFailure(
    'a move of embedded stores to the servers of DATABASE_URL and CLICKHOUSE_URL has not ended, so these have a part of the data: call tallyhouse move again where the embedded stores are',
  );
}
