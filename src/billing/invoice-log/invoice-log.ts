/** The lifecycle of invoices in the log and in metrics: issued, regenerated, voided, numbered. */
import type { Logger } from 'pino';
import type { Invoice, InvoiceWarning } from '../../core/invoice.ts';
import { formatInstant, type Instant, SECOND_MS } from '../../core/time.ts';
import type { AssignedNumber } from '../../store/invoices/invoice-numbers.ts';

const INVOICE_EVENTS = ['finalized', 'regenerated', 'voided', 'numbered'] as const;
type InvoiceEvent = (typeof INVOICE_EVENTS)[number];

/** Called when the transaction is committed, so that nothing is reported that did not occur. */
export interface InvoiceLog {
  finalized(invoices: readonly FinalizedInvoice[]): void;
  regenerated(invoice: LoggedInvoice): void;
  voided(invoice: LoggedInvoice): void;
  numbered(numbers: readonly AssignedNumber[]): void;
  stats(): InvoiceLogStats;
}

export interface InvoiceLogStats {
  /** Since the start of the process. */
  readonly counts: ReadonlyMap<InvoiceEvent, number>;
  /** When the last invoice was finalized, in real time; null: none since the start. */
  readonly lastFinalizedAt: Instant | null;
}

type LoggedInvoice = Pick<
  Invoice,
  'id' | 'customerId' | 'contractId' | 'type' | 'status' | 'period' | 'issuedAt' | 'creditTypeId' | 'total'
> &
  Partial<Pick<Invoice, 'regeneratedFromInvoiceId'>>;

/** Scheduled and consolidated invoices have no warnings: those of a consolidated one belong to its constituents. */
export type FinalizedInvoice = LoggedInvoice & { readonly warnings?: readonly InvoiceWarning[] };

export function createInvoiceLog(log: Logger): InvoiceLog {
  const counts = new Map<InvoiceEvent, number>(INVOICE_EVENTS.map((event) => [event, 0]));
  let lastFinalizedAt: Instant | null = null;
  const count = (event: InvoiceEvent) => {
    counts.set(event, (counts.get(event) ?? 0) + 1);
    if (event === 'finalized') lastFinalizedAt = Date.now();
  };
  return {
    finalized(invoices) {
      for (const invoice of invoices) {
        count('finalized');
        log.info(fieldsOf(invoice), 'an invoice was finalized');
        const warnings = countByCode(invoice.warnings ?? []);
        if (Object.keys(warnings).length === 0) continue;
        log.warn({ ...fieldsOf(invoice), warnings }, 'an invoice was finalized with warnings');
      }
    },
    regenerated(invoice) {
      count('regenerated');
      const from = { regenerated_from_invoice_id: invoice.regeneratedFromInvoiceId };
      log.info({ ...fieldsOf(invoice), ...from }, 'an invoice was regenerated');
    },
    voided(invoice) {
      count('voided');
      log.info(fieldsOf(invoice), 'an invoice was voided');
    },
    numbered(numbers) {
      for (const { invoiceId, number } of numbers) {
        count('numbered');
        log.info({ invoice_id: invoiceId, invoice_number: number }, 'an invoice was numbered');
      }
    },
    stats: () => ({ counts, lastFinalizedAt }),
  };
}

function countByCode(warnings: readonly InvoiceWarning[]): Partial<Record<InvoiceWarning['kind'], number>> {
  const counts: Partial<Record<InvoiceWarning['kind'], number>> = {};
  for (const { kind } of warnings) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

/** Amounts are text, so that they keep all digits. */
function fieldsOf(invoice: LoggedInvoice): object {
  const { id, customerId, contractId, type, status, period, issuedAt, creditTypeId, total } = invoice;
  return {
    ...{ invoice_id: id, customer_id: customerId, contract_id: contractId, type, status },
    ...{ period_start: formatInstant(period.start), period_end: formatInstant(period.end) },
    ...{ issued_at: formatInstant(issuedAt), credit_type_id: creditTypeId, total: total.toFixed() },
  };
}

/** In seconds, as Prometheus counts time; 0 for never. */
export function unixSeconds(at: Instant | null): number {
  return at === null ? 0 : at / SECOND_MS;
}
