/** The drafts that alerts are compared with. */
import type { BalanceDeduction } from '../../core/terms/ledger.ts';
import type { Instant } from '../../core/time.ts';
import type { Contract } from '../../store/contracts/contracts.ts';
import { createBooks } from '../balances/books.ts';
import type { SnapshotContext } from '../billing-context.ts';
import { NO_ALARMS } from '../invoice-log/invoice-alarms.ts';
import type { InvoiceTarget } from '../invoice-queue/usage-periods.ts';
import { type ComputedDraft, computeDrafts } from '../invoices/compute/compute.ts';
import { planInvoices } from '../invoices/compute/plan-invoices.ts';
import { deductionsOfDrafts } from '../invoices/drafts/deductions.ts';
import { draftPlacesOf } from '../invoices/drafts/draft-places.ts';
import { createScheduledDraws } from '../invoices/scheduled/drawing.ts';
import { draftMoment } from '../invoices/usage/draft-moment.ts';

export interface AlertDrafts {
  /** Drafts of usage invoices. */
  readonly drafts: readonly { readonly target: InvoiceTarget; readonly draft: ComputedDraft }[];
  /** The amounts that all drafts take from balances. */
  readonly deductions: readonly BalanceDeduction[];
  /**
   * Customers with a draft that could not be computed completely, including drafts of children that draw on their
   * balances.
   */
  readonly unknown: ReadonlySet<string>;
}

export const NO_DRAFTS: AlertDrafts = { drafts: [], deductions: [], unknown: new Set() };

/** One computation for all contracts. `children` draw on balances that parents among these customers share. */
export async function computedDrafts(
  billing: SnapshotContext,
  contracts: readonly Contract[],
  children: readonly Contract[],
  now: Instant,
): Promise<AlertDrafts> {
  const all = [...new Map([...contracts, ...children].map((contract) => [contract.id, contract])).values()];
  const places = await draftPlacesOf(billing, all, { type: 'USAGE' });
  const targets = places.flatMap((place) => (place.kind === 'usage' ? [place.target] : []));
  const plan = await planInvoices(billing.db, targets, now, { schedulesOf: all });
  const draws = createScheduledDraws(plan.scheduled, createBooks(plan.context.balances));
  const countedUpTo = await draftMoment(billing.eventFacts, plan);
  const computed = await computeDrafts({ ...billing, alarms: NO_ALARMS }, plan, countedUpTo, draws);
  draws.drawAll();
  const drafts = computed.flatMap((draft, index) => {
    const target = targets[index];
    return target === undefined ? [] : [{ target, draft }];
  });
  const own = new Set(contracts.map(({ id }) => id));
  const parents = new Map(children.map(({ id, parent }) => [id, parent?.customerId]));
  const incomplete = drafts.filter(({ draft }) => isIncomplete(draft)).map(({ target }) => target.contract);
  return {
    drafts: drafts.filter(({ target }) => own.has(target.contract.id)),
    deductions: deductionsOfDrafts([...computed, ...draws.drafts.values()]),
    unknown: new Set(incomplete.flatMap(({ id, customerId }) => [customerId, parents.get(id) ?? customerId])),
  };
}

function isIncomplete({ warnings }: ComputedDraft): boolean {
  return warnings.some(({ kind }) => kind === 'not_computed' || kind === 'metric_not_evaluated');
}
