/**
 * Which invoices are consolidated (docs/explanation/invoices.md, "Consolidated invoices"): the usage invoice of a
 * parent that concatenates, and those of its consolidating children whose periods are inside its period and that are
 * issued on the same day.
 */
import { consolidatedInvoiceId } from '../../../core/consolidated-invoice.ts';
import { groupBy } from '../../../core/group-by.ts';
import type { BilledPeriod } from '../../../core/invoice.ts';
import { floorToDay, type Instant } from '../../../core/time.ts';
import type { Database, Transaction } from '../../../store/base/database.ts';
import { type Contract, loadContracts } from '../../../store/contracts/contracts.ts';
import { finalizedUsageInvoices } from '../../../store/invoices/invoice-lists.ts';
import type { IssuedHead } from '../../../store/invoices/invoices.ts';
import { lastIssuedPeriodEnds } from '../../../store/invoices/issued-periods.ts';
import { type ConsolidatedPeriod, queuedConsolidations } from '../../../store/jobs/consolidation-jobs.ts';
import { loadRateCards } from '../../../store/rate-cards/rate-cards.ts';
import {
  finalizationAt,
  type InvoiceTarget,
  openPeriods,
  usageInvoiceId,
} from '../../invoice-queue/usage-periods.ts';

/** A usage invoice that is on a consolidated one. */
interface ConsolidatedPart extends InvoiceTarget {
  readonly invoiceId: string;
  readonly creditTypeId: string;
  /** Null: it is a draft. */
  readonly issued: IssuedHead | null;
}

/** A draft of a consolidated invoice. */
export interface ConsolidatedTarget {
  readonly invoiceId: string;
  /** The parent's contract. */
  readonly contract: Contract;
  /** The parent's period. */
  readonly period: BilledPeriod;
  readonly issueAt: Instant;
  readonly creditTypeId: string;
  /** The parent's first, then at least one child's, by the start of their contracts. */
  readonly parts: readonly ConsolidatedPart[];
}

interface Moment {
  readonly now: Instant;
  readonly gracePeriodHours: number;
}

/**
 * The consolidated drafts of these contracts: for open periods, and for those whose consolidated invoice is queued.
 * Contracts that are not parents have none.
 */
export async function consolidatedTargets(
  db: Database | Transaction,
  contracts: readonly Contract[],
  moment: Moment,
): Promise<ConsolidatedTarget[]> {
  const parents = contracts.filter(concatenates);
  const queued = await queuedConsolidations(
    db,
    parents.map(({ id }) => id),
  );
  const parts = await partsOf(db, parents, queued, moment);
  const isWaiting = ({ contract, period }: ConsolidatedPart) =>
    queued.some((one) => one.contractId === contract.id && one.periodStart === period.start);
  return parents.flatMap((parent) =>
    (parts.own.get(parent.id) ?? [])
      .filter((part) => part.issued === null || isWaiting(part))
      .flatMap((part) => targetOf(part, parts.children.get(parent.id) ?? [], moment) ?? []),
  );
}

/**
 * The consolidated invoice of one period of a parent, whose usage invoice is issued. Null if there is none: the
 * contract is archived, its invoice was voided, or no child has a matching invoice.
 */
export async function consolidatedTargetOf(
  db: Database | Transaction,
  contract: Contract,
  periodStart: Instant,
  moment: Moment,
): Promise<ConsolidatedTarget | null> {
  if (!concatenates(contract)) return null;
  const asked = [{ contractId: contract.id, periodStart }];
  const { own, children } = await partsOf(db, [contract], asked, moment);
  const issued = own.get(contract.id)?.find((part) => part.issued && part.period.start === periodStart);
  return issued === undefined ? null : targetOf(issued, children.get(contract.id) ?? [], moment);
}

/** Whether usage invoices of children are consolidated with its own. */
export function concatenates({ invoiceConsolidationType, archivedAt }: Contract): boolean {
  return invoiceConsolidationType === 'CONCATENATE' && archivedAt === null;
}

