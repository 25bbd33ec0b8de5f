/** Issues the draft of a SCHEDULED invoice at another time (docs/explanation/invoices.md, "Another issue date"). */
import { assert, invalid, notFound } from '../../../core/errors.ts';
import type { InvoiceStatus } from '../../../core/invoice.ts';
import { formatInstant, type Instant } from '../../../core/time.ts';
import type { Transaction } from '../../../store/base/database.ts';
import { lockContract } from '../../../store/contracts/contracts.ts';
import { putInvoiceIssueDate } from '../../../store/invoices/invoice-issue-dates.ts';
import { findInvoiceHead } from '../../../store/invoices/invoices.ts';
import type { BillingContext } from '../../billing-context.ts';
import { loadOpenSchedules } from '../../invoice-queue/open-items.ts';
import { holdScheduledInvoices, planScheduledInvoices } from '../../invoice-queue/scheduled-jobs.ts';
import { findDraftPlace } from './issued-invoice.ts';

export interface MoveIssueDateInput {
  readonly invoiceId: string;
  readonly issueDate: Instant;
}

/**
 * Refuses an unknown invoice (`not_found`), and as `invalid` one that is issued, a usage invoice, and a date after the
 * end of the contract.
 */
export async function moveIssueDate(
  context: BillingContext,
  { invoiceId, issueDate }: MoveIssueDateInput,
): Promise<void> {
  const issued = await findInvoiceHead(context.db, invoiceId);
  if (issued !== null) throw notADraft(invoiceId, issued.status);
  const place = await findDraftPlace(context, invoiceId);
  if (place === null) throw notFound('invoice', invoiceId);
  if (place.kind !== 'scheduled') {
    throw invalid(['invoiceId'], `invoice ${invoiceId} is a usage invoice: it is issued after its period`);
  }
  await context.db.transaction(async (tx) => {
    await moveIn(tx, place.target.contract.id, { invoiceId, issueDate }, context.clock.now());
  });
}

async function moveIn(
  tx: Transaction,
  contractId: string,
  { invoiceId, issueDate }: MoveIssueDateInput,
  now: Instant,
): Promise<void> {
  const contract = await lockContract(tx, contractId);
  assert(contract !== null, 'the contract of a draft exists');
  await holdScheduledInvoices(tx, [contractId]);
  const schedule = (await loadOpenSchedules(tx, [contract], now)).get(contractId);
  if (!schedule?.targets.some((target) => target.invoiceId === invoiceId)) {
    // It was issued or removed after it was found.
    const issued = await findInvoiceHead(tx, invoiceId);
    throw issued === null ? notFound('invoice', invoiceId) : notADraft(invoiceId, issued.status);
  }
  const { endingBefore } = contract;
  if (endingBefore !== null && issueDate > endingBefore) {
    throw invalid(['issueDate'], `must not be after the contract ends, ${formatInstant(endingBefore)}`);
  }
  await putInvoiceIssueDate(tx, { invoiceId, contractId, issueDate });
  await planScheduledInvoices(tx, [contract], now);
}

function notADraft(invoiceId: string, status: InvoiceStatus) {
  return invalid(['invoiceId'], `invoice ${invoiceId} is ${status}: only a DRAFT can be moved`);
}
