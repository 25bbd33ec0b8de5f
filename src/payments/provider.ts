/**
 * The operations of every payment provider: deliver an invoice, report its state, void it, charge for a purchase. One
 * folder for each. The caller holds the lease on the invoice and persists each step before the next.
 */
import type { CreditNote } from '../core/credit-note.ts';
import type { ExternalCreditNote } from '../core/external-credit-note.ts';
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
  /** When the first call began, in real time; null: no provider can have it. */
  readonly mappedAt: Instant | null;
  /** Whether a call that creates something has had no clear answer. */
  readonly isDoubtful: boolean;
  readonly sentAt: Instant | null;
  readonly external: ExternalInvoice;
}

/** A step to record; absent members stay unchanged. */
interface Step extends Partial<Omit<Progress, 'external' | 'invoiceId'>> {
  readonly external?: Partial<ExternalInvoice>;
}

/**
 * Persists a step before the next one begins, and returns the state then known. Throws if another process holds the
 * lease, or if the invoice was voided and the current attempt is not voiding it.
 */
export type Note = (step: Step) => Promise<Progress>;

/** How a purchase has to be paid before its balance can be used. */
export interface Charge {
  readonly document: PaymentDocument;
  readonly gate: PaymentGate;
  readonly commitId: string;
}

export interface ChargeResult {
  readonly external: ExternalInvoice;
  /** PENDING: the provider has not decided yet. */
  readonly outcome: 'PAID' | 'FAILED' | 'PENDING';
  /** Why it failed. */
  readonly message: string | null;
  /** The payment that its customer has to confirm; null: none. */
  readonly actionRequired: string | null;
}

/** The answer to a request to collect an open invoice. */
export interface CollectResult {
  readonly external: ExternalInvoice;
  /** Whether a payment was under way already, so that nothing was asked. */
  readonly isUnderWay: boolean;
  /** Why the payment was refused; null: it was not. */
  readonly message: string | null;
}

/** The call that creates a credit note. */
export interface NoteSending {
  /** The idempotency key of a call that has had no clear answer, and when it was sent; null: there is none. */
  readonly doubtful: { readonly key: string; readonly sentAt: Instant } | null;
  /** Records the key before the call. Throws if the note was voided, or another process has the lease. */
  begin(key: string): Promise<void>;
}

/** All of them throw `ProviderProblem`. */
export interface PaymentsProvider {
  /** Creates the invoice at the provider, or finishes an earlier attempt. */
  deliver(document: PaymentDocument, progress: Progress, note: Note): Promise<ExternalInvoice>;
  /** Its current state at the provider. After doubt, duplicates that a late call has created are removed. */
  status(document: PaymentDocument, progress: Progress, note: Note): Promise<ExternalInvoice>;
  /** Voids the provider's invoice, if the provider allows it; otherwise `error` states why. */
  void(document: PaymentDocument, progress: Progress, note: Note): Promise<ExternalInvoice>;
  /** Asks the provider to collect an open invoice that it has, now and once. */
  collect(document: PaymentDocument, progress: Progress, note: Note): Promise<CollectResult>;
  /** Issues a credit note of the delivered invoice at the provider, or finishes an earlier attempt. */
  deliverNote(
    document: PaymentDocument,
    credited: CreditNote,
    delivered: { readonly progress: Progress; readonly sending: NoteSending },
    note: Note,
  ): Promise<ExternalCreditNote>;
  /** Our credit notes of the invoice there, by our ids; null: the provider does not say what it has. */
  notesThere(
    document: PaymentDocument,
    progress: Progress,
  ): Promise<ReadonlyMap<string, ExternalCreditNote> | null>;
  charge(charge: Charge, progress: Progress, note: Note): Promise<ChargeResult>;
  /** Whether a payment is in progress, such as a bank debit, so that it can only be awaited. */
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
  /** The provider's error code. */
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
