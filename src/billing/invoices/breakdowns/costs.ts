/**
 * The daily costs of a customer: the sums of the daily breakdowns of all its invoices before commits and credits,
 * without voided ones.
 */
import { type Decimal, ZERO } from '../../../core/decimal.ts';
import { Refusal } from '../../../core/errors.ts';
import { addToGroup, groupBy } from '../../../core/group-by.ts';
import { resultInChunks } from '../../../core/in-chunks.ts';
import { type InvoiceLine, isUsageLine } from '../../../core/invoice.ts';
import type { Page, PageRequest } from '../../../core/paging.ts';
import { DAY_MS, floorToDay, type Instant, type Interval } from '../../../core/time.ts';
import { groupValuesKey } from '../../../rating/quantities/group-values.ts';
import type { BillingContext } from '../../billing-context.ts';
import { type BreakdownItem, listBreakdowns } from './breakdowns.ts';
import type { KeptDrafts } from './kept-drafts.ts';

type GroupValues = Readonly<Record<string, string>>;

/** The lines of one name and group on one day. */
interface CostOfLines {
  readonly name: string;
  /** Pricing and presentation values; empty without any. */
  readonly groupValues: GroupValues;
  readonly cost: Decimal;
}

export interface CostInUnit {
  readonly creditTypeId: string;
  readonly cost: Decimal;
  readonly lines: readonly CostOfLines[];
}

export interface DayCosts {
  readonly day: Interval;
  /** In the order in which the units appear; empty for a day without costs. */
  readonly units: readonly CostInUnit[];
}

/** Maximum windows read for one page: a page has fewer days if its days have more. */
const WINDOWS_MAX = 2_000;

/**
 * A page of the days of `range`, which begins and ends at midnight, each with its costs. Refuses an unknown customer
 * (`not_found`), and a day with more than 2,000 invoices (`too_large`). `drafts`: set for an answer with many pages.
 */
export async function listCosts(
  context: BillingContext,
  customerId: string,
  range: Interval,
  { after, limit }: PageRequest<Instant>,
  drafts: KeptDrafts | null = null,
): Promise<Page<DayCosts, Instant>> {
  const start = after === null ? range.start : Math.max(range.start, after + DAY_MS);
  const asked = { start, end: Math.max(start, Math.min(range.end, start + limit * DAY_MS)) };
  const { rows, next } = await listBreakdowns(
    context,
    {
      ...{ customerId, range: asked, size: 'day', withoutVoid: true, isBeforeBalances: true },
      ...(drafts === null ? {} : { pages: { drafts, range } }),
    },
    { after: null, limit: WINDOWS_MAX, order: 'ascending' },
  );
  // The last day of a cut page may lack invoices.
  const end = next === null ? asked.end : floorToDay(next.start);
  if (end === start && next !== null) {
    throw new Refusal('too_large', `a day has more than ${WINDOWS_MAX} invoices`);
  }
  const byDay = groupBy(rows, ({ window }) => floorToDay(window.start));
  const days = await resultInChunks(costsOfDays({ start, end }, byDay));
  return { rows: days, next: end < range.end ? end - DAY_MS : null };
}

function* costsOfDays(
  { start, end }: Interval,
  byDay: ReadonlyMap<Instant, readonly BreakdownItem[]>,
): Generator<void, DayCosts[], undefined> {
  const days: DayCosts[] = [];
  for (let at = start; at < end; at += DAY_MS) {
    const units = yield* costsOf(byDay.get(at) ?? []);
    days.push({ day: { start: at, end: at + DAY_MS }, units });
    yield;
  }
  return days;
}

function* costsOf(items: readonly BreakdownItem[]): Generator<void, CostInUnit[], undefined> {
  const byUnit = new Map<
    string,
    { readonly all: InvoiceLine[]; readonly same: Map<string, InvoiceLine[]> }
  >();
  for (const line of items.flatMap((item) => item.lines)) {
    const { creditTypeId } = line;
    const own = byUnit.get(creditTypeId) ?? { all: [], same: new Map<string, InvoiceLine[]>() };
    byUnit.set(creditTypeId, own);
    own.all.push(line);
    addToGroup(own.same, JSON.stringify([line.name, groupValuesKey(groupValuesOf(line))]), line);
    yield;
  }
  return [...byUnit].map(([creditTypeId, { all, same }]) => ({
    creditTypeId,
    cost: totalOf(all),
    lines: [...same.values()].map(costOfSame),
  }));
}

function costOfSame(lines: readonly InvoiceLine[]): CostOfLines {
  const [first] = lines;
  return {
    name: first?.name ?? '',
    groupValues: first === undefined ? {} : groupValuesOf(first),
    cost: totalOf(lines),
  };
}

function totalOf(lines: readonly InvoiceLine[]): Decimal {
  return lines.reduce((sum, { total }) => sum.plus(total), ZERO);
}

function groupValuesOf(line: InvoiceLine): GroupValues {
  return isUsageLine(line) ? { ...line.pricingGroupValues, ...line.presentationGroupValues } : {};
}
