/** The prices of an evaluation: the amounts that events, holds and questions take on its drafts. */
import { type Decimal, maximum, ONE, ZERO } from '../../core/decimal.ts';
import type { Hold } from '../../core/hold.ts';
import { contains, type Instant } from '../../core/time.ts';
import { isUnrestricted } from '../../rating/balances/buckets.ts';
import { type ChargeClass, periodKey } from '../../rating/holds/charged-slot.ts';
import type { Evaluation, HeldEvent } from '../../rating/holds/family-view.ts';
import type { HoldPart } from '../../rating/holds/hold-book.ts';
import {
  type HeldDraft,
  isPrepaid,
  type MatchNeed,
  type NotCharged,
  type PricedEvent,
} from '../../rating/holds/price-event.ts';
import { type AskedQuantity, isEstimated, matcherOf, usageOf } from './count-event.ts';
import type { EvaluatedFamily } from './evaluate-families.ts';

/** An event that is to be held, or that was used already. */
export type Charged = { readonly event: HeldEvent } | HeldAmount;

interface HeldAmount {
  readonly amount: Decimal;
  readonly creditTypeId: string;
  readonly at: Instant;
}

/** A question about usage without a hold. With a product, the event has its group values only. */
export interface Asked {
  readonly event: HeldEvent;
  readonly productId: string | null;
  /** Null: the quantity of the event, or 1. */
  readonly quantity: Decimal | null;
}

export class FamilyPrices implements Evaluation {
  readonly evaluated: EvaluatedFamily;
  /** Whether usage may be counted too high: a repeated UNIQUE value counts as a new one. */
  readonly isEstimated: boolean;

  constructor(evaluated: EvaluatedFamily) {
    this.evaluated = evaluated;
    this.isEstimated = isEstimateOf(evaluated);
  }

  terms(): string {
    const { customerIds, customerOf, seen } = this.evaluated;
    const accounts = seen.map(({ customerId, changes, prices }) => `${customerId} ${changes} ${prices}`);
    return JSON.stringify([customerIds, [...customerOf], accounts.sort()]);
  }

  /** The amounts that the event takes, or why it cannot be charged. */
  partsOf(customerId: string, charged: Charged): readonly HoldPart[] | NotCharged {
    return 'event' in charged
      ? this.partsOfEvent(customerId, charged.event)
      : this.partsOfAmount(customerId, charged);
  }

  partsOfEvent(customerId: string, event: HeldEvent): readonly HoldPart[] | NotCharged {
    return this.partsOfMatch(customerId, event, matcherOf(event, this.evaluated.metrics));
  }

  private partsOfMatch(
    customerId: string,
    { timestamp }: Pick<HeldEvent, 'timestamp'>,
    match: MatchNeed,
  ): readonly HoldPart[] | NotCharged {
    const drafts = this.evaluated.drafts.get(customerId) ?? [];
    const open = drafts.filter(({ draft }) => contains(draft.period, timestamp));
    if (open.length === 0) return drafts.length === 0 ? 'unpriced' : 'not_priceable';
    return joined(open.map(({ pricer }) => pricer.price(timestamp, match)));
  }

  /** The amounts of usage without a hold. `unknown_product`: no open draft of the customer has the product. */
  partsOfAsked(
    customerId: string,
    { event, productId, quantity }: Asked,
  ): readonly HoldPart[] | NotCharged | 'unknown_product' {
    const { metrics, drafts } = this.evaluated;
    const asked: AskedQuantity = { quantity: quantity ?? ONE, isDefault: quantity === null };
    if (productId === null) return this.partsOfMatch(customerId, event, matcherOf(event, metrics, asked));
    const match = usageOf(event, metrics, asked.quantity);
    const priced = (drafts.get(customerId) ?? [])
      .filter(({ draft }) => contains(draft.period, event.timestamp))
      .flatMap(({ pricer }) => pricer.priceProduct(productId, event.timestamp, match) ?? []);
    return priced.length === 0 ? 'unknown_product' : joined(priced);
  }

