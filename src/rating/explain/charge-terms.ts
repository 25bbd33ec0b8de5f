/** The terms that set the price of a charge of a subscription (docs/explanation/subscriptions.md). Pure. */
import type { Decimal } from '../../core/decimal.ts';
import type { SubscriptionInvoiceLine } from '../../core/invoice.ts';
import type { Contract } from '../../core/terms/contract.ts';
import type { Subscription } from '../../core/terms/subscriptions.ts';
import { contains, type Interval } from '../../core/time.ts';
import { periodsUntilNext } from '../periods/subscription-periods.ts';
import { type QuantityStep, quantitySteps } from '../quantities/subscription-quantities.ts';
import { overridesOfKey, type PayerTerms, subscriptionTermsAt } from '../rates/line-terms.ts';
import { indexOverrides } from '../rates/override-index.ts';
import type { ContractOverrides } from '../rates/overrides.ts';
import { rateBook } from '../rates/rate-schedule.ts';
import { hasVolumePrices, listedBands, type PriceBands, reachedBand } from '../rates/tiers.ts';
import { quantityAt } from '../subscriptions/open-quantities.ts';
import type { PricedProducts } from '../subscriptions/prices.ts';
import { explainPrice } from './explain-price.ts';
import type { ExplainedPrice } from './explanation.ts';

export interface ChargeTerms {
  /** The whole billing period, the basis of proration. */
  readonly whole: Interval;
  readonly rounding: Subscription['prorationRounding'];
  /** When the quantity changes in the period up to the end of the charge. Null if unknown. */
  readonly steps: readonly QuantityStep[] | null;
  /** Whether the steps are those that the invoice was computed from. */
  readonly areKept: boolean;
  /** Prices of a whole period, for units paid by the customer or by `payer`. Null: none. */
  pricesFor(payer: PayerTerms | null): WholePrices | null;
}

export interface WholePrices {
  /** The prices of the units up to `units`. */
  bandsFor(units: Decimal): PriceBands;
  /** Explains the price of the tier with this level. */
  explain(level: number | null): ExplainedPrice;
}

/** Null for a charge whose terms are unknown. */
export type ChargeTermsOf = (line: SubscriptionInvoiceLine) => ChargeTerms | null;

export interface ChargeTermsInput extends Pick<PricedProducts, 'fiatCreditTypeId' | 'products'> {
  readonly contract: Contract;
  /** By id. */
  readonly subscriptions: ReadonlyMap<string, Subscription>;
  readonly overrides: ContractOverrides;
  /** Whether the subscriptions are as they were when the invoice was computed. */
  readonly hasQuantities: boolean;
  /** Whether the prices are as they were, too. */
  readonly areKept: boolean;
}

export function createChargeTerms(input: ChargeTermsInput): ChargeTermsOf {
  const { contract, subscriptions, products, fiatCreditTypeId, hasQuantities, areKept } = input;
  const index = indexOverrides(input.overrides);
  const byId = new Map(products.map((one) => [one.product.id, one]));
  return (line) => {
    const subscription = subscriptions.get(line.sourceId);
    const priced = byId.get(line.productId);
    if (subscription === undefined || priced === undefined) return null;
    const { pricedAt: at, billingFrequency } = line;
    const period = periodsUntilNext(contract, subscription, at).find(({ interval }) =>
      contains(interval, at),
    );
    if (period === undefined) return null;
    const { product } = priced;
    const book = rateBook(priced.rateEntries);
    const values = { pricingGroupValues: {}, presentationGroupValues: {} };
    const key = { product, fiatCreditTypeId, billingFrequency, ...values };
    return {
      whole: period.whole,
      rounding: subscription.prorationRounding,
      areKept,
      steps: hasQuantities ? stepsIn(subscription, { start: at, end: line.interval.end }) : null,
      pricesFor(payer) {
        const terms = subscriptionTermsAt(book, index, key, at, payer);
        if (terms === null || !terms.entitled) return null;
        const by = payer === null ? null : { ...payer, usesCommitRate: false };
        const decision = overridesOfKey(index, key, by).decisionAt(at);
        return {
          bandsFor: (units) =>
            hasVolumePrices(terms.rate)
              ? reachedBand(listedBands(terms.rate), units)
              : listedBands(terms.rate),
          explain: (level) => explainPrice(terms, decision, level),
        };
      },
    };
  };
}

function stepsIn(subscription: Subscription, { start, end }: Interval): QuantityStep[] {
  const steps = quantitySteps(subscription);
  const first = { at: start, quantity: quantityAt(steps, start) };
  return [first, ...steps.filter(({ at }) => start < at && at < end)];
}
