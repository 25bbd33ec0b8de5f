/** Drafts of SCHEDULED invoices after drawdown. Earlier drafts draw first, including those of usage invoices. */
import { NO_BALANCES } from '../../../rating/balances/balance-book.ts';
import { lastIssuedPeriodEnds } from '../../../store/invoices/issued-periods.ts';
import { loadCustomerBalances } from '../../balances/books.ts';
import type { SnapshotContext } from '../../billing-context.ts';
import { NO_ALARMS } from '../../invoice-log/invoice-alarms.ts';
import type { ScheduledTarget } from '../../invoice-queue/open-items.ts';
import { finalizationAt, openPeriods } from '../../invoice-queue/usage-periods.ts';
import { drawScheduled } from '../compute/compute.ts';
import { planInvoices } from '../compute/plan-invoices.ts';
import { loadItemProducts, mayDraw, type ScheduledDraft, scheduledDraft } from '../scheduled/drafts.ts';
import { sharingContracts } from '../scheduled/drawdown-order.ts';
import { drawingTimes } from '../scheduled/drawing.ts';

/** In the order of the targets. Usage is read only if balances may pay for some of them. */
export async function drawnScheduledDrafts(
  context: SnapshotContext,
  targets: readonly ScheduledTarget[],
): Promise<ScheduledDraft[]> {
  const now = context.clock.now();
  const drawn = await drawnBy(context, targets.filter(mayDraw));
  const products = await loadItemProducts(context.db, targets);
  return targets.map(
    (target) => drawn.get(target.invoiceId) ?? scheduledDraft(target, products, now, NO_BALANCES),
  );
}

/** By invoice; those of customers without balances are absent. */
async function drawnBy(
  context: SnapshotContext,
  targets: readonly ScheduledTarget[],
): Promise<ReadonlyMap<string, ScheduledDraft>> {
  const now = context.clock.now();
  const balances = await loadCustomerBalances(context.db, drawingTimes(targets), now);
  const drawing = targets.filter(({ contract }) => balances.has(contract.customerId));
  if (drawing.length === 0) return new Map();
  const last = Math.max(...drawing.map(({ issueAt }) => issueAt));
  const contracts = await sharingContracts(
    context.db,
    drawing.map(({ contract }) => contract),
    balances,
  );
  const issuedUntil = await lastIssuedPeriodEnds(
    context.db,
    contracts.map(({ id }) => id),
  );
  const usage = contracts.flatMap((contract) =>
    openPeriods(contract, issuedUntil.get(contract.id), now)
      .filter((period) => finalizationAt(period, context.gracePeriodHours) < last)
      .map((period) => ({ contract, period })),
  );
  return drawScheduled(
    { ...context, alarms: NO_ALARMS },
    await planInvoices(context.db, usage, now, { schedulesOf: contracts }),
  );
}
