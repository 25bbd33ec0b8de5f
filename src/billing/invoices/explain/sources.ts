/** The invoices whose lines are explained: for a consolidated one, its constituents. */
import { assert, notFound } from '../../../core/errors.ts';
import type { Invoice, LineWindow } from '../../../core/invoice.ts';
import type { OfferedBalance } from '../../../core/invoice-balances.ts';
import { readFrozenLines } from '../../../metering/frozen-lines/frozen-lines.ts';
import { lineWindows } from '../../../rating/invoices/breakdown.ts';
import type { RatedLine } from '../../../rating/lines/types.ts';
import { inSnapshot } from '../../../store/base/database.ts';
import { loadConstituents } from '../../../store/invoices/invoice-constituents.ts';
import { loadInvoiceBalances } from '../../../store/invoices/invoice-terms.ts';
import type { IssuedInvoice } from '../../../store/invoices/invoices.ts';
import { findInvoice, withLines } from '../../../store/invoices/whole-invoices.ts';
import type { BillingContext, SnapshotContext } from '../../billing-context.ts';
import { computeUsageInvoices } from '../compute/compute.ts';
import { type PlannedInvoices, planInvoices } from '../compute/plan-invoices.ts';
import {
  consolidatedDrafts,
  consolidatedPlaces,
  type FoundConsolidations,
  findConsolidations,
  withOpenParts,
} from '../consolidated/drafts.ts';
import { contractsOf, draftPlacesOf } from '../drafts/draft-places.ts';
import { drawnScheduledDrafts } from '../drafts/drawn-drafts.ts';
import { withShortfalls } from '../drafts/shortfalls.ts';
import { draftWithWarnings } from '../drafts/unbilled-usage.ts';
import { rateTarget } from '../rate-target/rate-target.ts';
import { requireCustomer } from '../read/read-invoices.ts';
import type { ScheduledDraft } from '../scheduled/drafts.ts';
import { frozenInput } from '../terms/frozen-input.ts';
import type { InvoiceContext, UsageTarget } from '../terms/invoice-context.ts';
import { NO_EVENT, readUsageAnswers } from '../usage/usage-answers.ts';

export interface InvoiceSources {
  readonly invoice: Invoice;
  /** Their lines are those of the invoice, in this order. A usage or scheduled invoice is its only part. */
  readonly parts: readonly PartSources[];
}

export interface PartSources {
  readonly invoice: Invoice;
  /** Reads it. */
  input(): Promise<PartInput>;
}

interface PartInput {
  /** The balances offered to it, in burn-down order. */
  readonly balances: readonly OfferedBalance[];
  /** Null for a SCHEDULED invoice. */
  readonly rated: RatedInput | null;
}

export interface RatedInput {
  readonly target: UsageTarget;
  readonly context: InvoiceContext;
  /** Null: at present. */
  readonly countedUpTo: string | null;
  hours(): Promise<readonly LineWindow[]>;
  /** Its lines with their hours, as they would be without balances; null if they are too many for memory. */
  unpaid(): Promise<readonly RatedLine[] | null>;
}

/** Refuses an unknown customer or invoice (`not_found`). */
export async function findSources(
  billing: BillingContext,
  customerId: string,
  invoiceId: string,
): Promise<InvoiceSources> {
  const found = await inSnapshot(billing.db, async (db) => {
    await requireCustomer(db, customerId);
    const issued = await findInvoice(db, customerId, invoiceId);
    if (issued === null) return findDraft({ ...billing, db }, customerId, invoiceId);
    const constituents = (await loadConstituents(db, [issued.id])).get(issued.id);
    return { kind: 'issued', issued, parts: constituents && (await withLines(db, constituents)) } as const;
  });
  switch (found?.kind) {
    case undefined:
      throw notFound('invoice', invoiceId);
    case 'issued': {
      const { issued, parts = [issued] } = found;
      return { invoice: issued, parts: parts.map((part) => issuedPart(billing, part)) };
    }
    case 'scheduled': {
      const { invoice, balances } = found.draft;
      const input = async () => ({ balances, rated: null });
      return { invoice, parts: [{ invoice, input }] };
    }
    case 'usage':
      return usageDraft(billing, found);
  }
}

interface FoundUsageDraft {
  readonly kind: 'usage';
  /** The plan of the draft, or of those on a consolidated one. */
  readonly plan: PlannedInvoices;
  readonly consolidations: FoundConsolidations;
}

