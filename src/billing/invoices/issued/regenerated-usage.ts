/** Regenerates a usage invoice: its period, with the current usage and terms. */
import { assert, Refusal } from '../../../core/errors.ts';
import type { BilledPeriod } from '../../../core/invoice.ts';
import { inSnapshot, snapshotInstant, type Transaction } from '../../../store/base/database.ts';
import { lockBalances } from '../../../store/invoices/balance-deductions.ts';
import { takeInvoicedItems } from '../../../store/invoices/invoiced-items.ts';
import type { BillingContext } from '../../billing-context.ts';
import { billsUsage } from '../../invoice-queue/usage-periods.ts';
import { beginRun, computeRun } from '../compute/compute-run.ts';
import { inputFingerprints } from '../compute/input-fingerprints.ts';
import { type PlannedInvoices, type PlanOptions, planInvoices } from '../compute/plan-invoices.ts';
import { freezeHours, freezeInvoices, type HourlyFrozenInvoice } from '../freeze/freeze.ts';
import { NO_SCHEDULES } from '../scheduled/drawing.ts';
import { pricedItems } from '../scheduled/joined-lines.ts';
import { type IssueInstead, itemsOf, nothingToBill, type Original } from './original.ts';

/**
 * Computes the invoice. Its hours are in ClickHouse afterwards, under an id without references until it is issued.
 * Refuses (`invalid`) an invoice without any time left, or whose contract no longer has a rate card.
 */
export async function regenerateUsage(billing: BillingContext, original: Original): Promise<IssueInstead> {
  const { plan, termsReadAt } = await inSnapshot(billing.db, async (tx) => ({
    plan: await planOfOriginal(billing, tx, original),
    termsReadAt: await snapshotInstant(tx),
  }));
  const frozen = await computeAndFreezeHours(billing, plan);
  const fingerprint = await fingerprintOf(plan);
  return async (tx, present, identity) => {
    await lockBalances(tx, [present.contract.customerId, ...plan.context.balances.keys()]);
    const now = await planOfOriginal(billing, tx, present);
    if ((await fingerprintOf(now)) !== fingerprint) return false;
    const { invoicedIds } = await itemsOf(tx, present, billing.clock.now());
    await takeInvoicedItems(tx, present.invoice.id, invoicedIds);
    await freezeInvoices(tx, [{ ...frozen, invoice: { ...frozen.invoice, ...identity } }], termsReadAt);
    return true;
  };
}

/**
 * The input of the new invoice, with the scheduled items that were on the original: no other item can join it, because
 * a later one is on a separate invoice.
 */
export async function planOfOriginal(
  billing: BillingContext,
  tx: Transaction,
  original: Original,
  instead: PlanOptions = {},
): Promise<PlannedInvoices> {
  const { contract } = original;
  const period = presentPeriod(original);
  if (period === null) throw nothingToBill(original);
  if (!billsUsage(contract)) throw new Refusal('invalid', `contract ${contract.id} has no rate card`);
  const { targets, context } = await planInvoices(tx, [{ contract, period }], billing.clock.now(), instead);
  const { items, prices } = await itemsOf(tx, original, billing.clock.now());
  const joined = await pricedItems(
    tx,
    items.map((item) => ({ item, periodEnd: period.end })),
  );
  // It is final at once: drafts draw on the balances that it leaves.
  const earlierCharges = context.joined.get(contract.id)?.earlierCharges ?? [];
  const own = new Map([[contract.id, { items: joined, prices, earlierCharges }]]);
  return { targets, earlier: [], scheduled: NO_SCHEDULES, context: { ...context, joined: own } };
}

/**
 * Ends with the contract, which may have been ended or renewed since the original was issued: another contract may bill
 * the time after it.
 */
function presentPeriod({ invoice: { period }, contract: { endingBefore } }: Original): BilledPeriod | null {
  const end = endingBefore === null ? period.end : Math.min(period.end, endingBefore);
  return end <= period.start ? null : { ...period, end };
}

async function computeAndFreezeHours(
  billing: BillingContext,
  plan: PlannedInvoices,
): Promise<HourlyFrozenInvoice> {
  for await (const computed of computeRun(await beginRun(billing, plan), 'hour')) {
    const [frozen] = await freezeHours(billing.clickhouse, [computed]);
    if (frozen !== undefined) return frozen;
  }
  throw new Error('a planned invoice was not computed');
}

async function fingerprintOf(plan: PlannedInvoices): Promise<string> {
  const [fingerprint] = (await inputFingerprints(plan)).values();
  assert(fingerprint !== undefined, 'a planned invoice has a fingerprint');
  return fingerprint;
}
