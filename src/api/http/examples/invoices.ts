/** Invoices, costs and previews. */
import { USD_CENTS } from '../../../core/credit-types.ts';
import type { RequestExamples } from './example.ts';
import { EXAMPLE_IDS as ids } from './ids.ts';

const contract = { customer_id: ids.customer, contract_id: ids.contract };
const october = { starting_on: '2026-10-01T00:00:00Z', ending_before: '2026-11-01T00:00:00Z' };
const september = {
  inclusive_start_date: '2026-09-01T00:00:00Z',
  exclusive_end_date: '2026-10-01T00:00:00Z',
};

const creditNote = {
  invoice_id: ids.externalInvoice,
  reason: 'service_issue',
  memo: 'Outage of 3 November',
  lines: [{ product_id: ids.chargedProduct, amount: 1500 }],
  settlement: 'offset_unpaid',
};

export const invoiceExamples: RequestExamples = {
  readCreditable: { params: { customer_id: ids.externalCustomer, invoice_id: ids.externalInvoice } },
  previewCreditNote: { body: creditNote },
  createCreditNote: { body: { ...creditNote, uniqueness_key: 'ticket-4711' } },
  voidCreditNote: { body: { id: ids.creditNote } },
  listInvoices: { query: { status: 'FINALIZED' } },
  listInvoiceBreakdowns: { query: { ...october, window_size: 'DAY' } },
  voidInvoice: { body: { id: ids.invoice } },
  regenerateInvoice: { body: { id: ids.voidInvoice } },
  reportRefund: { body: { id: ids.paidVoidInvoice } },
  scheduleProServicesInvoice: {
    body: {
      ...contract,
      issued_at: '2026-12-01T00:00:00Z',
      line_items: [{ professional_service_id: ids.professionalService, unit_price: 15000, quantity: 2 }],
    },
  },
  updateInvoiceIssueDate: {
    body: { invoice_id: ids.draftInvoice, issue_date: '2026-12-15T00:00:00Z' },
  },
  addChargeToInvoice: {
    body: {
      customer_plan_id: ids.contract,
      charge_id: ids.fixedProduct,
      price: 1500,
      quantity: 2,
      description: 'Hours of support',
      invoice_start_timestamp: '2026-11-01T00:00:00Z',
    },
  },
  createHistoricalInvoices: {
    body: {
      preview: true,
      invoices: [
        {
          ...contract,
          ...september,
          credit_type_id: USD_CENTS.id,
          issue_date: '2026-10-02T00:00:00Z',
          usage_line_items: [{ ...september, product_id: ids.usageProduct, quantity: 1200 }],
        },
      ],
    },
  },
  listCosts: { query: october },
  listLateUsage: { query: { month: '2026-10' } },
  listRevenue: { query: october },
  listSpendBreakdowns: { body: { ...october, group_key: ['model'], window_size: 'DAY' } },
  previewEvents: {
    body: {
      events: [{ event_type: 'completion', properties: { tokens: '1200', model: 'large' } }],
      mode: 'MERGE',
    },
  },
  previewInvoices: {
    body: {
      add_rates: {
        rate_card_id: ids.rateCard,
        rates: [
          {
            product_id: ids.usageProduct,
            starting_at: '2026-11-01T00:00:00Z',
            entitled: true,
            rate_type: 'FLAT',
            price: 0.3,
          },
        ],
      },
    },
  },
  reconcileInvoices: { body: october },
  reconcileProviders: { body: october },
  collectInvoice: { body: { invoice_id: ids.openInvoice } },
  deliverInvoices: { body: { invoice_ids: [ids.externalInvoice] } },
};
