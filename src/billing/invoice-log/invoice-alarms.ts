/** Reports usage and terms that invoices leave out unintentionally to operators: in the log, and in metrics. */
import type { Logger } from 'pino';
import type { Invoice, InvoiceWarning } from '../../core/invoice.ts';
import { formatInstant } from '../../core/time.ts';

export interface InvoiceAlarms {
  /** An invoice was computed, as a draft or to be issued. */
  computed(invoice: Invoice, warnings: readonly InvoiceWarning[]): void;
  /** A draft could not be computed. */
  notComputed(invoiceId: string, error: unknown): void;
  /** The number of warnings since the start, by code. A warning counts once for each invoice. */
  stats(): ReadonlyMap<InvoiceWarning['kind'], number>;
}

const KINDS = [
  'unpriced_usage',
  'unpriced_subscription',
  'usage_filter_without_group_key',
  'uncounted_events',
  'too_many_lines',
  'unrated_terms',
  'metric_not_evaluated',
  'not_computed',
] as const satisfies readonly InvoiceWarning['kind'][];
/** Counted, but not logged: they follow from the catalogue and the contract, and there are many. */
const NOT_LOGGED: readonly InvoiceWarning['kind'][] = [
  'unpriced_usage',
  'unpriced_subscription',
  'usage_filter_without_group_key',
  'unrated_terms',
];

/** Drafts are computed whenever they are read. Beyond this number of warnings, the oldest are reported again. */
const REMEMBERED_MAX = 10_000;

export function createInvoiceAlarms(log: Logger): InvoiceAlarms {
  const counts = new Map<InvoiceWarning['kind'], number>(KINDS.map((kind) => [kind, 0]));
  const known = new Set<string>();

  function isNew(kind: InvoiceWarning['kind'], ...parts: readonly unknown[]): boolean {
    const key = JSON.stringify([kind, ...parts]);
    if (known.has(key)) return false;
    const [oldest] = known;
    if (known.size >= REMEMBERED_MAX && oldest !== undefined) known.delete(oldest);
    known.add(key);
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    return true;
  }

  return {
    computed({ id, customerId, contractId, period }, warnings) {
      for (const warning of warnings) {
        const { kind, interval: _, ...details } = warning;
        if (NOT_LOGGED.includes(kind)) {
          // A draft may have very many of one kind: one counts for all.
          isNew(kind, id);
          continue;
        }
        if (!isNew(kind, id, details)) continue;
        log.warn(
          {
            ...{ invoice_id: id, customer_id: customerId, contract_id: contractId },
            ...{ period_start: formatInstant(period.start), warning: kind, details: shortened(details) },
          },
          'an invoice leaves out usage that cannot be counted or listed',
        );
      }
    },
    notComputed(invoiceId, error) {
      if (!isNew('not_computed', invoiceId)) return;
      log.error({ err: error, invoice_id: invoiceId }, 'a draft cannot be computed');
    },
    stats: () => counts,
  };
}

/** Keeps the log record readable. */
const LOGGED_IDS_MAX = 10;

function shortened(details: object): object {
  if (!('transactionIds' in details) || !Array.isArray(details.transactionIds)) return details;
  return { ...details, transactionIds: details.transactionIds.slice(0, LOGGED_IDS_MAX) };
}

/** For drafts that nobody is billed by, such as previews. */
export const NO_ALARMS: InvoiceAlarms = {
  computed: () => undefined,
  notComputed: () => undefined,
  stats: () => new Map(),
};
