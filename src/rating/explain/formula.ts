/** The steps of a calculation as text with its figures. Pure. */
import type { ProductVersion } from '../../core/catalogue.ts';
import { Decimal, maximum, minimum, ZERO } from '../../core/decimal.ts';
import type { OfferedBalance } from '../../core/invoice-balances.ts';
import type { Subscription } from '../../core/terms/subscriptions.ts';
import { formatInstant, type Instant, type Interval } from '../../core/time.ts';
import type { QuantityStep } from '../quantities/subscription-quantities.ts';
import type { PriceBand } from '../rates/tiers.ts';
import { proratedPrice, roundedPrice } from '../subscriptions/proration.ts';
import type { ExplainedPayer, ExplainedPrice, ExplainedShare, ExplainedUsage } from './explanation.ts';

const timeText = (at: Instant) => formatInstant(at).replace('.000Z', 'Z');

const number = (value: Decimal) => value.toFixed();
/** Brackets a negative subtrahend. */
const bracketed = (value: Decimal) => (value.lt('0') ? `(${number(value)})` : number(value));

/** The value of the metric, and the quantity after conversion and rounding. */
export function usageSteps(
  usage: ExplainedUsage,
  { start, end }: { readonly start: Instant; readonly end: Instant },
): string[] {
  const { version, continued, valueAtStart, valueAtEnd, counterAtStart, counterAtEnd, eventCount } = usage;
  const values = `V(${timeText(start)}) = ${number(valueAtStart)}, V(${timeText(end)}) = ${number(valueAtEnd)}`;
  const events = `${number(eventCount)} ${eventCount.eq('1') ? 'event' : 'events'} in this time`;
  const counted = `counted from ${timeText(usage.countedFrom)}`;
  const quantities = `Q(${timeText(start)}) = ${number(counterAtStart)}, Q(${timeText(end)}) = ${number(counterAtEnd)}`;
  const converted = conversionText('V(t)', version);
  if (continued === null) {
    return [`value: ${values}; ${counted}, ${events}`, `quantity: Q(t) = ${converted}; ${quantities}`];
  }
  const { at, value, counter } = continued;
  const then = number(value);
  return [
    `value: ${values}; ${counted}, ${events}; it continues from ${then} at ${timeText(at)}`,
    `quantity: Q(t) = ${number(counter)} + ${converted} - ${conversionText(then, version)}; ${quantities}`,
  ];
}

/** `round half up to 2 places (V(t) / 1000)` */
function conversionText(value: string, { quantityConversion, quantityRounding }: ProductVersion): string {
  const sign = quantityConversion?.operation === 'MULTIPLY' ? '*' : '/';
  const converted =
    quantityConversion === null ? value : `${value} ${sign} ${number(quantityConversion.conversionFactor)}`;
  if (quantityRounding === null) return quantityConversion === null ? converted : `(${converted})`;
  const method = quantityRounding.method.replace('ROUND_', '').replace('_', ' ').toLowerCase();
  const { decimalPlaces } = quantityRounding;
  return `round ${method} to ${decimalPlaces} ${decimalPlaces === 1 ? 'place' : 'places'} (${converted})`;
}

/** The part of a movement from `from` to `to` that lies in the band. */
export function tierStep(
  { level, startingAt, end, size, reached }: PriceBand,
  from: Decimal,
  to: Decimal,
  quantity: Decimal,
): string {
  if (reached !== undefined) {
    const bounds = rangeText(startingAt, size === null ? null : startingAt.plus(size));
    const all = `the whole quantity ${number(reached.whole)} sets one price for all units`;
    return `tier ${level}, ${bounds}: ${all}: ${number(to)} - ${bracketed(from)} = ${number(quantity)}`;
  }
  const clip = (value: Decimal) => {
    const below = end === null ? value : minimum(value, end);
    return level === 1 ? below : maximum(below, startingAt);
  };
  const difference = `${number(clip(to))} - ${bracketed(clip(from))} = ${number(quantity)}`;
  if (level === 1 && end === null) return `quantity of the line: ${difference}`;
  return `tier ${level}, ${rangeText(startingAt, end)}: from ${number(from)} to ${number(to)} in these bounds: ${difference}`;
}

function rangeText(above: Decimal, upTo: Decimal | null): string {
  return upTo === null ? `above ${number(above)}` : `above ${number(above)} up to ${number(upTo)}`;
}

/** The list price, and the price after an override. */
export function priceStep({ listed, listPrice, applied, band, isCommitRate }: ExplainedPrice): string {
  const name = isCommitRate ? 'commit rate' : 'list price';
  const list = listed === null || listPrice === null ? 'no list rate' : `${name} ${number(listPrice)}`;
  if (applied === null) return `unit price: ${list}`;
  const { override, multiplier } = applied;
  const price = number(band.price);
  return multiplier === null || listPrice === null
    ? `unit price: ${list}; override ${override.id} sets ${price}`
    : `unit price: ${list}; override ${override.id} multiplies it by ${number(multiplier)} = ${price}`;
}

export function totalStep(quantity: Decimal, unitPrice: Decimal): string {
  return `total: ${number(quantity)} * ${bracketed(unitPrice)} = ${number(quantity.times(unitPrice))}`;
}

