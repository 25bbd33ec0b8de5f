/**
 * Why an invoice differs from the one before it: price, volume, mix and terms, which add up to the difference exactly.
 *
 * A product with usage on both invoices has three reasons:
 * - volume: the cost of the change of its quantity at its former average price;
 * - price: the additional cost of its current quantities compared to the former average price of each group;
 * - mix: the rest, from groups that moved against each other or are new.
 *
 * A product on only one of them counts as volume. Terms are all other lines: subscriptions, charges, commits, credits.
 */
import { type Decimal, roundDecimal, sum, ZERO } from '../../core/decimal.ts';
import type { Invoice } from '../../core/invoice.ts';

export interface ChangeReasons {
  readonly price: Decimal;
  readonly volume: Decimal;
  readonly mix: Decimal;
  readonly terms: Decimal;
}

type Compared = Pick<Invoice, 'total' | 'creditTypeId' | 'lines'>;

/** Averages have this many places; the rounding difference is part of the mix. */
const PLACES = 12;

interface Used {
  readonly quantity: Decimal;
  readonly total: Decimal;
}

/** Usage by product, then by group. */
type Usage = Map<string, Map<string, Used>>;

/** Yields after each line. */
export function* changeReasons(now: Compared, before: Compared): Generator<void, ChangeReasons, undefined> {
  const [usedNow, usedBefore] = [yield* usageOf(now), yield* usageOf(before)];
  let [price, volume, mix] = [ZERO, ZERO, ZERO];
  for (const product of new Set([...usedNow.keys(), ...usedBefore.keys()])) {
    const change = productChange(usedNow.get(product), usedBefore.get(product));
    price = price.plus(change.price);
    volume = volume.plus(change.volume);
    mix = mix.plus(change.mix);
    yield;
  }
  const terms = now.total.minus(before.total).minus(price).minus(volume).minus(mix);
  return { price, volume, mix, terms };
}

function* usageOf({ lines, creditTypeId }: Compared): Generator<void, Usage, undefined> {
  const products: Usage = new Map();
  for (const line of lines) {
    yield;
    // A conversion line bills other units in the currency, and belongs to terms.
    if ((line.type !== 'usage' && line.type !== 'minimum') || line.creditTypeId !== creditTypeId) continue;
    const groups = products.get(line.productId) ?? new Map<string, Used>();
    products.set(line.productId, groups);
    const group = JSON.stringify([line.pricingGroupValues, line.presentationGroupValues]);
    const used = groups.get(group);
    groups.set(group, {
      quantity: (used?.quantity ?? ZERO).plus(line.quantity),
      total: (used?.total ?? ZERO).plus(line.total),
    });
  }
  return products;
}

type Groups = ReadonlyMap<string, Used>;

function productChange(now: Groups | undefined, before: Groups | undefined): Omit<ChangeReasons, 'terms'> {
  const [all, former] = [allOf(now), allOf(before)];
  const change = all.total.minus(former.total);
  if (now === undefined || before === undefined || former.quantity.eq(ZERO)) {
    return { price: ZERO, volume: change, mix: ZERO };
  }
  const volume = shareOf(former, all.quantity.minus(former.quantity));
  const price = sum(
    [...now].map(([group, used]) => {
      const known = before.get(group);
      return known === undefined || known.quantity.eq(ZERO)
        ? ZERO
        : used.total.minus(shareOf(known, used.quantity));
    }),
  );
  return { price, volume, mix: change.minus(price).minus(volume) };
}

function allOf(groups: Groups | undefined): Used {
  const all = [...(groups?.values() ?? [])];
  return { quantity: sum(all.map(({ quantity }) => quantity)), total: sum(all.map(({ total }) => total)) };
}

/** The cost of a quantity at the average price of the usage. */
function shareOf({ quantity, total }: Used, of: Decimal): Decimal {
  return roundDecimal(total.times(of).div(quantity), 'ROUND_HALF_UP', PLACES);
}
