/**
 * The charge for an event on a draft, by the rules of invoices (docs/explanation/holds.md, "What an event costs"): the
 * counters that it extends, at the rates of its time, with the balances that may pay. Pure.
 */
import type { Product } from '../../core/catalogue.ts';
import { type Decimal, ZERO } from '../../core/decimal.ts';
import type { BilledPeriod } from '../../core/invoice.ts';
import { contains, HOUR_MS, type Instant, intersect } from '../../core/time.ts';
import { cumulativeAt } from '../../core/usage-series.ts';
import { type Bucket, isUnrestricted } from '../balances/buckets.ts';
import type { Claim, Claimant } from '../balances/draw-down.ts';
import { type ChargedKey, type ChargingContext, chargedKey, claimsOfKey } from '../invoices/charged-keys.ts';
import type { InvoiceTermsInput } from '../invoices/rate-invoice.ts';
import type { ProductOnCard } from '../lines/types.ts';
import { type GroupValues, groupValuesKey, pickGroupValues, sortedKeys } from '../quantities/group-values.ts';
import {
  type CounterRun,
  counterRuns,
  needKey,
  type SettingsSpan,
  versionAt,
} from '../quantities/product-spans.ts';
import type { UsageNeed } from '../quantities/usage-need.ts';
import { indexOverrides } from '../rates/override-index.ts';
import { type PriceBands, sameBands } from '../rates/tiers.ts';
import { lineKeys, type UsageIndex } from '../usage/line-key.ts';
import { groupsOfProducts } from '../usage/own-groups.ts';
import { segmentsOf } from '../usage/segments.ts';
import {
  type ChargeClass,
  type Growth,
  highestPrice,
  lowestPrice,
  periodKey,
  type SlotBilling,
  type SlotTerms,
} from './charged-slot.ts';
import type { ClaimPlace } from './claim-place.ts';
import { claimPlace } from './claim-place.ts';
import type { HoldPart } from './hold-book.ts';
import { volumeShift } from './volume-cost.ts';

/** The usage that a metric counts for an event. */
export interface CountedUsage {
  readonly growth: Growth;
  readonly value: Decimal;
  readonly groupValues: GroupValues;
}

/** Null: the metric does not count the event. */
export type MatchNeed = (need: UsageNeed) => CountedUsage | 'not_priceable' | null;

/** A draft as of an evaluation. */
export interface HeldDraft {
  readonly contractId: string;
  /** Its position in the order in which drafts are drawn down. */
  readonly order: number;
  readonly period: BilledPeriod;
  readonly input: Omit<InvoiceTermsInput, 'products'>;
  readonly needs: readonly UsageNeed[];
  /** The products for these groups of usage. */
  productsFor(values: readonly GroupValues[]): readonly ProductOnCard[];
  /** A product on the card. Composites depend on the charges of other products. */
  findProduct(id: string): ProductOnCard | 'composite' | null;
  /** Null: the usage does not fit into memory. */
  readonly usage: UsageIndex | null;
  readonly failedMetrics: ReadonlySet<string>;
  /** The balances that may pay for something on the draft, in burn-down order. */
  readonly buckets: readonly Bucket[];
  /** The value of one custom unit in the currency of the card. */
  readonly conversions: ReadonlyMap<string, Decimal>;
}

/** Why a product has no charge. */
export type NotCharged = 'not_entitled' | 'unpriced' | 'not_priceable';

export interface PricedEvent {
  readonly parts: readonly HoldPart[];
  readonly uncharged: ReadonlySet<NotCharged>;
}

export interface EventPricer {
  /** Prices as of the evaluation. `at`: the timestamp of the event. */
  price(at: Instant, match: MatchNeed): PricedEvent;
  /** Prices usage of a single product. Null: the draft has no such product. */
  priceProduct(productId: string, at: Instant, match: MatchNeed): PricedEvent | null;
}

