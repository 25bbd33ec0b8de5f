/**
 * One attempt of one delivery, with its next step: delivers an undelivered invoice, voids a voided one at the provider,
 * and otherwise asks the provider for its state. All steps are idempotent.
 */
import { type ExternalInvoice, isPaidForReal } from '../../core/external-invoice.ts';
import { DAY_MS, type Instant } from '../../core/time.ts';
import type { PaymentDocument } from '../../payments/document.ts';
import {
  type ChargeResult,
  type Note,
  type PaymentsProvider,
  type Progress,
  ProviderProblem,
} from '../../payments/provider.ts';
import { loadCommits } from '../../store/balances/commits.ts';
import type { AttemptEnd } from '../../store/invoices/delivery-work.ts';
import type { Delivery } from '../../store/invoices/invoice-deliveries.ts';
import type { BillingContext } from '../billing-context.ts';
import { deliverNotes, firstNoteAt } from './deliver-notes.ts';
import { isBeyondDoubt, nextLookAt, retryDelayMs } from './delivery-backoff.ts';
import { loadDeliverable } from './delivery-document.ts';
import type { PaymentEnd } from './end-delivery.ts';

export interface AttemptResult extends AttemptEnd {
  readonly payment: PaymentEnd | null;
  readonly actionRequired: string | null;
  /** The failure, for the log and the figures. */
  readonly problem: ProviderProblem | null;
}

/** A customer who does not confirm a payment within this time does not pay. */
const ACTION_MAX_MS = DAY_MS;

/** A step with a delivered invoice that replaces the look at its state. Returns the state afterwards. */
export type DeliveredStep = (
  provider: PaymentsProvider,
  document: PaymentDocument,
  progress: Progress,
  note: Note,
) => Promise<ExternalInvoice>;

export async function attemptDelivery(
  context: BillingContext,
  delivery: Delivery,
  note: Note,
  asked?: DeliveredStep,
): Promise<AttemptResult> {
  const work = workOf(context, delivery, note);
  try {
    const { invoiceId, customerId, mappedAt, voidWanted } = delivery;
    const isBegun = mappedAt !== null || voidWanted;
    const found = await loadDeliverable(context, invoiceId, { customerId, isBegun });
    if (found.kind === 'blocked') throw found.problem;
    if (found.kind === 'later') return waits(work, found.waitMs);
    if (found.kind === 'statement' && delivery.mappedAt === null) {
      return ended(work, statement(delivery, found.consolidatedId));
    }
    if (found.kind === 'statement') throw new ProviderProblem('refused', 'It is on a consolidated invoice');
    const provider = await context.providerOf(delivery);
    const { document } = found;
    if (asked !== undefined && delivery.deliveredAt !== null && !delivery.voidWanted) {
      const external = await asked(provider, document, work.progress(), work.note);
      // Its credit notes are left to the next attempt, so that the answer is about this step alone.
      return dueWith(ended(work, withSum(document, external)), await firstNoteAt(context, invoiceId));
    }
    const result = await next(work, provider, document);
    return delivery.voidWanted ? result : await withNotes(work, provider, document, result);
  } catch (error) {
    if (!(error instanceof ProviderProblem)) throw error;
    return failed(work, error);
  }
}

/** The invoice, then its credit notes, which change its state there. */
async function withNotes(
  work: Work,
  provider: PaymentsProvider,
  document: PaymentDocument,
  result: AttemptResult,
): Promise<AttemptResult> {
  const { context, note } = work;
  const external = { ...work.progress().external, ...result.external };
  const progress = { ...work.progress(), external };
  const { problem, nextAt, areSent } = await deliverNotes(context, provider, { document, progress, note });
  if (problem !== null) {
    const { dueAt, failures, failingSince } = failed(work, problem);
    return { ...result, dueAt, failures, failingSince, problem };
  }
  const latest = areSent ? withSum(document, await provider.status(document, progress, note)) : null;
  const seen = latest === null ? result : { ...result, external: latest, dueAt: nextLook(work, latest) };
  return dueWith(seen, nextAt);
}

/** Due with the note, if that is sooner. */
function dueWith(result: AttemptResult, noteAt: Instant | null): AttemptResult {
  return noteAt === null ? result : { ...result, dueAt: Math.min(result.dueAt ?? noteAt, noteAt) };
}

