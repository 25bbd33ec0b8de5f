/** The messages of an invoice's warnings: the unbilled part, the reason, and the action to take. */
import { unreachable } from '../../../core/errors.ts';
import type {
  InvoiceWarning,
  UncountedEvents,
  UnpricedSubscription,
  UnpricedUsage,
  UnratedTermKind,
  UnratedTerms,
  UnseenUsage,
} from '../../../core/invoice.ts';
import { formatInstant } from '../../../core/time.ts';

export function invoiceAdvice(warning: InvoiceWarning): string {
  switch (warning.kind) {
    case 'unpriced_usage':
      return unpricedAdvice(warning);
    case 'unpriced_subscription':
      return unpricedSubscriptionAdvice(warning);
    case 'usage_filter_without_group_key':
      return unseenAdvice(warning);
    case 'uncounted_events':
      return uncountedAdvice(warning);
    case 'too_many_lines':
      return (
        `${JSON.stringify(warning.productName)} has ${warning.lineCount} lines, more than the ` +
        `${warning.lineCountMax} that one invoice lists, and is not billed on this invoice: remove group keys ` +
        'of the product that have too many different values, or raise INVOICE_LINES_MAX'
      );
    case 'unrated_terms':
      return unratedAdvice(warning);
    case 'metric_not_evaluated':
      return (
        `the usage of ${JSON.stringify(warning.metricName)} could not be computed (${warning.reason}): its ` +
        'products have no lines here, and the invoice is not issued before it can be computed'
      );
    case 'not_computed':
      return 'this invoice could not be computed: its lines and totals are missing; the log of the service has the reason';
    default:
      return unreachable(warning);
  }
}

const TERM_NAMES: Record<UnratedTermKind, string> = {
  prepaid_commit: 'prepaid commit',
  postpaid_commit: 'postpaid commit',
  credit: 'credit',
  recurring_commit: 'recurring commit',
  recurring_credit: 'recurring credit',
  subscription: 'subscription',
  spend_threshold: 'spend threshold',
  prepaid_balance_threshold: 'prepaid balance threshold',
  consolidation: 'consolidated statement',
};

function unratedAdvice({ termKind, termCount }: UnratedTerms): string {
  if (termKind === 'consolidation') {
    return (
      'the usage of this contract was to be on the invoice of its parent: the version of the service that issued ' +
      'this invoice did not consolidate invoices of hierarchies, so it is billed on its own invoice'
    );
  }
  const name = TERM_NAMES[termKind];
  const terms = termCount === 1 ? `a ${name}` : `${termCount} ${name}s`;
  return (
    `the contract had ${terms} in this period, which the version of the service that issued this invoice stored but ` +
    'did not bill: usage was charged as if there were none, and nothing was charged for the term itself'
  );
}

function unpricedAdvice({ productName, pricingGroupValues, interval }: UnpricedUsage): string {
  const from = formatInstant(interval.start);
  const to = formatInstant(interval.end);
  const name = JSON.stringify(productName);
  const pricing = Object.entries(pricingGroupValues);
  if (pricing.length === 0) {
    return `no rate of the rate card covers ${name} from ${from} to ${to}: add a rate for this time`;
  }
  const values = pricing.map(([key, value]) => `${key} ${JSON.stringify(value)}`).join(', ');
  return (
    `no rate of the rate card covers ${name} with ${values} from ${from} to ${to}: ` +
    'add a rate for these values or a rate without group values'
  );
}

function unpricedSubscriptionAdvice({ productName, interval }: UnpricedSubscription): string {
  return (
    `no rate of the rate card covers ${JSON.stringify(productName)} at ${formatInstant(interval.start)}, where a billing ` +
    `period of the subscription begins: nothing is charged for it until ${formatInstant(interval.end)}; add a rate for ` +
    'this time and the frequency of the subscription'
  );
}

function unseenAdvice({ productName, interval }: UnseenUsage): string {
  return (
    `no group key of the billable metric of ${JSON.stringify(productName)} contains the key of the usage filter ` +
    `in force from ${formatInstant(interval.start)} to ${formatInstant(interval.end)}: events without this property ` +
    'are not counted'
  );
}

function uncountedAdvice({ metricName, eventCount, transactionIds }: UncountedEvents): string {
  const [first = ''] = transactionIds;
  const events = eventCount === 1 ? `event ${JSON.stringify(first)} is` : `${eventCount} events are`;
  return (
    `${events} not counted by ${JSON.stringify(metricName)}, because the metric cannot be computed with ` +
    `${eventCount === 1 ? 'it' : 'them'}: a number has too many digits; correct what sends such events, and send ` +
    'their usage again under new transaction ids'
  );
}