export function createEventPricer(draft: HeldDraft): EventPricer {
  const { input, period, buckets } = draft;
  const overrides = indexOverrides(input.overrides);
  const context: ChargingContext = {
    fiatCreditTypeId: input.fiatCreditTypeId,
    billed: { start: period.start, end: period.end },
    overrides,
    claimants:
      buckets.length === 0 ? null : { buckets, hasCommitSpecificPrices: overrides.hasCommitSpecific },
  };
  const runs = new Map<string, readonly CounterRun[]>();
  const slots = new Map<string, SlotTerms | NotCharged>();
  // Composites depend on the charges of other products.
  const isPriceable = draft.usage !== null && input.composites.length === 0;
  const runsOf = (product: Product) => {
    const known = runs.get(product.id) ?? counterRuns(product, period, input.usageFilters);
    runs.set(product.id, known);
    return known;
  };

  function priceOf(
    products: readonly ProductOnCard[],
    counted: ReadonlyMap<string, CountedUsage>,
    at: Instant,
  ): PricedEvent {
    const parts: HoldPart[] = [];
    const uncharged = new Set<NotCharged>();
    for (const { one, run, span } of spansAt(products, runsOf, at)) {
      const usage = counted.get(needKey(span.need));
      if (usage === undefined) continue;
      const groupKey = keyOf(span.need, usage.groupValues);
      const place = { one, run, at, usage, groupKey };
      if (isOthers(draft, place)) continue;
      const text = `${one.product.id} ${groupKey} ${Math.floor(at / HOUR_MS)}`;
      const slot = slots.get(text) ?? slotAt(draft, context, place);
      slots.set(text, slot);
      if (typeof slot === 'string') uncharged.add(slot);
      else parts.push({ slot, value: usage.value });
    }
    return { parts, uncharged };
  }

  return {
    price(at, match) {
      const counted = contains(period, at) ? countedNeeds(draft, draft.needs, match) : 'not_priceable';
      if (counted === 'not_priceable') return NOT_PRICEABLE;
      if (counted.size === 0) return NOTHING;
      if (!isPriceable) return NOT_PRICEABLE;
      const values = [...counted.values()].map(({ groupValues }) => groupValues);
      return priceOf(draft.productsFor(values), counted, at);
    },
    priceProduct(productId, at, match) {
      const one = draft.findProduct(productId);
      if (one === null) return null;
      if (one === 'composite' || !isPriceable || !contains(period, at)) return NOT_PRICEABLE;
      const spans = [...spansAt([one], runsOf, at)];
      const needs = spans.map(({ span }) => span.need);
      const counted = countedNeeds(draft, needs, match);
      return counted === 'not_priceable' ? NOT_PRICEABLE : priceOf([one], counted, at);
    },
  };
}

const NOT_PRICEABLE: PricedEvent = { parts: [], uncharged: new Set(['not_priceable']) };
const NOTHING: PricedEvent = { parts: [], uncharged: new Set() };

function countedNeeds(
  { failedMetrics }: HeldDraft,
  needs: readonly UsageNeed[],
  match: MatchNeed,
): Map<string, CountedUsage> | 'not_priceable' {
  const counted = new Map<string, CountedUsage>();
  for (const need of needs) {
    const usage = match(need);
    if (usage === null) continue;
    if (usage === 'not_priceable' || failedMetrics.has(need.billableMetricId)) return 'not_priceable';
    counted.set(needKey(need), usage);
  }
  return counted;
}

interface ProductAt {
  readonly one: ProductOnCard;
  readonly run: CounterRun;
  readonly span: SettingsSpan;
}

function* spansAt(
  products: readonly ProductOnCard[],
  runsOf: (product: Product) => readonly CounterRun[],
  at: Instant,
): Generator<ProductAt> {
  for (const one of products) {
    const run = runsOf(one.product).find(({ interval }) => contains(interval, at));
    const span = run?.spans.find(({ interval }) => contains(interval, at));
    if (run !== undefined && span !== undefined) yield { one, run, span };
  }
}

function keyOf({ groupKeys }: UsageNeed, values: GroupValues): string {
  return groupValuesKey(pickGroupValues(values, sortedKeys(groupKeys)));
}

