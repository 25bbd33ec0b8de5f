/** A place where two numbers that must be equal are not (docs/how-to/reconciliation.md). */
import type { Decimal } from '../../../core/decimal.ts';
import type { Invoice, InvoiceLine } from '../../../core/invoice.ts';
import type { Interval } from '../../../core/time.ts';

export const DIFFERENCE_CODES = [
  'line_total',
  'conversion',
  'invoice_total',
  'hours',
  'days',
  'recomputed_line',
  'recomputed_hour',
  'usage',
  'applied',
  'deduction',
  'balance',
  'scheduled_amount',
  'true_up',
  'not_issued',
  'credit_note',
] as const;
export type DifferenceCode = (typeof DIFFERENCE_CODES)[number];

export interface Difference {
  readonly code: DifferenceCode;
  readonly invoiceId: string;
  readonly contractId: string;
  /** From 1; null unless it concerns one line of the invoice. */
  readonly lineNumber: number | null;
  readonly lineName: string | null;
  /** The hour or day that it is about. */
  readonly window: Interval | null;
  readonly field: 'quantity' | 'unit_price' | 'total' | 'value' | null;
  /** The value that follows from the rest of the data; null where there should be nothing. */
  readonly expected: Decimal | null;
  /** The value that is stored or shown; null where there is nothing. */
  readonly found: Decimal | null;
  readonly message: string;
}

/** The members that differences of one invoice share. */
export function differencesOf({ id, contractId, lines }: Pick<Invoice, 'id' | 'contractId' | 'lines'>) {
  return (
    code: DifferenceCode,
    message: string,
    given: Partial<Pick<Difference, 'window' | 'field' | 'expected' | 'found'>> & {
      /** Position of the line, from 0. */
      readonly position?: number | null;
    } = {},
  ): Difference => {
    const { position = null, ...rest } = given;
    const line: InvoiceLine | undefined = position === null ? undefined : lines[position];
    return {
      ...{ window: null, field: null, expected: null, found: null },
      ...rest,
      code,
      message,
      invoiceId: id,
      contractId,
      lineNumber: position === null ? null : position + 1,
      lineName: line?.name ?? null,
    };
  };
}
