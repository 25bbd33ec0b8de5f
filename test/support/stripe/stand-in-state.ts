/** What the stand-in of Stripe keeps, and the rules of Stripe that matter here. No HTTP. */
import type { FormValue } from './form-body.ts';

export interface StandInLine {
  id: string;
  object: 'line_item';
  amount: number;
  currency: string;
  description: string;
  metadata: Record<string, string>;
  period: { start: number; end: number };
  quantity: number | null;
  product: string | null;
  unitAmount: string | null;
}

export interface StandInInvoice {
  id: string;
  customer: string;
  currency: string;
  status: 'draft' | 'open' | 'paid' | 'void' | 'uncollectible';
  created: number;
  metadata: Record<string, string>;
  params: Record<string, FormValue>;
  lines: StandInLine[];
  tax: number;
  number: string | null;
  finalizedAt: number | null;
  paidAt: number | null;
  attempted: boolean;
  attemptCount: number;
  amountPaid: number;
  intent: string | null;
  sent: number;
  autoAdvance: boolean;
}

export interface StandInIntent {
  id: string;
  customer: string;
  amount: number;
  currency: string;
  status: string;
  created: number;
  metadata: Record<string, string>;
  error: { code: string; message: string } | null;
  calculation: string | null;
}

export interface StandInCustomer {
  id: string;
  /** What its default card does. `later`: it is confirmed by its owner. */
  card: 'pays' | 'declined' | 'needs_action' | 'none';
  hasAddress: boolean;
  deleted: boolean;
}

export interface StandInEvent {
  id: string;
  type: string;
  object: Record<string, unknown>;
}

export class StripeRefusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly param: string | undefined;
  constructor(status: number, code: string, message: string, param?: string) {
    super(message);
    this.status = status;
    this.code = code;
    this.param = param;
  }
}

const LINES_MAX = 250;
const LINES_PER_CALL_MAX = 100;
const TAX_PERCENT = 10;
const CURRENCIES_REFUSED = ['xau'];

export class StandInState {
  readonly customers = new Map<string, StandInCustomer>();
  readonly invoices = new Map<string, StandInInvoice>();
  readonly intents = new Map<string, StandInIntent>();
  readonly deleted = new Set<string>();
  readonly events: StandInEvent[] = [];
  private last = 0;

  nextId(prefix: string): string {
    this.last += 1;
    return `${prefix}_${String(this.last).padStart(6, '0')}`;
  }

  addCustomer(card: StandInCustomer['card'] = 'pays', hasAddress = true): string {
    const id = this.nextId('cus');
    this.customers.set(id, { id, card, hasAddress, deleted: false });
    return id;
  }

  /** Those that are not void, of an invoice of ours. */
  liveOf(invoiceId: string): StandInInvoice[] {
    return [...this.invoices.values()].filter(
      (one) => one.metadata.tallyhouse_invoice_id === invoiceId && one.status !== 'void',
    );
  }

  customer(id: string): StandInCustomer {
    const found = this.customers.get(id);
    if (found === undefined || found.deleted) {
      throw new StripeRefusal(400, 'resource_missing', `No such customer: '${id}'`, 'customer');
    }
    return found;
  }

  invoice(id: string): StandInInvoice {
    const found = this.invoices.get(id);
    if (found === undefined)
      throw new StripeRefusal(404, 'resource_missing', `No such invoice: '${id}'`, 'id');
    return found;
  }

  intent(id: string): StandInIntent {
    const found = this.intents.get(id);
    if (found === undefined) {
      throw new StripeRefusal(404, 'resource_missing', `No such payment_intent: '${id}'`, 'intent');
    }
    return found;
  }

  tell(type: string, object: Record<string, unknown>): void {
    this.events.push({ id: this.nextId('evt'), type, object });
  }

  createInvoice(params: Record<string, FormValue>): StandInInvoice {
    const customer = this.customer(String(params.customer));
    const currency = String(params.currency);
    if (CURRENCIES_REFUSED.includes(currency)) {
      throw new StripeRefusal(400, 'invalid_currency', `Invalid currency: ${currency}`, 'currency');
    }
    const invoice: StandInInvoice = {
      id: this.nextId('in'),
      customer: customer.id,
      currency,
      status: 'draft',
      created: Math.floor(Date.now() / 1000),
      metadata: (params.metadata ?? {}) as Record<string, string>,
      params,
      lines: [],
      tax: 0,
      number: typeof params.number === 'string' ? params.number : null,
      finalizedAt: null,
      paidAt: null,
      attempted: false,
      attemptCount: 0,
      amountPaid: 0,
      intent: null,
      sent: 0,
      autoAdvance: params.auto_advance === 'true',
    };
    this.invoices.set(invoice.id, invoice);
    this.tell('invoice.created', { id: invoice.id, object: 'invoice', metadata: invoice.metadata });
    return invoice;
  }

