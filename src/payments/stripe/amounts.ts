/**
 * Amounts in Stripe's units: integers, mostly in the minor unit of the currency (docs/explanation/payments.md,
 * "Amounts").
 */
import type { Currency } from '../../core/currencies.ts';
import { Decimal, ZERO } from '../../core/decimal.ts';
import { ProviderProblem } from '../provider.ts';

/** Currencies without a minor unit at Stripe. */
const ZERO_PLACES = 'BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF'.split(' ');
/** Currencies with three decimals, the last of which must be 0. */
const THREE_PLACES = ['BHD', 'JOD', 'KWD', 'OMR', 'TND'];
/** Currencies without a minor unit whose amounts are nevertheless counted in hundredths. */
const WHOLE_IN_HUNDREDTHS = ['ISK', 'UGX'];

/**
 * The minimum charge amounts, in major units. Other currencies have no published minimum. Stripe applies them in the
 * settlement currency. https://docs.stripe.com/currencies, November 2026.
 */
const MINIMUMS: Readonly<Record<string, string>> = {
  ...{
    USD: '0.5',
    AED: '2',
    AUD: '0.5',
    BGN: '1',
    BRL: '0.5',
    CAD: '0.5',
    CHF: '0.5',
    CZK: '15',
    DKK: '2.5',
  },
  ...{ EUR: '0.5', GBP: '0.3', HKD: '4', HUF: '175', INR: '0.5', JPY: '50', MXN: '10', MYR: '2', NOK: '3' },
  ...{ NZD: '0.5', PLN: '2', RON: '2', SEK: '3', SGD: '0.5', THB: '10' },
};

/** Presentment currencies; not yet compared with the list at https://docs.stripe.com/currencies. */
const PRESENTED = new Set(
  (
    'USD AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BWP BYN BZD CAD CDF CHF CLP ' +
    'CNY COP CRC CVE CZK DJF DKK DOP DZD EGP ETB EUR FJD FKP GBP GEL GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR ISK ' +
    'JMD JOD JPY KES KGS KHR KMF KRW KWD KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MUR MVR MWK MXN MYR MZN ' +
    'NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SEK SGD SHP SLE SOS SRD STD ' +
    'SZL THB TJS TND TOP TRY TTD TWD TZS UAH UGX UYU UZS VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW'
  ).split(' '),
);

/**
 * Maximum digits of an amount in Stripe's unit, by its reference of payment intents; the exceptions are not yet
 * compared.
 */
const DIGITS_MAX = 8;
const MORE_DIGITS: Readonly<Record<string, number>> = { IDR: 12 };

interface StripeUnit {
  /** Decimal places of the unit, counted in the currency. */
  readonly places: number;
  /** Amounts are whole multiples of this. */
  readonly grain: bigint;
}

function unitOf(code: string): StripeUnit {
  if (ZERO_PLACES.includes(code)) return { places: 0, grain: 1n };
  if (THREE_PLACES.includes(code)) return { places: 3, grain: 10n };
  return { places: 2, grain: WHOLE_IN_HUNDREDTHS.includes(code) ? 100n : 1n };
}

/** A stored amount counted in Stripe's unit, exact. */
export function inStripeUnits(stored: Decimal, { code, storedPlaces }: Currency): Decimal {
  return stored.times(new Decimal(`1e${unitOf(code).places - storedPlaces}`));
}

/** A Stripe amount as a stored amount. */
export function fromStripeUnits(units: number | bigint, { code, storedPlaces }: Currency): Decimal {
  return new Decimal(String(units)).times(new Decimal(`1e${storedPlaces - unitOf(code).places}`));
}

/** The number of Stripe units in the smallest step of an amount. */
export function grainOf({ code }: Currency): bigint {
  return unitOf(code).grain;
}

/** The amount to pay in Stripe's unit. Refuses an amount that Stripe cannot represent. */
export function payableUnits(stored: Decimal, currency: Currency): bigint {
  const units = inStripeUnits(stored, currency);
  const grain = grainOf(currency);
  if (units.decimalPlaces() > 0 || BigInt(units.toFixed()) % grain !== 0n) {
    const amount = new Decimal(`1e${-currency.storedPlaces}`).times(stored).toFixed();
    throw new ProviderProblem(
      'refused',
      `Stripe cannot carry ${amount} ${currency.code}: its amounts in ${currency.code} are multiples of ${smallestText(currency)}`,
      { code: 'amount_not_representable' },
    );
  }
  return BigInt(units.toFixed());
}

/**
 * Refuses amounts that Stripe cannot charge, before anything is created: an unsupported currency, and an amount with
 * too many digits, which Stripe would move to the customer balance. `units` is the total in Stripe's unit.
 */
export function requireCarried(units: bigint, { code }: Currency): void {
  if (!PRESENTED.has(code)) {
    const message = `Stripe has no prices in ${code}: the rate card of the contract needs another fiat_credit_type_id`;
    throw new ProviderProblem('refused', message, { code: 'currency_not_supported' });
  }
  const digits = MORE_DIGITS[code] ?? DIGITS_MAX;
  if (units < 10n ** BigInt(digits)) return;
  const message = `Stripe charges at most ${digits} digits in ${code}, and the total has more: bill it in several invoices`;
  throw new ProviderProblem('refused', message, { code: 'amount_too_large' });
}

function smallestText({ code }: Currency): string {
  const { places, grain } = unitOf(code);
  return new Decimal(grain).times(new Decimal(`1e-${places}`)).toFixed();
}

/** Whether the amount is above 0 and below Stripe's minimum. */
export function isBelowMinimum(stored: Decimal, currency: Currency): boolean {
  const minimum = MINIMUMS[currency.code];
  const major = stored.times(new Decimal(`1e${-currency.storedPlaces}`));
  return minimum !== undefined && major.gt(ZERO) && major.lt(minimum);
}
