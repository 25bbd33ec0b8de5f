/** The tax of a credit note, and where its money goes (docs/explanation/credit-notes.md, "Settlement"). Pure. */
import type { SettledAmounts, Settlement } from '../../core/credit-note.ts';
import { roundToMinorUnit } from '../../core/currencies.ts';
import { type Decimal, maximum, minimum, ZERO } from '../../core/decimal.ts';
import { invalid } from '../../core/errors.ts';

interface TaxInput {
  readonly creditTypeId: string;
  /** The tax of the invoice. */
  readonly tax: Decimal;
  /** The payable amount of the invoice, above 0. */
  readonly payable: Decimal;
  /** The money and the tax of its standing notes. */
  readonly creditedBefore: Decimal;
  readonly taxBefore: Decimal;
  /** The money of the note, net of tax. */
  readonly subTotal: Decimal;
}

/**
 * The tax of the invoice in proportion, rounded to the minor unit over all notes together, so that the last one takes
 * the rest. Never below 0, and all notes together never exceed the tax of the invoice.
 */
export function noteTax({
  creditTypeId,
  tax,
  payable,
  creditedBefore,
  taxBefore,
  subTotal,
}: TaxInput): Decimal {
  const left = maximum(tax.minus(taxBefore), ZERO);
  if (subTotal.eq(ZERO)) return ZERO;
  const credited = creditedBefore.plus(subTotal);
  if (credited.gte(payable)) return left;
  const due = roundToMinorUnit(tax.times(credited).div(payable), creditTypeId).minus(taxBefore);
  return minimum(maximum(due, ZERO), left);
}

/** The payment of an invoice, as far as it is known. */
export interface InvoicePayment {
  /** False: no billing provider says what was paid. */
  readonly isKnown: boolean;
  /** Whether all of it is paid. */
  readonly isPaid: boolean;
  readonly paid: Decimal;
}

interface SettlementInput {
  readonly settlement: Settlement | null;
  readonly payment: InvoicePayment;
  /** The payable amount of the invoice with its tax. */
  readonly due: Decimal;
  /** The settled amounts of standing notes. */
  readonly before: SettledAmounts;
  /** The money of the note with its tax. */
  readonly total: Decimal;
}

/**
 * The unpaid amount is credited first, the rest as `settlement` says. Refuses (`invalid`) a settlement that is missing,
 * or that contradicts what was paid.
 */
export function settle({ settlement, payment, due, before, total }: SettlementInput): SettledAmounts {
  if (total.eq(ZERO)) return { offset: ZERO, refund: ZERO, creditBalance: ZERO };
  if (settlement === null) throw refused('is required: money was paid, or is to be paid');
  const unpaid = unpaidOf({ settlement, payment, due, before });
  const offset = minimum(unpaid, total);
  const rest = total.minus(offset);
  if (settlement === 'offset_unpaid') {
    if (rest.eq(ZERO)) return { offset, refund: ZERO, creditBalance: ZERO };
    throw refused(`must be refund or credit_balance: ${unpaid.toFixed()} is unpaid of the invoice`);
  }
  if (payment.isKnown && !payment.isPaid && payment.paid.eq(ZERO)) {
    throw refused('must be offset_unpaid: nothing was paid for the invoice');
  }
  const isRefund = settlement === 'refund';
  return { offset, refund: isRefund ? rest : ZERO, creditBalance: isRefund ? ZERO : rest };
}

function unpaidOf({ settlement, payment, due, before }: Omit<SettlementInput, 'total'>): Decimal {
  const { offset, refund, creditBalance } = before;
  // Nobody says what was paid: the settlement does.
  if (!payment.isKnown) {
    return settlement === 'offset_unpaid' ? due.minus(offset).minus(refund).minus(creditBalance) : ZERO;
  }
  return payment.isPaid ? ZERO : maximum(due.minus(payment.paid).minus(offset), ZERO);
}

function refused(problem: string) {
  return invalid(['settlement'], problem);
}