/** An attempt with the facts that are known while it runs. */
interface Work {
  readonly context: BillingContext;
  /** Its state when the attempt began. */
  readonly delivery: Delivery;
  readonly note: Note;
  /** Its last recorded state. */
  progress(): Progress;
}

function workOf(context: BillingContext, delivery: Delivery, note: Note): Work {
  let progress = progressOf(delivery);
  return {
    context,
    delivery,
    async note(step) {
      progress = await note(step);
      return progress;
    },
    progress: () => progress,
  };
}

async function next(
  work: Work,
  provider: PaymentsProvider,
  document: PaymentDocument,
): Promise<AttemptResult> {
  const { delivery, note } = work;
  // An invoice that was voided here is never delivered again; a call that has arrived late is voided too.
  if (delivery.voidWanted) {
    const external = await provider.void(document, work.progress(), note);
    return { ...ended(work, external), voidEnded: true, deliveredAt: delivery.deliveredAt ?? Date.now() };
  }
  if (delivery.deliveredAt !== null) {
    return look(work, provider, document);
  }
  if (delivery.gatedCommitId === null) {
    const external = await provider.deliver(document, work.progress(), note);
    return { ...ended(work, external), deliveredAt: Date.now() };
  }
  return charged(work, provider, document, await charge(work, provider, delivery.gatedCommitId, document));
}

/** Reads the outcome. A failed payment is first voided at the provider, so that it can no longer be paid. */
async function look(
  work: Work,
  provider: PaymentsProvider,
  document: PaymentDocument,
): Promise<AttemptResult> {
  const external = withSum(document, await provider.status(document, work.progress(), work.note));
  const payment = gatedEnd(work, external);
  if (payment?.outcome !== 'FAILED' || isOver(external)) return { ...ended(work, external), payment };
  return takenBack(work, provider, document, { ...external, error: payment.message });
}

async function charge(
  { context: { db }, progress, note }: Work,
  provider: PaymentsProvider,
  commitId: string,
  document: PaymentDocument,
): Promise<ChargeResult> {
  const [commit] = await loadCommits(db, { ids: [commitId], includeArchived: true });
  const gate = commit?.paymentGate ?? null;
  if (gate === null) throw new ProviderProblem('refused', `Commit ${commitId} waits for no payment`);
  try {
    return await provider.charge({ document, gate, commitId }, progress(), note);
  } catch (error) {
    const { external } = progress();
    if (!(error instanceof ProviderProblem) || error.kind !== 'refused' || external.externalId === null)
      throw error;
    // No copy of it at the provider may be paid from now on.
    return { external, outcome: 'FAILED', message: error.message, actionRequired: null };
  }
}

async function charged(
  work: Work,
  provider: PaymentsProvider,
  document: PaymentDocument,
  { external, outcome, message, actionRequired }: ChargeResult,
): Promise<AttemptResult> {
  if (outcome === 'FAILED' && !isOver(external))
    return takenBack(work, provider, document, { ...external, error: message });
  return {
    ...ended(work, { ...external, error: outcome === 'PAID' ? null : (message ?? external.error) }),
    deliveredAt: Date.now(),
    payment: outcome === 'PENDING' ? null : { outcome, message },
    actionRequired,
  };
}

/**
 * Voids the open invoice, and only then reports that the payment has failed: until then its customer may pay it, and a
 * payment in progress is waited for.
 */
async function takenBack(
  work: Work,
  provider: PaymentsProvider,
  document: PaymentDocument,
  { error: message, paymentFailure = null }: ExternalInvoice,
): Promise<AttemptResult> {
  const deliveredAt = work.delivery.deliveredAt ?? Date.now();
  const begun = await work.note({ external: { error: message } });
  if (await provider.isPaymentUnderWay(begun)) {
    return { ...ended(work, { ...begun.external, error: null }), deliveredAt };
  }
  const external = await provider.void(document, begun, work.note);
  const payment = { outcome: isPaidForReal(external) ? ('PAID' as const) : ('FAILED' as const), message };
  if (isOver(external)) {
    return { ...ended(work, { ...external, error: message, paymentFailure }), deliveredAt, payment };
  }
  const isPaid = payment.outcome === 'PAID';
  return {
    ...ended(work, isPaid ? { ...external, error: null } : external),
    deliveredAt,
    payment: isPaid ? { ...payment, message: null } : null,
  };
}

/** It can no longer be paid. An invoice that is written off as uncollectible can still be paid. */
function isOver(external: ExternalInvoice): boolean {
  const { status } = external;
  return status === 'VOID' || status === 'DELETED' || (status === 'PAID' && !isPaidForReal(external));
}

