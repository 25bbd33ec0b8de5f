/**
 * Why an invoice differs from the one before it: price, volume, mix and terms, which add up to the difference exactly.
 *
 * For each product with usage on both invoices:
 * - volume: what the change of its quantity costs at its former average price;
 * - price: what its present quantities cost more than at the former average price of each group;
 * - mix: the rest, which comes from groups that moved against each other or are new.
 * A product on one of the two is volume as a whole. Terms are all other lines: subscriptions, charges, commits, credits.
 */
import Big from 'big.js';
import { type Exact, sum } from '../../api/exact.ts';

interface ComparedLine {
  readonly name: string;
  readonly type: string;
  readonly product_id?: string | undefined;
  readonly quantity?: Exact | undefined;
  readonly total: Exact;
  readonly credit_type: { readonly id: string };
  readonly pricing_group_values?: Readonly<Record<string, string>> | undefined;
  readonly presentation_group_values?: Readonly<Record<string, string>> | undefined;
}

export interface ComparedInvoice {
  readonly total: Exact;
  readonly credit_type: { readonly id: string };
  readonly line_items: readonly ComparedLine[];
}

interface Reasons {
  readonly price: Big;
  readonly volume: Big;
  readonly mix: Big;
  readonly terms: Big;
}

interface ProductChange extends Omit<Reasons, 'terms'> {
  readonly name: string;
  readonly before: Big;
  readonly now: Big;
}

export interface Change extends Reasons {
  readonly products: readonly ProductChange[];
  readonly before: Big;
  readonly now: Big;
}

/** Averages have this many places; what rounding them leaves out is in the mix. */
const PLACES = 12;
const NOTHING = new Big(0);

interface Used {
  readonly quantity: Big;
  readonly total: Big;
}

export function changeOf(now: ComparedInvoice, before: ComparedInvoice): Change {
  const [usedNow, usedBefore] = [usageOf(now), usageOf(before)];
  const keys = [...new Set([...usedNow.keys(), ...usedBefore.keys()])];
  const products = keys.map((key) => productChange(usedNow.get(key), usedBefore.get(key)));
  const [totalNow, totalBefore] = [new Big(now.total), new Big(before.total)];
  const price = sum(products.map((each) => each.price));
  const volume = sum(products.map((each) => each.volume));
  const mix = sum(products.map((each) => each.mix));
  const terms = totalNow.minus(totalBefore).minus(price).minus(volume).minus(mix);
  return { products, price, volume, mix, terms, before: totalBefore, now: totalNow };
}

interface ProductUsage {
  readonly name: string;
  readonly groups: Map<string, Used>;
}

function usageOf({ line_items, credit_type }: ComparedInvoice): Map<string, ProductUsage> {
  const products = new Map<string, ProductUsage>();
  for (const line of line_items) {
    // Other units are converted to the currency by a line, which is one of the terms.
    if (line.type !== 'usage' || line.quantity === undefined || line.credit_type.id !== credit_type.id)
      continue;
    const key = line.product_id ?? line.name;
    const product = products.get(key) ?? { name: line.name, groups: new Map<string, Used>() };
    products.set(key, product);
    const group = JSON.stringify([line.pricing_group_values ?? {}, line.presentation_group_values ?? {}]);
    const used = product.groups.get(group);
    product.groups.set(group, {
      quantity: (used?.quantity ?? NOTHING).plus(line.quantity),
      total: (used?.total ?? NOTHING).plus(line.total),
    });
  }
  return products;
}

function productChange(now: ProductUsage | undefined, before: ProductUsage | undefined): ProductChange {
  const [all, former] = [allOf(now), allOf(before)];
  const change = all.total.minus(former.total);
  const facts = { name: now?.name ?? before?.name ?? '', before: former.total, now: all.total };
  if (now === undefined || before === undefined || former.quantity.eq(0)) {
    return { ...facts, price: NOTHING, volume: change, mix: NOTHING };
  }
  const volume = shareOf(former, all.quantity.minus(former.quantity));
  const price = sum(
    [...now.groups].map(([group, used]) => {
      const known = before.groups.get(group);
      return known === undefined || known.quantity.eq(0)
        ? NOTHING
        : used.total.minus(shareOf(known, used.quantity));
    }),
  );
  return { ...facts, price, volume, mix: change.minus(price).minus(volume) };
}

function allOf(usage: ProductUsage | undefined): Used {
  const groups = [...(usage?.groups.values() ?? [])];
  return {
    quantity: sum(groups.map(({ quantity }) => quantity)),
    total: sum(groups.map(({ total }) => total)),
  };
}

/** The cost of a quantity at the average price of the usage: rounded half away from zero. */
function shareOf({ quantity, total }: Used, of: Big): Big {
  return total.times(of).div(quantity).round(PLACES, Big.roundHalfUp);
}
