/**
 * Erases a customer (docs/how-to/erasure.md): identifying data are removed from PostgreSQL at once, and from its events
 * by a job. Issued invoices stay as they are.
 */
import { invalid, notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/ids.ts';
import type { Instant } from '../../core/time.ts';
import type { Transaction } from '../../store/base/database.ts';
import { loadContracts } from '../../store/contracts/contracts.ts';
import { eraseSchedules } from '../../store/contracts/named-schedules.ts';
import { customerRefs, lockCustomer } from '../../store/customers/customers.ts';
import {
  eraseAlerts,
  eraseAnswers,
  eraseConfigurations,
  eraseCustomFields,
  eraseHeader,
  eraseMessages,
} from '../../store/erasure/erased-customers.ts';
import { eraseOpenEntries } from '../../store/events/event-corrections.ts';
import { deleteHolds } from '../../store/holds/holds.ts';
import { eraseCreditNoteTexts } from '../../store/invoices/credit-notes.ts';
import { findUnsettledDelivery } from '../../store/invoices/delivery-work.ts';
import { enqueueJobs } from '../../store/jobs/jobs.ts';
import type { BillingContext } from '../billing-context.ts';
import { draftPlaces } from '../invoices/drafts/draft-places.ts';
import { eraseEventsJob } from './erase-events.ts';

/** The answer to a repeated request with an Idempotency-Key whose stored answer contained the customer. */
const ANSWER_ERASED = {
  status: 409,
  body: JSON.stringify({
    message: 'This request was carried out, and its answer was erased with the customer that it was about.',
  }),
};

/**
 * Erases the customer and archives it, without voiding its invoices. Repeating it erases newer data. Refuses an unknown
 * customer (`not_found`), and one with uninvoiced usage (`invalid`, naming the contract).
 */
export async function eraseCustomer(context: BillingContext, customerId: string): Promise<void> {
  await context.db.transaction(async (tx) => {
    const isKnown = isUuid(customerId) && (await lockCustomer(tx, customerId));
    if (!isKnown) throw notFound('customer', customerId, 'CustomerNotFound');
    const now = context.clock.now();
    await requireInvoiced(tx, context, customerId, now);
    const refs = (await customerRefs(tx, [customerId])).get(customerId) ?? [customerId];
    await eraseHeader(tx, customerId, now);
    await eraseConfigurations(tx, customerId, now);
    await eraseSchedules(tx, customerId);
    await deleteHolds(tx, customerId);
    await eraseAlerts(tx, customerId, now);
    await eraseMessages(tx, customerId);
    await eraseCreditNoteTexts(tx, customerId);
    await eraseOpenEntries(tx, refs);
    await eraseAnswers(tx, customerId, ANSWER_ERASED);
    await enqueueJobs(tx, [eraseEventsJob(customerId, refs, now)]);
    await eraseCustomFields(tx, customerId);
  });
}

async function requireInvoiced(
  tx: Transaction,
  context: BillingContext,
  customerId: string,
  now: Instant,
): Promise<void> {
  const contracts = await loadContracts(tx, { customerIds: [customerId] });
  const open = contracts.find(({ endingBefore }) => endingBefore === null || endingBefore > now);
  if (open !== undefined) {
    throw invalid(['customerId'], `contract ${open.id} has not ended: end or archive it first`);
  }
  const [draft] = await draftPlaces({ ...context, db: tx }, { customerId });
  if (draft !== undefined) {
    const { contract } = draft.target;
    throw invalid(
      ['customerId'],
      `contract ${contract.id} has an invoice that is not issued yet: ${draft.id}`,
    );
  }
  const underWay = await findUnsettledDelivery(tx, customerId);
  if (underWay === null) return;
  throw invalid(
    ['customerId'],
    `invoice ${underWay} is on its way to its billing provider, or was in doubt within the last hours: try again later`,
  );
}
