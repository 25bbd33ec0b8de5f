/**
 * One attempt with one delivery: whatever is next for it. Delivers what is not delivered, voids there what was voided here,
 * and otherwise asks the provider what became of it. Everything may be repeated.
 */

import { type DocumentDeps, loadDeliverable } from '../../billing/payments/delivery-document.ts';
import type { PaymentEnd } from '../../billing/payments/end-delivery.ts';
import type { Clock } from '../../core/clock.ts';
import type { ExternalInvoice } from '../../core/external-invoice.ts';
import { DAY_MS } from '../../core/time.ts';
import type { PaymentDocument } from '../../payments/document.ts';
import {
  type ChargeResult,
  type Note,
  type PaymentsProvider,
  type Progress,
  ProviderProblem,
} from '../../payments/provider.ts';
import { loadCommits } from '../../store/commits.ts';
import type { Database } from '../../store/database.ts';
import type { AttemptEnd } from '../../store/delivery-work.ts';
import type { Delivery } from '../../store/invoice-deliveries.ts';
import { nextLookAt, retryDelayMs } from './backoff.ts';

export interface AttemptDeps extends DocumentDeps {
  readonly db: Database;
  readonly clock: Clock;
  /** The provider that the delivery goes to. Throws `ProviderProblem` where it cannot be reached any more. */
  providerOf(delivery: Delivery): Promise<PaymentsProvider>;
}

export interface AttemptResult extends AttemptEnd {
  readonly payment: PaymentEnd | null;
  readonly actionRequired: string | null;
  /** What went wrong, for the log and the figures. */
  readonly problem: ProviderProblem | null;
}

/** A customer who does not confirm a payment within this time does not pay. */
const ACTION_MAX_MS = DAY_MS;

export async function attemptDelivery(
  deps: AttemptDeps,
  delivery: Delivery,
  note: Note,
): Promise<AttemptResult> {
  const { failures } = delivery;
  try {
    const found = await loadDeliverable(deps, delivery);
    if (found.kind === 'later') return waits(deps, delivery, found.waitMs);
    if (found.kind === 'statement' && delivery.mappedAt === null) {
      return ended(deps, delivery, statement(delivery, found.consolidatedId));
    }
    if (found.kind === 'statement') throw new ProviderProblem('refused', 'It is on a consolidated invoice');
    const provider = await deps.providerOf(delivery);
    return await next(deps, provider, delivery, found.document, note);
  } catch (error) {
    if (!(error instanceof ProviderProblem)) throw error;
    return failed(deps, delivery, failures + 1, error);
  }
}

async function next(
  deps: AttemptDeps,
  provider: PaymentsProvider,
  delivery: Delivery,
  document: PaymentDocument,
  note: Note,
): Promise<AttemptResult> {
  const progress = progressOf(delivery);
  if (delivery.voidWanted && !delivery.voidEnded) {
    const external = await provider.void(document, progress, note);
    return { ...ended(deps, delivery, external), voidEnded: true };
  }
  if (delivery.deliveredAt !== null) {
    const external = withSum(document, await provider.status(document, progress));
    return { ...ended(deps, delivery, external), payment: gatedEnd(deps, delivery, external) };
  }
  if (delivery.gatedCommitId === null) {
    const external = await provider.deliver(document, progress, note);
    return { ...ended(deps, delivery, external), deliveredAt: Date.now() };
  }
  return charged(
    deps,
    delivery,
    await charge(deps, provider, delivery.gatedCommitId, document, progress, note),
  );
}

async function charge(
  { db }: AttemptDeps,
  provider: PaymentsProvider,
  commitId: string,
  document: PaymentDocument,
  progress: Progress,
  note: Note,
): Promise<ChargeResult> {
  const [commit] = await loadCommits(db, { ids: [commitId], includeArchived: true });
  const gate = commit?.paymentGate ?? null;
  if (gate === null) throw new ProviderProblem('refused', `Commit ${commitId} waits for no payment`);
  return provider.charge({ document, gate, commitId }, progress, note);
}

function charged(
  deps: AttemptDeps,
  delivery: Delivery,
  { external, outcome, message, actionRequired }: ChargeResult,
): AttemptResult {
  return {
    ...ended(deps, delivery, { ...external, error: outcome === 'PAID' ? null : (message ?? external.error) }),
    deliveredAt: Date.now(),
    payment: outcome === 'PENDING' ? null : { outcome, message },
    actionRequired,
  };
}

/** What an invoice that is asked for means for the balance that waits for it. */
function gatedEnd(
  { clock }: AttemptDeps,
  delivery: Delivery,
  { status, error }: ExternalInvoice,
): PaymentEnd | null {
  if (delivery.gatedCommitId === null) return null;
  if (status === 'PAID') return { outcome: 'PAID', message: null };
  const isOver = ['VOID', 'DELETED', 'UNCOLLECTIBLE'].includes(status);
  // An invoice whose payment is to be confirmed looks like one that was not paid.
  const hasFailed = status === 'PAYMENT_FAILED' && delivery.method === 'payment_intent';
  if (isOver || hasFailed) return { outcome: 'FAILED', message: error ?? `its payment is ${status}` };
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

function ended({ clock }: AttemptDeps, { createdAt }: Delivery, external: ExternalInvoice): AttemptResult {
  const dueAt = nextLookAt(external, createdAt, clock.now());
  const nothing = { payment: null, actionRequired: null, problem: null };
  return { ...nothing, external, dueAt, failures: 0, isAttempt: true };
}

/** It counts as no attempt. Without a time to wait it stays due, so that a move of a clock waits for it too. */
function waits({ clock }: AttemptDeps, { failures, dueAt }: Delivery, waitMs: number): AttemptResult {
  const nothing = { payment: null, actionRequired: null, problem: null };
  return { ...nothing, dueAt: waitMs === 0 ? dueAt : clock.now() + waitMs, failures, isAttempt: false };
}

/** A refusal ends it, until somebody asks for another attempt. Everything else is tried again. */
function failed(
  { clock }: AttemptDeps,
  delivery: Delivery,
  failures: number,
  problem: ProviderProblem,
): AttemptResult {
  const isRefused = problem.kind === 'refused';
  const isVoiding = delivery.voidWanted && !delivery.voidEnded;
  const isArrived = delivery.deliveredAt !== null || isVoiding;
  const status = isRefused && !isArrived ? { status: 'INVALID_REQUEST_ERROR' as const } : {};
  const retryAt = clock.now() + retryDelayMs(failures, problem);
  const isOver = isRefused && !isArrived;
  const hasFailed = isOver && delivery.gatedCommitId !== null;
  return {
    external: { ...status, error: problem.message },
    ...(problem.kind === 'unclear' && !isArrived ? { isDoubtful: true } : {}),
    ...(isRefused && isVoiding ? { voidEnded: true } : {}),
    dueAt: isOver || (isRefused && isVoiding) ? null : retryAt,
    failures,
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
