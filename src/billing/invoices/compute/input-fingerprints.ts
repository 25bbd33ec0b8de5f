/**
 * Fingerprints of the PostgreSQL input of usage invoices. If two are equal, so is the input, down to the last rate: a
 * change between two reads cannot be missed in any table.
 */
import { groupBy } from '../../../core/group-by.ts';
import { jsonDigestInParts } from '../../../core/json-in-parts.ts';
import { type Balances, shareBalances } from '../../balances/books.ts';
import { type InvoiceTarget, usageInvoiceId } from '../../invoice-queue/usage-periods.ts';
import { compareDrafts } from '../scheduled/drawdown-order.ts';
import { type InvoiceContext, termsOf } from '../terms/invoice-context.ts';
import type { PricedCard } from '../terms/priced-card.ts';
import type { PlannedInvoices } from './plan-invoices.ts';

/**
 * By invoice. Covers everything that is loaded, whether or not it affects the period of the invoice. Other work runs
 * between parts of long input.
 */
export async function inputFingerprints({
  targets,
  earlier,
  scheduled,
  context,
}: PlannedInvoices): Promise<Map<string, string>> {
  // Many contracts share a card, and it may have thousands of rates.
  const cards = new Map<string, string>();
  for (const [id, card] of context.cards) cards.set(id, await cardFingerprint(card, context));
  const balancesOf = ({ contract }: Pick<InvoiceTarget, 'contract'>) =>
    context.balances.get(contract.customerId);
  const drawing = groupBy(scheduled.targets, balancesOf);
  const drafts = groupBy([...targets, ...earlier], balancesOf);
  // Several invoices draw on the same balances, possibly of many customers.
  const drawn = new Map<Balances | undefined, string>();
  for (const balances of new Set(targets.map(balancesOf))) {
    if (balances === undefined) continue;
    drawn.set(balances, await fingerprintOf([balances, drawing.get(balances) ?? []]));
  }
  const inputOf = ({ contract, period }: InvoiceTarget) => [
    contract,
    period,
    cards.get(contract.rateCardId ?? '') ?? null,
    termsOf(context, contract),
    context.joined.get(contract.id) ?? [],
    context.unpriced.get(contract.id) ?? [],
  ];
  const fingerprints = new Map<string, string>();
  for (const target of targets) {
    const { contract, period } = target;
    const balances = balancesOf(target);
    const before = balances === undefined ? [] : drawnBefore(target, drafts.get(balances) ?? [], balances);
    const input = [...inputOf(target), drawn.get(balances) ?? null, before.map(inputOf)];
    fingerprints.set(usageInvoiceId(contract.id, period.start), await fingerprintOf(input));
  }
  return fingerprints;
}

/** The amounts that earlier drafts take from the same balances are part of the input. */
function drawnBefore(
  target: InvoiceTarget,
  drafts: readonly InvoiceTarget[],
  balances: Balances,
): InvoiceTarget[] {
  return drafts
    .filter(
      (draft) =>
        shareBalances(balances, draft.contract.id, target.contract.id) && compareDrafts(draft, target) < 0,
    )
    .sort(compareDrafts);
}

function cardFingerprint({ terms }: PricedCard, { metrics }: InvoiceContext): Promise<string> {
  const versions = terms.products.flatMap(({ product }) => product.versions);
  const counted = versions.map(({ billableMetricId }) => metrics.get(billableMetricId ?? '') ?? null);
  return fingerprintOf([terms, counted]);
}

/** JSON has every decimal as text, and the members of an object in the order in which it was built. */
function fingerprintOf(input: readonly unknown[]): Promise<string> {
  return jsonDigestInParts(input);
}
