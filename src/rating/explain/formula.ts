/** The steps of a calculation as text with its figures. Pure. */
import type { ProductVersion } from '../../core/catalogue.ts';
import { type Decimal, maximum, minimum } from '../../core/decimal.ts';
import { formatInstant, type Instant } from '../../core/time.ts';
import type { PriceBand } from '../rates/tiers.ts';
import type { ExplainedPrice, ExplainedUsage } from './explanation.ts';

const timeText = (at: Instant) => formatInstant(at).replace('.000Z', 'Z');

const number = (value: Decimal) => value.toFixed();
/** For the second place of a difference. */
const bracketed = (value: Decimal) => (value.lt('0') ? `(${number(value)})` : number(value));

/** The value of the metric, and the quantity that it is converted and rounded to. */
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
  { level, startingAt, end }: PriceBand,
  from: Decimal,
  to: Decimal,
  quantity: Decimal,
): string {
  const clip = (value: Decimal) => {
    const below = end === null ? value : minimum(value, end);
    return level === 1 ? below : maximum(below, startingAt);
  };
  const difference = `${number(clip(to))} - ${bracketed(clip(from))} = ${number(quantity)}`;
  if (level === 1 && end === null) return `quantity of the line: ${difference}`;
  const range =
    end === null ? `above ${number(startingAt)}` : `above ${number(startingAt)} up to ${number(end)}`;
  return `tier ${level}, ${range}: from ${number(from)} to ${number(to)} in these bounds: ${difference}`;
}

/** The list price, and what an override makes of it. */
export function priceStep({ listed, listPrice, applied, band }: ExplainedPrice): string {
  const list = listed === null || listPrice === null ? 'no list rate' : `list price ${number(listPrice)}`;
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

/** `name: 1 + 2 + 3 = 6`, of the first ones where they are many. */
export function sumStep(name: string, parts: readonly Decimal[], result: Decimal): string {
  const shown = parts.slice(0, SUMMANDS_MAX).map(bracketed);
  const more = parts.length > SUMMANDS_MAX ? [`… (${parts.length - SUMMANDS_MAX} more)`] : [];
  const sum = parts.length === 0 ? '' : `${[...shown, ...more].join(' + ')} = `;
  return `${name}: ${sum}${number(result)}`;
}

const SUMMANDS_MAX = 20;
