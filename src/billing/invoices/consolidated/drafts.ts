/** Drafts of consolidated invoices. They consist of the invoices that they consolidate, and are computed with them. */
import { linesOfConstituents, ownerOf, totalOfConstituents } from '../../../core/consolidated-invoice.ts';
import { assert } from '../../../core/errors.ts';
import type { Invoice } from '../../../core/invoice.ts';
import { isInTime } from '../../../core/invoice-month.ts';
import type { Database, Transaction } from '../../../store/base/database.ts';
import type { IssuedInvoice } from '../../../store/invoices/invoices.ts';
import { withLines } from '../../../store/invoices/whole-invoices.ts';
import type { SnapshotContext } from '../../billing-context.ts';
import { type InvoiceTarget, usageInvoiceId } from '../../invoice-queue/usage-periods.ts';
import type { DraftFilter } from '../drafts/draft-places.ts';
import type { Placed } from '../drafts/invoice-order.ts';
import { firstOf, type InvoiceWithWarnings, issuedWithWarnings } from '../drafts/unbilled-usage.ts';
import { type ConsolidatedTarget, consolidatedTargets } from './targets.ts';

/** The place of a consolidated draft in a list, before it is computed. */
export interface ConsolidatedPlace extends Placed {
  readonly kind: 'consolidated';
  readonly target: ConsolidatedTarget;
}

/** The places of the consolidated drafts of these contracts that match the filter. */
export async function consolidatedPlaces(
  context: SnapshotContext,
  contracts: Parameters<typeof consolidatedTargets>[1],
  filter: DraftFilter,
): Promise<ConsolidatedPlace[]> {
  const { type = 'USAGE_CONSOLIDATED', creditTypeId } = filter;
  if (type !== 'USAGE_CONSOLIDATED') return [];
  const moment = { now: context.clock.now(), gracePeriodHours: context.gracePeriodHours };
  const targets = await consolidatedTargets(context.db, contracts, moment);
  return targets
    .filter((target) => isInTime({ type, period: target.period, issuedAt: target.issueAt }, filter))
    .filter((target) => creditTypeId === undefined || target.creditTypeId === creditTypeId)
    .map((target) => ({ kind: 'consolidated', target, id: target.invoiceId, issuedAt: target.issueAt }));
}

/** These usage invoices, and the drafts on consolidated ones, without duplicates. */
export function withOpenParts(
  usage: readonly InvoiceTarget[],
  targets: readonly ConsolidatedTarget[],
): InvoiceTarget[] {
  const open = targets.flatMap(({ parts }) => parts.filter(({ issued }) => issued === null));
  const all = [...usage, ...open.map(({ contract, period }) => ({ contract, period }))];
  const byId = new Map(
    all.map((target) => [usageInvoiceId(target.contract.id, target.period.start), target]),
  );
  return [...byId.values()];
}

/** Consolidated drafts, with the parts that are already issued. */
export interface FoundConsolidations {
  readonly targets: readonly ConsolidatedTarget[];
  readonly issued: readonly (IssuedInvoice & InvoiceWithWarnings)[];
}

export async function findConsolidations(
  db: Database | Transaction,
  targets: readonly ConsolidatedTarget[],
): Promise<FoundConsolidations> {
  const heads = targets.flatMap(({ parts }) => parts.flatMap(({ issued }) => issued ?? []));
  return { targets, issued: await issuedWithWarnings(db, await withLines(db, heads)) };
}

/** The drafts. `computed`: those of their parts that are drafts. */
export function consolidatedDrafts(
  { targets, issued }: FoundConsolidations,
  computed: readonly InvoiceWithWarnings[],
): InvoiceWithWarnings[] {
  const invoices = new Map([...issued, ...computed].map((invoice) => [invoice.id, invoice]));
  return targets.map((target) => consolidatedDraft(target, invoices));
}

function consolidatedDraft(
  target: ConsolidatedTarget,
  invoices: ReadonlyMap<string, InvoiceWithWarnings>,
): InvoiceWithWarnings {
  const parts = target.parts.map(({ invoiceId }) => {
    const part = invoices.get(invoiceId);
    assert(part !== undefined, `invoice ${invoiceId} on a consolidated draft is read`);
    return part;
  });
  const { first } = firstOf(parts.flatMap(({ warnings }) => warnings.first));
  const count = parts.reduce((found, { warnings }) => found + warnings.count, 0);
  return { ...consolidatedInvoice(target, parts), parts, warnings: { first, count } };
}

/** The consolidated invoice of these invoices, which are the parts of the target. A DRAFT. */
export function consolidatedInvoice(
  { invoiceId, contract, period, issueAt, creditTypeId }: Omit<ConsolidatedTarget, 'parts'>,
  parts: readonly Invoice[],
): Invoice {
  return {
    id: invoiceId,
    customerId: contract.customerId,
    contractId: contract.id,
    type: 'USAGE_CONSOLIDATED',
    status: 'DRAFT',
    period,
    issuedAt: issueAt,
    creditTypeId,
    total: totalOfConstituents(parts),
    netPaymentTermsDays: contract.netPaymentTermsDays,
    isHistorical: false,
    regeneratedFromInvoiceId: null,
    constituents: parts.map(ownerOf),
    lines: linesOfConstituents(parts),
  };
}
