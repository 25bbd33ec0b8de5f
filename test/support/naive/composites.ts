/**
 * Composite products, simple and slow: hour by hour, what each composite owes for all that was spent until then,
 * less what it owed an hour before. Amounts are whole 10^-24ths as BigInt, because percentages of percentages
 * have more digits than a double.
 */
import type { CompositeProduct, CompositeVersion, Product, RateEntry } from '../../../src/core/catalogue.ts';
import { HOUR_MS, type Instant } from '../../../src/core/time.ts';
import type { Charge } from './charges.ts';
import { hundredths } from './numbers.ts';
import { type NaiveSubject, naiveApplicable, naiveEntitlement, naiveOverriddenPrice } from './overrides.ts';
import { boundsOf, type NaivePrice, naiveListPrice, naiveRateAt, versionAt } from './rates.ts';
import type { NaiveInput } from './rating.ts';

export interface NaiveCompositeInput extends NaiveInput {
  readonly composites: readonly {
    readonly product: CompositeProduct;
    readonly rateEntries: readonly RateEntry[];
  }[];
  /** Charges of subscriptions on the invoice. */
  readonly fees: readonly NaiveFee[];
  readonly currency: string;
  /** The value of one of each custom unit, in hundredths. */
  readonly worths: ReadonlyMap<string, number>;
}

export interface NaiveFee {
  readonly product: Product;
  readonly creditTypeId: string;
  /** In millionths. */
  readonly total: number;
}

/** A charge of a subscription is in the last hour of its invoice. */
export function naiveFees({ fees, period }: Pick<NaiveCompositeInput, 'fees' | 'period'>): Charge[] {
  return fees.map(({ product, creditTypeId, total }) => ({
    ...{ productId: product.id, pricing: '', presentation: '', at: period.end - HOUR_MS },
    ...{ level: 0, creditTypeId, quantity: 100, total },
  }));
}

/** The charge of a composite in one hour. */
export interface NaiveCompositeCharge {
  readonly productId: string;
  readonly creditTypeId: string;
  readonly at: Instant;
  /** The level of the tier, 0 without tiers; null for a minimum. */
  readonly level: number | null;
  /** In 10^-24ths. */
  readonly quantity: bigint;
  readonly total: bigint;
}

type Composite = NaiveCompositeInput['composites'][number];

/** An hour of one product, in one unit. */
interface Spent {
  readonly productId: string;
  readonly creditTypeId: string;
  readonly amount: bigint;
}

export const PLACES = 24;
/** A charge of usage is in millionths. */
const FROM_MILLIONTHS = 10n ** 18n;
const FROM_HUNDREDTHS = 10n ** 22n;

/** `charges` are those of the usage products and of the subscriptions of the same input. */
export function naiveCompositeCharges(
  input: NaiveCompositeInput,
  charges: readonly Charge[],
): NaiveCompositeCharge[] {
  const found: NaiveCompositeCharge[] = [];
  const free = freeProducts(charges);
  const positions = new Map<string, bigint>();
  const volumes: VolumeBase[] = [];
  for (let at = input.period.start; at < input.period.end; at += HOUR_MS) {
    const usage = charges.flatMap((one): Spent[] =>
      one.at === at && one.creditTypeId !== null
        ? [{ ...one, creditTypeId: one.creditTypeId, amount: BigInt(one.total) * FROM_MILLIONTHS }]
        : [],
    );
    const done = new Map<string, readonly NaiveCompositeCharge[]>();
    const chargesOf = (one: Composite): readonly NaiveCompositeCharge[] => {
      const known = done.get(one.product.id);
      if (known !== undefined) return known;
      const version = versionAt(one.product, at);
      const spent = usage.filter(
        ({ productId }) =>
          isCounted(version, productId, tagsAt(input, productId, at)) &&
          !(version.excludeFreeUsage && free.has(productId)),
      );
      for (const other of input.composites) {
        if (!version.includeCompositeSpend) continue;
        if (!isCounted(version, other.product.id, versionAt(other.product, at).tags)) continue;
        spent.push(...chargesOf(other).map((charge) => ({ ...charge, amount: charge.total })));
      }
      const own = chargeHour(input, one, at, spent, positions, volumes);
      found.push(...own);
      if (at === hourOfMinimum(input, one)) {
        const minimum = minimumOf(input, one, at, found, charges, free);
        own.push(...minimum);
        found.push(...minimum);
      }
      done.set(one.product.id, own);
      return own;
    };
    for (const one of input.composites) chargesOf(one);
  }
  // Lines show the tier that the whole base reached.
  for (const { key, quote, charges: own } of volumes)
    for (const charge of own) charge.level = quote(positions.get(key) ?? 0n).level;
  return found;
}