/** The usage of one group, for all needs of the run; empty for a new group. */
function usageOfGroup(
  draft: HeldDraft,
  run: CounterRun,
  groupKey: string,
  groupValues: GroupValues,
): UsageIndex {
  return new Map(
    run.spans.map(({ need }) => {
      const own = draft.usage?.get(needKey(need))?.get(groupKey);
      const values = pickGroupValues(groupValues, sortedKeys(need.groupKeys));
      return [needKey(need), new Map([[groupKey, own ?? { groupValues: values, steps: [] }]])] as const;
    }),
  );
}

/** Whether another product of a managed card bills this group. */
function isOthers(draft: HeldDraft, { one: { product, rates }, run, groupKey, usage }: SlotPlace): boolean {
  const own = { product, rates, runs: [run] };
  const index = usageOfGroup(draft, run, groupKey, usage.groupValues);
  const { overrides } = draft.input.overrides;
  const billed = groupsOfProducts([own], index, overrides, draft.period.end - 1).billed(own, run);
  return billed !== null && !billed.includes(groupKey);
}

interface SlotPlace {
  readonly one: ProductOnCard;
  readonly run: CounterRun;
  readonly at: Instant;
  readonly usage: CountedUsage;
  readonly groupKey: string;
}

function slotAt(draft: HeldDraft, context: ChargingContext, place: SlotPlace): SlotTerms | NotCharged {
  const { one, run, at, usage, groupKey } = place;
  const index = usageOfGroup(draft, run, groupKey, usage.groupValues);
  const [key] = lineKeys(run, index, [groupKey]);
  if (key === undefined) return 'not_priceable';
  const charged = chargedKey(one.product, key, one.rates, context);
  const position = charged.billed.findIndex(({ segment }) => contains(segment.interval, at));
  const billed = charged.billed[position];
  if (billed === undefined) return unchargedAt(charged, one, context, at);
  const later = laterPerUnit(charged, position, usage);
  if (later === 'not_priceable') return later;
  // Rounding of quantities makes the shift of later usage unpredictable.
  if (later !== null && versionAt(one.product, at).quantityRounding !== null) return 'not_priceable';
  const claims = claimsOfKey(charged, one.rates, context).flatMap((own) => own.claims);
  const claim = claims.find(({ interval }) => contains(interval, at)) ?? null;
  const volume = volumeShift(charged, billed, claims);
  const payers = claim?.claimants.filter(({ bucket }) => isPrepaid(bucket)) ?? [];
  const charge = chargeOf(draft, billed.terms.creditTypeId, payers);
  if (charge === null) return 'not_priceable';
  const { segment } = billed;
  const drawnAt = volume === null ? placeOf(draft, billed, claim, charge.factor) : null;
  return {
    key: `${draft.contractId} ${charged.text} ${segment.interval.start} ${charge.key}`,
    charge: charge.class,
    place: drawnAt,
    priceLists: payers.length === 0 ? [billed.bands] : distinctBands(payers),
    growth: usage.growth,
    value: cumulativeAt(segment.piece.series, segment.interval.end),
    positionOf: segment.piece.positionOf,
    factor: charge.factor,
    laterPerUnit: later,
    volume,
    billing: {
      prices:
        volume === null
          ? billingPrices(billed, claim, {
              ...{ later, isPlaced: drawnAt !== null, isConverted: charge.factor !== null },
              isOneUnit: billed.terms.creditTypeId === charge.class.creditTypeId,
            })
          : 'unknown',
      claim: charge.factor === null && charge.class.segmentIds.length > 0 ? claim : null,
    },
  };
}

/** Whether the price of usage on the invoice depends on its payer, and whether the payer is known. */
function billingPrices(
  { segment, bands }: ChargedKey['billed'][number],
  claim: Claim | null,
  {
    later,
    isPlaced,
    isConverted,
    isOneUnit,
  }: {
    readonly later: Decimal | null;
    readonly isPlaced: boolean;
    readonly isConverted: boolean;
    readonly isOneUnit: boolean;
  },
): SlotBilling['prices'] {
  const lists = [bands, ...(claim?.claimants ?? []).map((one) => one.bands)];
  const isFlat = lists.every(({ length }) => length === 1);
  // Earlier usage moves later usage to other tiers.
  if (later !== null && !(isFlat && later.eq(ZERO))) return 'unknown';
  if (isConverted || lists.every((one) => sameBands(one, bands))) return 'alike';
  const isAtEnd = claim?.interval.end === segment.interval.end;
  return isPlaced && isOneUnit && (isFlat || isAtEnd) ? 'drawn' : 'unknown';
}

