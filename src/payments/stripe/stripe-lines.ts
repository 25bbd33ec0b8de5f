/** The lines of an invoice for Stripe: integer amounts that add up to the amount to pay. */
import type Stripe from 'stripe';
import { allocate } from '../../core/allocate.ts';
import type { Currency } from '../../core/currencies.ts';
import { cutText } from '../../core/cut-text.ts';
import { Decimal, divideTo20Places, roundDecimal, ZERO } from '../../core/decimal.ts';
import type { PaymentGate } from '../../core/terms/payment-gate.ts';
import { SECOND_MS } from '../../core/time.ts';
import type { PaymentDocument } from '../document.ts';
import { amountText } from '../lines/describe.ts';
import { fitLines } from '../lines/fit-lines.ts';
import { type InvoiceLayout, type ReadableLine, readableLines } from '../lines/readable-lines.ts';
import { ProviderProblem } from '../provider.ts';
import { fromStripeUnits, grainOf, inStripeUnits, payableUnits, requireCarried } from './amounts.ts';

/** Stripe's maximum. */
const LINES_MAX = 250;
const DESCRIPTION_MAX = 500;
/** Maximum decimal places of a unit price in Stripe. */
const PRICE_PLACES_MAX = 12;
const QUANTITY_DIGITS_MAX = 9;
const PERCENT_PLACES = 4;

/** Maximum characters of the name of a product that is created with a line. */
const PRODUCT_NAME_MAX = 250;

export interface StripeLine {
  /** Our id, by which the line is found in Stripe. */
  readonly id: string;
  /** The ids of the lines of our invoice that it consists of. */
  readonly parts: readonly string[];
  readonly description: string;
  /** In Stripe's unit. */
  readonly amount: bigint;
  readonly period: { readonly start: number; readonly end: number };
  /** Set for lines of products that exist in Stripe. */
  readonly product: string | null;
  /** Set if quantity × price is exactly the amount. */
  readonly priced: { readonly quantity: bigint; readonly unitAmount: string } | null;
  /** The given tax of the line; null: none, or Stripe computes it. */
  readonly tax: StripeTax | null;
  /** Whether Stripe taxes it: its price is then tax-exclusive. */
  readonly isTaxedThere: boolean;
}

/** A precalculated tax. */
interface StripeTax {
  readonly name: string;
  readonly units: bigint;
  /** The line that it taxes. */
  readonly taxable: bigint;
}

export interface StripeLines {
  readonly lines: readonly StripeLine[];
  /** Their sum. */
  readonly subTotal: bigint;
  /** The precalculated tax, if any. */
  readonly tax: StripeTax | null;
  readonly isGrouped: boolean;
}

/**
 * Throws `ProviderProblem` if Stripe cannot represent an amount. A given tax is on the first line. With `taxesThere`
 * Stripe computes taxes, and accepts no negative line: these are deducted from the others.
 */
export function stripeLines(
  document: PaymentDocument,
  layout: InvoiceLayout,
  { given, taxesThere }: { readonly given: PaymentGate['precalculatedTax']; readonly taxesThere: boolean },
): StripeLines {
  const { currency } = document;
  const subTotal = payableUnits(document.payable, currency);
  const grain = grainOf(currency);
  // Grains are powers of ten.
  const perUnit = new Decimal(`1e-${String(grain).length - 1}`);
  const { lines, isGrouped } = fitLines(readableLines(document, layout), LINES_MAX);
  const perGrain = lines.map(({ amount }) => inStripeUnits(amount, currency).times(perUnit));
  const amounts = allocate(perGrain, subTotal / grain).map((count) => count * grain);
  const rounded = lines.map((line, index) => stripeLine(document, line, amounts[index] ?? 0n));
  const all = taxesThere ? taxable(document, rounded, grain) : rounded;
  const shown = all.filter(({ amount }) => amount !== 0n);
  // Stripe finalizes no invoice without a line.
  const [first, ...rest] = shown.length > 0 ? shown : all.slice(0, 1);
  const tax = given === null || first === undefined ? null : taxOf(given, subTotal, currency);
  requireCarried(subTotal + (tax?.units ?? 0n), currency);
  if (first === undefined) return { lines: [], subTotal, tax: null, isGrouped };
  return { lines: [{ ...first, tax }, ...rest], subTotal, tax, isGrouped };
}

/**
 * The same total without negative lines: each of the others bears its share of them, and states it. A negative invoice
 * cannot be taxed.
 */
