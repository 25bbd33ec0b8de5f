/**
 * The text of the printed form of an invoice: parties, dates, lines by product, totals. The same invoice always has the
 * same content. The layout is in `invoice-pdf.ts`.
 */
import type { PrintedInvoice } from '../../billing/invoices/read/printed-invoice.ts';
import { addressLines } from '../../core/billing-address.ts';
import type { CreditType } from '../../core/credit-types.ts';
import { currencyOf } from '../../core/currencies.ts';
import { type Decimal, ZERO } from '../../core/decimal.ts';
import { assert } from '../../core/errors.ts';
import type { ExternalInvoice } from '../../core/external-invoice.ts';
import { groupBy } from '../../core/group-by.ts';
import {
  countsInTotal,
  type InvoiceLine,
  type InvoiceStatus,
  isAppliedLine,
  isConversionLine,
  isSubscriptionLine,
  isUsageLine,
  type LineTier,
} from '../../core/invoice.ts';
import {
  printedAmount,
  printedDate,
  printedLineAmount,
  printedMinorUnit,
  printedNumber,
  printedQuantity,
  printedTime,
  roundedQuantity,
} from '../../core/printed-values.ts';
import type { Seller } from '../../core/seller.ts';
import { totalsByCreditType } from '../../rating/invoices/breakdown.ts';
import { dueAt, payableAmount } from '../../rating/invoices/payable.ts';

export interface InvoiceContent {
  readonly title: string;
  /** Written across every page. */
  readonly mark: 'DRAFT' | 'VOID' | null;
  /** Identifies the document on every page. */
  readonly reference: string;
  readonly seller: readonly string[];
  readonly buyer: readonly string[];
  readonly facts: readonly Fact[];
  /** The currency of the column of amounts. */
  readonly currency: string;
  readonly sections: readonly Section[];
  readonly totals: readonly Total[];
  readonly notes: readonly string[];
}

interface Fact {
  readonly label: string;
  readonly value: string;
}

/** The lines of one product. */
export interface Section {
  readonly heading: string;
  readonly lines: readonly PrintedLine[];
  /** Null for a single line. */
  readonly subtotal: string | null;
}

export interface PrintedLine {
  /** Empty if the heading is complete. */
  readonly details: readonly string[];
  readonly quantity: string;
  readonly unitPrice: string;
  readonly amount: string;
}

interface Total {
  readonly label: string;
  readonly amount: string;
  readonly isMain: boolean;
}

const TITLES: Readonly<Record<InvoiceStatus, string>> = {
  DRAFT: 'Draft invoice',
  FINALIZED: 'Invoice',
  VOID: 'Void invoice',
};
const MARKS = { DRAFT: 'DRAFT', FINALIZED: null, VOID: 'VOID' } as const;

type Steps<Result> = Generator<void, Result, undefined>;

/** `decimalsMax` of the amounts of lines; undefined: as usual. Yields after each line. */
export function* invoiceContent(
  printed: PrintedInvoice,
  seller: Seller,
  decimalsMax?: number,
): Steps<InvoiceContent> {
  const { invoice, number } = printed;
  const currency = currencyOf(invoice.creditTypeId);
  assert(currency !== null, 'an invoice is in a currency');
  return {
    title: TITLES[invoice.status],
    mark: MARKS[invoice.status],
    reference: number ?? `of ${printedDate(invoice.issuedAt)}`,
    seller: sellerLines(seller),
    buyer: buyerLines(printed),
    facts: factsOf(printed, currency.code),
    currency: currency.code,
    sections: yield* sectionsOf(printed, decimalsMax),
    totals: totalsOf(printed, currency.code),
    notes: [
      [
        ...(yield* lineNotes(printed, decimalsMax)),
        `The total is rounded once, half away from zero, to ${printedMinorUnit(currency)} ${currency.code}.`,
      ].join(' '),
      ...seller.note,
    ],
  };
}

/** The explanation of the amounts of lines, where they need one. */
function* lineNotes(printed: PrintedInvoice, decimalsMax?: number): Steps<string[]> {
  const { invoice } = printed;
  const isRounded = yield* hasRoundedLine(printed, decimalsMax);
  const hasUncounted = invoice.lines.some((line) => !countsInTotal(line));
  return [
    ...(isRounded
      ? [
          'Quantities and amounts of lines are rounded for reading; subtotals and totals are sums of the exact amounts.',
        ]
      : []),
    ...(hasUncounted
      ? [
          'What counts towards a commitment to spend is due with this invoice and is not deducted from it; what is missing ' +
            'at the end of the commitment is billed then.',
        ]
      : []),
  ];
}

