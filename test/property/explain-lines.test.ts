/** Explanations of random invoices: the figures of every line give the line. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decimal } from '../../src/core/decimal.ts';
import { type InvoiceLine, isSubscriptionLine } from '../../src/core/invoice.ts';
import { createBalanceBook } from '../../src/rating/balances/balance-book.ts';
import { offeredBalances } from '../../src/rating/balances/offered-balances.ts';
import { createCompositeExplainer } from '../../src/rating/explain/explain-composite.ts';
import { explainLine, type LineExplainers } from '../../src/rating/explain/explain-line.ts';
import { createUsageExplainer } from '../../src/rating/explain/explain-usage.ts';
import { lineWindows } from '../../src/rating/invoices/breakdown.ts';
import { type CountedCharges, NO_CHARGES } from '../../src/rating/invoices/rate-invoice.ts';
import type { RatedSubscriptionLine } from '../../src/rating/lines/types.ts';
import { type CompositeCase, compositeCase } from '../support/composite-cases.ts';
import { type DrawdownCase, drawdownCase } from '../support/drawdown-cases.ts';
import { drawnInvoice, ratingInput } from '../support/drawn-invoices.ts';
import { type NaiveMeter, naiveMeter } from '../support/naive/series.ts';
import { rateCase, ratingInputOf } from '../support/rated-charges.ts';
import { runs } from '../support/shares-of-tests.ts';

const RUNS = runs(200);
const RUNS_WITH_BALANCES = runs(400);

/** Charges of subscriptions as lines; explain-charges.test.ts explains their amounts. */
function feeLines({ billed, products }: CountedCharges): RatedSubscriptionLine[] {
  return billed.flatMap((one, index) => {
    const [window] = one.windows;
    const product = products[index];
    if (window === undefined || product === undefined) return [];
    return [
      {
        ...{ ...one, type: 'subscription', name: 'Fee', productType: product.type, productTags: [] },
        ...{ interval: window.window, quantity: window.quantity, unitPrice: one.total, hasMoved: true },
        ...{ scheduleItemId: product.id, sourceId: product.id, isProrated: false, payer: null, tier: null },
        ...{ billingFrequency: 'MONTHLY', pricedAt: window.window.start, unitsBelow: decimal('0') },
      },
    ];
  });
}

/** `kind` of each line, after its figures were compared with it. Conversions here are of usage and composites alone. */
function explainedKinds(all: CompositeCase, meter: NaiveMeter, billed = all.period): string[] {
  const given = { ...all, fees: all.fees.filter(({ creditTypeId }) => creditTypeId === all.currency) };
  const input = ratingInputOf(given, meter, 'hour', billed);
  const { lines: usageLines, conversions } = rateCase(given, meter, 'hour', billed);
  const fees = feeLines(input.charges ?? NO_CHARGES);
  const rated = [...usageLines, ...fees, ...conversions];
  const lines: readonly InvoiceLine[] = rated;
  const explainers = {
    usage: createUsageExplainer({ ...input, events: input.usage, lines, balances: [] }),
    composite: createCompositeExplainer({
      ...{ ...input, lines, balances: [], before: 0, subscribed: given.fees.map(({ product }) => product) },
      base: { lines, hours: lineWindows(rated) },
    }),
    charge: () => null,
    balances: [],
    before: 0,
  };
  return reproducedKinds(lines, explainers);
}

function reproducedKinds(lines: readonly InvoiceLine[], explainers: LineExplainers): string[] {
  return lines
    .filter((line) => !isSubscriptionLine(line))
    .map((line) => {
      const { kind, recomputed, formula } = explainLine(line, lines, explainers);
      // A composite without charges has a zero line, whose tier is that of its counter.
      if (recomputed === null) return `${kind} without a result`;
      const numbers = [recomputed.quantity, recomputed.unitPrice, recomputed.total].map(String);
      expect(numbers).toEqual([line.quantity, line.unitPrice, line.total].map(String));
      expect(formula.length).toBeGreaterThan(0);
      return kind;
    });
}

/** The same for an invoice that balances pay for. */
function explainedKindsOfDrawn(given: DrawdownCase): string[] {
  const book = createBalanceBook(given.buckets);
  const balances = offeredBalances(given.buckets, book);
  const { lines } = drawnInvoice(given, 'hour', book);
  const base = drawnInvoice({ ...given, buckets: [] }).lines;
  const input = ratingInput(given, 'hour');
  return reproducedKinds(lines, {
    usage: createUsageExplainer({ ...input, events: input.usage, lines, balances }),
    composite: createCompositeExplainer({
      ...{ ...input, lines, balances, before: 0, subscribed: [] },
      base: { lines: base, hours: lineWindows(base) },
    }),
    charge: () => null,
    balances,
    before: 0,
  });
}

test('so is every line that balances pay for, every rest, and every line that takes one back', () => {
  const kinds = new Map<string, number>();
  fc.assert(
    fc.property(drawdownCase, (given) => {
      for (const kind of explainedKindsOfDrawn(given)) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    }),
    { numRuns: RUNS_WITH_BALANCES },
  );
  expect([...kinds.keys()].sort()).toEqual(['applied', 'composite', 'conversion', 'minimum', 'usage']);
}, 120_000);

test('every line of a random invoice is given by the figures of its explanation', () => {
  const kinds = new Set<string>();
  fc.assert(
    fc.property(compositeCase, (given) => {
      const meter = naiveMeter(given.metrics, given.events, given.period);
      for (const kind of explainedKinds(given, meter)) kinds.add(kind);
    }),
    { numRuns: RUNS },
  );
  expect([...kinds].sort()).toEqual(['composite', 'conversion', 'minimum', 'usage']);
});

test('so is every line of usage on an invoice that begins inside its billing period', () => {
  const kinds = new Set<string>();
  fc.assert(
    fc.property(compositeCase, (given) => {
      const meter = naiveMeter(given.metrics, given.events, given.period);
      const { start, end } = given.period;
      const middle = start + Math.ceil((end - start) / 7_200_000) * 3_600_000;
      for (const kind of explainedKinds(given, meter, { start: middle, end })) kinds.add(kind);
    }),
    { numRuns: RUNS },
  );
  expect(kinds).toContain('usage');
  expect(kinds).not.toContain('unknown without a result');
});