function unchargedAt(
  { priced }: ChargedKey,
  { rates }: ProductOnCard,
  { overrides, billed }: ChargingContext,
  at: Instant,
): NotCharged {
  const segment = segmentsOf(priced, rates, overrides, billed).find(({ interval }) => contains(interval, at));
  return segment === undefined || segment.entitled ? 'unpriced' : 'not_entitled';
}

/** The price change per unit of later usage, which moves when usage is inserted before it; null: there is none. */
function laterPerUnit(
  { billed }: ChargedKey,
  place: number,
  { growth }: CountedUsage,
): Decimal | null | 'not_priceable' {
  const later = billed.slice(place + 1).filter(({ movement }) => !movement.low.eq(movement.high));
  if (later.length === 0) return null;
  const here = billed[place]?.segment.piece;
  const isPlain = growth === 'sum' && later.every(({ segment }) => segment.piece === here);
  // A maximum, and rounding of quantities, make the shift unpredictable.
  if (!isPlain) return 'not_priceable';
  return later.reduce((total, { bands }) => total.plus(highestPrice(bands).minus(lowestPrice(bands))), ZERO);
}

/** Null if the first unit of the claim depends on earlier usage. */
function placeOf(
  { order, period }: HeldDraft,
  { segment, bands }: ChargedKey['billed'][number],
  claim: Claim | null,
  worth: Decimal | null,
): ClaimPlace | null {
  if (worth !== null)
    return {
      ...{ draft: order, productType: 'FIXED', interval: period, unitPrice: worth },
      ...{ name: '', groupValues: '' },
    };
  if (claim === null) return null;
  const isFirst = claim.from.eq(ZERO) && claim.interval.start === segment.interval.start;
  return bands.length > 1 && !isFirst ? null : claimPlace(order, claim);
}

export function isPrepaid({ commitType }: Bucket): boolean {
  return commitType !== 'POSTPAID';
}

function distinctBands(payers: readonly Claimant[]): PriceBands[] {
  const distinct: PriceBands[] = [];
  for (const { bands } of payers) if (!distinct.some((one) => sameBands(one, bands))) distinct.push(bands);
  return distinct;
}

/** Null if the payers have different units. */
function chargeOf(
  draft: HeldDraft,
  listUnit: string,
  payers: readonly Claimant[],
): { readonly key: string; readonly class: ChargeClass; readonly factor: Decimal | null } | null {
  const units = new Set(payers.map(({ bucket }) => bucket.creditTypeId));
  if (units.size > 1) return null;
  const [unit = listUnit] = units;
  const worth = payers.length > 0 ? undefined : draft.conversions.get(unit);
  const creditTypeId = worth === undefined ? unit : draft.input.fiatCreditTypeId;
  const buckets = worth === undefined ? payers.map(({ bucket }) => bucket) : convertedPayers(draft);
  const segmentIds = buckets.map(({ segmentId }) => segmentId);
  const own = draftCharge(draft, creditTypeId, segmentIds);
  return { key: own.key, class: own, factor: worth ?? null };
}

/** The class of the draft's charges in one unit, by the same balances. */
export function draftCharge(
  { contractId, period }: Pick<HeldDraft, 'contractId' | 'period'>,
  creditTypeId: string,
  segmentIds: readonly string[],
): ChargeClass {
  const key = [contractId, period.start, creditTypeId, ...segmentIds].join(' ');
  return { key, periods: [periodKey(contractId, period.start)], creditTypeId, segmentIds };
}

/** The balances that may pay for the conversion of a custom unit. */
function convertedPayers({ buckets, period, input }: HeldDraft): Bucket[] {
  return buckets.filter(
    (bucket) =>
      isPrepaid(bucket) &&
      !bucket.seat &&
      isUnrestricted(bucket.applicability) &&
      bucket.creditTypeId === input.fiatCreditTypeId &&
      intersect(bucket.access, period) !== null,
  );
}