function taxable(document: PaymentDocument, lines: readonly StripeLine[], grain: bigint): StripeLine[] {
  const charges = lines.filter(({ amount }) => amount > 0n);
  const gross = charges.reduce((sum, { amount }) => sum + amount, 0n);
  const off = -lines.reduce((sum, { amount }) => (amount < 0n ? sum + amount : sum), 0n);
  if (off > gross) {
    const message =
      'With automatic_tax Stripe takes no invoice below zero: switch it off for this customer, or void the invoice';
    throw new ProviderProblem('refused', message, { code: 'amount_not_representable' });
  }
  if (off === 0n) return lines.map((line) => ({ ...line, isTaxedThere: true }));
  let before = 0n;
  return charges.map((line) => {
    // Shares of the running sum, so that no rounding difference is lost.
    const share = (upTo: bigint) => ((off / grain) * upTo) / gross;
    const own = (share(before + line.amount) - share(before)) * grain;
    before += line.amount;
    const discount = amountText(fromStripeUnits(own, document.currency), document.currency);
    const said = `${line.description} · ${discount} less`;
    return {
      ...line,
      ...(own === 0n ? {} : { priced: null, description: cutText(said, DESCRIPTION_MAX) }),
      amount: line.amount - own,
      isTaxedThere: true,
    };
  });
}

function taxOf(
  { amount, name }: NonNullable<PaymentGate['precalculatedTax']>,
  taxable: bigint,
  currency: Currency,
): StripeTax | null {
  const units = payableUnits(amount, currency);
  return units === 0n ? null : { name: name ?? 'Tax', units, taxable };
}

function stripeLine(document: PaymentDocument, line: ReadableLine, amount: bigint): StripeLine {
  const product = document.products.get(line.productId ?? '') ?? null;
  const priced = product === null || amount < 0n ? null : exactPrice(document, line, amount);
  const figures = line.figures === null || priced !== null ? '' : ` · ${line.figures}`;
  return {
    id: line.id,
    parts: line.parts,
    description: cutText(`${line.text}${figures}`, DESCRIPTION_MAX),
    amount,
    period: {
      start: Math.floor(line.interval.start / SECOND_MS),
      end: Math.floor(line.interval.end / SECOND_MS),
    },
    // Prices in Stripe cannot be negative, amounts can.
    product: amount < 0n ? null : product,
    priced,
    tax: null,
    isTaxedThere: false,
  };
}

function exactPrice(
  document: PaymentDocument,
  { priced }: ReadableLine,
  amount: bigint,
): StripeLine['priced'] {
  if (priced === null) return null;
  const { quantity, unitPrice } = priced;
  const unitAmount = inStripeUnits(unitPrice, document.currency);
  const isExact =
    isCount(quantity) &&
    unitAmount.decimalPlaces() <= PRICE_PLACES_MAX &&
    unitAmount.times(quantity).eq(String(amount));
  return isExact ? { quantity: BigInt(quantity.toFixed()), unitAmount: unitAmount.toFixed() } : null;
}

function isCount(quantity: Decimal): boolean {
  return (
    quantity.gt(ZERO) && quantity.decimalPlaces() === 0 && quantity.integerDigits() <= QUANTITY_DIGITS_MAX
  );
}

/** The metadata key of a Stripe line with our id. */
export const LINE_ID = 'tallyhouse_line_id';

/** The parameters for `addLines` and `updateLines`. `decimal` creates the client's decimals. */
export function lineParams(
  line: StripeLine,
  currency: string,
  decimal: (text: string) => Stripe.Decimal,
): Stripe.InvoiceAddLinesParams.Line {
  const { product, priced, tax } = line;
  const common = {
    description: line.description,
    period: { ...line.period },
    discountable: false,
    metadata: { [LINE_ID]: line.id },
    ...(tax === null ? {} : { tax_amounts: [taxParams(tax)] }),
  };
  if (product === null && !line.isTaxedThere) return { ...common, amount: Number(line.amount) };
  const price = {
    currency,
    ...(product === null
      ? { product_data: { name: cutText(line.description, PRODUCT_NAME_MAX) } }
      : { product }),
    ...(line.isTaxedThere ? { tax_behavior: 'exclusive' as const } : {}),
  };
  return priced === null
    ? { ...common, quantity: 1, price_data: { ...price, unit_amount: Number(line.amount) } }
    : {
        ...common,
        quantity: Number(priced.quantity),
        price_data: { ...price, unit_amount_decimal: decimal(priced.unitAmount) },
      };
}

function taxParams({ name, units, taxable }: StripeTax): Stripe.InvoiceAddLinesParams.Line.TaxAmount {
  const percentage = roundedPercentage(units, taxable);
  return {
    amount: Number(units),
    taxable_amount: Number(taxable),
    tax_rate_data: { display_name: name, inclusive: false, percentage },
  };
}

/** For display only: nothing is computed from it. */
function roundedPercentage(units: bigint, taxable: bigint): number {
  if (taxable <= 0n) return 0;
  const share = divideTo20Places(new Decimal(units * 100n), new Decimal(taxable));
  return Number(roundDecimal(share, 'ROUND_HALF_UP', PERCENT_PLACES).toFixed());
}

/** Whether Stripe has exactly this line. */
export function isSameLine(there: Stripe.InvoiceLineItem, line: StripeLine): boolean {
  const tax = (there.taxes ?? []).reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  // Without a given tax there may be one that Stripe has computed.
  if (line.tax !== null && tax !== line.tax.units) return false;
  return (
    BigInt(there.amount) === line.amount &&
    there.description === line.description &&
    there.period.start === line.period.start &&
    there.period.end === line.period.end
  );
}
