/** Credit notes of the stand-in of Stripe, and Stripe's rules for them. No HTTP. */
import type { FormValue } from './form-body.ts';
import { TAX_RATE } from './stand-in-answers.ts';
import { requireLength, requireMetadata, TEXTS } from './stand-in-limits.ts';
import { type StandInInvoice, type StandInNote, StripeRefusal } from './stand-in-objects.ts';
import { type StandInState, TAX_PERCENT } from './stand-in-state.ts';

type Form = Record<string, FormValue>;
type NoteLine = StandInNote['lines'][number] & { readonly tax: number };

const REASONS = ['duplicate', 'fraudulent', 'order_change', 'product_unsatisfactory'];
const MEMO_MAX = 5_000;

export function creditNote(state: StandInState, id: string): StandInNote {
  const found = state.creditNotes.get(id);
  if (found !== undefined) return found;
  throw new StripeRefusal(404, 'resource_missing', `No such credit note: '${id}'`, 'id');
}

/** The notes of an invoice, or all, the oldest first. */
export function notesOf(state: StandInState, invoice: string | null): StandInNote[] {
  return [...state.creditNotes.values()].filter((note) => invoice === null || note.invoice === invoice);
}

/** Computes the note without its settlement. */
export function previewNote(state: StandInState, form: Form): StandInNote {
  const { note } = drawn(state, form);
  return note;
}

export function createNote(state: StandInState, form: Form): StandInNote {
  const { invoice, note } = drawn(state, form);
  const settled = requireSettled(state, invoice, note, form);
  const { prePayment, total } = settled;
  state.creditNotes.set(settled.id, settled);
  invoice.amountDue -= prePayment;
  invoice.prePaymentNotes += prePayment;
  invoice.postPaymentNotes += total - prePayment;
  state.customer(invoice.customer).balance -= settled.credit;
  tell(state, 'credit_note.created', settled);
  if (invoice.status === 'open' && invoice.amountDue === invoice.amountPaid) state.markPaid(invoice);
  return settled;
}

/** Only what was taken of the amount due of an invoice that is still open can come back. */
export function voidNote(state: StandInState, id: string): StandInNote {
  const note = creditNote(state, id);
  const invoice = state.invoice(note.invoice);
  if (note.status === 'void' || invoice.status !== 'open' || note.prePayment !== note.total) {
    throw new StripeRefusal(400, 'invalid_request', 'You can only void a credit note of an open invoice');
  }
  note.status = 'void';
  invoice.amountDue += note.prePayment;
  invoice.prePaymentNotes -= note.prePayment;
  tell(state, 'credit_note.voided', note);
  return note;
}

function tell(state: StandInState, type: string, { id, invoice, metadata }: StandInNote): void {
  state.tell(type, { id, object: 'credit_note', invoice, metadata });
}

interface Drawn {
  readonly invoice: StandInInvoice;
  readonly note: StandInNote;
}

function drawn(state: StandInState, form: Form): Drawn {
  const invoice = state.invoice(String(form.invoice));
  if (invoice.status !== 'open' && invoice.status !== 'paid') {
    const message = `Credit notes are for open and paid invoices; this invoice is ${invoice.status}`;
    throw new StripeRefusal(400, 'invoice_not_creditable', message, 'invoice');
  }
  requireMetadata(form.metadata);
  requireLength('memo', form.memo, MEMO_MAX);
  if (form.reason !== undefined && !REASONS.includes(String(form.reason))) refuse('Invalid reason', 'reason');
  const lines = linesOf(state, invoice, (Array.isArray(form.lines) ? form.lines : []) as Form[]);
  const subtotal = lines.reduce((sum, { amount }) => sum + amount, 0);
  const computed = invoice.automaticTax ? Math.round((subtotal * TAX_PERCENT) / 100) : 0;
  const tax = lines.reduce((sum, line) => sum + line.tax, computed);
  const total = subtotal + tax;
  if (total <= 0) refuse('The credit note total must be greater than zero', 'lines');
  const before = notesOf(state, invoice.id).filter(({ status }) => status === 'issued');
  const left = state.total(invoice) - before.reduce((sum, note) => sum + note.total, 0);
  if (total > left) refuse(`The credit note exceeds the creditable amount of ${left}`, 'lines');
  const remaining = invoice.status === 'paid' ? 0 : invoice.amountDue - invoice.amountPaid;
  const id = state.nextId('cn');
  const note: StandInNote = {
    ...{ id, number: `${invoice.number}-CN-${before.length + 1}`, invoice: invoice.id },
    ...{ customer: invoice.customer, currency: invoice.currency, created: Math.floor(Date.now() / 1000) },
    metadata: (form.metadata ?? {}) as Record<string, string>,
    memo: typeof form.memo === 'string' ? form.memo : null,
    reason: typeof form.reason === 'string' ? form.reason : null,
    ...{ lines, tax, total, prePayment: Math.min(total, remaining), refund: 0, credit: 0, outOfBand: 0 },
    status: 'issued',
  };
  return { invoice, note };
}

