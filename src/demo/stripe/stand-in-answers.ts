/**
 * The objects of the stand-in in the form of Stripe's answers: with all required members, by the types of the official
 * package.
 */
import type Stripe from 'stripe';
import type { StandInIntent, StandInInvoice, StandInLine, StandInNote } from './stand-in-objects.ts';
import type { StandInState } from './stand-in-state.ts';

const PAGE_DEFAULT = 10;
export const TAX_RATE = 'txr_stand_in';

/** Newest first, for one customer, since a time. */
export function pageOf<Item extends { id: string; customer: string; created: number }>(
  all: readonly Item[],
  query: URLSearchParams,
  path: string,
  toJson: (item: Item) => unknown,
): unknown {
  const customer = query.get('customer');
  const createdFrom = Number(query.get('created[gte]') ?? 0);
  const own = all.filter(
    (one) => (customer === null || one.customer === customer) && one.created >= createdFrom,
  );
  return listJson(own.toReversed(), query, path, toJson);
}

export function listJson<Item extends { id: string }, Shown>(
  all: readonly Item[],
  query: URLSearchParams,
  path: string,
  toJson: (item: Item) => Shown,
): { object: 'list'; url: string; has_more: boolean; data: Shown[] } {
  const limit = Number(query.get('limit') ?? PAGE_DEFAULT);
  const after = query.get('starting_after');
  const from = after === null ? 0 : all.findIndex(({ id }) => id === after) + 1;
  const data = all.slice(from, from + limit);
  return { object: 'list', url: path, has_more: from + limit < all.length, data: data.map(toJson) };
}

/** Decimals are texts on the wire. */
type OnTheWire<Shape> = {
  [Member in keyof Shape]: Shape[Member] extends Stripe.Decimal | null ? unknown : Shape[Member];
};

export function lineJson(invoice: StandInInvoice, line: StandInLine): OnTheWire<Stripe.InvoiceLineItem> {
  const { id, amount, currency, description, metadata, period, quantity, product, unitAmount, tax } = line;
  return {
    ...{ id, object: 'line_item' as const, amount, currency, description, metadata, period, quantity },
    ...{
      quantity_decimal: quantity === null ? null : String(quantity),
      subtotal: amount,
      invoice: invoice.id,
    },
    ...{ discount_amounts: null, discountable: false, discounts: [], livemode: false, parent: null },
    ...{ pretax_credit_amounts: null, subscription: null },
    taxes: taxesOf(tax, amount) as Stripe.InvoiceLineItem['taxes'],
    pricing:
      product === null
        ? null
        : ({
            type: 'price_details',
            price_details: { price: `price_of_${id}`, product },
            unit_amount_decimal: unitAmount,
          } as unknown as Stripe.InvoiceLineItem['pricing']),
  };
}

/** All rates have one id. */
function taxesOf(amount: number, taxable: number) {
  if (amount === 0) return [];
  const tax_rate_details = { tax_rate: TAX_RATE };
  const rest = { tax_behavior: 'exclusive', taxability_reason: 'standard_rated', tax_rate_details };
  return [{ amount, taxable_amount: taxable, type: 'tax_rate_details', ...rest }];
}

/** Payments are included on request, and their intents too. */
export function invoiceJson(
  state: StandInState,
  one: StandInInvoice,
  expanded: readonly string[],
): OnTheWire<Stripe.Invoice> {
  const { id, customer, currency, status, created, metadata } = one;
  const lines = listJson(one.lines, new URLSearchParams(), `/v1/invoices/${id}/lines`, (line) =>
    lineJson(one, line),
  );
  const hasPayments = expanded.some((path) => path.startsWith('payments'));
  return {
    ...NOTHING_SPECIAL,
    ...{ id, object: 'invoice' as const, customer, currency, status, created, metadata },
    ...amountsOf(state, one),
    pre_payment_credit_notes_amount: one.prePaymentNotes,
    post_payment_credit_notes_amount: one.postPaymentNotes,
    ...{ attempted: one.attempted, attempt_count: one.attemptCount, auto_advance: one.autoAdvance },
    automatic_tax: {
      disabled_reason: null,
      enabled: one.automaticTax,
      liability: null,
      provider: null,
      status: null,
    },
    collection_method: one.params.collection_method as Stripe.Invoice.CollectionMethod,
    description: typeof one.params.description === 'string' ? one.params.description : null,
    footer: typeof one.params.footer === 'string' ? one.params.footer : null,
    lines: lines as unknown as Stripe.Invoice['lines'],
    ...{ period_start: created, period_end: created },
    ...finalMembers(one),
    ...(hasPayments ? { payments: paymentsOf(state, one, expanded) } : {}),
  };
}