  /**
   * An amount is taken from balances without restrictions that pay for every contract of the customer. An amount in a
   * custom unit without a balance is converted, as it would be billed.
   */
  private partsOfAmount(
    customerId: string,
    { amount, creditTypeId, at }: HeldAmount,
  ): readonly HoldPart[] | NotCharged {
    const drafts = this.draftsAt(customerId, at);
    const [first, ...others] = drafts;
    if (first === undefined) return 'unpriced';
    const inUnit = first.buckets.filter(
      (bucket) => isPrepaid(bucket) && bucket.creditTypeId === creditTypeId && contains(bucket.access, at),
    );
    if (inUnit.length === 0) {
      const converted = conversionOf(drafts, { amount, creditTypeId, at });
      if (converted !== null)
        return converted === 'not_priceable' ? converted : this.partsOfAmount(customerId, converted);
      // Limits and charges without a balance are in the currencies of the cards.
      if (!drafts.some(({ input }) => input.fiatCreditTypeId === creditTypeId)) return 'unpriced';
    }
    const ids = inUnit
      .filter((bucket) => !bucket.seat && isUnrestricted(bucket.applicability))
      .map(({ segmentId }) => segmentId)
      .filter((id) => others.every(({ buckets }) => buckets.some(({ segmentId }) => segmentId === id)));
    const hasBalances = inUnit.length > 0;
    // A segment that does not exist has nothing left: balances that do not apply to an amount grant nothing.
    const segmentIds = ids.length === 0 && hasBalances ? [''] : ids;
    return [{ charge: amountClass(customerId, drafts, creditTypeId, segmentIds), amount }];
  }

  private draftsAt(customerId: string, at: Instant): readonly HeldDraft[] {
    const drafts = this.evaluated.drafts.get(customerId) ?? [];
    return drafts.flatMap(({ draft }) => (contains(draft.period, at) ? [draft] : []));
  }

  /** The parts at present prices, or the stored amount if the event can no longer be priced. */
  partsOfHold(hold: Hold): readonly HoldPart[] {
    const { customerId, amount, creditTypeId, eventType, properties, timestamp } = hold;
    const event = eventType === null ? null : heldEvent(eventType, timestamp, properties);
    const parts = event === null ? null : this.partsOfEvent(customerId, event);
    if (parts !== null && typeof parts !== 'string') return parts;
    const own = this.partsOfAmount(customerId, { amount, creditTypeId, at: timestamp });
    if (event === null && typeof own !== 'string') return own;
    const drafts = this.draftsAt(customerId, timestamp);
    const all = (this.evaluated.drafts.get(customerId) ?? []).flatMap(({ draft }) => draft.buckets);
    const ids = all
      .filter((bucket) => isPrepaid(bucket) && bucket.creditTypeId === creditTypeId)
      .map(({ segmentId }) => segmentId);
    return [{ charge: amountClass(customerId, drafts, creditTypeId, [...new Set(ids)]), amount }];
  }
}

function isEstimateOf({ drafts, metrics }: EvaluatedFamily): boolean {
  const needs = [...drafts.values()].flatMap((own) => own.flatMap(({ draft }) => draft.needs));
  return needs.some(({ billableMetricId }) => isEstimated(metrics.get(billableMetricId)));
}

/** The parts in several contracts together. */
function joined(priced: readonly PricedEvent[]): readonly HoldPart[] | NotCharged {
  const parts = priced.flatMap((one) => one.parts);
  const uncharged = new Set(priced.flatMap((one) => [...one.uncharged]));
  const units = new Set(parts.map((part) => ('slot' in part ? part.slot.charge : part.charge).creditTypeId));
  if (uncharged.has('not_priceable') || units.size > 1) return 'not_priceable';
  if (parts.length > 0) return parts;
  return uncharged.has('not_entitled') ? 'not_entitled' : 'unpriced';
}

/** In the currency, if all drafts convert the unit, at the highest rate. Null: nothing to convert. */
function conversionOf(
  drafts: readonly HeldDraft[],
  { amount, creditTypeId, at }: HeldAmount,
): HeldAmount | 'not_priceable' | null {
  const converting = drafts.filter(({ conversions }) => conversions.has(creditTypeId));
  const currencies = new Set(converting.map(({ input }) => input.fiatCreditTypeId));
  const [currency] = currencies;
  if (currency === undefined || currencies.has(creditTypeId)) return null;
  if (currencies.size > 1) return 'not_priceable';
  const worth = converting.reduce(
    (most, { conversions }) => maximum(most, conversions.get(creditTypeId) ?? ZERO),
    ZERO,
  );
  return { amount: amount.times(worth), creditTypeId: currency, at };
}

function amountClass(
  customerId: string,
  drafts: readonly HeldDraft[],
  creditTypeId: string,
  segmentIds: readonly string[],
): ChargeClass {
  const periods = drafts.map(({ contractId, period }) => periodKey(contractId, period.start));
  const key = ['amount', customerId, creditTypeId, ...periods, ...segmentIds].join(' ');
  return { key, periods, creditTypeId, segmentIds };
}

/** `properties`: JSON of names and texts as they are stored. */
export function heldEvent(eventType: string, timestamp: Instant, properties: string | null): HeldEvent {
  const entries: readonly (readonly [string, string])[] = JSON.parse(properties ?? '[]');
  return { eventType, timestamp, properties: new Map(entries) };
}
