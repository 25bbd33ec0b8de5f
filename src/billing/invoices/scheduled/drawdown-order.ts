/**
 * The order in which drafts draw on the balances that they share (docs/explanation/drawdown.md, "Several invoices"): by
 * end; then contracts without a parent by start, start of the contract and its id, and after them children by the start
 * of their contract and its id.
 */
import { groupBy } from '../../../core/group-by.ts';
import { compareText } from '../../../rating/quantities/group-values.ts';
import type { Database, Transaction } from '../../../store/base/database.ts';
import { type Contract, loadContracts } from '../../../store/contracts/contracts.ts';
import { lastIssuedPeriodEnds } from '../../../store/invoices/issued-periods.ts';
import { type Balances, type CustomerBalances, shareBalances } from '../../balances/books.ts';
import { type InvoiceTarget, openPeriods } from '../../invoice-queue/usage-periods.ts';

/** Drafts that share no balance have no order among them, but the sort needs one. */
export function compareDrafts(a: InvoiceTarget, b: InvoiceTarget): number {
  return (
    a.period.end - b.period.end ||
    rankInFamily(a.contract) - rankInFamily(b.contract) ||
    (a.contract.parent === null ? a.period.start - b.period.start : 0) ||
    compareContracts(a.contract, b.contract)
  );
}

/** By start and id; children after all other contracts. */
export function compareInFamily(a: Contract, b: Contract): number {
  return rankInFamily(a) - rankInFamily(b) || compareContracts(a, b);
}

function rankInFamily({ parent }: Contract): number {
  return parent === null ? 0 : 1;
}

function compareContracts(a: Contract, b: Contract): number {
  return a.startingAt - b.startingAt || compareText(a.id, b.id);
}

/** The drafts that are not among the targets and draw on the same balances before one of these. */
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
  const lastFor = lastTargets(drawing, balances);
  return contracts.flatMap((contract) => {
    const last = lastFor(contract);
    if (last === null) return [];
    return openPeriods(contract, issuedUntil.get(contract.id), last.period.end - 1)
      .map((period) => ({ contract, period }))
      .filter((draft) => !known.has(keyOf(draft)) && compareDrafts(draft, last) < 0);
  });
}

/** By contract: the last of the targets that share balances with it. */
function lastTargets(
  targets: readonly InvoiceTarget[],
  balances: CustomerBalances,
): (contract: Contract) => InvoiceTarget | null {
  const inOrder = groupBy(targets.toSorted(compareDrafts).reverse(), ({ contract }) =>
    balances.get(contract.customerId),
  );
  return (contract) => {
    const own = balances.get(contract.customerId);
    if (own === undefined) return null;
    return (
      (inOrder.get(own) ?? []).find((target) => shareBalances(own, target.contract.id, contract.id)) ?? null
    );
  };
}

/** The given contracts, and all with whose invoices theirs share balances. */
export async function sharingContracts(
  db: Database | Transaction,
  own: readonly Contract[],
  balances: CustomerBalances,
): Promise<Contract[]> {
  const ofBalances = groupBy(own, ({ customerId }) => balances.get(customerId));
  const sharing = [...balances].filter(([, one]) => one.sharedBy !== 'none' && ofBalances.has(one));
  const all = await loadContracts(db, { customerIds: sharing.map(([customerId]) => customerId) });
  const shared = all.filter((contract) => {
    const found = balances.get(contract.customerId);
    return found !== undefined && isShared(found, contract, ofBalances.get(found) ?? []);
  });
  return [...new Map([...shared, ...own].map((contract) => [contract.id, contract])).values()];
}

function isShared(balances: Balances, { id }: Contract, own: readonly Contract[]): boolean {
  return own.some((one) => shareBalances(balances, one.id, id));
}

function keyOf({ contract, period }: InvoiceTarget): string {
  return `${contract.id} ${period.start}`;
}
