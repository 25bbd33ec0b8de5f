/** The limits of Stripe that the stand-in enforces. Texts are counted in characters, amounts in Stripe's unit. */
import type { FormValue } from './form-body.ts';
import { StripeRefusal } from './stand-in-objects.ts';

export const TEXTS = { memo: 1_500, footer: 5_000, number: 26, description: 500, taxName: 200 } as const;
const METADATA = { keys: 50, key: 40, value: 500 } as const;
/** Eight digits. */
const CHARGE_MAX = 99_999_999;
/** Some published minimums: https://docs.stripe.com/currencies. Other currencies have none here. */
const CHARGE_MIN: Readonly<Record<string, number>> = {
  ...{
    usd: 50,
    eur: 50,
    gbp: 30,
    jpy: 50,
    chf: 50,
    cad: 50,
    aud: 50,
    sek: 300,
    nok: 300,
    dkk: 250,
    pln: 200,
  },
  ...{ mxn: 1_000, huf: 17_500, czk: 1_500 },
};

export function requireLength(param: string, value: unknown, max: number): void {
  if (typeof value !== 'string' || [...value].length <= max) return;
  throw new StripeRefusal(400, 'string_too_long', `Invalid string: must be at most ${max} characters`, param);
}

export function requireMetadata(metadata: FormValue | undefined): void {
  const entries = Object.entries((metadata ?? {}) as Record<string, string>);
  if (entries.length > METADATA.keys) {
    throw new StripeRefusal(400, 'too_many_keys', 'Metadata can have up to 50 keys', 'metadata');
  }
  for (const [key, value] of entries) {
    requireLength('metadata', key, METADATA.key);
    requireLength(`metadata[${key}]`, value, METADATA.value);
  }
}

/** Whether the amount due is neither too small nor too large to be charged. */
export function isChargeable(amount: number, currency: string): boolean {
  return amount >= (CHARGE_MIN[currency] ?? 1) && amount <= CHARGE_MAX;
}

export function requireChargeable(amount: number, currency: string): void {
  if (isChargeable(amount, currency)) return;
  const [code, message] =
    amount > CHARGE_MAX
      ? ['amount_too_large', 'Amount must be no more than 999,999.99']
      : ['amount_too_small', 'Amount must convert to at least 50 cents'];
  throw new StripeRefusal(400, code, message, 'amount');
}

export function requireTaxNames(taxes: readonly Record<string, FormValue>[]): void {
  for (const one of taxes) {
    const rate = one.tax_rate_data as Record<string, FormValue>;
    requireLength('display_name', rate.display_name, TEXTS.taxName);
  }
}

export function requireNotNegative(unit: FormValue | undefined): void {
  if (Number(unit ?? 0) >= 0) return;
  const message = 'This value must be at least 0';
  throw new StripeRefusal(400, 'parameter_invalid_integer', message, 'unit_amount');
}

/** Automatic tax refuses these lines. `byDefault`: the tax behavior of prices that have none, by the settings of the account. */
export function requireTaxable(
  byDefault: string | null,
  line: { readonly amount: number; readonly taxBehavior: string | null; readonly hasTaxes: boolean },
): void {
  const isUnspecified = (line.taxBehavior ?? byDefault ?? 'unspecified') === 'unspecified';
  const faults = [
    ...(line.amount < 0 ? ['negative amounts'] : []),
    ...(line.hasTaxes ? ['tax amounts'] : []),
    ...(isUnspecified ? ['tax_behavior=unspecified'] : []),
  ];
  if (faults.length === 0) return;
  const message = `Invalid line item: ${faults.join(', ')} cannot be added to automatic tax invoices`;
  throw new StripeRefusal(400, 'invalid_tax_line', message);
}
