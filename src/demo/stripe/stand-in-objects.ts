/** The objects of the stand-in of Stripe, and its refusals. */
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
  /** Null: omitted, so that the default of the account applies. */
  taxBehavior: string | null;
  unitAmount: string | null;
  /** The tax sent with the line. */
  tax: number;
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
  automaticTax: boolean;
  /** The customer's balance before and after: above 0 the customer owes it. */
  startingBalance: number;
  endingBalance: number | null;
  amountDue: number;
  /** Amounts of credit notes before and after its payment. */
  prePaymentNotes: number;
  postPaymentNotes: number;
  sent: number;
  autoAdvance: boolean;
}

/** A draft. */
export function newInvoice(
  id: string,
  params: Record<string, FormValue>,
  automaticTax: boolean,
): StandInInvoice {
  return {
    id,
    customer: String(params.customer),
    currency: String(params.currency),
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
    automaticTax,
    ...{ startingBalance: 0, endingBalance: null, amountDue: 0, prePaymentNotes: 0, postPaymentNotes: 0 },
    sent: 0,
    autoAdvance: params.auto_advance === 'true',
  };
}

interface StandInNoteLine {
  readonly id: string;
  /** Null: a custom line. */
  readonly invoiceLine: string | null;
  readonly description: string;
  readonly amount: number;
}

export interface StandInNote {
  readonly id: string;
  readonly number: string;
  readonly invoice: string;
  readonly customer: string;
  readonly currency: string;
  readonly created: number;
  readonly metadata: Record<string, string>;
  readonly memo: string | null;
  readonly reason: string | null;
  readonly lines: readonly StandInNoteLine[];
  readonly tax: number;
  readonly total: number;
  /** The part that reduces the amount due; the other three are the rest. */
  readonly prePayment: number;
  readonly refund: number;
  readonly credit: number;
  readonly outOfBand: number;
  status: 'issued' | 'void';
}

export interface StandInIntent {
  id: string;
  customer: string;
  amount: number;
  currency: string;
  status: string;
  created: number;
  metadata: Record<string, string>;
  error: StandInPaymentError | null;
  calculation: string | null;
}

export interface StandInCustomer {
  id: string;
  /** How its default payment method reacts. `processes`: a bank account, which takes days. */
  card: 'pays' | 'declined' | 'needs_action' | 'processes' | 'none';
  hasAddress: boolean;
  /** Above 0: owed by the customer, and part of the next invoice. Below: a credit. */
  balance: number;
  deleted: boolean;
}

/** The last error of a payment. */
interface StandInPaymentError {
  readonly type: 'card_error';
  readonly code: string;
  readonly decline_code: string;
  readonly message: string;
}

export const DECLINED: StandInPaymentError = {
  type: 'card_error',
  code: 'card_declined',
  decline_code: 'insufficient_funds',
  message: 'Your card was declined.',
};

export const NOT_AUTHENTICATED: StandInPaymentError = {
  type: 'card_error',
  code: 'authentication_required',
  decline_code: 'authentication_required',
  message: 'This transaction requires authentication.',
};

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