function chargeHour(
  input: NaiveCompositeInput,
  { product, rateEntries }: Composite,
  at: Instant,
  spent: readonly Spent[],
  positions: Map<string, bigint>,
  volumes: VolumeBase[],
): NaiveCompositeCharge[] {
  const own: NaiveCompositeCharge[] = [];
  for (const creditTypeId of new Set(spent.map((one) => one.creditTypeId))) {
    const key = `${product.id} ${creditTypeId}`;
    const from = positions.get(key) ?? 0n;
    let to = from;
    for (const one of spent) if (one.creditTypeId === creditTypeId) to += one.amount;
    positions.set(key, to);
    const quote = quoteAt(input, product, rateEntries, at);
    const isVolume = quote?.(to)?.isVolume === true;
    if (quote !== null && isVolume) {
      volumes.push({ key, quote, quantity: to - from, total: 0n, charges: [] });
    }
    for (const part of volumes) {
      if (part.key !== key || to === from) continue;
      const total = (part.quantity * BigInt(part.quote(to).price)) / 10_000n;
      const quantity = part.charges.length === 0 ? part.quantity : 0n;
      const charge = {
        ...{ productId: product.id, creditTypeId, at, level: 0 },
        ...{ quantity, total: total - part.total },
      };
      part.total = total;
      part.charges.push(charge);
      own.push(charge);
    }
    if (isVolume) continue;
    const before = owedUntil(input, product, rateEntries, at, from);
    const after = owedUntil(input, product, rateEntries, at, to);
    if (before === null || after === null) continue;
    for (const level of new Set([...before.keys(), ...after.keys()])) {
      const was = before.get(level) ?? { quantity: 0n, total: 0n };
      const is = after.get(level) ?? { quantity: 0n, total: 0n };
      own.push({
        ...{ productId: product.id, creditTypeId, at, level },
        quantity: is.quantity - was.quantity,
        total: is.total - was.total,
      });
    }
  }
  return own;
}

/** A part of a base at volume percentages, with what it was charged so far. */
interface VolumeBase {
  readonly key: string;
  readonly quote: (amount: bigint) => NaivePrice;
  readonly quantity: bigint;
  total: bigint;
  readonly charges: { level: number }[];
}

/** The percentage of an hour if the whole base is so much; null where nothing is charged. */
function quoteAt(
  { overrides, prioritization }: NaiveCompositeInput,
  product: CompositeProduct,
  rateEntries: readonly RateEntry[],
  at: Instant,
): ((amount: bigint) => NaivePrice) | null {
  const who = subjectOf(product, at);
  const list = naiveRateAt(rateEntries, {}, at);
  const applicable = naiveApplicable(overrides, who, at);
  if (!naiveEntitlement(applicable, list?.entitled ?? true)) return null;
  const priceOf = (unit: number) =>
    naiveOverriddenPrice(applicable, prioritization === 'EXPLICIT', who, list?.rate ?? null, unit) ??
    (list === null ? null : naiveListPrice(list.rate, unit));
  const first = priceOf(1);
  if (first === null) return null;
  return (amount) => priceOf(unitOf(amount)) ?? first;
}

