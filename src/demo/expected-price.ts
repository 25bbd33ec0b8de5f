/** The expected price of usage, computed in the simplest way, to compare with the service's invoices. */
import { type Decimal, minimum, sum, ZERO } from '../core/decimal.ts';
import type { MeteredProduct, PriceTier } from './scenario.ts';
import { groupText } from './scenario.ts';

/** Fills the tiers one after the other. Cents, exact. */
export function tieredPrice(quantity: Decimal, tiers: readonly PriceTier[]): Decimal {
  let rest = quantity;
  let cents = ZERO;
  for (const tier of tiers) {
    const units = tier.size === null ? rest : minimum(rest, tier.size);
    cents = cents.plus(units.times(tier.price));
    rest = rest.minus(units);
  }
  return cents;
}

/**
 * The price of one product's quantities by group. Throws if a group has no price, which is an error of the scenario.
 */
export function productPrice(product: MeteredProduct, quantities: ReadonlyMap<string, Decimal>): Decimal {
  const tiersByGroup = new Map(
    product.prices.map(({ groupValues, tiers }) => [groupText(product.pricingGroupKey, groupValues), tiers]),
  );
  return sum(
    [...quantities].map(([group, quantity]) => {
      const tiers = tiersByGroup.get(group);
      if (tiers === undefined) throw new Error(`${product.name} has no price for ${group}`);
      return tieredPrice(quantity, tiers);
    }),
  );
}
