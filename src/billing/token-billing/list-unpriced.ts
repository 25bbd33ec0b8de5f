/** The tokens that no managed card prices. */
import type { Clock } from '../../core/clock.ts';
import { invalid } from '../../core/errors.ts';
import { floorToMonth, type Instant } from '../../core/time.ts';
import type { ClickHouse } from '../../metering/client/clickhouse.ts';
import { type UsedModel, usedModels } from '../../metering/events/token-uses.ts';
import type { Database } from '../../store/database.ts';
import { unpricedReasons } from './unpriced-uses.ts';

export interface UnpricedDeps {
  readonly db: Database;
  readonly clickhouse: ClickHouse;
  readonly clock: Clock;
}

export interface UnpricedModel extends UsedModel {
  readonly reason: string;
}

/** By customer, provider and model. Null: from the start of this month, or until now. Refuses an empty range. */
export async function listUnpriced(
  { db, clickhouse, clock }: UnpricedDeps,
  range: { readonly start: Instant | null; readonly end: Instant | null },
): Promise<UnpricedModel[]> {
  const end = range.end ?? clock.now() + 1;
  const start = range.start ?? floorToMonth(end - 1);
  if (start >= end) throw invalid(['endingBefore'], 'must be after starting_on');
  const uses = await usedModels(clickhouse, { start, end });
  const reasons = await unpricedReasons(
    db,
    uses.map((use) => ({ ...use, at: use.last })),
  );
  return uses.flatMap((use, index) => {
    const reason = reasons[index] ?? null;
    return reason === null ? [] : [{ ...use, reason }];
  });
}