/** The number of the last hundredth of an amount, of which a part counts as a whole one. */
function unitOf(amount: bigint): number {
  const whole = amount / FROM_HUNDREDTHS;
  return Number(amount > whole * FROM_HUNDREDTHS ? whole + 1n : whole);
}

/** By tier, what the rate of the hour asks for an amount from 0 on; null where nothing is charged. */
function owedUntil(
  { overrides, prioritization }: NaiveCompositeInput,
  product: CompositeProduct,
  rateEntries: readonly RateEntry[],
  at: Instant,
  amount: bigint,
): Map<number, { quantity: bigint; total: bigint }> | null {
  const who = subjectOf(product, at);
  const list = naiveRateAt(rateEntries, {}, at);
  const applicable = naiveApplicable(overrides, who, at);
  if (!naiveEntitlement(applicable, list?.entitled ?? true)) return null;
  const priceOf = (unit: number) =>
    naiveOverriddenPrice(applicable, prioritization === 'EXPLICIT', who, list?.rate ?? null, unit) ??
    (list === null ? null : naiveListPrice(list.rate, unit));
  const rates = [list?.rate, ...applicable.map(({ overwriteRate }) => overwriteRate?.rate)];
  const tierLists = [
    ...rates.map((rate) => (rate !== undefined && 'tiers' in rate ? rate.tiers : [])),
    ...applicable.map(({ tiers }) => tiers),
  ];
  const bounds = [...new Set(tierLists.flatMap(boundsOf))].sort((a, b) => a - b);
  const owed = new Map<number, { quantity: bigint; total: bigint }>();
  for (const [index, start] of [0, ...bounds].entries()) {
    const price = priceOf(start + 1);
    if (price === null) return null;
    const bottom = BigInt(start) * FROM_HUNDREDTHS;
    const end = bounds[index];
    const top = end === undefined ? null : BigInt(end) * FROM_HUNDREDTHS;
    let part = (top !== null && amount > top ? top : amount) - bottom;
    // Less than nothing is in the first tier.
    if (part < 0n && index > 0) part = 0n;
    const level = owed.get(price.level) ?? { quantity: 0n, total: 0n };
    owed.set(price.level, level);
    level.quantity += part;
    level.total += (part * BigInt(price.price)) / 10_000n;
  }
  return owed;
}

/** The last hour in which the composite has a rate and is entitled; null if there is none. */
function lastChargedHour(input: NaiveCompositeInput, { product, rateEntries }: Composite): Instant | null {
  for (let at = input.period.end - HOUR_MS; at >= input.period.start; at -= HOUR_MS)
    if (owedUntil(input, product, rateEntries, at, 0n) !== null) return at;
  return null;
}

/** All that is spent later changes the charges of an hour at volume percentages. */
function hourOfMinimum(input: NaiveCompositeInput, one: Composite): Instant | null {
  for (let at = input.period.start; at < input.period.end; at += HOUR_MS)
    if (quoteAt(input, one.product, one.rateEntries, at)?.(0n).isVolume === true)
      return input.period.end - HOUR_MS;
  return lastChargedHour(input, one);
}

function minimumOf(
  input: NaiveCompositeInput,
  { product, rateEntries }: Composite,
  at: Instant,
  found: readonly NaiveCompositeCharge[],
  charges: readonly Charge[],
  free: ReadonlySet<string>,
): NaiveCompositeCharge[] {
  const stated = lastChargedHour(input, { product, rateEntries }) ?? at;
  const minimum = minimumAt(input, product, rateEntries, stated);
  if (minimum === null) return [];
  const { currency, worths } = input;
  let charged = 0n;
  for (const { productId, creditTypeId, total } of found) {
    if (productId !== product.id) continue;
    charged += creditTypeId === currency ? total : (total * BigInt(worths.get(creditTypeId) ?? 0)) / 100n;
  }
  const missing = BigInt(hundredths(minimum)) * FROM_HUNDREDTHS - charged;
  if (missing <= 0n) return [];
  if (versionAt(product, at).excludeFreeUsage && !hasSpend(input, product, at, found, charges, free))
    return [];
  const quantity = 10n ** BigInt(PLACES);
  return [{ productId: product.id, creditTypeId: currency, at, level: null, quantity, total: missing }];
}

