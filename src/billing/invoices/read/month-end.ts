/**
 * Month end: the invoices of a month, each beside that of the month before, and the sums of the month
 * (docs/explanation/invoices.md, "Month end"). Drafts are computed when they are read, so a page goes from contract to
 * contract until it is full or has taken its time. The sums continue from page to page: the last page has those of the month.
 */
import { type Decimal, decimal, sum, ZERO } from '../../../core/decimal.ts';
import { Refusal } from '../../../core/errors.ts';
import { groupBy } from '../../../core/group-by.ts';
import { resultInChunks } from '../../../core/in-chunks.ts';
import { monthOfInvoice } from '../../../core/invoice-month.ts';
import type { Page, PageRequest } from '../../../core/paging.ts';
import { addMonths, floorToDay, type Instant } from '../../../core/time.ts';
import { type EventsCompared, eventsInTwoTimes } from '../../../metering/events/events-in-two-times.ts';
import { type MonthRow, monthPart, monthRows } from '../../../rating/invoices/month-rows.ts';
import { inSnapshot } from '../../../store/base/database.ts';
import { type BilledCustomer, billedCustomers } from '../../../store/contracts/billed-customers.ts';
import { type Contract, loadContracts } from '../../../store/contracts/contracts.ts';
import { customerRefs } from '../../../store/customers/customers.ts';
import { listInvoiceHeads } from '../../../store/invoices/invoice-lists.ts';
import { withLines } from '../../../store/invoices/whole-invoices.ts';
import type { BillingContext, SnapshotContext } from '../../billing-context.ts';
import { consolidatedPlaces } from '../consolidated/drafts.ts';
import { draftPlacesOf } from '../drafts/draft-places.ts';
import { type InvoiceWithWarnings, issuedWithWarnings } from '../drafts/unbilled-usage.ts';
import { externalOfInvoices } from './external-invoices.ts';
import { computePlaces, inDraftPage, planPlaces } from './list-drafts.ts';

export interface MonthContract {
  readonly contractId: string;
  readonly customerId: string;
  /**
   * From the first of the month on, and in the same days of the month before; null if events of these days were
   * removed.
   */
  readonly events: EventsCompared | null;
  readonly rows: readonly MonthRow<InvoiceWithWarnings>[];
  /** The invoices of the month before that stand beside no row. */
  readonly unpaired: readonly InvoiceWithWarnings[];
}

/** The sums in one currency, as texts: they are part of the place at which a page ends. */
interface UnitSums {
  readonly unit: string;
  readonly total: string;
  /** The month before, and the part of it that stands beside no row. */
  readonly former: string;
  readonly unpaired: string;
}

export interface MonthSums {
  readonly drafts: number;
  readonly finalized: number;
  readonly void: number;
  readonly warned: number;
  /** Customers. */
  readonly usageMissing: number;
  /** Invoices of the month before that stand beside no row. */
  readonly unpaired: number;
  readonly deliveries: Readonly<Record<string, number>>;
  readonly units: readonly UnitSums[];
}

interface MonthPosition {
  readonly customer: BilledCustomer;
  /** The last contract of the customer that was read. */
  readonly contractId: string;
  readonly sums: MonthSums;
}

interface MonthPage extends Page<MonthContract, MonthPosition> {
  /** Sums from the first page up to this one. */
  readonly sums: MonthSums;
}

const NOTHING: MonthSums = {
  ...{ drafts: 0, finalized: 0, void: 0, warned: 0, usageMissing: 0, unpaired: 0 },
  deliveries: {},
  units: [],
};

const PAGE_MS_MAX = 10_000;
const CONTRACTS_PER_STEP = 25;
const CUSTOMERS_PER_STEP = 50;
/** The limit for the contracts of one step, in one month. */
const INVOICES_MAX = 2_000;
/** A place is part of an address. */
const UNITS_MAX = 30;

/**
 * A page of contracts that have invoices of the month or of the one before, by customer and id. It ends early, and may be
 * empty, when it has taken 10 seconds. Refuses as overloaded when too many wait, and (`too_large`) 25 contracts with more
 * than 2,000 issued invoices of a month, and more than 30 currencies.
 */