  private requireDraft(invoice: StandInInvoice): void {
    if (invoice.status === 'draft') return;
    throw new StripeRefusal(400, 'invoice_not_editable', 'This invoice is no longer editable');
  }

  addLines(id: string, lines: FormValue): StandInInvoice {
    const invoice = this.invoice(id);
    this.requireDraft(invoice);
    const given = (Array.isArray(lines) ? lines : []) as Record<string, FormValue>[];
    if (given.length > LINES_PER_CALL_MAX)
      throw new StripeRefusal(400, 'too_many', 'Too many lines in one call', 'lines');
    if (invoice.lines.length + given.length > LINES_MAX) {
      throw new StripeRefusal(400, 'invoice_too_many_line_items', 'An invoice has at most 250 line items');
    }
    invoice.lines.push(...given.map((line) => this.lineOf(invoice, this.nextId('il'), line)));
    return invoice;
  }

  private lineOf(invoice: StandInInvoice, id: string, line: Record<string, FormValue>): StandInLine {
    const description = String(line.description ?? '');
    if (description.length > 500) throw new StripeRefusal(400, 'string_too_long', 'description is too long');
    const price = line.price_data as Record<string, FormValue> | undefined;
    const quantity = line.quantity === undefined ? null : Number(line.quantity);
    const unit = price?.unit_amount_decimal ?? price?.unit_amount;
    const amount = price === undefined ? Number(line.amount) : Math.round(Number(unit) * (quantity ?? 1));
    if (!Number.isInteger(amount))
      throw new StripeRefusal(400, 'parameter_invalid_integer', 'Invalid integer', 'amount');
    const period = line.period as Record<string, FormValue>;
    return {
      id,
      object: 'line_item',
      amount,
      currency: invoice.currency,
      description,
      metadata: (line.metadata ?? {}) as Record<string, string>,
      period: { start: Number(period.start), end: Number(period.end) },
      quantity: quantity ?? 1,
      product: price === undefined ? null : String(price.product),
      unitAmount: unit === undefined ? null : String(unit),
    };
  }

  updateLines(id: string, lines: FormValue): StandInInvoice {
    const invoice = this.invoice(id);
    this.requireDraft(invoice);
    for (const line of lines as Record<string, FormValue>[]) {
      const index = invoice.lines.findIndex((one) => one.id === line.id);
      if (index < 0) throw new StripeRefusal(404, 'resource_missing', `No such line: '${String(line.id)}'`);
      invoice.lines[index] = this.lineOf(invoice, String(line.id), line);
    }
    return invoice;
  }

  removeLines(id: string, lines: FormValue): StandInInvoice {
    const invoice = this.invoice(id);
    this.requireDraft(invoice);
    const gone = new Set((lines as Record<string, FormValue>[]).map((line) => String(line.id)));
    invoice.lines = invoice.lines.filter((line) => !gone.has(line.id));
    return invoice;
  }

  subtotal({ lines }: StandInInvoice): number {
    return lines.reduce((sum, { amount }) => sum + amount, 0);
  }

  finalize(id: string, autoAdvance: boolean): StandInInvoice {
    const invoice = this.invoice(id);
    if (invoice.status !== 'draft')
      throw new StripeRefusal(400, 'invoice_not_editable', 'This invoice is already finalized');
    if (invoice.lines.length === 0)
      throw new StripeRefusal(400, 'invoice_no_customer_line_items', 'Nothing to invoice');
    const tax = invoice.params.automatic_tax as Record<string, FormValue> | undefined;
    if (tax?.enabled === 'true') {
      if (!this.customer(invoice.customer).hasAddress) {
        throw new StripeRefusal(
          400,
          'customer_tax_location_invalid',
          "The customer's location isn't recognized",
        );
      }
      invoice.tax = Math.round((this.subtotal(invoice) * TAX_PERCENT) / 100);
    }
    const now = Math.floor(Date.now() / 1000);
    invoice.status = 'open';
    invoice.finalizedAt = now;
    invoice.number ??= `S-${invoice.id}`;
    invoice.autoAdvance = autoAdvance;
    this.tell('invoice.finalized', { id, object: 'invoice', metadata: invoice.metadata });
    if (this.subtotal(invoice) + invoice.tax <= 0) this.markPaid(invoice);
    return invoice;
  }