interface Parts {
  /** Usage invoices of parents, by contract. */
  readonly own: ReadonlyMap<string, readonly ConsolidatedPart[]>;
  /** Usage invoices of children, by the parent's contract; parents without children are absent. */
  readonly children: ReadonlyMap<string, readonly ConsolidatedPart[]>;
}

/**
 * The open usage invoices of parents and of their consolidating children, and those issued since the requested periods.
 */
async function partsOf(
  db: Database | Transaction,
  parents: readonly Contract[],
  asked: readonly ConsolidatedPeriod[],
  { now }: Moment,
): Promise<Parts> {
  const ids = parents.map(({ id }) => id);
  const children = (await loadContracts(db, { parentIds: ids, includeArchived: true })).filter(
    ({ parent }) => parent?.usageStatementBehavior === 'CONSOLIDATE',
  );
  const withChildren = new Set(children.map(({ parent }) => parent?.contractId));
  const all = [...parents.filter(({ id }) => withChildren.has(id)), ...children];
  const open = await openParts(db, all, now);
  const starts = [
    ...asked.map(({ periodStart }) => periodStart),
    ...open.filter(({ contract }) => withChildren.has(contract.id)).map(({ period }) => period.start),
  ];
  const issued = starts.length === 0 ? [] : await issuedParts(db, all, Math.min(...starts));
  const parts = groupBy([...issued, ...open], ({ contract }) => contract.id);
  const ofParent = groupBy(
    children.toSorted((a, b) => a.startingAt - b.startingAt || (a.id < b.id ? -1 : 1)),
    ({ parent }) => parent?.contractId ?? '',
  );
  return {
    own: parts,
    children: new Map(
      [...ofParent].map(([id, own]) => [id, own.flatMap((child) => parts.get(child.id) ?? [])]),
    ),
  };
}

async function issuedParts(
  db: Database | Transaction,
  contracts: readonly Contract[],
  from: Instant,
): Promise<ConsolidatedPart[]> {
  const byId = new Map(contracts.map((contract) => [contract.id, contract]));
  const heads = await finalizedUsageInvoices(db, [...byId.keys()], from);
  return heads.flatMap((issued) => {
    const { id: invoiceId, contractId, period, creditTypeId } = issued;
    const contract = byId.get(contractId);
    return contract === undefined ? [] : [{ invoiceId, contract, period, creditTypeId, issued }];
  });
}

async function openParts(
  db: Database | Transaction,
  contracts: readonly Contract[],
  now: Instant,
): Promise<ConsolidatedPart[]> {
  const issuedUntil = await lastIssuedPeriodEnds(
    db,
    contracts.map(({ id }) => id),
  );
  const cards = await loadRateCards(
    db,
    contracts.flatMap(({ rateCardId }) => rateCardId ?? []),
  );
  return contracts.flatMap((contract) => {
    const creditTypeId = cards.get(contract.rateCardId ?? '')?.fiatCreditTypeId;
    if (creditTypeId === undefined) return [];
    return openPeriods(contract, issuedUntil.get(contract.id), now).map((period) => ({
      ...{ contract, period, creditTypeId, issued: null },
      invoiceId: usageInvoiceId(contract.id, period.start),
    }));
  });
}

/** Null if no child has a matching invoice. */
function targetOf(
  own: ConsolidatedPart,
  children: readonly ConsolidatedPart[],
  { gracePeriodHours }: Moment,
): ConsolidatedTarget | null {
  const issueDay = ({ period }: ConsolidatedPart) => floorToDay(finalizationAt(period, gracePeriodHours));
  const belongs = (part: ConsolidatedPart) =>
    part.period.start >= own.period.start &&
    part.period.end <= own.period.end &&
    issueDay(part) === issueDay(own) &&
    part.creditTypeId === own.creditTypeId;
  const parts = children.filter(belongs);
  if (parts.length === 0) return null;
  const { contract, period, creditTypeId } = own;
  return {
    invoiceId: consolidatedInvoiceId(contract.id, period.start),
    ...{ contract, period, creditTypeId, parts: [own, ...parts] },
    issueAt: finalizationAt(period, gracePeriodHours),
  };
}
