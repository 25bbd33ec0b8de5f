/**
 * The rest of an issued invoice that credit notes can take back (docs/explanation/credit-notes.md, "What can be
 * credited"). Pure.
 */
import { allocate } from '../../core/allocate.ts';
import type { CreditNoteLine } from '../../core/credit-note.ts';
import { minorUnitPlaces } from '../../core/currencies.ts';
import { Decimal, maximum, minimum, sum, ZERO } from '../../core/decimal.ts';
import { groupBy } from '../../core/group-by.ts';
import {
  countsInTotal,
  type Invoice,
  type InvoiceLine,
  isAppliedLine,
  type LinePayer,
} from '../../core/invoice.ts';
import { lineId } from '../invoices/line-id.ts';
import { payableAmount } from '../invoices/payable.ts';

export type InvoiceToCredit = Pick<Invoice, 'id' | 'total' | 'creditTypeId' | 'lines'>;

/** A line of the invoice that can be credited. */
export interface OpenLine {
  readonly id: string;
  readonly line: InvoiceLine;
  readonly productId: string | null;
  readonly payer: LinePayer | null;
  readonly paidBy: CreditNoteLine['paidBy'];
  /**
   * All that can be credited of it: its share of the payable amount, in whole minor units; exact for what a balance
   * paid.
   */
  readonly amount: Decimal;
  /** `amount` without what standing notes have credited. */
  readonly left: Decimal;
  /** The amount that the balance of the line has not got back yet. */
  readonly notGivenBack: Decimal;
}

export interface CreditBook {
  readonly creditTypeId: string;
  /** Decimal places of the minor unit in stored amounts. */
  readonly places: number;
  /** In the order of the invoice. */
  readonly lines: readonly OpenLine[];
  /** The payable amount of the invoice, net of tax. */
  readonly payable: Decimal;
  /** `payable` without the money of standing notes. Less than that of the lines if the invoice has discounts. */
  readonly money: Decimal;
  /** Lines that cannot be credited, with the reason. */
  readonly refused: ReadonlyMap<string, string>;
}

/** `credited`: the lines of the standing notes of the invoice. */
export function openBook(
  invoice: InvoiceToCredit,
  credited: readonly Pick<CreditNoteLine, 'lineItemId' | 'amount' | 'paidBy' | 'givenBack'>[],
): CreditBook {
  const { creditTypeId } = invoice;
  const places = minorUnitPlaces(creditTypeId);
  const before = groupBy(credited, ({ lineItemId }) => lineItemId);
  const amounts = amountsOf(invoice, places);
  const lines: OpenLine[] = [];
  const refused = new Map<string, string>();
  for (const [index, line] of invoice.lines.entries()) {
    const id = lineId(invoice.id, line);
    const problem = refusalOf(line, creditTypeId);
    if (problem !== null) {
      refused.set(id, problem);
      continue;
    }
    const own = before.get(id) ?? [];
    const amount = amounts[index] ?? ZERO;
    const payer = payerOf(line);
    const givenBack = sum(own.map((one) => one.givenBack));
    lines.push({
      ...{ id, line, payer, amount },
      productId: 'productId' in line ? line.productId : null,
      paidBy: isPaidByBalance(line) ? 'balance' : 'money',
      left: amount.minus(sum(own.map((one) => one.amount))),
      notGivenBack: payer === null ? ZERO : line.total.minus(givenBack),
    });
  }
  const payable = payableAmount(invoice);
  const money = credited.filter(({ paidBy }) => paidBy === 'money');
  return {
    creditTypeId,
    places,
    lines,
    refused,
    payable,
    money: payable.minus(sum(money.map((one) => one.amount))),
  };
}

/** By position: the share of each line in the payable amount; the total of lines that a balance paid. */
function amountsOf({ total, creditTypeId, lines }: InvoiceToCredit, places: number): Decimal[] {
  const unit = new Decimal(`1e${places}`);
  const isMoney = (line: InvoiceLine) =>
    line.creditTypeId === creditTypeId && countsInTotal(line) && !isPaidByBalance(line);
  const counted = lines.map((line) => (isMoney(line) ? line.total.times(unit) : ZERO));
  const payable = payableAmount({ total, creditTypeId }).times(unit);
  const units = allocate(counted, BigInt(payable.toFixed()));
  return lines.map((line, index) =>
    isMoney(line) ? new Decimal(units[index] ?? 0n).times(new Decimal(`1e-${places}`)) : line.total,
  );
}

function payerOf(line: InvoiceLine): LinePayer | null {
  return 'payer' in line ? line.payer : null;
}

/** Whether a balance pays for the line. The part that a postpaid commit covers is due in money. */
function isPaidByBalance(line: InvoiceLine): boolean {
  const payer = payerOf(line);
  return payer !== null && payer.commitType !== 'POSTPAID';
}

function refusalOf(line: InvoiceLine, creditTypeId: string): string | null {
  if (isAppliedLine(line)) return 'deducts what a balance paid: credit the line that it pays for';
  if (line.creditTypeId !== creditTypeId) {
    return 'is counted in a custom pricing unit: credit the line that converts it';
  }
  return line.total.gt(ZERO) ? null : 'has no amount above 0';
}

/**
 * The part of a credited amount that goes back to the balance of the line: all of it. The part that a postpaid
 * commit covers is due in money rounded to minor units, and exact in the commit: the last note of the line gives back the rest.
 */
export function givenBackOf({ payer, paidBy, left, notGivenBack }: OpenLine, amount: Decimal): Decimal {
  if (payer === null) return ZERO;
  if (paidBy === 'balance') return amount;
  return amount.eq(left) ? notGivenBack : maximum(minimum(amount, notGivenBack), ZERO);
}
