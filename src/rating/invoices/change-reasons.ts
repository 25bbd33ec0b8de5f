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

/** The change of one product with usage on one of two invoices, or on both. */
export interface ProductChange extends Omit<ChangeReasons, 'terms'> {
  readonly productId: string;
  readonly name: string;
  readonly total: Decimal;
  readonly formerTotal: Decimal;
}

export interface InvoiceChange extends ChangeReasons {
  /** In the order of the lines, those of the former invoice alone last. */
  readonly products: readonly ProductChange[];
}

type Compared = Pick<Invoice, 'total' | 'creditTypeId' | 'lines'>;

/** Averages have this many places; the rounding difference is part of the mix. */
const PLACES = 12;

interface Used {
  readonly quantity: Decimal;
  readonly total: Decimal;
}

interface ProductUsage {
  readonly name: string;
  readonly groups: Map<string, Used>;
}

/** By product. */
type Usage = Map<string, ProductUsage>;

/** The reasons alone. Yields after each line. */
export function* changeReasons(now: Compared, before: Compared): Generator<void, ChangeReasons, undefined> {
  const { price, volume, mix, terms } = yield* invoiceChange(now, before);
  return { price, volume, mix, terms };
}

/** Yields after each line. */
export function* invoiceChange(now: Compared, before: Compared): Generator<void, InvoiceChange, undefined> {
  const [usedNow, usedBefore] = [yield* usageOf(now), yield* usageOf(before)];
  const products: ProductChange[] = [];
  for (const productId of new Set([...usedNow.keys(), ...usedBefore.keys()])) {
    products.push({ productId, ...productChange(usedNow.get(productId), usedBefore.get(productId)) });
    yield;
  }
  const [price, volume, mix] = [sumOf('price'), sumOf('volume'), sumOf('mix')];
  const terms = now.total.minus(before.total).minus(price).minus(volume).minus(mix);
  return { products, price, volume, mix, terms };

  function sumOf(reason: 'price' | 'volume' | 'mix'): Decimal {
    return sum(products.map((product) => product[reason]));
  }
}

function* usageOf({ lines, creditTypeId }: Compared): Generator<void, Usage, undefined> {
  const products: Usage = new Map();
  for (const line of lines) {
    yield;
    // A conversion line bills other units in the currency, and belongs to terms.
    if ((line.type !== 'usage' && line.type !== 'minimum') || line.creditTypeId !== creditTypeId) continue;
    const { groups } = products.get(line.productId) ?? { groups: new Map<string, Used>() };
    if (groups.size === 0) products.set(line.productId, { name: line.name, groups });
    const group = JSON.stringify([line.pricingGroupValues, line.presentationGroupValues]);
    const used = groups.get(group);
    groups.set(group, {
      quantity: (used?.quantity ?? ZERO).plus(line.quantity),
      total: (used?.total ?? ZERO).plus(line.total),
    });
  }
  return products;
}

function productChange(
  now: ProductUsage | undefined,
  before: ProductUsage | undefined,
): Omit<ProductChange, 'productId'> {
  const [all, former] = [allOf(now), allOf(before)];
  const change = all.total.minus(former.total);
  const facts = { name: now?.name ?? before?.name ?? '', total: all.total, formerTotal: former.total };
  if (now === undefined || before === undefined || former.quantity.eq(ZERO)) {
    return { ...facts, price: ZERO, volume: change, mix: ZERO };
  }
  const volume = shareOf(former, all.quantity.minus(former.quantity));
  const price = sum(
    [...now.groups].map(([group, used]) => {
      const known = before.groups.get(group);
      return known === undefined || known.quantity.eq(ZERO)
        ? ZERO
        : used.total.minus(shareOf(known, used.quantity));
    }),
  );
  return { ...facts, price, volume, mix: change.minus(price).minus(volume) };
}

function allOf(usage: ProductUsage | undefined): Used {
  const all = [...(usage?.groups.values() ?? [])];
  return { quantity: sum(all.map(({ quantity }) => quantity)), total: sum(all.map(({ total }) => total)) };
}

/** The cost of a quantity at the average price of the usage. */
function shareOf({ quantity, total }: Used, of: Decimal): Decimal {
  return roundDecimal(total.times(of).div(quantity), 'ROUND_HALF_UP', PLACES);
}