/** The effect of the state of an invoice on the balance that waits for it. */
function gatedEnd({ context: { clock }, delivery }: Work, external: ExternalInvoice): PaymentEnd | null {
  if (delivery.gatedCommitId === null) return null;
  const { status, error } = external;
  if (isPaidForReal(external)) return { outcome: 'PAID', message: null };
  // An invoice whose payment is to be confirmed has the same status as an unpaid one.
  const hasFailed = status === 'PAYMENT_FAILED' && delivery.method === 'payment_intent';
  if (isOver(external) || hasFailed || status === 'UNCOLLECTIBLE') {
    return { outcome: 'FAILED', message: error ?? delivery.external.error ?? `its payment is ${status}` };
  }
  const isLate = clock.now() - delivery.createdAt > ACTION_MAX_MS;
  return isLate ? { outcome: 'FAILED', message: 'nobody has confirmed the payment in time' } : null;
}

/** Somebody may have changed a draft there before making it final. */
function withSum({ payable, number }: PaymentDocument, external: ExternalInvoice): ExternalInvoice {
  const { subTotal, status } = external;
  const isFinal = !['DRAFT', 'VOID', 'DELETED'].includes(status);
  if (!isFinal || subTotal === null || subTotal.eq(payable)) return external;
  const error = `The sub-total there is ${subTotal.toFixed()}, that of invoice ${number} is ${payable.toFixed()}`;
  return { ...external, error };
}

function statement({ external }: Delivery, consolidatedId: string): ExternalInvoice {
  return { ...external, status: 'SKIPPED', error: `Its amounts are on invoice ${consolidatedId}` };
}

function ended(work: Work, external: ExternalInvoice): AttemptResult {
  const isDoubtful = isStillDoubtful(work);
  const dueAt = nextLook(work, external);
  const nothing = { payment: null, actionRequired: null, problem: null };
  return { ...nothing, external, isDoubtful, dueAt, failures: 0, failingSince: null, isAttempt: true };
}

function isStillDoubtful({ delivery, progress }: Work): boolean {
  return progress().isDoubtful && !isBeyondDoubt(delivery.deliveredAt, Date.now());
}

function nextLook(work: Work, external: ExternalInvoice): Instant | null {
  const { createdAt } = work.delivery;
  return nextLookAt(external, { createdAt, isDoubtful: isStillDoubtful(work) }, work.context.clock.now());
}

/** It does not count as an attempt. Without a time to wait it stays due, so that a move of a clock waits for it too. */
function waits({ context: { clock }, delivery }: Work, waitMs: number): AttemptResult {
  const { failures, failingSince, dueAt } = delivery;
  const nothing = { payment: null, actionRequired: null, problem: null };
  const next = waitMs === 0 ? dueAt : clock.now() + waitMs;
  return { ...nothing, dueAt: next, failures, failingSince, isAttempt: false };
}

/** A refusal ends it, until another attempt is requested. All other failures are retried. */
function failed({ context: { clock }, delivery }: Work, problem: ProviderProblem): AttemptResult {
  const failures = delivery.failures + 1;
  const isRefused = problem.kind === 'refused';
  const isVoiding = delivery.voidWanted;
  const isArrived = delivery.deliveredAt !== null || isVoiding;
  const status = isRefused && !isArrived ? { status: 'INVALID_REQUEST_ERROR' as const } : {};
  const retryAt = clock.now() + retryDelayMs(failures, problem);
  const isEnd = isRefused && !isArrived;
  const hasFailed = isEnd && delivery.gatedCommitId !== null;
  return {
    external: { ...status, error: problem.message },
    ...(problem.kind === 'unclear' && !isArrived ? { isDoubtful: true } : {}),
    ...(isRefused && isVoiding ? { voidEnded: true } : {}),
    dueAt: isEnd || (isRefused && isVoiding) ? null : retryAt,
    failures,
    failingSince: delivery.failingSince ?? clock.now(),
    isAttempt: true,
    payment: hasFailed ? { outcome: 'FAILED', message: problem.message } : null,
    actionRequired: null,
    problem,
  };
}

export function progressOf(delivery: Delivery): Progress {
  const { invoiceId, method, mappedAt, isDoubtful, sentAt, external } = delivery;
  return { invoiceId, method, mappedAt, isDoubtful, sentAt, external };
}