function* hasRoundedLine({ invoice, creditTypes }: PrintedInvoice, decimalsMax?: number): Steps<boolean> {
  for (const line of invoice.lines) {
    const unit = unitOf({ creditTypes }, line.creditTypeId);
    const price = isAppliedLine(line) ? line.total : line.unitPrice;
    if (printedLineAmount(line.total, price, unit, decimalsMax) !== printedAmount(line.total, unit))
      return true;
    if (!isAppliedLine(line) && !roundedQuantity(line.quantity).eq(line.quantity)) return true;
    yield;
  }
  return false;
}

function sellerLines({ name, address, taxId, email }: Seller): string[] {
  return [name, ...address, taxId === null ? null : `Tax ID ${taxId}`, email].filter((line) => line !== null);
}

/** The address of the customer, and its custom fields that are printed (docs/reference/exports.md). */
function buyerLines({ customerName, billingAddress, customFields: { customer } }: PrintedInvoice): string[] {
  const { billing_name: name, billing_address: address, tax_id: taxId, billing_email: email } = customer;
  return [
    name ?? customerName,
    ...(billingAddress === null
      ? (address ?? '').split(/\r?\n|\\n/).filter((line) => line.trim() !== '')
      : addressLines(billingAddress)),
    ...(taxId === undefined ? [] : [`Tax ID ${taxId}`]),
    ...(email === undefined ? [] : [email]),
  ];
}

function factsOf({ invoice, number, external, customFields }: PrintedInvoice, currency: string): Fact[] {
  const isDraft = invoice.status === 'DRAFT';
  const due = dueAt(invoice);
  const order =
    customFields.invoice.purchase_order ??
    customFields.contract.purchase_order ??
    customFields.customer.purchase_order;
  const facts: readonly (readonly [string, string | null | undefined])[] = [
    ['Invoice number', number ?? 'assigned when it is issued'],
    [isDraft ? 'Expected issue date' : 'Issue date', printedDate(invoice.issuedAt)],
    [isDraft ? 'Expected due date' : 'Due date', due === null ? null : printedDate(due)],
    ['Paid on', isPaid(external) && external.paidAt !== null ? printedDate(external.paidAt) : null],
    ['Payment terms', termsText(invoice.netPaymentTermsDays)],
    ['Billing period', invoice.type === 'SCHEDULED' ? null : printedTime(invoice.period)],
    ['Purchase order', order],
    ['Currency', currency],
    ['Invoice ID', invoice.id],
  ];
  return facts.flatMap(([label, value]) => (value === null || value === undefined ? [] : [{ label, value }]));
}

function isPaid(external: ExternalInvoice | null): external is ExternalInvoice {
  return external !== null && external.status === 'PAID';
}

function termsText(days: number | null): string | null {
  if (days === null) return null;
  return days === 0 ? 'Due on issue' : `${days} ${days === 1 ? 'day' : 'days'} net`;
}

const CONVERSIONS = 'Conversion of pricing units';

/**
 * Products in the order of their first lines, and conversions. Those of each invoice on a consolidated one apart, under the
 * name of its customer.
 */
function* sectionsOf(printed: PrintedInvoice, decimalsMax?: number): Steps<Section[]> {
  const groups = groupBy(printed.invoice.lines, (line) =>
    JSON.stringify([line.origin?.invoiceId, isConversionLine(line) ? CONVERSIONS : line.productId]),
  );
  yield;
  const sections: Section[] = [];
  for (const lines of groups.values()) sections.push(yield* sectionOf(lines, printed, decimalsMax));
  return sections;
}

function* sectionOf(
  own: readonly InvoiceLine[],
  printed: PrintedInvoice,
  decimalsMax?: number,
): Steps<Section> {
  const [first] = own;
  const name = first === undefined || isConversionLine(first) ? CONVERSIONS : first.name;
  const totals = [...totalsByCreditType(own)].map(([unit, total]) =>
    printedAmount(total, unitOf(printed, unit)),
  );
  yield;
  const lines: PrintedLine[] = [];
  for (const line of own) {
    const written = printedLine(line, name, printed, decimalsMax);
    const isNamed = own.length === 1 || written.details.length > 0;
    lines.push(isNamed ? written : { ...written, details: [line.name] });
    yield;
  }
  return {
    heading: [printed.originNames.get(first?.origin?.customerId ?? ''), name]
      .filter((part) => part !== undefined)
      .join(': '),
    lines,
    subtotal: lines.length > 1 ? totals.join(' + ') : null,
  };
}