export async function readMonthEnd(
  context: BillingContext,
  month: Instant,
  { after: first, limit }: PageRequest<MonthPosition>,
): Promise<MonthPage> {
  return inDraftPage(context, async (shared) => {
    const end = performance.now() + PAGE_MS_MAX;
    const rows: MonthContract[] = [];
    let after: Omit<MonthPosition, 'sums'> | null = first;
    let sums = first?.sums ?? NOTHING;
    for (;;) {
      const step = await readStep(shared, month, {
        after,
        limit: Math.min(CONTRACTS_PER_STEP, limit - rows.length),
      });
      sums = await withContracts(shared, sums, step.rows, after?.customer.id ?? null);
      rows.push(...step.rows.filter((each) => each.rows.length + each.unpaired.length > 0));
      after = step.next;
      if (after === null) return { rows, sums, next: null };
      if (rows.length >= limit || performance.now() >= end) return { rows, sums, next: { ...after, sums } };
    }
  });
}

type Place = Omit<MonthPosition, 'sums'>;

/** The next contracts, with or without invoices. */
async function readStep(
  context: BillingContext,
  month: Instant,
  page: PageRequest<Place>,
): Promise<Page<MonthContract, Place>> {
  const former = addMonths(month, -1);
  const found = await inSnapshot(context.db, async (db) => {
    const own = { ...context, db };
    const { rows: contracts, next } = await nextContracts(own, page);
    const open = contracts.filter(({ archivedAt }) => archivedAt === null);
    const read = [month, former].map(async (of) => [
      ...(await draftPlacesOf(own, open, { month: of })),
      ...(await consolidatedPlaces(own, open, { month: of })),
    ]);
    const drafts = await planPlaces(own, (await Promise.all(read)).flat());
    const refs = await customerRefs(db, [...new Set(contracts.map(({ customerId }) => customerId))]);
    return { contracts, next, refs, drafts, issued: await issuedOf(own, contracts, [month, former]) };
  });
  const drafts = await computePlaces(context, found.drafts);
  const events = await comparedEvents(context, month, found.refs);
  const byContract = groupBy([...found.issued, ...drafts], ({ contractId }) => contractId);
  const rows: MonthContract[] = [];
  for (const { id, customerId } of found.contracts) {
    const all = byContract.get(id) ?? [];
    const present = all.filter((invoice) => monthOfInvoice(invoice) === month);
    const before = all.filter((invoice) => !present.includes(invoice) && monthPart(invoice) === 'counted');
    const own = await resultInChunks(monthRows(present, before));
    const paired = new Set(own.map((row) => row.former?.id));
    rows.push({
      ...{ contractId: id, customerId, rows: own },
      events: events === null ? null : (events.get(customerId) ?? { now: 0, before: 0 }),
      unpaired: before.filter((invoice) => !paired.has(invoice.id)),
    });
  }
  return { rows, next: found.next };
}

async function nextContracts(
  { db }: Pick<SnapshotContext, 'db'>,
  { after, limit }: PageRequest<Place>,
): Promise<Page<Contract, Place>> {
  const from = after?.customer ?? null;
  const asked = { ids: null, from, limit: CUSTOMERS_PER_STEP, includeArchived: true };
  const customers = await billedCustomers(db, asked);
  const rank = new Map(customers.map(({ id }, index) => [id, index]));
  const rankOf = ({ customerId }: Contract) => rank.get(customerId) ?? 0;
  const contracts = await loadContracts(db, { customerIds: [...rank.keys()], includeArchived: true });
  const left = contracts
    .filter(({ customerId, id }) => customerId !== after?.customer.id || id > after.contractId)
    .sort((a, b) => rankOf(a) - rankOf(b) || (a.id < b.id ? -1 : 1));
  const rows = left.slice(0, limit);
  const last = rows.at(-1);
  const customer = last === undefined ? customers.at(-1) : customers[rankOf(last)];
  const isEnd = left.length <= limit && customers.length < CUSTOMERS_PER_STEP;
  if (isEnd || customer === undefined) return { rows, next: null };
  return { rows, next: { customer, contractId: last?.id ?? after?.contractId ?? '' } };
}

