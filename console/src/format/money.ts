/**
 * Amounts for people. They are rounded to the minor unit for display only, half away from zero; the exact figure is in
 * the title of the element, and every sum adds exact ones.
 */
import Big from 'big.js';
import type { Exact } from '../api/exact.ts';
import { CURRENCIES } from './currencies.ts';
import { spoken } from './language.ts';

export interface CreditType {
  readonly id: string;
  readonly name: string;
}

export interface Currency {
  /** ISO 4217. */
  readonly code: string;
  /** Decimal places of the minor unit by ISO 4217; browsers use other ones for some currencies. */
  readonly places: number;
  /** Amounts are sent in units of 10^-sentPlaces. */
  readonly sentPlaces: number;
}

/** The currency of a pricing unit; null for a unit of the operator's own, whatever its name. */
export function currencyOf({ id }: Pick<CreditType, 'id'>): Currency | null {
  if (!Object.hasOwn(CURRENCIES, id)) return null;
  const [code = '', places = 0, sentPlaces = 0] = CURRENCIES[id] ?? [];
  return { code, places, sentPlaces };
}

/** Engines write at most this many places; the API has up to 30 for cents. */
const PLACES_MAX = 20;

/** An amount that is rounded to zero has no minus. */
const WITHOUT_MINUS_ZERO = 'negative';

const formats = new Map<string, Intl.NumberFormat>();

/** Amounts with at least the places of the minor unit if `placesMax` allows, and at most `placesMax`. */
function formatFor({ code, places }: Currency, placesMax = places): Intl.NumberFormat {
  const { locale } = spoken();
  const key = `${locale} ${code} ${placesMax}`;
  const known =
    formats.get(key) ??
    new Intl.NumberFormat(locale, {
      style: 'currency',
      currency: code,
      minimumFractionDigits: Math.min(places, placesMax),
      maximumFractionDigits: placesMax,
      signDisplay: WITHOUT_MINUS_ZERO,
    });
  formats.set(key, known);
  return known;
}

/** An amount in whole units of its currency, such as dollars. */
export function inUnits(amount: Exact | Big, { sentPlaces }: Currency): Big {
  return new Big(amount).times(new Big(10).pow(sentPlaces === 0 ? 0 : -sentPlaces));
}

/** Minus as `−`, so that figures align. */
function signed(text: string): string {
  return text.replace('-', '−');
}

/** The separator between a whole number and its places in the language of the page. */
function separator(): string {
  const parts = new Intl.NumberFormat(spoken().locale).formatToParts(1.5);
  return parts.find(({ type }) => type === 'decimal')?.value ?? '.';
}

/** A figure with all its digits, even if it has more places than an engine writes. */
function withAllPlaces(value: Big, formatWith: (places: number) => Intl.NumberFormat): string {
  const [, fraction = ''] = value.toFixed().split('.');
  const written = (format: Intl.NumberFormat, of: Big) =>
    format.format(of.toFixed() as Intl.StringNumericLiteral);
  if (fraction.length <= PLACES_MAX) return signed(written(formatWith(PLACES_MAX), value));
  const whole = value.abs().round(0, Big.roundDown).toFixed() as Intl.StringNumericLiteral;
  const parts = formatWith(0).formatToParts(whole);
  const units = parts.findLastIndex(({ type }) => type === 'integer');
  const texts = parts.map(({ value: text }, at) =>
    at === units ? `${text}${separator()}${fraction}` : text,
  );
  return `${value.lt(0) ? '−' : ''}${texts.join('')}`;
}

/** The unit of input amounts: `USD`, even though they are sent in cents. */
export function unitText(unit: CreditType): string {
  return currencyOf(unit)?.code ?? unit.name;
}

function writtenIn(format: Intl.NumberFormat, value: Big): string {
  return signed(format.format(value.toFixed() as Intl.StringNumericLiteral));
}

/** `$1,234.57`, or `12.5 tokens` in a custom unit. */
export function moneyText(amount: Exact | Big, unit: CreditType): string {
  const currency = currencyOf(unit);
  if (currency === null) return `${quantityText(amount)} ${unit.name}`;
  return writtenIn(formatFor(currency), inUnits(amount, currency));
}

