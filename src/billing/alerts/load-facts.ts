/**
 * Loads the values that alerts are compared with, for many customers at one moment: one computation of drafts for all
 * of their alerts. Values that no alert needs are not loaded.
 */
import { type Alert, subjectRule } from '../../core/alerts.ts';
import { type CustomFieldsById, customFieldsOf } from '../../core/custom-fields.ts';
import { type Decimal, sum } from '../../core/decimal.ts';
import { groupBy } from '../../core/group-by.ts';
import { type Invoice, isUsageLine } from '../../core/invoice.ts';
import { contains, DAY_MS, type Instant } from '../../core/time.ts';
import type { AlertFacts, ChargeFact, InvoiceFact } from '../../rating/alerts/facts.ts';
import { loadCommits } from '../../store/balances/commits.ts';
import type { Database, Transaction } from '../../store/base/database.ts';
import { type Contract, loadContracts } from '../../store/contracts/contracts.ts';
import { loadCustomFields } from '../../store/custom-fields/custom-fields.ts';
import { issuedSince } from '../../store/invoices/invoice-lists.ts';
import { outstandingHolds } from '../balance-queries/outstanding-holds.ts';
import { isShared, loadDrawingContracts } from '../balances/drawing-contracts.ts';
import type { BillingContext, SnapshotContext } from '../billing-context.ts';
import { type AlertDrafts, computedDrafts, NO_DRAFTS } from './drafts.ts';
import { loadGrantFacts } from './grant-facts.ts';
import { loadUsageFacts } from './usage-facts.ts';

type Facts = ReturnType<typeof subjectRule>['facts'];

export interface CustomerAlerts {
  readonly customerId: string;
  readonly alerts: readonly Alert[];
}

/** By customer, without held amounts. Reads within a snapshot, which stays open until then. */
export async function loadAlertFacts(
  context: SnapshotContext,
  customers: readonly CustomerAlerts[],
  now: Instant,
): Promise<Map<string, AlertFacts>> {
  const { db } = context;
  const customerIds = customers.map(({ customerId }) => customerId);
  const idsOf = (...facts: readonly Facts[]) =>
    customers
      .filter(({ alerts }) => alerts.some((alert) => facts.includes(subjectRule(alert.type).facts)))
      .map(({ customerId }) => customerId);
  const contracts = await loadContracts(db, { customerIds });
  const withGrants = idsOf('grants', 'balances');
  const commits =
    withGrants.length === 0 ? [] : await loadCommits(db, { customerIds: withGrants, includeArchived: false });
  const withBalances = new Set(idsOf('balances'));
  const withInvoices = new Set(idsOf('invoices'));
  const owners = new Set(commits.map((commit) => commit.customerId));
  const drafted = (id: string) => withInvoices.has(id) || (withBalances.has(id) && owners.has(id));
  const billed = contracts.filter(({ customerId }) => drafted(customerId));
  const shared = commits.filter((commit) => withBalances.has(commit.customerId) && isShared(commit));
  const children = (await loadDrawingContracts(db, shared)).filter(({ parent }) => parent !== null);
  const drafts =
    billed.length + children.length === 0 ? NO_DRAFTS : await computedDrafts(context, billed, children, now);
  const fields = await loadFields(context, customers, [...contracts, ...commits]);
  const grants = await loadGrantFacts(db, { commits, fields, draftDeductions: drafts.deductions, now });
  const invoices = await loadInvoiceFacts(db, { customerIds: [...withInvoices], drafts, fields, now });
  const usage = await loadUsageFacts(context, customers, contracts, now);
  const contractsOf = groupBy(contracts, ({ customerId }) => customerId);
  return new Map(
    customerIds.map((id) => [
      id,
      {
        grants: grants.get(id)?.grants ?? [],
        seats: grants.get(id)?.seats ?? [],
        contracts: (contractsOf.get(id) ?? []).filter((contract) => isInForce(contract, now)),
        invoices: invoices.get(id) ?? [],
        hasDrafts: !drafts.unknown.has(id),
        usage: usage.get(id) ?? new Map(),
        held: new Map(),
      },
    ]),
  );
}

