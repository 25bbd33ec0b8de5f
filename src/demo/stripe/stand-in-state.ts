/** The state of the stand-in of Stripe, and the rules of Stripe that matter here. No HTTP. */
import type { FormValue } from './form-body.ts';
import {
  isChargeable,
  requireChargeable,
  requireLength,
  requireMetadata,
  requireNotNegative,
  requireTaxable,
  requireTaxNames,
  TEXTS,
} from './stand-in-limits.ts';
import {
  DECLINED,
  NOT_AUTHENTICATED,
  newInvoice,
  type StandInCustomer,
  type StandInEvent,
  type StandInIntent,
  type StandInInvoice,
  type StandInLine,
  type StandInNote,
  StripeRefusal,
} from './stand-in-objects.ts';

const LINES_MAX = 250;
const LINES_PER_CALL_MAX = 100;
export const TAX_PERCENT = 10;
const CURRENCIES_REFUSED = ['xau'];

export class StandInState {
  readonly customers = new Map<string, StandInCustomer>();
  readonly invoices = new Map<string, StandInInvoice>();
  readonly intents = new Map<string, StandInIntent>();
  readonly creditNotes = new Map<string, StandInNote>();
  readonly deleted = new Set<string>();
  readonly events: StandInEvent[] = [];
  /** The account of the key. */
  accountId = 'acct_stand_in';
  /** Default settings of the account for invoices. */
  taxesByDefault = false;
  defaultTaxBehavior: string | null = null;
  /** The number of charges. */
  charges = 0;
  private last = 0;

  nextId(prefix: string): string {
    this.last += 1;
    return `${prefix}_${String(this.last).padStart(6, '0')}`;
  }

  addCustomer(card: StandInCustomer['card'] = 'pays', hasAddress = true): string {
    const id = this.nextId('cus');
    this.customers.set(id, { id, card, hasAddress, balance: 0, deleted: false });
    return id;
  }

  /** Its invoices that are not void, for one of our invoices. */
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
    this.customer(String(params.customer));
    const currency = String(params.currency);
    if (CURRENCIES_REFUSED.includes(currency)) {
      throw new StripeRefusal(400, 'invalid_currency', `Invalid currency: ${currency}`, 'currency');
    }
    requireLength('description', params.description, TEXTS.memo);
    requireLength('footer', params.footer, TEXTS.footer);
    requireLength('number', params.number, TEXTS.number);
    requireMetadata(params.metadata);
    const tax = params.automatic_tax as Record<string, FormValue> | undefined;
    const isTaxed = tax === undefined ? this.taxesByDefault : tax.enabled === 'true';
    const invoice = newInvoice(this.nextId('in'), params, isTaxed);
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
    requireLength('description', description, TEXTS.description);
    requireMetadata(line.metadata);
    const price = line.price_data as Record<string, FormValue> | undefined;
    const quantity = line.quantity === undefined ? null : Number(line.quantity);
    const unit = price?.unit_amount_decimal ?? price?.unit_amount;
    requireNotNegative(unit);
    const amount = price === undefined ? Number(line.amount) : Math.round(Number(unit) * (quantity ?? 1));
    const taxes = (Array.isArray(line.tax_amounts) ? line.tax_amounts : []) as Record<string, FormValue>[];
    if (!Number.isInteger(amount))
      throw new StripeRefusal(400, 'parameter_invalid_integer', 'Invalid integer', 'amount');
    const taxBehavior = typeof price?.tax_behavior === 'string' ? price.tax_behavior : null;
    if (invoice.automaticTax)
      requireTaxable(this.defaultTaxBehavior, { amount, taxBehavior, hasTaxes: taxes.length > 0 });
    requireTaxNames(taxes);
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
      product: price === undefined ? null : String(price.product ?? `prod_of_${id}`),
      taxBehavior,
      unitAmount: unit === undefined ? null : String(unit),
      tax: taxes.reduce((sum, one) => sum + Number(one.amount), 0),
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

  total(invoice: StandInInvoice): number {
    return this.subtotal(invoice) + this.taxOf(invoice);
  }

  taxOf({ tax, lines }: StandInInvoice): number {
    return lines.reduce((sum, line) => sum + line.tax, tax);
  }

