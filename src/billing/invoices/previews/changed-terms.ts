/**
 * The input of the invoices of contracts after a change: the change is applied in a transaction, which is rolled back
 * when everything has been read. So a preview refuses the same as the change itself, and needs no separate rules. Locks
 * are held for these reads of PostgreSQL only; usage is read afterwards.
 */

import { Refusal } from '../../../core/errors.ts';
import { type Interval, intersect } from '../../../core/time.ts';
import type { Transaction } from '../../../store/base/database.ts';
import { type Contract, loadContracts } from '../../../store/contracts/contracts.ts';
import { listInvoiceHeadsOverlapping } from '../../../store/invoices/invoice-lists.ts';
import type { IssuedHead } from '../../../store/invoices/invoices.ts';
import type { SnapshotContext } from '../../billing-context.ts';
import { billsUsage, type InvoiceTarget } from '../../invoice-queue/usage-periods.ts';
import { type PlannedInvoices, planInvoices } from '../compute/plan-invoices.ts';
import { draftPlacesOf } from '../drafts/draft-places.ts';
import type { InvoiceWithWarnings } from '../drafts/unbilled-usage.ts';
import { itemsOf } from '../issued/original.ts';
import { scheduledOf } from '../read/read-invoices.ts';
import { type JoinedSchedule, NOTHING_JOINED, pricedItems } from '../scheduled/joined-lines.ts';

/** Invoices of some contracts before and after a change. */
export interface ChangedTerms {
  /** Finalized usage invoices. */
  readonly issued: readonly IssuedHead[];
  readonly before: OpenInvoices;
  /** With the periods of the issued ones, as they would be billed now. */
  readonly after: OpenInvoices;
}

interface OpenInvoices {
  readonly usage: PlannedInvoices;
  readonly scheduled: readonly InvoiceWithWarnings[];
}

/** Issued invoices of one answer: each is computed again. */
const ISSUED_MAX = 500;

/**
 * Invoices whose period overlaps `range`, and scheduled ones with their date in it. Refuses more than 500 issued ones
 * (`too_large`), and the same as `change`.
 */
export async function changedTerms(
  billing: SnapshotContext,
  contracts: readonly Contract[],
  range: Interval,
  change: () => Promise<void>,
): Promise<ChangedTerms> {
  const ids = contracts.map(({ id }) => id);
  const issued = await issuedInvoices(billing.db, ids, range);
  const before = await openInvoices(billing, contracts, range, []);
  await change();
  const changed = await loadContracts(billing.db, { ids });
  return { issued, before, after: await openInvoices(billing, changed, range, issued) };
}

async function issuedInvoices(
  db: Transaction,
  contractIds: readonly string[],
  range: Interval,
): Promise<IssuedHead[]> {
  if (contractIds.length === 0) return [];
  const found = await listInvoiceHeadsOverlapping(
    db,
    { contractIds, status: 'FINALIZED', type: 'USAGE' },
    range,
    { order: 'ascending', limit: ISSUED_MAX + 1 },
  );
  if (found.length <= ISSUED_MAX) return found;
  throw new Refusal(
    'too_large',
    `more than ${ISSUED_MAX} issued invoices would be computed again; ask for a shorter time or fewer customers`,
  );
}

async function openInvoices(
  billing: SnapshotContext,
  contracts: readonly Contract[],
  range: Interval,
  issued: readonly IssuedHead[],
): Promise<OpenInvoices> {
  const places = await draftPlacesOf(billing, contracts, {});
  const drafts = places.flatMap((place) =>
    place.kind === 'usage' && intersect(place.target.period, range) !== null ? [place.target] : [],
  );
  const scheduled = places.flatMap((place) =>
    place.kind === 'scheduled' && place.target.at >= range.start && place.target.at < range.end
      ? [place.target]
      : [],
  );
  const again = issuedAgain(contracts, issued);
  // They may take the same amounts from balances again.
  const plan = await planInvoices(
    billing.db,
    [...again.map(({ target }) => target), ...drafts],
    billing.clock.now(),
    { invoices: again.map(({ invoice }) => invoice.id) },
  );
  const joined = await itemsOnIssued(billing, again);
  return {
    usage: { ...plan, context: { ...plan.context, joined: bothOf(plan.context.joined, joined) } },
    scheduled: await scheduledOf(billing, scheduled),
  };
}

interface IssuedAgain {
  readonly invoice: IssuedHead;
  readonly target: InvoiceTarget;
}

/** The periods of issued invoices, as far as the contract still has them. */
function issuedAgain(contracts: readonly Contract[], issued: readonly IssuedHead[]): IssuedAgain[] {
  const byId = new Map(contracts.map((contract) => [contract.id, contract]));
  return issued.flatMap((invoice) => {
    const contract = byId.get(invoice.contractId);
    if (contract === undefined || !billsUsage(contract)) return [];
    const end = Math.min(invoice.period.end, contract.endingBefore ?? invoice.period.end);
    if (end <= invoice.period.start) return [];
    return [{ invoice, target: { contract, period: { ...invoice.period, end } } }];
  });
}

/** The scheduled items that are on them. */
async function itemsOnIssued(
  { db, clock }: SnapshotContext,
  again: readonly IssuedAgain[],
): Promise<Map<string, JoinedSchedule>> {
  const joined = new Map<string, JoinedSchedule>();
  for (const { invoice, target } of again) {
    const { contract, period } = target;
    const { items, prices } = await itemsOf(db, { invoice, contract }, clock.now());
    if (items.length === 0) continue;
    const priced = await pricedItems(
      db,
      items.map((item) => ({ item, periodEnd: period.end })),
    );
    const before = joined.get(contract.id)?.items ?? [];
    joined.set(contract.id, { items: [...before, ...priced], prices });
  }
  return joined;
}

function bothOf(
  a: ReadonlyMap<string, JoinedSchedule>,
  b: ReadonlyMap<string, JoinedSchedule>,
): Map<string, JoinedSchedule> {
  const ids = new Set([...a.keys(), ...b.keys()]);
  return new Map(
    [...ids].map((id) => {
      const [one = NOTHING_JOINED, other = NOTHING_JOINED] = [a.get(id), b.get(id)];
      return [id, { items: [...one.items, ...other.items], prices: one.prices ?? other.prices }];
    }),
  );
}