/** A price with all its digits: `$0.000025`. */
export function priceText(amount: Exact | Big, unit: CreditType): string {
  const currency = currencyOf(unit);
  if (currency === null) return `${quantityText(amount)} ${unit.name}`;
  return withAllPlaces(inUnits(amount, currency), (places) => formatFor(currency, places));
}

/** Documents show at most this many places of an amount or a quantity. */
export const DOCUMENT_PLACES_MAX = 4;

/**
 * The amount of a line as on the PDF: with as many places as its unit price has, at least those of the minor unit and
 * at most four, so that a reader can add up amounts of prices below a cent.
 */
export function lineAmountText(amount: Exact | Big, unitPrice: Exact | Big, unit: CreditType): string {
  const currency = currencyOf(unit);
  if (currency === null) return `${documentQuantityText(amount)} ${unit.name}`;
  const needed = placesOf(inUnits(unitPrice, currency));
  const places = Math.max(currency.places, Math.min(needed, DOCUMENT_PLACES_MAX));
  return writtenIn(formatFor(currency, places), inUnits(amount, currency));
}

function placesOf(value: Big): number {
  return value.toFixed().split('.')[1]?.length ?? 0;
}

/** The figure as it was sent, with its unit: `123456.789 USD (cents)`. */
export function rawText(amount: Exact | Big, unit: CreditType): string {
  return `${typeof amount === 'string' ? amount : amount.toFixed()} ${unit.name}`;
}

const quantities = new Map<string, Intl.NumberFormat>();

function quantityFormat(places: number): Intl.NumberFormat {
  const { locale } = spoken();
  const key = `${locale} ${places}`;
  const known =
    quantities.get(key) ??
    new Intl.NumberFormat(locale, { maximumFractionDigits: places, signDisplay: WITHOUT_MINUS_ZERO });
  quantities.set(key, known);
  return known;
}

/** A quantity with all its digits: `1,234.5`. */
export function quantityText(value: Exact | Big): string {
  return withAllPlaces(new Big(value), quantityFormat);
}

/** A quantity as in documents, with at most four places; `< 0.0001` if they would all be zeros. */
export function documentQuantityText(value: Exact | Big): string {
  const all = new Big(value);
  const least = new Big(10).pow(-DOCUMENT_PLACES_MAX);
  if (all.eq(0) || all.abs().gte(least.div(2))) return writtenIn(quantityFormat(DOCUMENT_PLACES_MAX), all);
  return all.gt(0) ? `< ${quantityText(least)}` : `> ${quantityText(least.neg())}`;
}

/** Further places are cut, which an ellipsis shows. */
const PLACES_SHOWN = 8;
const PLACES_KEPT = 6;

/** A figure of an analysis, cut to a readable length: `69,444,444.444444…`. */
export function shortQuantityText(value: Exact | Big): string {
  const all = new Big(value);
  if (placesOf(all) <= PLACES_SHOWN) return quantityText(all);
  return `${quantityText(all.round(PLACES_KEPT, Big.roundDown))}…`;
}

/** `+12.5 %` of `before`; null where there was nothing. */
export function changeText(now: Exact | Big, before: Exact | Big): string | null {
  const share = changeOf(now, before);
  return share === null ? null : `${share.gt(0) ? '+' : ''}${signed(share.toFixed(1))} %`;
}

/** Beyond this growth the customer had only begun, and the percentage is meaningless. */
const NEW_PERCENT = 1_000;

/** The change of what somebody spends: `+12.5 %`; `new` after next to nothing; null where there was nothing. */
export function growthText(now: Exact | Big, before: Exact | Big): string | null {
  return changeOf(now, before)?.gt(NEW_PERCENT) === true ? 'new' : changeText(now, before);
}

function changeOf(now: Exact | Big, before: Exact | Big): Big | null {
  const base = new Big(before);
  return base.eq(0) ? null : new Big(now).minus(base).times(100).div(base.abs()).round(1);
}
