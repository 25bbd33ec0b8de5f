/**
 * The scheduled items of contracts that are on no issued invoice, and the invoice that each will be on: a usage
 * invoice, or one of its date and currency (docs/explanation/invoices.md, "Scheduled invoices").
 */
import { groupBy } from '../../core/group-by.ts';
import { derivedId } from '../../core/ids.ts';
import type { Commit } from '../../core/terms/commits.ts';
import { formatInstant, type Instant } from '../../core/time.ts';
import { periodEndingOnDayOf } from '../../rating/scheduled/joined-period.ts';
import {
  type ScheduledGroup,
  type ScheduledItem,
  scheduledGroups,
  scheduledItems,
} from '../../rating/scheduled/scheduled-items.ts';
import type { SubscriptionPrices } from '../../rating/subscriptions/prices.ts';
import type { UnpricedPeriod } from '../../rating/subscriptions/unpriced-periods.ts';
import { loadCommits } from '../../store/balances/commits.ts';
import { loadPaymentOutcomes } from '../../store/balances/payment-outcomes.ts';
import type { Database, Transaction } from '../../store/base/database.ts';
import { loadScheduledCharges } from '../../store/contract-terms/scheduled-charges.ts';
import { loadTransitions } from '../../store/contracts/contract-transitions.ts';
import type { Contract } from '../../store/contracts/contracts.ts';
import { loadProfessionalServices } from '../../store/contracts/professional-services.ts';
import { loadInvoiceIssueDates } from '../../store/invoices/invoice-issue-dates.ts';
import { issuedScheduledIds, loadInvoicedItems } from '../../store/invoices/invoiced-items.ts';
import { lastIssuedPeriodEnds } from '../../store/invoices/issued-periods.ts';
import { loadRateCards } from '../../store/rate-cards/rate-cards.ts';
import { type ContractCharges, loadCharges } from './load-charges.ts';
import { unknownShortfalls } from './unknown-shortfalls.ts';
import { billsUsage, nextUnissuedPeriod, periodTerms } from './usage-periods.ts';

/** A SCHEDULED invoice that is not issued. */
export interface ScheduledTarget extends ScheduledGroup {
  readonly contract: Contract;
  readonly invoiceId: string;
  /** `at`, unless the draft was given another date, which is not after the end of the contract. */
  readonly issueAt: Instant;
  /** Null without charges of subscriptions. */
  readonly prices: SubscriptionPrices | null;
}

/** An item that joins the usage invoice of the billing period with this end. */
export interface JoinedItem {
  readonly item: ScheduledItem;
  readonly periodEnd: Instant;
}

export interface OpenSchedule {
  /** By issue date. */
  readonly targets: readonly ScheduledTarget[];
  /** In the order of the items. */
  readonly joined: readonly JoinedItem[];
  /** When subscriptions may charge more; null: never. */
  readonly nextChargeAt: Instant | null;
  /** Null without subscriptions. */
  readonly prices: SubscriptionPrices | null;
  /** Periods of subscriptions without a rate. */
  readonly unpriced: readonly UnpricedPeriod[];
}

const NOTHING = { targets: [], joined: [] };

/**
 * By contract. A fixed number of queries for any number of contracts. Subscriptions have charges up to the end of the
 * billing period of `now`.
 */
export async function loadOpenSchedules(
  db: Database | Transaction,
  contracts: readonly Contract[],
  now: Instant,
): Promise<Map<string, OpenSchedule>> {
  const billed = contracts.filter(({ archivedAt }) => archivedAt === null);
  const [charges, others] = await Promise.all([loadCharges(db, billed, now), loadOpenItems(db, billed)]);
  const items = withCharges(others, charges);
  const withItems = billed.filter(({ id }) => items.has(id));
  const idOf = await targetIds(db, withItems);
  const issueAtOf = await issueDates(db, withItems);
  const mayJoin = ({ id, scheduledChargesOnUsageInvoices }: Contract) =>
    scheduledChargesOnUsageInvoices || items.get(id)?.some(({ onUsageInvoice }) => onUsageInvoice);
  const joinedPeriodOf = await periodsToJoin(db, withItems.filter(mayJoin));
  return new Map(
    contracts.map((contract) => {
      const joined: JoinedItem[] = [];
      const own: ScheduledItem[] = [];
      for (const item of items.get(contract.id) ?? []) {
        const periodEnd = joinedPeriodOf(contract, item);
        if (periodEnd === null) own.push(item);
        else joined.push({ item, periodEnd });
      }
      const { prices = null, unpriced = [], nextDate: nextChargeAt = null } = charges.get(contract.id) ?? {};
      const targets = scheduledGroups(own).map((group) => {
        const invoiceId = idOf(contract.id, group);
        return { ...group, contract, invoiceId, issueAt: issueAtOf(contract, group, invoiceId), prices };
      });
      targets.sort((a, b) => a.issueAt - b.issueAt);
      const open = own.length + joined.length === 0 ? NOTHING : { targets, joined };
      return [contract.id, { ...open, prices, unpriced, nextChargeAt }];
    }),
  );
}

