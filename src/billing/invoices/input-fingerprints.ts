/**
 * Fingerprints of what usage invoices are computed from in PostgreSQL. If two are equal, so is the input, down to the
 * last rate: a change between two reads cannot be missed, in whichever table it is.
 */
import { createHash } from 'node:crypto';
import { groupBy } from '../../core/group-by.ts';
import type { PlannedInvoices } from './compute.ts';
import { compareDrafts } from './drawdown-order.ts';
import { type InvoiceContext, type PricedCard, termsOf } from './invoice-context.ts';
import { type InvoiceTarget, usageInvoiceId } from './usage-periods.ts';

/** By invoice. Covers everything that is loaded, whether or not it has an effect on the period of the invoice. */
export function inputFingerprints({
  targets,
  earlier,
  scheduled,
  context,
}: PlannedInvoices): Map<string, string> {
  // Many contracts share a card, and it may have thousands of rates.
  const cards = new Map([...context.cards].map(([id, card]) => [id, cardFingerprint(card, context)]));
  const drawing = groupBy(scheduled.targets, ({ contract }) => contract.customerId);
  const inputOf = ({ contract, period }: InvoiceTarget) => [
    contract,
    period,
    cards.get(contract.rateCardId ?? '') ?? null,
    termsOf(context, contract),
    context.joined.get(contract.id) ?? [],
    context.unpriced.get(contract.id) ?? [],
  ];
  return new Map(
    targets.map((target) => {
      const { contract, period } = target;
      const balances = context.balances.get(contract.customerId) ?? null;
      const before =
        balances === null ? [] : drawnBefore(target, [...targets, ...earlier], balances.isShared);
      return [
        usageInvoiceId(contract.id, period.start),
        fingerprintOf([
          ...inputOf(target),
          balances,
          before.map(inputOf),
          drawing.get(contract.customerId) ?? [],
        ]),
      ];
    }),
  );
}

/** What earlier drafts take from the same balances is part of the input. */
function drawnBefore(
  target: InvoiceTarget,
  drafts: readonly InvoiceTarget[],
  isShared: boolean,
): InvoiceTarget[] {
  return drafts
    .filter(
      (draft) =>
        draft.contract.customerId === target.contract.customerId &&
        (isShared || draft.contract.id === target.contract.id) &&
        compareDrafts(draft, target) < 0,
    )
    .sort(compareDrafts);
}

function cardFingerprint({ terms }: PricedCard, { metrics }: InvoiceContext): string {
  const versions = terms.products.flatMap(({ product }) => product.versions);
  const counted = versions.map(({ billableMetricId }) => metrics.get(billableMetricId ?? '') ?? null);
  return fingerprintOf([terms, counted]);
}

/** JSON has every decimal as text, and the members of an object in the order in which it was built. */
function fingerprintOf(input: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(input)).digest('base64');
}
