/**
 * The operations of every payment provider: deliver an invoice, report its state, void it, charge for a purchase. One
 * folder for each. The caller holds the lease on the invoice and persists each step before the next.
 */
import type { ExternalInvoice } from '../core/external-invoice.ts';
import type { PaymentGate } from '../core/terms/payment-gate.ts';
import type { Instant } from '../core/time.ts';
import type { PaymentDocument } from './document.ts';

/** The form of an invoice at a provider. */
type DeliveryKind = 'invoice' | 'payment_intent' | 'webhook';

/** The recorded state of a delivery. */
export interface Progress {
  readonly invoiceId: string;
  readonly method: DeliveryKind | null;
  /** When the first call began, in real time; null: nobody can have it. */
  readonly mappedAt: Instant | null;
  /** Whether a call that makes something has had no clear answer. */
  readonly isDoubtful: boolean;
  readonly sentAt: Instant | null;
  readonly external: ExternalInvoice;
}

/** A step to be written down; what is absent stays. */
interface Step extends Partial<Omit<Progress, 'external' | 'invoiceId'>> {
  readonly external?: Partial<ExternalInvoice>;
}

/**
 * Writes a step down before the next one begins, and returns what is known then. Throws if another process has the
 * invoice, or if it was voided meanwhile and is not to be voided just now.
 */
export type Note = (step: Step) => Promise<Progress>;

/** How a purchase is to be paid before its balance can be used. */
export interface Charge {
  readonly document: PaymentDocument;
  readonly gate: PaymentGate;
  readonly commitId: string;
}

export interface ChargeResult {
  readonly external: ExternalInvoice;
  /** PENDING: the provider has not decided yet. */
  readonly outcome: 'PAID' | 'FAILED' | 'PENDING';
  /** Why it has failed. */
  readonly message: string | null;
  /** The payment that its customer has to confirm; null: none. */
  readonly actionRequired: string | null;
}

/** All of them throw `ProviderProblem`. */
export interface PaymentsProvider {
  /** Brings the invoice there, or finishes what was begun. */
  deliver(document: PaymentDocument, progress: Progress, note: Note): Promise<ExternalInvoice>;
  /** As the provider has it now. After doubt, objects that a late call has created beside it are removed. */
  status(document: PaymentDocument, progress: Progress, note: Note): Promise<ExternalInvoice>;
  /** Voids what the provider has, as far as it may; `error` says if not. */
  void(document: PaymentDocument, progress: Progress, note: Note): Promise<ExternalInvoice>;
  charge(charge: Charge, progress: Progress, note: Note): Promise<ChargeResult>;
  /** Whether a payment is on its way, such as from a bank account: it can only be waited for. */
  isPaymentUnderWay(progress: Progress): Promise<boolean>;
}

/**
 * Why a provider call failed. `unclear`: the response was lost, so the call may have succeeded. `busy`: retry later.
 * `account`: the operator has to fix the connection. `refused`: the provider rejects this invoice.
 */
type ProblemKind = 'unclear' | 'busy' | 'account' | 'refused';

export class ProviderProblem extends Error {
  override readonly name = 'ProviderProblem';
  readonly kind: ProblemKind;
  /** The provider's word for it. */
  readonly code: string | null;
  /** Minimum delay before the next request, from `Retry-After`. */
  readonly retryAfterMs: number | null;

  constructor(
    kind: ProblemKind,
    message: string,
    {
      code = null,
      retryAfterMs = null,
    }: { readonly code?: string | null; readonly retryAfterMs?: number | null } = {},
  ) {
    super(message);
    this.kind = kind;
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }
}