function amountsOf(state: StandInState, one: StandInInvoice) {
  const subtotal = state.subtotal(one);
  const tax = state.taxOf(one);
  const total = subtotal + tax;
  const due = one.finalizedAt === null ? total : one.amountDue;
  return {
    ...{ subtotal, total, subtotal_excluding_tax: subtotal, total_excluding_tax: subtotal },
    total_taxes: taxesOf(tax, subtotal) as unknown as Stripe.Invoice['total_taxes'],
    ...{ amount_due: due, amount_paid: one.amountPaid, amount_remaining: due - one.amountPaid },
    ...{ starting_balance: one.startingBalance, ending_balance: one.endingBalance },
  };
}

function finalMembers(one: StandInInvoice) {
  const isFinal = one.finalizedAt !== null;
  return {
    number: isFinal ? one.number : null,
    hosted_invoice_url: isFinal ? `https://invoice.example/${one.id}` : null,
    invoice_pdf: isFinal ? `https://pay.example/${one.id}/pdf` : null,
    effective_at: one.finalizedAt,
    status_transitions: {
      finalized_at: one.finalizedAt,
      paid_at: one.paidAt,
      voided_at: null,
      marked_uncollectible_at: null,
    },
  };
}

function paymentsOf(
  state: StandInState,
  one: StandInInvoice,
  expanded: readonly string[],
): NonNullable<Stripe.Invoice['payments']> {
  const intent = one.intent === null ? undefined : state.intents.get(one.intent);
  const isExpanded = expanded.includes('payments.data.payment.payment_intent');
  const data = intent === undefined ? [] : [paymentOf(one, intent, isExpanded)];
  return { object: 'list', has_more: false, url: '/v1/invoice_payments', data };
}

function paymentOf(one: StandInInvoice, intent: StandInIntent, isExpanded: boolean): Stripe.InvoicePayment {
  const isPaid = one.status === 'paid';
  return {
    ...{
      id: `inpay_${one.id}`,
      object: 'invoice_payment' as const,
      created: one.created,
      currency: one.currency,
    },
    ...{ amount_paid: isPaid ? one.amountPaid : null, amount_requested: one.amountDue, invoice: one.id },
    ...{ is_default: true, livemode: false, status: isPaid ? 'paid' : 'open' },
    payment: { type: 'payment_intent', payment_intent: isExpanded ? intentJson(intent) : intent.id },
    status_transitions: { canceled_at: null, paid_at: one.paidAt },
  } as Stripe.InvoicePayment;
}

/** Members without relevance here. */
const NOTHING_SPECIAL = {
  ...{ account_country: 'US', account_name: 'Stand-in', account_tax_ids: null, amount_overpaid: 0 },
  ...{
    amount_shipping: 0,
    application: null,
    automatically_finalizes_at: null,
    billing_reason: 'manual' as const,
  },
  ...{ custom_fields: null, customer_account: null, customer_address: null, customer_email: null },
  ...{
    customer_name: null,
    customer_phone: null,
    customer_shipping: null,
    customer_tax_exempt: 'none' as const,
  },
  ...{ customer_tax_ids: [], default_payment_method: null, default_source: null, default_tax_rates: [] },
  ...{ discounts: [], due_date: null, from_invoice: null, issuer: { type: 'self' as const } },
  ...{ last_finalization_error: null, latest_revision: null, livemode: false, next_payment_attempt: null },
  ...{ on_behalf_of: null, parent: null },
  payment_settings: { default_mandate: null, payment_method_options: null, payment_method_types: null },
  ...{ receipt_number: null, rendering: null, shipping_cost: null, shipping_details: null },
  ...{
    statement_descriptor: null,
    test_clock: null,
    total_discount_amounts: [],
    total_pretax_credit_amounts: [],
  },
  webhooks_delivered_at: null,
};