  markPaid(invoice: StandInInvoice): void {
    invoice.status = 'paid';
    invoice.amountPaid = this.subtotal(invoice) + invoice.tax;
    invoice.paidAt = Math.floor(Date.now() / 1000);
    if (invoice.intent === null) {
      invoice.intent = this.nextId('pi');
    }
    this.tell('invoice.paid', { id: invoice.id, object: 'invoice', metadata: invoice.metadata });
  }

  pay(id: string): StandInInvoice {
    const invoice = this.invoice(id);
    if (invoice.status === 'paid')
      throw new StripeRefusal(400, 'invoice_already_paid', 'Invoice is already paid');
    if (invoice.status !== 'open')
      throw new StripeRefusal(400, 'invoice_not_open', `Invoice is ${invoice.status}`);
    const { card } = this.customer(invoice.customer);
    invoice.attempted = true;
    invoice.attemptCount += 1;
    invoice.intent ??= this.nextId('pi');
    if (card === 'pays') {
      this.markPaid(invoice);
      return invoice;
    }
    this.tell('invoice.payment_failed', { id, object: 'invoice', metadata: invoice.metadata });
    if (card === 'needs_action') {
      throw new StripeRefusal(
        402,
        'invoice_payment_intent_requires_action',
        'The payment needs an action of the customer',
      );
    }
    if (card === 'none')
      throw new StripeRefusal(400, 'missing', 'The customer has no default payment method');
    throw new StripeRefusal(402, 'card_declined', 'Your card was declined.');
  }

  /** What Stripe does by itself with an invoice that it charges. */
  collect(id: string): void {
    try {
      this.pay(id);
    } catch (error) {
      if (!(error instanceof StripeRefusal)) throw error;
    }
  }

  voidInvoice(id: string): StandInInvoice {
    const invoice = this.invoice(id);
    if (invoice.status !== 'open' && invoice.status !== 'uncollectible') {
      throw new StripeRefusal(
        400,
        'status_transition_invalid',
        `You can't void an invoice that is ${invoice.status}`,
      );
    }
    invoice.status = 'void';
    this.tell('invoice.voided', { id, object: 'invoice', metadata: invoice.metadata });
    return invoice;
  }

  deleteInvoice(id: string): void {
    const invoice = this.invoice(id);
    this.requireDraft(invoice);
    this.invoices.delete(id);
    this.deleted.add(id);
    this.tell('invoice.deleted', { id, object: 'invoice', metadata: invoice.metadata });
  }

  createIntent(params: Record<string, FormValue>): StandInIntent {
    const customer = this.customer(String(params.customer));
    const hooks = params.hooks as { inputs?: { tax?: { calculation?: string } } } | undefined;
    const intent: StandInIntent = {
      id: this.nextId('pi'),
      customer: customer.id,
      amount: Number(params.amount),
      currency: String(params.currency),
      status: 'requires_payment_method',
      created: Math.floor(Date.now() / 1000),
      metadata: (params.metadata ?? {}) as Record<string, string>,
      error: null,
      calculation: hooks?.inputs?.tax?.calculation ?? null,
    };
    this.intents.set(intent.id, intent);
    return intent;
  }

  confirmIntent(id: string): StandInIntent {
    const intent = this.intent(id);
    if (intent.status === 'succeeded' || intent.status === 'canceled') {
      throw new StripeRefusal(400, 'payment_intent_unexpected_state', `It is ${intent.status}`);
    }
    const { card } = this.customer(intent.customer);
    if (card === 'none') throw new StripeRefusal(400, 'parameter_missing', 'There is no payment method');
    if (card === 'pays') {
      intent.status = 'succeeded';
      intent.error = null;
      this.tell('payment_intent.succeeded', { id, object: 'payment_intent', metadata: intent.metadata });
      return intent;
    }
    const needsAction = card === 'needs_action';
    intent.status = needsAction ? 'requires_action' : 'requires_payment_method';
    intent.error = needsAction ? null : { code: 'card_declined', message: 'Your card was declined.' };
    this.tell('payment_intent.payment_failed', { id, object: 'payment_intent', metadata: intent.metadata });
    if (needsAction) return intent;
    throw new StripeRefusal(402, 'card_declined', 'Your card was declined.');
  }

  cancelIntent(id: string): StandInIntent {
    const intent = this.intent(id);
    if (intent.status === 'succeeded') {
      throw new StripeRefusal(
        400,
        'payment_intent_unexpected_state',
        'You cannot cancel a payment that has succeeded',
      );
    }
    intent.status = 'canceled';
    return intent;
  }
}
