/** The places of drafts in lists: which invoices are drafts now, before they are computed. */
import type { InvoiceStatus, InvoiceType } from '../../../core/invoice.ts';
import { type InvoiceTimeFilter, isInTime } from '../../../core/invoice-month.ts';
import type { Database, Transaction } from '../../../store/base/database.ts';
import { type Contract, loadContracts } from '../../../store/contracts/contracts.ts';
import { lastIssuedPeriodEnds } from '../../../store/invoices/issued-periods.ts';
import { loadRateCards } from '../../../store/rate-cards/rate-cards.ts';
import type { SnapshotContext } from '../../billing-context.ts';
import { loadOpenSchedules, type ScheduledTarget } from '../../invoice-queue/open-items.ts';
import {
  finalizationAt,
  type InvoiceTarget,
  openPeriods,
  usageInvoiceId,
} from '../../invoice-queue/usage-periods.ts';
import type { Placed } from './invoice-order.ts';

export interface InvoiceListFilter extends InvoiceTimeFilter {
  readonly customerId: string;
  readonly contractId?: string | undefined;
  readonly status?: InvoiceStatus | undefined;
  readonly type?: InvoiceType | undefined;
  readonly creditTypeId?: string | undefined;
}

/** Which drafts of given contracts are listed. */
export type DraftFilter = Pick<InvoiceListFilter, 'type' | 'creditTypeId'> & InvoiceTimeFilter;

/** A draft's place in a list, before it is computed. */
export type DraftPlace = Placed &
  (
    | { readonly kind: 'usage'; readonly target: InvoiceTarget }
    | { readonly kind: 'scheduled'; readonly target: ScheduledTarget }
  );

/**
 * The list positions of the drafts of USAGE and SCHEDULED invoices that match the filter, before they are computed.
 * Consolidated ones, which repeat them, are in consolidated/drafts.ts.
 */
export async function draftPlaces(
  context: SnapshotContext,
  filter: InvoiceListFilter,
): Promise<DraftPlace[]> {
  return draftPlacesOf(context, await contractsOf(context, filter), filter);
}

/** The contracts whose drafts match the filter. */
export async function contractsOf(
  { db }: Pick<SnapshotContext, 'db'>,
  { customerId, contractId }: InvoiceListFilter,
): Promise<Contract[]> {
  const all = await loadContracts(db, { customerIds: [customerId] });
  return all.filter(({ id }) => contractId === undefined || id === contractId);
}

/** `draftPlaces` for contracts of any customers. */
export async function draftPlacesOf(
  context: SnapshotContext,
  contracts: readonly Contract[],
  filter: DraftFilter,
): Promise<DraftPlace[]> {
  const places = await Promise.all([
    isAsked(filter, 'USAGE') ? usagePlaces(context, contracts, filter) : [],
    isAsked(filter, 'SCHEDULED') ? scheduledPlaces(context, contracts, filter) : [],
  ]);
  return places.flat();
}

function isAsked({ type }: DraftFilter, own: InvoiceType): boolean {
  return type === undefined || type === own;
}

async function usagePlaces(
  context: SnapshotContext,
  contracts: readonly Contract[],
  filter: DraftFilter,
): Promise<DraftPlace[]> {
  const issuedAtOf = ({ period }: InvoiceTarget) => finalizationAt(period, context.gracePeriodHours);
  const targets = (await openTargets(context, contracts)).filter((target) =>
    isInTime({ type: 'USAGE', period: target.period, issuedAt: issuedAtOf(target) }, filter),
  );
  const inCurrency = await currencyFilter(context.db, targets, filter.creditTypeId);
  return targets.filter(inCurrency).map((target) => ({
    kind: 'usage',
    target,
    id: usageInvoiceId(target.contract.id, target.period.start),
    issuedAt: issuedAtOf(target),
  }));
}

/** All of them, including future ones: they are drafts as soon as their schedule exists. */
async function scheduledPlaces(
  context: SnapshotContext,
  contracts: readonly Contract[],
  filter: DraftFilter,
): Promise<DraftPlace[]> {
  const schedules = await loadOpenSchedules(context.db, contracts, context.clock.now());
  return [...schedules.values()]
    .flatMap(({ targets }) => targets)
    .filter(
      ({ at, issueAt, creditTypeId }) =>
        isInTime({ type: 'SCHEDULED', period: { start: at, end: at }, issuedAt: issueAt }, filter) &&
        (filter.creditTypeId === undefined || filter.creditTypeId === creditTypeId),
    )
    .map((target) => ({ kind: 'scheduled', target, id: target.invoiceId, issuedAt: target.issueAt }));
}

/** The contracts and periods whose invoice is a draft now. */
async function openTargets(
  context: SnapshotContext,
  contracts: readonly Contract[],
): Promise<InvoiceTarget[]> {
  const issuedUntil = await lastIssuedPeriodEnds(
    context.db,
    contracts.map(({ id }) => id),
  );
  const now = context.clock.now();
  return contracts.flatMap((contract) =>
    openPeriods(contract, issuedUntil.get(contract.id), now).map((period) => ({ contract, period })),
  );
}

async function currencyFilter(
  db: Database | Transaction,
  targets: readonly InvoiceTarget[],
  creditTypeId: string | undefined,
): Promise<(target: InvoiceTarget) => boolean> {
  if (creditTypeId === undefined) return () => true;
  const cards = await loadRateCards(
    db,
    targets.flatMap(({ contract }) => contract.rateCardId ?? []),
  );
  return ({ contract }) => cards.get(contract.rateCardId ?? '')?.fiatCreditTypeId === creditTypeId;
}