type FoundDraft = FoundUsageDraft | { readonly kind: 'scheduled'; readonly draft: ScheduledDraft };

async function findDraft(
  billing: SnapshotContext,
  customerId: string,
  invoiceId: string,
): Promise<FoundDraft | null> {
  const contracts = await contractsOf(billing, { customerId });
  const places = [
    ...(await draftPlacesOf(billing, contracts, {})),
    ...(await consolidatedPlaces(billing, contracts, {})),
  ];
  const place = places.find(({ id }) => id === invoiceId);
  if (place === undefined) return null;
  if (place.kind === 'scheduled') {
    const [draft] = await drawnScheduledDrafts(billing, await withShortfalls(billing, [place.target]));
    return draft === undefined ? null : { kind: 'scheduled', draft };
  }
  const consolidated = place.kind === 'consolidated' ? [place.target] : [];
  const own = place.kind === 'usage' ? [place.target] : [];
  return {
    kind: 'usage',
    plan: await planInvoices(billing.db, withOpenParts(own, consolidated), billing.clock.now()),
    consolidations: await findConsolidations(billing.db, consolidated),
  };
}

async function usageDraft(
  billing: BillingContext,
  { plan, consolidations }: FoundUsageDraft,
): Promise<InvoiceSources> {
  const computed = await computeUsageInvoices(billing, plan, null);
  const drafts = computed.map((one, index): PartSources => {
    const { invoice, balances, ingestedUpTo } = one;
    const target = plan.targets[index];
    assert(target !== undefined, 'every computed invoice has a target');
    const hours = async () => {
      const hourly = await computeUsageInvoices(billing, plan, 'hour', [], ingestedUpTo);
      return lineWindows(hourly[index]?.invoice.lines ?? []);
    };
    const { context } = plan;
    const unpaid = () => unpaidLines(billing, target, context, ingestedUpTo);
    const rated = { target, context, countedUpTo: ingestedUpTo, hours, unpaid };
    return { invoice, input: async () => ({ balances, rated }) };
  });
  const [consolidated] = consolidatedDrafts(consolidations, computed.map(draftWithWarnings));
  if (consolidated === undefined) {
    const [draft] = drafts;
    assert(draft !== undefined, 'a usage draft is computed');
    return { invoice: draft.invoice, parts: [draft] };
  }
  const issued = consolidations.issued.map((part) => issuedPart(billing, part));
  const parts = new Map([...issued, ...drafts].map((part) => [part.invoice.id, part]));
  const constituents = consolidated.constituents ?? [];
  return {
    invoice: consolidated,
    parts: constituents.flatMap(({ invoiceId }) => parts.get(invoiceId) ?? []),
  };
}

function issuedPart(billing: BillingContext, invoice: IssuedInvoice): PartSources {
  const input = async (): Promise<PartInput> => {
    const frozen = await frozenInput(billing.db, invoice);
    if (frozen === null || invoice.frozen === null) {
      return { balances: await loadInvoiceBalances(billing.db, invoice.balancesId), rated: null };
    }
    const { breakdownId } = invoice.frozen;
    const hours = async () =>
      (await readFrozenLines(billing.clickhouse, [breakdownId], invoice.period)).get(breakdownId) ?? [];
    const { balances, target, context, countedUpTo } = frozen;
    const unpaid = () => unpaidLines(billing, target, context, countedUpTo ?? NO_EVENT);
    return { balances, rated: { target, context, countedUpTo, hours, unpaid } };
  };
  return { invoice, input };
}

async function unpaidLines(
  billing: BillingContext,
  target: UsageTarget,
  context: InvoiceContext,
  countedUpTo: string,
): Promise<readonly RatedLine[] | null> {
  const usage = await readUsageAnswers(billing.usageSource, [target], context, countedUpTo);
  const unpaid = withUnpaidCharges(context, target);
  const rated = await rateTarget(billing, {
    ...{ target, usage, context: unpaid },
    windows: { size: 'hour', within: null },
  });
  return rated.hours === null ? rated.lines : null;
}

/** For an issued invoice, the charges that composites count are lines too. */
function withUnpaidCharges(context: InvoiceContext, { contract }: UsageTarget): InvoiceContext {
  const joined = context.joined.get(contract.id);
  if (joined?.countedCharges === undefined) return context;
  const lines = { ...joined, issuedCharges: joined.countedCharges };
  return { ...context, joined: new Map([...context.joined, [contract.id, lines]]) };
}
