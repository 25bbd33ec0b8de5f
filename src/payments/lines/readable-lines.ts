/**
 * The lines of an invoice for its reader (docs/explanation/payments.md, "Lines"): without amounts paid by balances,
 * without zero lines, in the order of the invoice. Amounts stay exact; they are rounded when they are sent.
 */
import { type Decimal, ZERO } from '../../core/decimal.ts';
import { groupBy } from '../../core/group-by.ts';
import { countsInTotal, isAppliedLine, isConversionLine } from '../../core/invoice.ts';
import type { Interval } from '../../core/time.ts';
import type { DocumentLine, PaymentDocument } from '../document.ts';
import { describeFigures, describeLine } from './describe.ts';

/** `net`: the amounts left to pay. `gross`: everything, with the amounts that balances have paid as negative lines. */
export const INVOICE_LAYOUTS = ['net', 'gross', 'by_product'] as const;
export type InvoiceLayout = (typeof INVOICE_LAYOUTS)[number];

export interface ReadableLine {
  /** Stable when the line is computed again. */
  readonly id: string;
  /** The ids of the lines of the invoice that it consists of. */
  readonly parts: readonly string[];
  /** Our product id; null for conversions and credits. */
  readonly productId: string | null;
  /** The key of lines of one kind, such as a product of a customer. */
  readonly group: string;
  readonly groupName: string;
  readonly text: string;
  /** Such as `1,250 × USD 0.0003`; null if there are none. */
  readonly figures: string | null;
  /** Exact, in the unit of the invoice. */
  readonly amount: Decimal;
  /** Null if the line has more than one quantity or price. */
  readonly priced: { readonly quantity: Decimal; readonly unitPrice: Decimal } | null;
  readonly interval: Interval;
}

/** In the order of the invoice, credits last. Their amounts add up to the total. */
export function readableLines(document: PaymentDocument, layout: InvoiceLayout): ReadableLine[] {
  const counted = document.lines.filter(
    (line) => line.creditTypeId === document.creditTypeId && countsInTotal(line),
  );
  const net = counted.filter((line) => !isPaidByBalance(line));
  if (layout === 'gross') return grossLines(document, counted);
  const lines = net.map((line) => readable(document, line));
  return layout === 'net' ? lines : byGroup(lines, ({ group }) => group);
}

/**
 * Whether a balance pays for the line, or the line deducts such a payment. The part that a postpaid commit covers is
 * due.
 */
function isPaidByBalance(line: DocumentLine): boolean {
  return 'payer' in line && line.payer !== null && line.payer.commitType !== 'POSTPAID';
}

function grossLines(document: PaymentDocument, counted: readonly DocumentLine[]): ReadableLine[] {
  const charges = counted.filter((line) => !isAppliedLine(line));
  const merged = [...groupBy(charges, whatItIsFor).values()].map((parts) => mergedLine(document, parts));
  const credits = groupBy(counted.filter(isAppliedLine), commitOf);
  return [...merged, ...[...credits].map(([commitId, lines]) => creditLine(document, commitId, lines))];
}

function commitOf(line: DocumentLine): string {
  return ('payer' in line ? line.payer?.commitId : undefined) ?? '';
}

/** The text shared by the parts of one line that different balances pay for. */
function whatItIsFor(line: DocumentLine): string {
  const { interval, origin, unitPrice } = line;
  const own = 'pricingGroupValues' in line ? [line.pricingGroupValues, line.presentationGroupValues] : [];
  const item = 'scheduleItemId' in line ? line.scheduleItemId : null;
  const tier = 'tier' in line ? (line.tier?.level ?? null) : null;
  const unit = isConversionLine(line) ? line.convertedCreditTypeId : line.productId;
  const type = line.type === 'minimum' ? line.type : null;
  return JSON.stringify([
    unit,
    type,
    own,
    item,
    tier,
    interval,
    origin?.invoiceId ?? null,
    unitPrice.toFixed(),
  ]);
}

function mergedLine(document: PaymentDocument, parts: readonly DocumentLine[]): ReadableLine {
  const [first, ...rest] = parts.map((line) => readable(document, line));
  if (first === undefined) throw new Error('a group has lines');
  if (rest.length === 0) return first;
  const quantity = parts.reduce((sum, line) => sum.plus(line.quantity), ZERO);
  const amount = parts.reduce((sum, line) => sum.plus(line.total), ZERO);
  const [line] = parts;
  if (line === undefined) throw new Error('a group has lines');
  return {
    ...first,
    parts: parts.map(({ id }) => id),
    amount,
    figures: describeFigures(document, { ...line, quantity }),
    priced: first.priced === null ? null : { quantity, unitPrice: first.priced.unitPrice },
  };
}

function creditLine(
  document: PaymentDocument,
  commitId: string,
  lines: readonly DocumentLine[],
): ReadableLine {
  const name = document.names.balances.get(commitId) ?? 'Balance';
  return {
    id: `credit-${commitId}`,
    parts: lines.map(({ id }) => id),
    productId: null,
    group: `credit-${commitId}`,
    groupName: name,
    text: `${name} applied`,
    figures: null,
    amount: lines.reduce((sum, { total }) => sum.plus(total), ZERO),
    priced: null,
    interval: unionOf(lines.map(({ interval }) => interval)),
  };
}

function readable(document: PaymentDocument, line: DocumentLine): ReadableLine {
  const unit = isConversionLine(line) ? line.convertedCreditTypeId : line.productId;
  const customer = document.names.customers.get(line.origin?.customerId ?? '');
  const name = customer === undefined ? line.name : `${customer}: ${line.name}`;
  return {
    id: line.id,
    parts: [line.id],
    productId: isConversionLine(line) ? null : line.productId,
    group: JSON.stringify([line.origin?.invoiceId ?? null, unit]),
    groupName: name,
    text: describeLine(name, line),
    figures: describeFigures(document, line),
    amount: line.total,
    priced: line.type === 'minimum' ? null : { quantity: line.quantity, unitPrice: line.unitPrice },
    interval: line.interval,
  };
}

/** One line for each group, in the order of their first lines. */
export function byGroup(
  lines: readonly ReadableLine[],
  groupOf: (line: ReadableLine) => string,
): ReadableLine[] {
  return [...groupBy(lines, groupOf)].map(([group, parts]) => {
    const [first] = parts;
    if (first === undefined) throw new Error('a group has lines');
    if (parts.length === 1) return first;
    return {
      ...sumOf(parts),
      id: `group-${group}`,
      productId: first.productId,
      group: first.group,
      text: first.groupName,
    };
  });
}

/** Merges lines into one, without the details that distinguish them. */
export function sumOf(parts: readonly ReadableLine[]): ReadableLine {
  const [first] = parts;
  if (first === undefined) throw new Error('a sum has parts');
  return {
    ...first,
    parts: parts.flatMap((part) => part.parts),
    figures: null,
    amount: parts.reduce((sum, { amount }) => sum.plus(amount), ZERO),
    priced: null,
    interval: unionOf(parts.map(({ interval }) => interval)),
  };
}

function unionOf(intervals: readonly Interval[]): Interval {
  return {
    start: intervals.reduce((least, { start }) => Math.min(least, start), Number.POSITIVE_INFINITY),
    end: intervals.reduce((most, { end }) => Math.max(most, end), Number.NEGATIVE_INFINITY),
  };
}
