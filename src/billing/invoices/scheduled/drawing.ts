/**
 * SCHEDULED invoices among those that draw on the same balances (docs/explanation/drawdown.md, "Several invoices").
 * Invoices draw in the order in which they are issued, so that a draft shows its final deductions.
 */
import { groupBy } from '../../../core/group-by.ts';
import type { Instant } from '../../../core/time.ts';
import type { BalanceBook } from '../../../rating/balances/balance-book.ts';
import type { Database, Transaction } from '../../../store/base/database.ts';
import type { Contract } from '../../../store/contracts/contracts.ts';
import { contractsWithSubscriptions } from '../../../store/contracts/subscriptions.ts';
import { loadOpenSchedules, type ScheduledTarget } from '../../invoice-queue/open-items.ts';
import {
  type ItemProducts,
  loadItemProducts,
  mayDraw,
  type ScheduledDraft,
  scheduledDraft,
} from './drafts.ts';
import { compareInFamily } from './drawdown-order.ts';

/** Drafts of SCHEDULED invoices that balances may pay for, by issue date. */
export interface DrawingSchedules {
  readonly targets: readonly ScheduledTarget[];
  readonly products: ItemProducts;
  /** When their terms were read. */
  readonly now: Instant;
}

export const NO_SCHEDULES: DrawingSchedules = { targets: [], products: new Map(), now: 0 };

/** The schedules of the contracts. One query if none has subscriptions. */
export async function loadDrawingSchedules(
  db: Database | Transaction,
  contracts: readonly Contract[],
  now: Instant,
): Promise<DrawingSchedules> {
  const ids = await contractsWithSubscriptions(
    db,
    contracts.map(({ id }) => id),
  );
  const subscribing = contracts.filter(({ id }) => ids.has(id));
  if (subscribing.length === 0) return { ...NO_SCHEDULES, now };
  const schedules = await loadOpenSchedules(db, subscribing, now);
  const targets = [...schedules.values()]
    .flatMap((schedule) => schedule.targets)
    .filter(mayDraw)
    .sort(compareScheduled);
  return { targets, products: await loadItemProducts(db, targets), now };
}

/** The order in which SCHEDULED invoices draw on balances that they share. */
export function compareScheduled(a: ScheduledTarget, b: ScheduledTarget): number {
  return a.issueAt - b.issueAt || compareInFamily(a.contract, b.contract);
}

/** Draws for the drafts of SCHEDULED invoices, each once, when it is its turn among the other invoices. */
export interface ScheduledDraws {
  /** Draws for the invoices that are issued at or before `at`, for the customer and all that share its balances. */
  drawUntil(customerId: string, at: Instant): void;
  /** All others. */
  drawAll(): void;
  /** The drawn amounts, by invoice. */
  readonly drafts: ReadonlyMap<string, ScheduledDraft>;
  readonly bookOf: (customerId: string) => BalanceBook;
}

export function createScheduledDraws(
  { targets, products, now }: DrawingSchedules,
  bookOf: (customerId: string) => BalanceBook,
): ScheduledDraws {
  const drafts = new Map<string, ScheduledDraft>();
  const ofBook = groupBy(targets, ({ contract }) => bookOf(contract.customerId));
  const draw = (target: ScheduledTarget) => {
    const { invoiceId, contract } = target;
    if (drafts.has(invoiceId)) return;
    drafts.set(invoiceId, scheduledDraft(target, products, now, bookOf(contract.customerId)));
  };
  return {
    drawUntil(customerId, at) {
      for (const target of ofBook.get(bookOf(customerId)) ?? []) if (target.issueAt <= at) draw(target);
    },
    drawAll() {
      for (const target of targets) draw(target);
    },
    drafts,
    bookOf,
  };
}

/** The times at which balances may pay for the charges of each target. */
export function drawingTimes(targets: readonly ScheduledTarget[]) {
  return targets.flatMap(({ contract: { customerId }, items }) =>
    items.flatMap(({ charge, at }) =>
      charge === null
        ? []
        : [
            {
              customerId,
              period: {
                start: Math.min(charge.payableAt, at),
                end: Math.max(charge.payableAt, at) + 1,
              },
            },
          ],
    ),
  );
}