export function intentJson(one: StandInIntent) {
  const { id, customer, amount, currency, status, created, metadata, error } = one;
  const isPaid = status === 'succeeded';
  return {
    ...{ id, object: 'payment_intent' as const, customer, amount, currency, status, created, metadata },
    ...{
      amount_capturable: 0,
      amount_received: isPaid ? amount : 0,
      application: null,
      application_fee_amount: null,
    },
    ...{ automatic_payment_methods: null, canceled_at: null, cancellation_reason: null, livemode: false },
    ...{ capture_method: 'automatic', client_secret: `${id}_secret`, confirmation_method: 'automatic' },
    ...{
      description: null,
      next_action: null,
      on_behalf_of: null,
      payment_method: null,
      payment_method_types: ['card'],
    },
    ...{
      processing: null,
      receipt_email: null,
      review: null,
      setup_future_usage: null,
      shipping: null,
      source: null,
    },
    ...{
      statement_descriptor: null,
      statement_descriptor_suffix: null,
      transfer_data: null,
      transfer_group: null,
    },
    last_payment_error: error,
    latest_charge: isPaid ? { id: `ch_${id}`, object: 'charge', created } : null,
  };
}

export function noteJson(one: StandInNote): OnTheWire<Stripe.CreditNote> {
  const { id, customer, currency, created, metadata, memo, reason, number, status, total, tax } = one;
  const lines = listJson(one.lines, new URLSearchParams(), `/v1/credit_notes/${id}/lines`, noteLineJson);
  const post = total - one.prePayment;
  const isMixed = one.prePayment > 0 && post > 0;
  return {
    ...{ id, object: 'credit_note' as const, customer, currency, created, metadata, memo, reason, number },
    ...{ status, total, amount: total, subtotal: total - tax, invoice: one.invoice },
    ...{ subtotal_excluding_tax: total - tax, total_excluding_tax: total - tax },
    total_taxes: taxesOf(tax, total - tax) as unknown as Stripe.CreditNote['total_taxes'],
    ...{ pre_payment_amount: one.prePayment, post_payment_amount: post },
    out_of_band_amount: one.outOfBand === 0 ? null : one.outOfBand,
    refunds: refundsOf(one),
    customer_balance_transaction: one.credit === 0 ? null : `cbtxn_${id}`,
    type: isMixed ? 'mixed' : post > 0 ? 'post_payment' : 'pre_payment',
    ...{ voided_at: status === 'void' ? created : null, pdf: `https://pay.example/${id}/pdf` },
    lines: lines as unknown as Stripe.CreditNote['lines'],
    ...{ amount_shipping: 0, customer_account: null, discount_amount: 0, discount_amounts: [] },
    ...{ effective_at: created, livemode: false, pretax_credit_amounts: [], shipping_cost: null },
  };
}

function refundsOf({ id, refund }: StandInNote): Stripe.CreditNote['refunds'] {
  if (refund === 0) return [];
  return [{ amount_refunded: refund, payment_record_refund: null, refund: `re_${id}`, type: 'refund' }];
}

export function noteLineJson({
  id,
  invoiceLine,
  description,
  amount,
}: StandInNote['lines'][number]): OnTheWire<Stripe.CreditNoteLineItem> {
  return {
    ...{ id, object: 'credit_note_line_item' as const, amount, description, quantity: 1 },
    ...(invoiceLine === null ? {} : { invoice_line_item: invoiceLine }),
    type: invoiceLine === null ? 'custom_line_item' : 'invoice_line_item',
    ...{ discount_amount: 0, discount_amounts: [], livemode: false, metadata: {}, tax_rates: [] },
    ...{ pretax_credit_amounts: [], taxes: [], unit_amount: amount, unit_amount_decimal: String(amount) },
  };
}
