/**
 * Issues consolidated invoices (docs/explanation/invoices.md, "Consolidated invoices"): when the usage invoice of a
 * parent is issued, a job is queued that waits until those of its children are issued too.
 */
import type { Invoice } from '../../../core/invoice.ts';
import { publishFinalized } from '../../../notifications/invoice-messages.ts';
import type { Transaction } from '../../../store/base/database.ts';
import { findContract } from '../../../store/contracts/contracts.ts';
import { insertConstituents, lockConstituents } from '../../../store/invoices/invoice-constituents.ts';
import { makeDue } from '../../../store/invoices/invoice-deliveries.ts';
import { type IssuedHead, insertInvoices } from '../../../store/invoices/invoices.ts';
import { existingInvoiceIds } from '../../../store/invoices/issued-periods.ts';
import { withLines } from '../../../store/invoices/whole-invoices.ts';
import { consolidatedPeriodOf, queueConsolidations } from '../../../store/jobs/consolidation-jobs.ts';
import type { Job } from '../../../store/jobs/jobs.ts';
import type { BillingContext } from '../../billing-context.ts';
import { finalizationAt, type InvoiceTarget } from '../../invoice-queue/usage-periods.ts';
import { freezeCustomFields } from '../freeze/invoice-fields.ts';
import { consolidatedInvoice } from './drafts.ts';
import { type ConsolidatedTarget, concatenates, consolidatedTargetOf } from './targets.ts';

export { CONSOLIDATION_JOB } from '../../../store/jobs/consolidation-jobs.ts';

/** Queues the consolidated invoices of parents' usage invoices issued by this transaction. */
export async function planConsolidations(
  tx: Transaction,
  issued: readonly InvoiceTarget[],
  gracePeriodHours: number,
): Promise<void> {
  await queueConsolidations(
    tx,
    issued
      .filter(({ contract }) => concatenates(contract))
      .map(({ contract, period }) => ({
        contractId: contract.id,
        periodStart: period.start,
        runAt: finalizationAt(period, gracePeriodHours),
      })),
  );
}

/**
 * Issues the consolidated invoices of due jobs, and returns them. A job whose invoice waits for an unissued one fails,
 * and is retried.
 */
export async function issueConsolidatedInvoices(
  context: BillingContext,
  tx: Transaction,
  jobs: readonly Job[],
): Promise<Invoice[]> {
  const issued: Invoice[] = [];
  for (const job of jobs) {
    const { contractId, periodStart } = consolidatedPeriodOf(job);
    const contract = await findContract(tx, contractId);
    const moment = { now: context.clock.now(), gracePeriodHours: context.gracePeriodHours };
    const target = contract && (await consolidatedTargetOf(tx, contract, periodStart, moment));
    if (target === null) continue;
    if ((await existingInvoiceIds(tx, [target.invoiceId])).size > 0) continue;
    issued.push(await issueConsolidated(tx, target, await lockParts(tx, target)));
  }
  return issued;
}

/** Prevents their voiding until the transaction ends. Throws if one is not issued, or was voided since it was read. */
async function lockParts(tx: Transaction, { parts }: ConsolidatedTarget): Promise<IssuedHead[]> {
  const waiting = parts.find(({ issued }) => issued === null);
  if (waiting !== undefined) {
    const { invoiceId, contract } = waiting;
    throw new Error(
      `waits for invoice ${invoiceId} of contract ${contract.id}, customer ${contract.customerId}, which is not issued`,
    );
  }
  const locked = await lockConstituents(
    tx,
    parts.map(({ invoiceId }) => invoiceId),
  );
  const voided = locked.find(({ status }) => status !== 'FINALIZED');
  if (voided !== undefined) throw new Error(`invoice ${voided.id} was voided meanwhile`);
  return locked;
}

/** Stores a consolidated invoice as issued. `parts` are finalized, locked, and in their order. */
export async function issueConsolidated(
  tx: Transaction,
  target: Omit<ConsolidatedTarget, 'parts'>,
  parts: readonly IssuedHead[],
  identity: Partial<Pick<Invoice, 'issuedAt' | 'regeneratedFromInvoiceId'>> = {},
): Promise<Invoice> {
  const draft = consolidatedInvoice(target, await withLines(tx, parts));
  const invoice = { ...draft, ...identity, status: 'FINALIZED' as const };
  const warningCount = parts.reduce((count, part) => count + part.warningCount, 0);
  // Its lines are those of its constituents.
  const nothing = { lines: [], frozen: null, balancesId: null, termsReadAt: null, countedUpTo: null };
  const row = { ...invoice, ...nothing, warningCount };
  await insertInvoices(tx, [row]);
  await insertConstituents(
    tx,
    invoice.id,
    parts.map(({ id }) => id),
  );
  await freezeCustomFields(tx, [invoice]);
  // Their deliveries have waited to learn whether they are on it.
  await makeDue(
    tx,
    parts.map(({ id }) => id),
    invoice.issuedAt,
  );
  await publishFinalized(tx, [invoice]);
  return invoice;
}