function printedLine(
  line: InvoiceLine,
  heading: string,
  printed: PrintedInvoice,
  decimalsMax?: number,
): PrintedLine {
  const unit = unitOf(printed, line.creditTypeId);
  const quantity = printedQuantity(line.quantity);
  const price = isAppliedLine(line) ? line.total : line.unitPrice;
  const amount = printedLineAmount(line.total, price, unit, decimalsMax);
  if (!countsInTotal(line)) return uncountedLine(line, printed, decimalsMax);
  if (isAppliedLine(line)) {
    return { details: detailsOf(line, heading, printed), quantity: '', unitPrice: '', amount };
  }
  return {
    details: detailsOf(line, heading, printed),
    quantity: isConversionLine(line)
      ? `${quantity} ${unitOf(printed, line.convertedCreditTypeId).name}`
      : quantity,
    unitPrice: printedAmount(line.unitPrice, unit),
    amount,
  };
}

/**
 * Usage that a postpaid commit covers is due nevertheless: nothing is deducted, so the column of amounts, which a
 * reader adds up, has none, and the description states the amount that counts towards the commit.
 */
function uncountedLine(line: InvoiceLine, printed: PrintedInvoice, decimalsMax?: number): PrintedLine {
  const unit = unitOf(printed, line.creditTypeId);
  const total = line.total.lt(ZERO) ? ZERO.minus(line.total) : line.total;
  const amount = printedLineAmount(total, total, unit, decimalsMax);
  const currency = currencyOf(unit.id);
  const name = line.name.replace(/ applied$/, '');
  return {
    details: [
      `${name}: ${amount}${currency === null ? '' : ` ${currency.code}`} counts towards it and is not deducted`,
      ...distinctionsOf(line, printed),
    ],
    quantity: '',
    unitPrice: '',
    amount: '',
  };
}

/** The part that distinguishes a line from the others of its product. */
function detailsOf(line: InvoiceLine, heading: string, printed: PrintedInvoice): string[] {
  return [...(line.name === heading ? [] : [line.name]), ...distinctionsOf(line, printed)];
}

/** Group values, tier, and the time of a part of the period. */
function distinctionsOf(line: InvoiceLine, { invoice: { period } }: PrintedInvoice): string[] {
  const isPart = line.interval.start !== period.start || line.interval.end !== period.end;
  const usage = isUsageLine(line) ? line : null;
  const groups = Object.entries({ ...usage?.pricingGroupValues, ...usage?.presentationGroupValues });
  const timed = usage ?? (isSubscriptionLine(line) ? line : null);
  const tier = timed?.tier ?? null;
  return [
    ...groups.map(([name, value]) => `${name}: ${value}`),
    ...(tier === null ? [] : [tierText(tier)]),
    ...(timed !== null && isPart ? [printedTime(line.interval)] : []),
  ];
}

function tierText({ level, startingAt, size }: LineTier): string {
  const above = startingAt.eq(ZERO) ? '' : ` above ${printedNumber(startingAt)}`;
  const upTo = size === null ? '' : ` up to ${printedNumber(startingAt.plus(size))}`;
  return `Tier ${level}${above === '' && upTo === '' ? '' : `:${above}${upTo}`}`;
}

function totalsOf({ invoice, creditTypes }: PrintedInvoice, currency: string): Total[] {
  const payable = payableAmount(invoice);
  const unit = unitOf({ creditTypes }, invoice.creditTypeId);
  const amount = (value: Decimal) => `${printedAmount(value, unit)} ${currency}`;
  const main = { label: mainLabel(invoice.status, payable), amount: amount(payable), isMain: true };
  if (payable.eq(invoice.total)) return [main];
  return [
    { label: 'Total', amount: amount(invoice.total), isMain: false },
    { label: 'Rounding', amount: amount(payable.minus(invoice.total)), isMain: false },
    main,
  ];
}

function mainLabel(status: InvoiceStatus, payable: Decimal): string {
  if (status === 'DRAFT') return 'Expected amount';
  if (status === 'VOID') return 'Void, not payable';
  return payable.lt(ZERO) ? 'Amount in your favour' : 'Amount due';
}

function unitOf({ creditTypes }: Pick<PrintedInvoice, 'creditTypes'>, id: string): CreditType {
  const found = creditTypes.get(id);
  assert(found !== undefined, `pricing unit ${id} of an invoice exists`);
  return found;
}
