/**
 * The order in which drafts of one customer draw on its balances: by end, start, start of the contract and its id
 * (docs/drawdown.md, "Several invoices").
 */
import { groupBy } from '../../core/group-by.ts';
import { compareText } from '../../rating/usage/group-values.ts';
import { type Contract, loadContracts } from '../../store/contracts.ts';
import type { Database, Transaction } from '../../store/database.ts';
import { lastIssuedPeriodEnds } from '../../store/issued-periods.ts';
import type { CustomerBalances } from '../balances/books.ts';
import { type InvoiceTarget, openPeriods } from './usage-periods.ts';

/** Drafts of different customers have no order among them, but the sort needs one. */
export function compareDrafts(a: InvoiceTarget, b: InvoiceTarget): number {
  return (
    a.period.end - b.period.end ||
    a.period.start - b.period.start ||
    a.contract.startingAt - b.contract.startingAt ||
    compareText(a.contract.id, b.contract.id)
  );
}

/** The drafts that are not among the targets and draw on balances of the same customers before one of these. */
export async function earlierDrafts(
  db: Database | Transaction,
  targets: readonly InvoiceTarget[],
  balances: CustomerBalances,
): Promise<InvoiceTarget[]> {
  const drawing = targets.filter(({ contract }) => balances.has(contract.customerId));
  if (drawing.length === 0) return [];
  const contracts = await sharingContracts(
    db,
    drawing.map(({ contract }) => contract),
    balances,
  );
  const issuedUntil = await lastIssuedPeriodEnds(
    db,
    contracts.map(({ id }) => id),
  );
  const known = new Set(drawing.map(keyOf));
  const lastOf = new Map<string, InvoiceTarget>();
  for (const target of drawing) {
    const last = lastOf.get(target.contract.customerId);
    if (last === undefined || compareDrafts(last, target) < 0) lastOf.set(target.contract.customerId, target);
  }
  return contracts.flatMap((contract) => {
    const last = lastOf.get(contract.customerId);
    if (last === undefined) return [];
    return openPeriods(contract, issuedUntil.get(contract.id), last.period.end - 1)
      .map((period) => ({ contract, period }))
      .filter((draft) => !known.has(keyOf(draft)) && compareDrafts(draft, last) < 0);
  });
}

/** All contracts of a customer if some balance is shared between them, else the given ones. */
export async function sharingContracts(
  db: Database | Transaction,
  own: readonly Contract[],
  balances: CustomerBalances,
): Promise<Contract[]> {
  const byCustomer = groupBy(own, ({ customerId }) => customerId);
  const sharing = [...byCustomer.keys()].filter((id) => balances.get(id)?.isShared === true);
  const shared = sharing.length === 0 ? [] : await loadContracts(db, { customerIds: sharing });
  return [...new Map([...shared, ...own].map((contract) => [contract.id, contract])).values()];
}

function keyOf({ contract, period }: InvoiceTarget): string {
  return `${contract.id} ${period.start}`;
}
