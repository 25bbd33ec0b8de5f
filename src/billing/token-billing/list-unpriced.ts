/** The tokens that no managed card prices. */
import { invalid } from '../../core/errors.ts';
import { cutPage, type Page, type PageRequest, pageWithRows } from '../../core/paging.ts';
import { floorToMonth, type Instant, type Interval } from '../../core/time.ts';
import type { UsedModel, UsedModelPosition } from '../../metering/events/token-uses.ts';
import type { BillingContext } from '../billing-context.ts';
import { unpricedReasons } from './unpriced-uses.ts';

export interface UnpricedModel extends UsedModel {
  readonly reason: string;
}

/** The most models that one read searches, with a price or without. */
const USES_PER_READ = 1_000;

/**
 * A page by customer; it may be short, but has a row while some follow (`pageWithRows`). Null: from the start of this
 * month, or until now. Refuses an empty range.
 */
export async function listUnpriced(
  context: BillingContext,
  range: { readonly start: Instant | null; readonly end: Instant | null },
  page: PageRequest<UsedModelPosition>,
): Promise<Page<UnpricedModel, UsedModelPosition>> {
  const end = range.end ?? context.clock.now() + 1;
  const start = range.start ?? floorToMonth(end - 1);
  if (start >= end) throw invalid(['endingBefore'], 'must be after starting_on');
  return pageWithRows(
    page,
    (part) => readUnpriced(context, { start, end }, part),
    ({ position }) => position,
  );
}

async function readUnpriced(
  { db, usageSource }: BillingContext,
  range: Interval,
  { after, limit }: PageRequest<UsedModelPosition>,
): Promise<Page<UnpricedModel, UsedModelPosition>> {
  const read = await usageSource.events.models(range, { after, limit: USES_PER_READ + 1 });
  const uses = cutPage(read, USES_PER_READ, ({ position }) => position);
  const reasons = await unpricedReasons(
    db,
    uses.rows.map((use) => ({ ...use, at: use.last })),
  );
  const unpriced = uses.rows.flatMap((use, index) => {
    const reason = reasons[index] ?? null;
    return reason === null ? [] : [{ ...use, reason }];
  });
  const page = cutPage(unpriced, limit, ({ position }) => position);
  return { rows: page.rows, next: page.next ?? uses.next };
}