/** Charges of subscriptions follow the other items of a date. */
function withCharges(
  items: ReadonlyMap<string, readonly ScheduledItem[]>,
  charges: ReadonlyMap<string, ContractCharges>,
): Map<string, readonly ScheduledItem[]> {
  const all = new Map(items);
  for (const [id, own] of charges) {
    const both = [...(items.get(id) ?? []), ...own.items].sort((a, b) => a.at - b.at);
    if (both.length > 0) all.set(id, both);
  }
  return all;
}

/** By contract; contracts without open items are absent. */
async function loadOpenItems(
  db: Database | Transaction,
  contracts: readonly Contract[],
): Promise<Map<string, ScheduledItem[]>> {
  const items = await loadScheduledItems(
    db,
    contracts.map(({ id }) => id),
  );
  const all = [...items.values()].flat();
  const invoiced = await loadInvoicedItems(
    db,
    all.map(({ id }) => id),
  );
  const waived = await waivedByRenewal(db, contracts, all);
  const unknown = await unknownShortfalls(db, all);
  const isOpen = ({ id }: ScheduledItem) => !invoiced.has(id) && !waived.has(id) && !unknown.has(id);
  const open = [...items].map(([id, own]) => [id, own.filter(isOpen)] as const);
  return new Map(open.filter(([, own]) => own.length > 0));
}

/** True-ups that a renewal has removed: those from the end of the renewed contract on. */
async function waivedByRenewal(
  db: Database | Transaction,
  contracts: readonly Contract[],
  items: readonly ScheduledItem[],
): Promise<ReadonlySet<string>> {
  const trueUps = items.filter(({ trueUpCommitId }) => trueUpCommitId !== null);
  if (trueUps.length === 0) return new Set();
  const commitIds = trueUps.flatMap(({ trueUpCommitId }) => trueUpCommitId ?? []);
  const owners = new Map(
    (await loadCommits(db, { ids: commitIds, includeArchived: false })).map((one) => [
      one.id,
      one.contractId,
    ]),
  );
  const transitions = await loadTransitions(
    db,
    contracts.map(({ id }) => id),
  );
  const removedFrom = new Map(
    contracts.flatMap(({ id, endingBefore }) => {
      const isRemoved = transitions
        .get(id)
        ?.some((one) => one.fromContractId === id && one.trueup === 'REMOVE');
      return isRemoved && endingBefore !== null ? [[id, endingBefore]] : [];
    }),
  );
  const isWaived = ({ trueUpCommitId, at }: ScheduledItem) => {
    const from = removedFrom.get(owners.get(trueUpCommitId ?? '') ?? '');
    return from !== undefined && at >= from;
  };
  return new Set(trueUps.filter(isWaived).map(({ id }) => id));
}

/** All items of the contracts' schedules, invoiced or not, by contract. Without commits whose payment failed. */
export async function loadScheduledItems(
  db: Database | Transaction,
  contractIds: readonly string[],
): Promise<Map<string, ScheduledItem[]>> {
  const [charges, services, commits] = await Promise.all([
    loadScheduledCharges(db, contractIds).then((all) => groupBy(all, ({ contractId }) => contractId)),
    loadProfessionalServices(db, contractIds).then((all) => groupBy(all, ({ contractId }) => contractId)),
    loadCommits(db, { invoicedOn: contractIds, includeArchived: false }).then((all) =>
      groupBy(all, ({ contractId, invoiceContractId }) => contractId ?? invoiceContractId ?? ''),
    ),
  ]);
  const failed = await commitsNotPaid(db, [...commits.values()].flat());
  return new Map(
    contractIds.map((id) => {
      const terms = {
        scheduledCharges: charges.get(id) ?? [],
        professionalServices: services.get(id) ?? [],
        commits: commits.get(id) ?? [],
      };
      return [id, scheduledItems(terms).filter(({ gatedCommitId }) => !failed.has(gatedCommitId ?? ''))];
    }),
  );
}

