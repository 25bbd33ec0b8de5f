/**
 * A slot: the stretch of a counter that held usage would extend, with its prices (docs/explanation/holds.md).
 * Outstanding usage in it costs as much as the invoice would charge for all of it together, so that tiers are reached
 * in any order. Pure.
 */
import { type Decimal, maximum, ZERO } from '../../core/decimal.ts';
import type { Instant } from '../../core/time.ts';
import type { Claim } from '../balances/draw-down.ts';
import { type PriceBands, walkBands } from '../rates/tiers.ts';
import type { ClaimPlace } from './claim-place.ts';
import { otherIncreases, ownIncrease, type VolumeShift, volumeTiers } from './volume-cost.ts';

/** How values change a counter: by their sum, or by the greatest. */
export type Growth = 'sum' | 'maximum';

/** Usage that is charged together: in one billing period of a contract, in one unit, by the same balances. */
export interface ChargeClass {
  readonly key: string;
  /** The billing periods of contracts whose spend limits apply: one for usage, all open ones for an amount. */
  readonly periods: readonly string[];
  readonly creditTypeId: string;
  /** The ids of the segments of prepaid balances that may pay, in burn-down order; empty if none applies. */
  readonly segmentIds: readonly string[];
}

/** Identifies a billing period among those of all contracts. */
export function periodKey(contractId: string, start: Instant): string {
  return `${contractId} ${start}`;
}

export interface SlotTerms {
  readonly key: string;
  readonly charge: ChargeClass;
  /** When its invoice draws on balances for it. Null if unknown, because it depends on other usage. */
  readonly place: ClaimPlace | null;
  /** One price list for each possible payer. */
  readonly priceLists: readonly PriceBands[];
  readonly growth: Growth;
  /** The current value of the metric. */
  readonly value: Decimal;
  /** From the value to the counter. Monotone. */
  readonly positionOf: (value: Decimal) => Decimal;
  /** The value of one unit of the prices in the unit of the class; null: the units are the same. */
  readonly factor: Decimal | null;
  /**
   * Null: added usage lies at the end of the counter. Otherwise later usage moves with it, by at most this amount for
   * each unit of the counter.
   */
  readonly laterPerUnit: Decimal | null;
  /** Absent: no segment of the counter has volume prices. */
  readonly volume?: VolumeShift | null;
  readonly billing: SlotBilling;
}

/** The price of usage in a slot on the invoice, where that depends on who pays. */
export interface SlotBilling {
  /** `alike`: one price for every payer. `drawn`: a price for each payer. `unknown`: it depends on other usage, too. */
  readonly prices: 'alike' | 'drawn' | 'unknown';
  /** The claim that contains usage of the slot. Null: no balance may pay for it directly. */
  readonly claim: Claim | null;
}

/** The outstanding usage of a slot. */
export class ChargedSlot {
  readonly terms: SlotTerms;
  private readonly values = new Map<string, Decimal>();
  private sum = ZERO;
  /** The cost of all outstanding usage, in the unit of the class. */
  cost: Decimal = ZERO;

  constructor(terms: SlotTerms) {
    this.terms = terms;
  }

  get isEmpty(): boolean {
    return this.values.size === 0;
  }

  /** The outstanding part of the counter. */
  get range(): { readonly from: Decimal; readonly to: Decimal } {
    const { growth, value, positionOf } = this.terms;
    return {
      from: positionOf(value),
      to: positionOf(growth === 'sum' ? value.plus(this.sum) : this.greatest()),
    };
  }

  /** The price of the next unit after all outstanding usage, as on a line, in the unit of the class. */
  nextPrice(): Decimal {
    const { priceLists, factor, laterPerUnit, volume } = this.terms;
    const { from, to } = this.range;
    let price = ZERO;
    for (const bands of priceLists) {
      const tiers = volumeTiers(bands);
      const isKnown = laterPerUnit === null;
      if (volume && tiers) price = maximum(price, priceAbove(tiers, volume.whole.plus(to.minus(from))));
      else price = maximum(price, isKnown ? priceAbove(bands, to) : highestPrice(bands));
    }
    if (laterPerUnit !== null) price = price.plus(laterPerUnit);
    return factor === null ? price : price.times(factor);
  }

  add(id: string, value: Decimal): void {
    this.remove(id);
    const counted = value.lt(ZERO) ? ZERO : value;
    this.values.set(id, counted);
    this.sum = this.sum.plus(counted);
    this.cost = this.costNow();
  }

  remove(id: string): void {
    const value = this.values.get(id);
    if (value === undefined) return;
    this.values.delete(id);
    this.sum = this.sum.minus(value);
    this.cost = this.costNow();
  }

  private costNow(): Decimal {
    if (this.values.size === 0) return ZERO;
    const { from, to } = this.range;
    return costOf(this.terms, from, to);
  }

  private greatest(): Decimal {
    let greatest = this.terms.value;
    for (const value of this.values.values()) greatest = maximum(greatest, value);
    return greatest;
  }
}

/** The highest cost under any of the price lists. */
function costOf(terms: SlotTerms, from: Decimal, to: Decimal): Decimal {
  const { priceLists, factor, laterPerUnit, volume } = terms;
  if (to.lte(from)) return ZERO;
  let cost = ZERO;
  for (const bands of priceLists) cost = maximum(cost, costAt(bands, terms, from, to));
  if (volume) cost = cost.plus(otherIncreases(volume, to.minus(from)));
  if (laterPerUnit !== null) cost = cost.plus(to.minus(from).times(laterPerUnit));
  return factor === null ? cost : cost.times(factor);
}

function costAt(bands: PriceBands, { laterPerUnit, volume }: SlotTerms, from: Decimal, to: Decimal): Decimal {
  const tiers = volumeTiers(bands);
  if (volume && tiers) return ownIncrease(volume, tiers, to.minus(from));
  return laterPerUnit === null ? walked(bands, from, to) : to.minus(from).times(highestPrice(bands));
}

function walked(bands: PriceBands, from: Decimal, to: Decimal): Decimal {
  const [only] = bands;
  if (bands.length === 1) return to.minus(from).times(only.price);
  return walkBands(bands, from, to).reduce((total, { amount }) => total.plus(amount), ZERO);
}

function priceAbove(bands: PriceBands, position: Decimal): Decimal {
  return (bands.find(({ end }) => end === null || position.lt(end)) ?? bands[0]).price;
}

export function highestPrice(bands: PriceBands): Decimal {
  return bands.reduce((highest, { price }) => maximum(highest, price), ZERO);
}

export function lowestPrice(bands: PriceBands): Decimal {
  return bands.reduce((lowest, { price }) => (price.lt(lowest) ? price : lowest), bands[0].price);
}