async function issuedOf(
  { db }: Pick<SnapshotContext, 'db'>,
  contracts: readonly Contract[],
  months: readonly Instant[],
): Promise<InvoiceWithWarnings[]> {
  const contractIds = contracts.map(({ id }) => id);
  if (contractIds.length === 0) return [];
  const page = { after: null, limit: INVOICES_MAX + 1, order: 'ascending' } as const;
  const heads = await Promise.all(months.map((month) => listInvoiceHeads(db, { contractIds, month }, page)));
  if (heads.some(({ length }) => length > INVOICES_MAX)) {
    throw new Refusal(
      'too_large',
      `more than ${INVOICES_MAX} invoices of few contracts in one month: use a smaller limit`,
    );
  }
  return issuedWithWarnings(db, await withLines(db, heads.flat()));
}

/** Null: events of these times were removed. */
async function comparedEvents(
  { clickhouse, clock, eventFacts }: BillingContext,
  month: Instant,
  refs: ReadonlyMap<string, readonly string[]>,
): Promise<ReadonlyMap<string, EventsCompared> | null> {
  const [former, next] = [addMonths(month, -1), addMonths(month, 1)];
  const keptFrom = eventFacts.keptFrom();
  if (keptFrom !== null && former < keptFrom) return null;
  const now = { start: month, end: Math.max(month, Math.min(next, floorToDay(clock.now()))) };
  const before = { start: former, end: Math.min(former + now.end - now.start, month) };
  return eventsInTwoTimes(clickhouse, refs, { now, before });
}

/** Whether a customer sent less than half of the events of the same days before. */
export function isUsageMissing(events: EventsCompared | null): boolean {
  return events !== null && events.before >= 10 && events.now * 2 < events.before;
}

/** The sums with those of further contracts. `known`: the customer whose first contracts are in the sums already. */
async function withContracts(
  context: BillingContext,
  sums: MonthSums,
  contracts: readonly MonthContract[],
  known: string | null,
): Promise<MonthSums> {
  const rows = contracts.flatMap((each) => each.rows);
  const unpaired = contracts.flatMap((each) => each.unpaired);
  const external = await externalOfInvoices(
    context,
    rows.map(({ invoice }) => invoice),
  );
  const deliveries: Record<string, number> = { ...sums.deliveries };
  for (const { status } of external.values()) deliveries[status] = (deliveries[status] ?? 0) + 1;
  const count = (status: string) => rows.filter(({ invoice }) => invoice.status === status).length;
  const missing = contracts.filter(
    ({ events, customerId }) => isUsageMissing(events) && customerId !== known,
  );
  return {
    drafts: sums.drafts + count('DRAFT'),
    finalized: sums.finalized + count('FINALIZED'),
    void: sums.void + count('VOID'),
    warned: sums.warned + rows.filter(isWarned).length,
    usageMissing: sums.usageMissing + new Set(missing.map(({ customerId }) => customerId)).size,
    unpaired: sums.unpaired + unpaired.length,
    deliveries,
    units: unitSums(sums.units, rows, unpaired),
  };
}

function isWarned({ part, invoice }: MonthRow<InvoiceWithWarnings>): boolean {
  return part === 'counted' && invoice.warnings.count > 0;
}

function unitSums(
  known: readonly UnitSums[],
  rows: readonly MonthRow<InvoiceWithWarnings>[],
  unpaired: readonly InvoiceWithWarnings[],
): UnitSums[] {
  const paired = rows.flatMap(({ former }) => former ?? []);
  const present = rows.map(({ invoice }) => invoice);
  const units = new Set([
    ...known.map(({ unit }) => unit),
    ...[...present, ...paired, ...unpaired].map(({ creditTypeId }) => creditTypeId),
  ]);
  if (units.size > UNITS_MAX)
    throw new Refusal('too_large', `the month has more than ${UNITS_MAX} currencies`);
  const counted = present.filter((invoice) => monthPart(invoice) === 'counted');
  return [...units].map((unit) => {
    const before = known.find((each) => each.unit === unit);
    const add = (text: string | undefined, invoices: readonly InvoiceWithWarnings[]) =>
      totalIn(unit, invoices)
        .plus(text === undefined ? ZERO : decimal(text))
        .toFixed();
    return {
      unit,
      total: add(before?.total, counted),
      former: add(before?.former, [...paired, ...unpaired]),
      unpaired: add(before?.unpaired, unpaired),
    };
  });
}

function totalIn(unit: string, invoices: readonly InvoiceWithWarnings[]): Decimal {
  return sum(invoices.flatMap(({ creditTypeId, total }) => (creditTypeId === unit ? [total] : [])));
}
