/**
 * One attempt with a delivery that this process has leased. The lease is renewed with each step that is recorded, and no
 * step begins without it, so that an invoice has one writer.
 */
import { MINUTE_MS } from '../../core/time.ts';
import type { Note } from '../../payments/provider.ts';
import { freeDelivery, noteStep } from '../../store/invoices/delivery-work.ts';
import type { Delivery } from '../../store/invoices/invoice-deliveries.ts';
import type { BillingContext } from '../billing-context.ts';
import { type AttemptResult, attemptDelivery, type DeliveredStep, progressOf } from './attempt-delivery.ts';
import { endDelivery } from './end-delivery.ts';

/** The lease of an attempt: longer than any request to a provider. */
export const DELIVERY_LEASE_MS = MINUTE_MS;

/** `waiting`: the attempt could not begin yet. */
export type DeliveryOutcome = 'done' | 'waiting' | 'refused' | 'failed';

export interface DeliveryLease {
  /** The name of the lease. */
  readonly owner: string;
  /** Maximum time from one step to the next. */
  readonly leaseMs: number;
  /** Whether the attempt has to end with its present step. */
  hasToEnd(): boolean;
  /** Called between two steps. */
  betweenSteps(): void;
}

/** An attempt ends, and nothing more of it is recorded: another process has the lease, or the service stops. */
class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

/** `asked`: in place of a look. Null: the attempt was interrupted, or another process has the delivery. */
export async function deliverLeased(
  context: BillingContext,
  delivery: Delivery,
  lease: DeliveryLease,
  asked?: DeliveredStep,
): Promise<DeliveryOutcome | null> {
  try {
    lease.betweenSteps();
    const result = await attemptDelivery(context, delivery, noteOf(context, delivery, lease), asked);
    lease.betweenSteps();
    const { problem, ...end } = result;
    const isEnded = await endDelivery(context, delivery, lease.owner, end);
    if (problem !== null) {
      const { kind, message, code } = problem;
      const facts = { invoice: delivery.invoiceId, kind, code, error: message };
      context.log.warn(facts, 'an invoice was not delivered');
    }
    return isEnded ? outcomeOf(result) : null;
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    if (lease.hasToEnd()) await freeDelivery(context.db, delivery.invoiceId, lease.owner);
    return null;
  }
}

function noteOf({ db }: BillingContext, { invoiceId, voidWanted }: Delivery, lease: DeliveryLease): Note {
  const { owner, leaseMs } = lease;
  return async ({ external, ...own }) => {
    lease.betweenSteps();
    const noted = await noteStep(db, invoiceId, { owner, leaseMs }, { ...own, external });
    if (noted === null) throw new Interrupted('another process has the delivery');
    // The last steps are recorded, so that nothing is uncertain after the next start.
    if (lease.hasToEnd()) throw new Interrupted('the service stops, or may bill nothing now');
    if (noted.voidWanted && !voidWanted) {
      await freeDelivery(db, invoiceId, owner);
      throw new Interrupted('it was voided meanwhile');
    }
    lease.betweenSteps();
    return progressOf(noted);
  };
}

function outcomeOf({ problem, isAttempt }: AttemptResult): DeliveryOutcome {
  if (problem !== null) return problem.kind === 'refused' ? 'refused' : 'failed';
  return isAttempt ? 'done' : 'waiting';
}
