/**
 * Fingerprints of what usage invoices are computed from in PostgreSQL. If two are equal, so is the input, down to the
 * last rate: a change between two reads cannot be missed, in whichever table it is.
 */
import { createHash } from 'node:crypto';
import type { PlannedInvoices } from './compute.ts';
import { type InvoiceContext, type PricedCard, termsOf } from './invoice-context.ts';
import { usageInvoiceId } from './usage-periods.ts';

/** By invoice. Covers everything that is loaded, whether or not it has an effect on the period of the invoice. */
export function inputFingerprints({ targets, context }: PlannedInvoices): Map<string, string> {
  // Many contracts share a card, and it may have thousands of rates.
  const cards = new Map([...context.cards].map(([id, card]) => [id, cardFingerprint(card, context)]));
  return new Map(
    targets.map(({ contract, period }) => {
      const terms = termsOf(context, contract);
      const card = cards.get(contract.rateCardId ?? '');
      return [
        usageInvoiceId(contract.id, period.start),
        fingerprintOf([contract, period, card ?? null, terms, context.joined.get(contract.id) ?? []]),
      ];
    }),
  );
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