/** Commits that were not bought, because their payment failed. */
async function commitsNotPaid(
  db: Database | Transaction,
  commits: readonly Commit[],
): Promise<ReadonlySet<string>> {
  const gated = commits.filter(({ paymentGate }) => paymentGate !== null).map(({ id }) => id);
  const outcomes = await loadPaymentOutcomes(db, gated);
  return new Set(gated.filter((id) => outcomes.get(id) === 'FAILED'));
}

/**
 * Ids are derived, so that a draft has the id that its issued invoice will have. If a date and currency already has an
 * issued invoice, a further one gets the next number.
 */
async function targetIds(
  db: Database | Transaction,
  contracts: readonly Contract[],
): Promise<(contractId: string, group: ScheduledGroup) => string> {
  const issued = await issuedScheduledIds(
    db,
    contracts.map(({ id }) => id),
  );
  return (contractId, group) => {
    if (group.requestedInvoiceId !== null) return group.requestedInvoiceId;
    let number = 0;
    while (issued.has(scheduledInvoiceId(contractId, group, number))) number += 1;
    return scheduledInvoiceId(contractId, group, number);
  };
}

function scheduledInvoiceId(
  contractId: string,
  { at, creditTypeId, gatedCommitId, trueUpCommitId }: ScheduledGroup,
  number: number,
): string {
  const parts = [
    contractId,
    formatInstant(at),
    creditTypeId,
    gatedCommitId ?? trueUpCommitId ?? '',
    String(number),
  ];
  return derivedId('scheduled-invoice', ...parts);
}

/** When a draft is issued. A later end of the contract limits a date that was set. */
async function issueDates(
  db: Database | Transaction,
  contracts: readonly Contract[],
): Promise<(contract: Contract, group: ScheduledGroup, invoiceId: string) => Instant> {
  const given = await loadInvoiceIssueDates(
    db,
    contracts.map(({ id }) => id),
  );
  return ({ endingBefore }, { at }, invoiceId) => {
    const date = given.get(invoiceId);
    if (date === undefined) return at;
    return endingBefore === null ? date : Math.min(date, endingBefore);
  };
}

/**
 * The end of the billing period whose usage invoice an item joins; null if it has a separate invoice. Only an unissued
 * usage invoice, in the currency of the item, can be joined.
 */
async function periodsToJoin(
  db: Database | Transaction,
  contracts: readonly Contract[],
): Promise<(contract: Contract, item: ScheduledItem) => Instant | null> {
  const joining = contracts.filter(billsUsage);
  const cards = await loadRateCards(
    db,
    joining.flatMap(({ rateCardId }) => rateCardId ?? []),
  );
  const issuedUntil = await lastIssuedPeriodEnds(
    db,
    joining.map(({ id }) => id),
  );
  const firstOpen = new Map(
    joining.map((contract) => [contract.id, nextUnissuedPeriod(contract, issuedUntil.get(contract.id))]),
  );
  return (
    contract,
    { at, creditTypeId, gatedCommitId, trueUpCommitId, requestedInvoiceId, onUsageInvoice, charge },
  ) => {
    const joinsAll = contract.scheduledChargesOnUsageInvoices && charge === null;
    if (!joinsAll && !onUsageInvoice) return null;
    if ((gatedCommitId ?? trueUpCommitId ?? requestedInvoiceId) !== null) return null;
    const first = firstOpen.get(contract.id);
    const currency = cards.get(contract.rateCardId ?? '')?.fiatCreditTypeId;
    if (first === undefined || first === null || currency !== creditTypeId) return null;
    const period = periodEndingOnDayOf(periodTerms(contract), at);
    return period !== null && period.end >= first.end ? period.end : null;
  };
}
