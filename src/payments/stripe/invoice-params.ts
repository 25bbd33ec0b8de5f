/** The parameters of a new Stripe invoice besides its lines (docs/explanation/payments.md, "What maps to what"). */
import type Stripe from 'stripe';
import { cutText } from '../../core/cut-text.ts';
import { printedTime } from '../../core/printed-values.ts';
import { DAY_MS, SECOND_MS } from '../../core/time.ts';
import type { PaymentDocument } from '../document.ts';
import { coveredText } from '../lines/covered.ts';
import { ProviderProblem } from '../provider.ts';
import { INVOICE_ID } from './find-invoice.ts';
import type { StripeSettings } from './settings.ts';

/** Without payment terms an invoice is due when it is sent. */
const DUE_AT_ONCE = 0;
/** Maximum characters of a memo in Stripe. */
const MEMO_MAX = 1_500;
const NUMBER_MAX = 26;

/** Metadata by which clients of the interface, and this service, find our invoice. */
export function metadataOf({
  invoiceId,
  customerId,
  contractId,
  replaces,
}: PaymentDocument): Record<string, string> {
  return {
    metronome_id: invoiceId,
    metronome_invoice_id: invoiceId,
    metronome_customer_id: customerId,
    [INVOICE_ID]: invoiceId,
    tallyhouse_contract_id: contractId,
    ...(replaces === null ? {} : { tallyhouse_replaces_invoice_id: replaces.invoiceId }),
    ...(replaces?.externalId == null ? {} : { tallyhouse_replaces: replaces.externalId }),
  };
}

export function invoiceParams(
  document: PaymentDocument,
  settings: StripeSettings,
  customer: string,
  {
    isGrouped,
    metadata = {},
  }: { readonly isGrouped: boolean; readonly metadata?: Readonly<Record<string, string>> },
): Stripe.InvoiceCreateParams {
  const isSent = settings.collectionMethod === 'send_invoice';
  const effectiveAt = effectiveAtOf(document, settings);
  const footer = footerOf(document, isGrouped);
  return {
    customer,
    currency: document.currency.code.toLowerCase(),
    auto_advance: false,
    pending_invoice_items_behavior: 'exclude',
    collection_method: isSent ? 'send_invoice' : 'charge_automatically',
    description: memoOf(document),
    metadata: { ...metadata, ...metadataOf(document) },
    ...(isSent ? { days_until_due: document.paymentTermsDays ?? DUE_AT_ONCE } : {}),
    ...(settings.usesNumber ? { number: shownNumber(document) } : {}),
    ...(effectiveAt === null ? {} : { effective_at: effectiveAt }),
    // If omitted, the account decides.
    automatic_tax: { enabled: settings.automaticTax },
    ...(footer === null ? {} : { footer }),
  };
}

/** With automatic tax, the tax date is the date of the invoice, so Stripe sets it. */
function effectiveAtOf(
  document: PaymentDocument,
  { effectiveAt, automaticTax }: StripeSettings,
): number | null {
  if (automaticTax || effectiveAt === 'finalized_at') return null;
  const { period, issuedAt } = document;
  // The last day of the period.
  const at = effectiveAt === 'period_end' && period !== null ? period.end - DAY_MS : issuedAt;
  return Math.floor(at / SECOND_MS);
}

function shownNumber({ number }: PaymentDocument): string {
  if (number.length <= NUMBER_MAX) return number;
  const message = `Stripe takes numbers of at most ${NUMBER_MAX} characters, and ${number} has more: switch use_invoice_number off`;
  throw new ProviderProblem('refused', message, { code: 'number_too_long' });
}

/** Names of balances may be long: they are cut first. */
function memoOf(document: PaymentDocument): string {
  const { number, period, replaces } = document;
  const head = `Invoice ${number}${period === null ? '' : ` for ${printedTime(period)}`}`;
  const foot = replaces === null ? [] : [`It replaces ${replaces.externalId ?? 'an earlier invoice'}.`];
  const covered = coveredText(document);
  const room = MEMO_MAX - [head, '', ...foot].join('\n').length;
  return [head, ...(covered === null ? [] : [cutText(covered, room)]), ...foot].join('\n');
}

function footerOf({ links, number }: PaymentDocument, isGrouped: boolean): string | null {
  if (!isGrouped) return null;
  const all = `Amounts are grouped by product. Invoice ${number} has every line`;
  return links === null ? `${all}.` : `${all}: ${links.pdf} and ${links.csv}`;
}
