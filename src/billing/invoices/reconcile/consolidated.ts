/** Reconciles consolidated invoices: the issued amount is the sum of the constituents, and none is overdue. */
import { totalOfConstituents } from '../../../core/consolidated-invoice.ts';
import type { Invoice } from '../../../core/invoice.ts';
import type { Instant, Interval } from '../../../core/time.ts';
import { loadConstituents } from '../../../store/invoices/invoice-constituents.ts';
import { listInvoiceHeadsOverlapping } from '../../../store/invoices/invoice-lists.ts';
import type { SnapshotContext } from '../../billing-context.ts';
import { consolidatedPlaces } from '../consolidated/drafts.ts';
import { contractsOf } from '../drafts/draft-places.ts';
import { type Difference, differencesOf } from './difference.ts';
import { checkIssue } from './drafts.ts';

/** More than a customer has in any requested range. */
const INVOICES_MAX = 10_000;

export interface ConsolidatedFindings {
  readonly invoiceCount: number;
  readonly differences: readonly Difference[];
}

/** Reconciles the consolidated invoices of a customer whose periods overlap `range`, drafts included. */
export async function reconcileConsolidated(
  context: SnapshotContext,
  customerId: string,
  range: Interval,
): Promise<ConsolidatedFindings> {
  const page = { order: 'ascending', limit: INVOICES_MAX } as const;
  const filter = { customerId, type: 'USAGE_CONSOLIDATED' } as const;
  const heads = await listInvoiceHeadsOverlapping(context.db, filter, range, page);
  const constituents = await loadConstituents(
    context.db,
    heads.map(({ id }) => id),
  );
  const places = await consolidatedPlaces(context, await contractsOf(context, { customerId }), {});
  const open = places.filter(
    ({ target: { period } }) => period.start < range.end && period.end > range.start,
  );
  const now = context.clock.now();
  return {
    invoiceCount: heads.length + open.length,
    differences: [
      ...heads.flatMap((head) => checkSum({ ...head, lines: [] }, constituents.get(head.id) ?? [])),
      ...open.flatMap((place) => overdue(place.id, place.target.contract.id, place.issuedAt, now)),
    ],
  };
}

/** A voided one keeps its total, whatever the state of its constituents. */
function checkSum(
  invoice: Invoice,
  constituents: readonly Pick<Invoice, 'status' | 'total'>[],
): Difference[] {
  const counted = constituents.filter(({ status }) => invoice.status === 'VOID' || status === 'FINALIZED');
  const expected = totalOfConstituents(counted);
  if (expected.eq(invoice.total)) return [];
  const message = 'the invoices that it consolidates do not add up to its total';
  return [
    differencesOf(invoice)('invoice_total', message, { field: 'total', expected, found: invoice.total }),
  ];
}

function overdue(id: string, contractId: string, issueAt: Instant, now: Instant): Difference[] {
  return checkIssue({ id, contractId, lines: [] }, issueAt, now);
}
