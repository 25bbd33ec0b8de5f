/**
 * Amounts for people. They are rounded to the minor unit for the eye only, half away from zero; the exact figure is in
 * the title of the element, and every sum adds exact ones.
 */
import Big from 'big.js';
import type { Exact } from '../api/exact.ts';
import { spoken } from './language.ts';

export interface CreditType {
  readonly id: string;
  readonly name: string;
}

interface Currency {
  readonly code: string;
  /** Amounts are sent in units of 10^-sentPlaces. */
  readonly sentPlaces: number;
}

/** The currency of a pricing unit; null for a unit of the operator's own. US dollars are sent in cents. */
function currencyOf({ name }: CreditType): Currency | null {
  if (name === 'USD (cents)') return { code: 'USD', sentPlaces: 2 };
  return /^[A-Z]{3}$/.test(name) ? { code: name, sentPlaces: 0 } : null;
}

/** Engines write at most so many places; the API has up to 30 of cents. */
const PLACES_MAX = 20;

const formats = new Map<string, Intl.NumberFormat>();

function formatFor(code: string, digits?: number): Intl.NumberFormat {
  const { locale } = spoken();
  const key = `${locale} ${code} ${digits}`;
  const known =
    formats.get(key) ??
    new Intl.NumberFormat(locale, {
      style: 'currency',
      currency: code,
      ...(digits === undefined ? {} : { maximumFractionDigits: digits }),
      ...(digits === 0 ? { minimumFractionDigits: 0 } : {}),
    });
  formats.set(key, known);
  return known;
}

function inUnits(amount: Exact | Big, { sentPlaces }: Currency): Big {
  return new Big(amount).times(new Big(10).pow(sentPlaces === 0 ? 0 : -sentPlaces));
}

/** Minus as `−`, so that figures stand in line. */
function signed(text: string): string {
  return text.replace('-', '−');
}

/** The separator between a whole number and its places in the language of the page. */
function separator(): string {
  const parts = new Intl.NumberFormat(spoken().locale).formatToParts(1.5);
  return parts.find(({ type }) => type === 'decimal')?.value ?? '.';
}

/** A figure with all its digits, also where it has more places than an engine writes. */
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

/** The unit of written amounts: `USD`, where they are sent in cents too. */
export function unitText(unit: CreditType): string {
  return currencyOf(unit)?.code ?? unit.name;
}

/** `$1,234.57`, or `12.5 tokens` in a unit of the operator's own. */
export function moneyText(amount: Exact | Big, unit: CreditType): string {
  const currency = currencyOf(unit);
  if (currency === null) return `${quantityText(amount)} ${unit.name}`;
  return signed(
    formatFor(currency.code).format(inUnits(amount, currency).toFixed() as Intl.StringNumericLiteral),
  );
}

/** A price with all its digits: `$0.000025`. */
export function priceText(amount: Exact | Big, unit: CreditType): string {
  const currency = currencyOf(unit);
  if (currency === null) return `${quantityText(amount)} ${unit.name}`;
  return withAllPlaces(inUnits(amount, currency), (places) => formatFor(currency.code, places));
}

/** The figure as it was sent, with its unit: `123456.789 USD (cents)`. */
export function rawText(amount: Exact | Big, unit: CreditType): string {
  return `${typeof amount === 'string' ? amount : amount.toFixed()} ${unit.name}`;
}

const quantities = new Map<string, Intl.NumberFormat>();

function quantityFormat(places: number): Intl.NumberFormat {
  const { locale } = spoken();
  const key = `${locale} ${places}`;
  const known = quantities.get(key) ?? new Intl.NumberFormat(locale, { maximumFractionDigits: places });
  quantities.set(key, known);
  return known;
}

/** A quantity with all its digits: `1,234.5`. */
export function quantityText(value: Exact | Big): string {
  return withAllPlaces(new Big(value), quantityFormat);
}

/** `+12.5 %` of `before`; null where there was nothing. */
export function changeText(now: Exact | Big, before: Exact | Big): string | null {
  const base = new Big(before);
  if (base.eq(0)) return null;
  const share = new Big(now).minus(base).times(100).div(base.abs()).round(1);
  return `${share.gt(0) ? '+' : ''}${signed(share.toFixed(1))} %`;
}