/**
 * With what is held of those who have an alert that counts it. Called after usage was read (`outstandingHolds`).
 */
export async function withHeldAmounts(
  context: Pick<BillingContext, 'db' | 'eventFacts'>,
  facts: ReadonlyMap<string, AlertFacts>,
  customers: readonly CustomerAlerts[],
  now: Instant,
): Promise<ReadonlyMap<string, AlertFacts>> {
  const counting = customers.filter(({ alerts }) => alerts.some(({ filters }) => filters.countHolds));
  const ids = counting.map(({ customerId }) => customerId);
  const holdsOf = groupBy(await outstandingHolds(context, ids, now), ({ customerId }) => customerId);
  return new Map(
    [...facts].map(([id, own]) => {
      const held = groupBy(holdsOf.get(id) ?? [], ({ creditTypeId }) => creditTypeId);
      const amounts = [...held].map(
        ([unit, holds]) => [unit, sum(holds.map(({ amount }) => amount))] as const,
      );
      return [id, { ...own, held: new Map(amounts) }];
    }),
  );
}

function isInForce({ startingAt: start, endingBefore: end }: Contract, now: Instant): boolean {
  return contains({ start, end }, now);
}

/** The custom fields of contracts, commits and credits, if an alert reads them. */
async function loadFields(
  { db }: SnapshotContext,
  customers: readonly CustomerAlerts[],
  objects: readonly { readonly id: string }[],
): Promise<CustomFieldsById> {
  const isNeeded = customers.some(({ alerts }) =>
    alerts.some(({ filters }) => filters.customFieldFilters.length > 0 || filters.specifiers.length > 0),
  );
  return loadCustomFields(db, isNeeded ? objects.map(({ id }) => id) : []);
}

interface InvoiceSources {
  readonly customerIds: readonly string[];
  readonly drafts: AlertDrafts;
  readonly fields: CustomFieldsById;
  readonly now: Instant;
}

/**
 * The invoices that alerts are compared with, by customer: drafts of usage, and those issued within a day. A scheduled
 * invoice counts from its date on, when it is issued.
 */
async function loadInvoiceFacts(
  db: Database | Transaction,
  { customerIds, drafts, fields, now }: InvoiceSources,
): Promise<Map<string, InvoiceFact[]>> {
  const issued = await issuedSince(db, customerIds, now - DAY_MS);
  const facts = [
    ...drafts.drafts.map(({ target: { period }, draft: { invoice } }) => ({
      customerId: invoice.customerId,
      fact: {
        ...headOf(invoice, fields),
        currentSince: contains(period, now) ? period.countedFrom : null,
        charges: invoice.lines.flatMap(chargeFacts),
      },
    })),
    ...issued.map((invoice) => ({
      customerId: invoice.customerId,
      fact: { ...headOf(invoice, fields), currentSince: null, charges: [] },
    })),
  ];
  const byCustomer = groupBy(facts, ({ customerId }) => customerId);
  return new Map([...byCustomer].map(([id, own]) => [id, own.map(({ fact }) => fact)]));
}

/** Before balances pay: applied lines are left out. */
function chargeFacts(line: Invoice['lines'][number]): ChargeFact[] {
  if (!isUsageLine(line) || line.type === 'applied') return [];
  const { creditTypeId, presentationGroupValues, pricingGroupValues, total } = line;
  return [{ creditTypeId, groups: { ...presentationGroupValues, ...pricingGroupValues }, total }];
}

function headOf(
  { id, type, contractId, creditTypeId, total }: Omit<Invoice, 'lines'>,
  fields: CustomFieldsById,
): Pick<InvoiceFact, 'id' | 'type' | 'contractFields' | 'totals'> {
  const totals: ReadonlyMap<string, Decimal> = new Map([[creditTypeId, total]]);
  return { id, type, contractFields: customFieldsOf(fields, contractId), totals };
}
