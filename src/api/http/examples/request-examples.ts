/**
 * Examples of requests for the reference, by operation. A test sends each of them, with the ids of objects that exist,
 * and expects that it is done; an operation that takes anything and has no example fails it.
 */
import { catalogueExamples } from './catalogue.ts';
import { contractExamples } from './contracts.ts';
import { customerExamples } from './customers.ts';
import type { RequestExamples } from './example.ts';
import { holdExamples } from './holds.ts';
import { EXAMPLE_IDS } from './ids.ts';
import { invoiceExamples } from './invoices.ts';
import { operationExamples } from './operation.ts';
import { usageExamples } from './usage.ts';

/** By `operationId`. */
export const REQUEST_EXAMPLES: RequestExamples = {
  ...customerExamples,
  ...usageExamples,
  ...catalogueExamples,
  ...contractExamples,
  ...holdExamples,
  ...invoiceExamples,
  ...operationExamples,
};

/** Members of paths, by name. */
export const PATH_EXAMPLES: Readonly<Record<string, string>> = {
  customer_id: EXAMPLE_IDS.customer,
  billable_metric_id: EXAMPLE_IDS.metric,
  rate_card_id: EXAMPLE_IDS.rateCard,
  invoice_id: EXAMPLE_IDS.invoice,
  correction_id: EXAMPLE_IDS.openCorrection,
  credit_note_id: EXAMPLE_IDS.creditNote,
  webhook_id: EXAMPLE_IDS.webhook,
  billing_provider_type: 'stripe',
  name: 'default',
  transaction_id: '2026-11-09-acme-000001',
  month: '2026-11',
};