  finalize(id: string, autoAdvance: boolean): StandInInvoice {
    const invoice = this.invoice(id);
    if (invoice.status !== 'draft')
      throw new StripeRefusal(400, 'invoice_not_editable', 'This invoice is already finalized');
    if (invoice.lines.length === 0)
      throw new StripeRefusal(400, 'invoice_no_customer_line_items', 'Nothing to invoice');
    if (invoice.automaticTax) {
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
    this.settle(invoice);
    return invoice;
  }

  /**
   * The customer's balance is part of the amount due. An amount that cannot be charged is moved to it, and the invoice
   * is paid.
   */
  private settle(invoice: StandInInvoice): void {
    const customer = this.customer(invoice.customer);
    const sum = this.total(invoice) + customer.balance;
    const due = Math.max(0, sum);
    const isMoved = due > 0 && !isChargeable(due, invoice.currency);
    invoice.startingBalance = customer.balance;
    invoice.amountDue = isMoved ? 0 : due;
    customer.balance = sum - invoice.amountDue;
    invoice.endingBalance = customer.balance;
    if (invoice.amountDue === 0) this.markPaid(invoice);
  }

  markPaid(invoice: StandInInvoice): void {
    invoice.status = 'paid';
    invoice.amountPaid = invoice.amountDue;
    invoice.paidAt = Math.floor(Date.now() / 1000);
    if (invoice.amountDue > 0) this.intentOf(invoice).status = 'succeeded';
    this.tell('invoice.paid', { id: invoice.id, object: 'invoice', metadata: invoice.metadata });
  }

  /** The payment of an invoice, which is created with the first attempt. */
  private intentOf(invoice: StandInInvoice): StandInIntent {
    const known = invoice.intent === null ? undefined : this.intents.get(invoice.intent);
    if (known !== undefined) return Object.assign(known, { amount: invoice.amountDue });
    const { customer, currency } = invoice;
    const intent: StandInIntent = {
      ...{ id: this.nextId('pi'), customer, currency, amount: invoice.amountDue },
      ...{ status: 'requires_payment_method', created: Math.floor(Date.now() / 1000) },
      ...{ metadata: {}, error: null, calculation: null },
    };
    invoice.intent = intent.id;
    this.intents.set(intent.id, intent);
    return intent;
  }

  pay(id: string): StandInInvoice {
    const invoice = this.invoice(id);
    if (invoice.status === 'paid')
      throw new StripeRefusal(400, 'invoice_already_paid', 'Invoice is already paid');
    if (invoice.status === 'void')
      throw new StripeRefusal(400, 'invoice_not_open', 'Voided invoices cannot be paid.');
    if (invoice.status !== 'open')
      throw new StripeRefusal(400, 'invoice_not_open', `Invoice is ${invoice.status}`);
    const { card } = this.customer(invoice.customer);
    const intent = this.intentOf(invoice);
    if (card === 'pays') {
      this.charges += 1;
      invoice.attempted = true;
      invoice.attemptCount += 1;
      this.markPaid(invoice);
      return invoice;
    }
    // An attempt counts before it has an outcome, such as a debit that takes days.
    invoice.attempted = true;
    invoice.attemptCount += 1;
    if (card === 'processes') {
      intent.status = 'processing';
      return invoice;
    }
    this.tell('invoice.payment_failed', { id, object: 'invoice', metadata: invoice.metadata });
    if (card === 'needs_action') {
      intent.status = 'requires_action';
      throw new StripeRefusal(
        402,
        'invoice_payment_intent_requires_action',
        'The payment needs an action of the customer',
      );
    }
    intent.error = DECLINED;
    if (card === 'none')
      throw new StripeRefusal(400, 'missing', 'The customer has no default payment method');
    throw new StripeRefusal(402, DECLINED.code, DECLINED.message);
  }

  /** Like Stripe's automatic collection of an invoice. */
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
    // The part of the balance that was applied to it is restored.
    const { startingBalance, endingBalance } = invoice;
    this.customer(invoice.customer).balance += startingBalance - (endingBalance ?? startingBalance);
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
    requireMetadata(params.metadata);
    requireChargeable(Number(params.amount), String(params.currency));
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

  confirmIntent(id: string, isOffSession: boolean): StandInIntent {
    const intent = this.intent(id);
    if (['succeeded', 'canceled', 'processing'].includes(intent.status)) {
      throw new StripeRefusal(400, 'payment_intent_unexpected_state', `It is ${intent.status}`);
    }
    const { card } = this.customer(intent.customer);
    if (card === 'none') throw new StripeRefusal(400, 'parameter_missing', 'There is no payment method');
    if (card === 'processes') {
      intent.status = 'processing';
      return intent;
    }
    if (card === 'pays') {
      this.succeed(intent);
      return intent;
    }
    if (card === 'needs_action' && !isOffSession) {
      intent.status = 'requires_action';
      this.tell('payment_intent.requires_action', {
        id,
        object: 'payment_intent',
        metadata: intent.metadata,
      });
      return intent;
    }
    const refused = card === 'needs_action' ? NOT_AUTHENTICATED : DECLINED;
    intent.status = 'requires_payment_method';
    intent.error = refused;
    this.tell('payment_intent.payment_failed', { id, object: 'payment_intent', metadata: intent.metadata });
    throw new StripeRefusal(402, refused.code, refused.message);
  }

  /** The customer has confirmed it, or its bank has paid. */
  succeed(intent: StandInIntent): void {
    this.charges += 1;
    intent.status = 'succeeded';
    intent.error = null;
    const { id, metadata } = intent;
    this.tell('payment_intent.succeeded', { id, object: 'payment_intent', metadata });
    for (const invoice of this.invoices.values()) if (invoice.intent === id) this.markPaid(invoice);
  }

  cancelIntent(id: string): StandInIntent {
    const intent = this.intent(id);
    if (intent.status === 'succeeded' || intent.status === 'processing') {
      throw new StripeRefusal(
        400,
        'payment_intent_unexpected_state',
        `You cannot cancel a payment that is ${intent.status}`,
      );
    }
    intent.status = 'canceled';
    return intent;
  }
}