const CRITERIA: Readonly<Record<NonNullable<OfferedBalance['decidedBy']>, string>> = {
  CLASS: 'rollovers come first and postpaid commits last',
  PRIORITY: 'the lower priority comes first',
  COST_BASIS: 'what was free comes first',
  PRODUCT_APPLICABILITY: 'the one for fewer products comes first',
  USAGE_APPLICABILITY: 'the one with fewer specifiers of group values comes first',
  ACCESS_END: 'the access that ends earlier comes first',
  ACCESS_START: 'the access that starts earlier comes first',
  CONTRACT_COUNT: 'the one for fewer contracts comes first',
  CONTRACT_LEVEL: 'one of the contract comes before one of the customer',
  CREATED_AT: 'the older one comes first',
  ID: 'the ids decide between equal ones',
};

/** The place of the balance in the order, and its amount before. */
export function payerSteps(payer: ExplainedPayer, taken: Decimal): string[] {
  const { balance, place, placeCount, before, takenByOthers, left } = payer;
  const { decidedBy } = balance;
  const named = (one: OfferedBalance) => JSON.stringify(one.name);
  const after = before === null ? '' : ` after ${named(before)}`;
  const reason = before === null || decidedBy === null ? '' : `: ${CRITERIA[decidedBy]}`;
  const rest = `${number(balance.left)} - ${number(takenByOthers)} - ${bracketed(taken)} = ${number(left)}`;
  return [
    `balance: ${named(balance)}, number ${place} of ${placeCount} in the order${after}${reason}`,
    `what it had, without other lines of this invoice, without this line: ${rest}`,
  ];
}

/** The units of the counter that the line charges. `isCovered`: whether a balance pays for them. */
export function shareStep({ stretches, quantity }: ExplainedShare, isCovered: boolean): string {
  const ranges = stretches.map(({ from, to }) => `above ${number(from)} up to ${number(to)}`);
  const units = stretches.length === 0 ? 'no units' : `units ${ranges.join(', and ')}`;
  return `${isCovered ? 'covered' : 'not covered'}: ${units} of the quantity: ${number(quantity)}`;
}

/** The quantity of a subscription in its billing period. */
export function quantityStep(steps: readonly QuantityStep[]): string {
  const quantities = steps.map(({ at, quantity }) => `${number(quantity)} from ${timeText(at)}`);
  const highest = steps.map(({ quantity }) => quantity).reduce(maximum, ZERO);
  return `quantity of the subscription: ${quantities.join(', ')}; the highest of the period so far: ${number(highest)}`;
}

/** The prorated price of `part` of the billing period `whole`, and its rounding. */
export function partStep(
  price: Decimal,
  { part, whole, rounding }: { part: Interval; whole: Interval; rounding: Subscription['prorationRounding'] },
): string {
  const milliseconds = (at: Instant) => new Decimal(String(at - whole.start));
  const share = (at: Instant) =>
    `${number(price)} * ${number(milliseconds(at))} / ${number(milliseconds(whole.end))}`;
  const exact = proratedPrice(price, part, whole);
  const period = `${timeText(part.start)} to ${timeText(part.end)} of ${timeText(whole.start)} to ${timeText(whole.end)}, in milliseconds`;
  const prorated = `part of the period, ${period}: ${share(part.end)} - ${share(part.start)} = ${number(exact)}`;
  if (rounding === null) return prorated;
  const method = rounding.roundingMethod.replace('_', ' ').toLowerCase();
  const places = `${rounding.decimalPlaces} ${rounding.decimalPlaces === 1 ? 'place' : 'places'}`;
  return `${prorated}, rounded ${method} to ${places}: ${number(roundedPrice(exact, rounding))}`;
}

/** The units at their price. A balance is used up to its last fraction, which is less than one unit of 20 places. */
export function shareTotalStep({ quantity, total }: ExplainedShare, unitPrice: Decimal): string {
  const units = quantity.times(unitPrice);
  const rest = total.minus(units);
  if (rest.eq(ZERO)) return totalStep(quantity, unitPrice);
  const sum = `${number(quantity)} * ${bracketed(unitPrice)} + ${bracketed(rest)} = ${number(total)}`;
  return `total, with the fraction of the balance between two lines: ${sum}`;
}

/** `position` is the position of the covered line, from 0. */
export function appliedStep(position: number, amount: Decimal, { name }: { readonly name: string }): string {
  const taken = `0 - ${bracketed(amount)} = ${number(ZERO.minus(amount))}`;
  return `takes back line ${position + 1}, ${JSON.stringify(name)}: ${taken}`;
}

/** `name: 1 + 2 + 3 = 6`, with only the first summands of a long sum. */
export function sumStep(name: string, parts: readonly Decimal[], result: Decimal): string {
  const shown = parts.slice(0, SUMMANDS_MAX).map(bracketed);
  const more = parts.length > SUMMANDS_MAX ? [`… (${parts.length - SUMMANDS_MAX} more)`] : [];
  const sum = parts.length === 0 ? '' : `${[...shown, ...more].join(' + ')} = `;
  return `${name}: ${sum}${number(result)}`;
}

const SUMMANDS_MAX = 20;
