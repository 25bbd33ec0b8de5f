/**
 * Computes the usage invoices of a run: the usage of many is read together, and each invoice is yielded when it is
 * computed.
 */
import { assert } from '../../../core/errors.ts';
import { groupBy } from '../../../core/group-by.ts';
import type { ContractUsageTerms } from '../../../core/invoice-terms.ts';
import type { WindowSize } from '../../../rating/invoices/breakdown.ts';
import { compareText } from '../../../rating/quantities/group-values.ts';
import { createBooks } from '../../balances/books.ts';
import type { BillingContext } from '../../billing-context.ts';
import { finalizationAt, type InvoiceTarget } from '../../invoice-queue/usage-periods.ts';
import { createScheduledDraws } from '../scheduled/drawing.ts';
import { readUsageAnswers, type UsageAnswers } from '../usage/usage-answers.ts';
import { type Compute, type ComputedInvoice, computeOne, drawEarlier } from './compute.ts';
import { inDrawdownOrder, type PlannedInvoices, type PlannedTarget } from './plan-invoices.ts';

/**
 * Maximum invoices whose usage is read together. Adjacent customers in ClickHouse share granules, so a query for more
 * of them reads less in vain.
 */
const GROUP_MAX = 125;
/** The first group shows how many fit. */
const FIRST_GROUP = 25;

/** The size of the next group. Runs that share one continue from the previous run. */
export interface GroupSize {
  invoices: number;
}

export function firstGroupSize(): GroupSize {
  return { invoices: FIRST_GROUP };
}

/** The number of invoices to read after a group of `size` invoices, whose usage took `fullness` of the room. */
export function nextGroupSize(size: number, fullness: number): number {
  // Half of the room is left for customers with more usage than those before.
  return Math.max(FIRST_GROUP, Math.min(GROUP_MAX, Math.floor(size / (2 * fullness))));
}

/** The context of one run. */
export interface RunContext extends BillingContext {
  /** Absent: a separate one. */
  readonly groupSize?: GroupSize;
  /** Waits before each group while requests have priority (`runtime/right-of-way.ts`). */
  giveWay?(): Promise<void>;
}

interface ReadGroup {
  readonly group: readonly PlannedTarget[];
  readonly usage: UsageAnswers;
}

/** A run whose first usage has been read. */
export interface BegunRun {
  readonly billing: RunContext;
  readonly plan: PlannedInvoices;
  /** In the order of computation. */
  readonly planned: readonly PlannedTarget[];
  readonly groupSize: GroupSize;
  /** Null after it was taken, and if nothing is planned. */
  first: ReadGroup | null;
}

export async function beginRun(billing: RunContext, plan: PlannedInvoices): Promise<BegunRun> {
  const planned = inReadingOrder(inDrawdownOrder(plan), plan.context);
  const { groupSize = firstGroupSize() } = billing;
  const run: BegunRun = { billing, plan, planned, groupSize, first: null };
  if (planned.length > 0) run.first = await readGroup(run, 0);
  return run;
}

/**
 * The planned invoices one by one; those that draw on the same balances in the order of drawdown. The usage of at most
 * two groups is in memory: the next is read while invoices of one are computed. A run is computed once.
 */
export async function* computeRun(
  run: BegunRun,
  windowSize: WindowSize | null,
): AsyncGenerator<ComputedInvoice, void, undefined> {
  const { billing, plan } = run;
  const { context } = plan;
  const books = createBooks(context.balances);
  const draws = createScheduledDraws(plan.scheduled, books);
  for await (const { group, usage } of readAhead(run)) {
    for (const { target, isWanted } of group) {
      const { customerId } = target.contract;
      draws.drawUntil(customerId, finalizationAt(target.period, billing.gracePeriodHours));
      const compute: Compute = (windows) =>
        computeOne(billing, target, context, usage, windows, books(customerId));
      if (isWanted) yield await compute({ size: windowSize, within: null });
      else await drawEarlier(compute);
    }
  }
}

interface ReadingContext {
  readonly contracts: ReadonlyMap<string, Pick<ContractUsageTerms, 'customerRefs'>>;
  /** One object for all customers that share balances. */
  readonly balances: ReadonlyMap<string, object>;
}

/**
 * Customers whose events are adjacent in ClickHouse follow one another, so that data read for one are not read again
 * for the next. Invoices that draw on the same balances stay together, in their order.
 */
export function inReadingOrder<Planned extends { readonly target: { readonly contract: ReadContract } }>(
  planned: readonly Planned[],
  { contracts, balances }: ReadingContext,
): readonly Planned[] {
  const families = groupBy(planned, ({ target: { contract } }) => {
    return balances.get(contract.customerId) ?? contract.customerId;
  });
  return [...families.values()]
    .map((family) => {
      // Events of a customer with an alias seldom use its id, which is the first of its references.
      const id = family[0]?.target.contract.id ?? '';
      return { family, ref: contracts.get(id)?.customerRefs.at(-1) ?? '' };
    })
    .sort((a, b) => compareText(a.ref, b.ref))
    .flatMap(({ family }) => family);
}

type ReadContract = Pick<InvoiceTarget['contract'], 'id' | 'customerId'>;

/** Group by group; one is read while the previous one is used. */
async function* readAhead(run: BegunRun): AsyncGenerator<ReadGroup, void, undefined> {
  let current = run.first;
  assert(current !== null || run.planned.length === 0, 'a run is computed once');
  run.first = null;
  for (let from = 0; current !== null; ) {
    from += current.group.length;
    await run.billing.giveWay?.();
    const reading = from < run.planned.length ? readGroup(run, from) : null;
    // If the consumer stops early, nothing awaits this promise.
    reading?.catch(() => undefined);
    yield current;
    current = await reading;
  }
}

async function readGroup(run: BegunRun, from: number): Promise<ReadGroup> {
  const { billing, plan, planned, groupSize: size } = run;
  const group = planned.slice(from, from + size.invoices);
  const targets = group.map(({ target }) => target);
  // In a large group no query has more than its share.
  const room =
    group.length > FIRST_GROUP ? { ...billing.usageRoom, valuesOfQuestionMin: 0 } : billing.usageRoom;
  const usage = await readUsageAnswers(billing.usageSource, targets, plan.context, null, room);
  size.invoices = nextGroupSize(group.length, usage.fullness);
  // Groups that do not fit are read customer by customer, which costs more than small groups.
  if (usage.fullness > 1 && group.length > size.invoices) return readGroup(run, from);
  return { group, usage };
}