function minimumAt(
  { overrides }: NaiveCompositeInput,
  product: CompositeProduct,
  rateEntries: readonly RateEntry[],
  at: Instant,
): string | null {
  const applicable = naiveApplicable(overrides, subjectOf(product, at), at);
  const overwrite = applicable.filter(({ type }) => type === 'OVERWRITE').at(-1)?.overwriteRate?.rate;
  const rate = overwrite ?? naiveRateAt(rateEntries, {}, at)?.rate;
  if (rate === undefined || !('minimum' in rate)) return null;
  return rate.minimum === null ? null : rate.minimum.toString();
}

/** Whether a product that is not left out cost anything in any hour until `until` in which it was counted. */
function hasSpend(
  input: NaiveCompositeInput,
  product: CompositeProduct,
  until: Instant,
  found: readonly NaiveCompositeCharge[],
  charges: readonly Charge[],
  free: ReadonlySet<string>,
): boolean {
  const ofUsage = hourlySums(charges).some(({ productId, at, total }) => {
    const version = versionAt(product, at);
    if (at > until || total === 0) return false;
    if (version.excludeFreeUsage && free.has(productId)) return false;
    return isCounted(version, productId, tagsAt(input, productId, at));
  });
  const ofComposites = found.some(({ productId, at, total }) => {
    const version = versionAt(product, at);
    const other = input.composites.find((one) => one.product.id === productId);
    if (other === undefined || total === 0n || !version.includeCompositeSpend) return false;
    return isCounted(version, productId, versionAt(other.product, at).tags);
  });
  return ofUsage || ofComposites;
}

/** The cost of each product in each hour and unit: charges of several line keys may cancel each other out. */
function hourlySums(charges: readonly Charge[]): Pick<Charge, 'productId' | 'at' | 'total'>[] {
  const sums = new Map<string, { productId: string; at: Instant; total: number }>();
  for (const { productId, creditTypeId, at, total } of charges) {
    if (creditTypeId === null) continue;
    const key = `${productId} ${creditTypeId} ${at}`;
    sums.set(key, { productId, at, total: (sums.get(key)?.total ?? 0) + total });
  }
  return [...sums.values()];
}

/** Products whose charges total 0 in every unit. */
function freeProducts(charges: readonly Charge[]): Set<string> {
  const isFree = (productId: string) => {
    const sums = new Map<string, number>();
    for (const one of charges)
      if (one.productId === productId && one.creditTypeId !== null)
        sums.set(one.creditTypeId, (sums.get(one.creditTypeId) ?? 0) + one.total);
    return [...sums.values()].every((sum) => sum === 0);
  };
  return new Set(charges.map(({ productId }) => productId).filter(isFree));
}

function isCounted(version: CompositeVersion, productId: string, tags: readonly string[]): boolean {
  return (
    version.compositeProductIds.includes(productId) || version.compositeTags.some((tag) => tags.includes(tag))
  );
}

function tagsAt({ products, fees }: NaiveCompositeInput, productId: string, at: Instant): readonly string[] {
  const found = [...products, ...fees].find(({ product }) => product.id === productId);
  return found === undefined ? [] : versionAt(found.product, at).tags;
}

function subjectOf(product: CompositeProduct, at: Instant): NaiveSubject {
  return {
    productId: product.id,
    productTags: versionAt(product, at).tags,
    pricingGroupValues: {},
    presentationGroupValues: {},
    billingFrequency: null,
    payer: null,
  };
}