function linesOf(state: StandInState, invoice: StandInInvoice, forms: readonly Form[]): NoteLine[] {
  if (forms.length === 0) refuse('One of amount, lines, or shipping_cost must be provided', 'lines');
  const lines = forms.map((form) => lineOf(state, invoice, form));
  const credited = new Map<string, number>();
  const earlier = notesOf(state, invoice.id).filter(({ status }) => status === 'issued');
  for (const { invoiceLine, amount } of [...earlier.flatMap((note) => note.lines), ...lines]) {
    if (invoiceLine !== null) credited.set(invoiceLine, (credited.get(invoiceLine) ?? 0) + amount);
  }
  for (const { id, amount } of invoice.lines) {
    if ((credited.get(id) ?? 0) > Math.max(0, amount)) refuse(`More than ${id} has is credited`, 'lines');
  }
  return lines;
}

function lineOf(state: StandInState, invoice: StandInInvoice, form: Form): NoteLine {
  const id = state.nextId('cnli');
  const tax = taxOf(invoice, form);
  if (form.type === 'invoice_line_item') {
    const line = invoice.lines.find((one) => one.id === form.invoice_line_item);
    if (line === undefined) refuse('The line is not of this invoice', 'lines[invoice_line_item]');
    if (form.unit_amount !== undefined || form.description !== undefined)
      refuse('Only valid for custom_line_item', 'lines');
    return { id, invoiceLine: line.id, description: line.description, amount: wholeOf(form.amount), tax };
  }
  if (form.type !== 'custom_line_item') refuse('Invalid type', 'lines[type]');
  if (invoice.automaticTax) refuse('custom_line_item is not valid with automatic tax', 'lines[type]');
  if (form.amount !== undefined) refuse('Only valid for invoice_line_item', 'lines[amount]');
  requireLength('description', form.description, TEXTS.description);
  if (typeof form.description !== 'string' || form.description === '')
    refuse('A description is required', 'lines');
  const amount = wholeOf(form.unit_amount) * wholeOf(form.quantity);
  return { id, invoiceLine: null, description: form.description, amount, tax };
}

function taxOf(invoice: StandInInvoice, { tax_amounts: given }: Form): number {
  const amounts = (Array.isArray(given) ? given : []) as Form[];
  if (amounts.length > 0 && invoice.automaticTax)
    refuse('tax_amounts is not valid with automatic tax', 'lines');
  if (amounts.some(({ tax_rate: rate }) => rate !== TAX_RATE))
    refuse('No such tax rate', 'lines[tax_amounts]');
  return amounts.reduce((sum, { amount }) => sum + wholeOf(amount), 0);
}

function wholeOf(value: FormValue | undefined): number {
  const amount = Number(value);
  if (!Number.isInteger(amount) || amount <= 0) refuse('Invalid positive integer', 'lines');
  return amount;
}

/** The parts of the settlement must add up to the post-payment amount, and no more is refunded than was charged. */
function requireSettled(
  state: StandInState,
  invoice: StandInInvoice,
  note: StandInNote,
  form: Form,
): StandInNote {
  const part = (name: string) => (form[name] === undefined ? 0 : wholeOf(form[name]));
  const [refund, credit, outOfBand] = [
    part('refund_amount'),
    part('credit_amount'),
    part('out_of_band_amount'),
  ];
  const post = note.total - note.prePayment;
  if (refund + credit + outOfBand !== post) {
    const sum = `${refund} + ${credit} + ${outOfBand}`;
    refuse(`The sum of refund, credit and out of band amounts (${sum}) must equal ${post}`, 'amount');
  }
  if (refund > refundableOf(state, invoice))
    refuse('The refund is greater than the charge has left', 'refund_amount');
  return { ...note, refund, credit, outOfBand };
}

function refundableOf(state: StandInState, { id, intent, amountPaid }: StandInInvoice): number {
  const isCharged = intent !== null && state.intents.get(intent)?.status === 'succeeded';
  const refunded = notesOf(state, id).reduce((sum, { refund }) => sum + refund, 0);
  return isCharged ? amountPaid - refunded : 0;
}

function refuse(message: string, param: string): never {
  throw new StripeRefusal(400, 'parameter_invalid', message, param);
}
