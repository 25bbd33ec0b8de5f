/** Computes the many usage invoices of a run: the usage of many is read together, and each is handed over at once. */
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
 * Invoices whose usage is read together. Customers lie side by side in ClickHouse, so the more of them one query asks
 * for, the less it reads in vain.
 */
const GROUP_MAX = 125;
/** The first group tells how many fit. */
const FIRST_GROUP = 25;

/** How many invoices are read next. Runs that share one reuse the experience of the run before. */
export interface GroupSize {
  invoices: number;
}

export function firstGroupSize(): GroupSize {
  return { invoices: FIRST_GROUP };
}

/** How many invoices to read after a group of `size` invoices, whose usage took `fullness` of the room. */
export function nextGroupSize(size: number, fullness: number): number {
  // Half of the room is for customers with more usage than those before.
  return Math.max(FIRST_GROUP, Math.min(GROUP_MAX, Math.floor(size / (2 * fullness))));
}

/** Of one run of many invoices. */
export interface RunContext extends BillingContext {
  /** Absent: a separate one. */
  readonly groupSize?: GroupSize;
  /** Waits before each group while others come first (`runtime/right-of-way.ts`). */
  giveWay?(): Promise<void>;
}

interface ReadGroup {
  readonly group: readonly PlannedTarget[];
  readonly usage: UsageAnswers;
}

/** A run whose first usage is read. */
export interface BegunRun {
  readonly deps: RunContext;
  readonly plan: PlannedInvoices;
  /** In the order in which they are computed. */
  readonly planned: readonly PlannedTarget[];
  readonly groupSize: GroupSize;
  /** Null when it was taken, and where nothing is planned. */
  first: ReadGroup | null;
}

export async function beginRun(deps: RunContext, plan: PlannedInvoices): Promise<BegunRun> {
  const planned = inReadingOrder(inDrawdownOrder(plan), plan.context);
  const { groupSize = firstGroupSize() } = deps;
  const run: BegunRun = { deps, plan, planned, groupSize, first: null };
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
  const { deps, plan } = run;
  const { context } = plan;
  const books = createBooks(context.balances);
  const draws = createScheduledDraws(plan.scheduled, books);
  for await (const { group, usage } of readAhead(run)) {
    for (const { target, isWanted } of group) {
      const { customerId } = target.contract;
      draws.drawUntil(customerId, finalizationAt(target.period, deps.gracePeriodHours));
      const compute: Compute = (windows) =>
        computeOne(deps, target, context, usage, windows, books(customerId));
      if (isWanted) yield await compute({ size: windowSize, within: null });
      else await drawEarlier(compute);
    }
  }
}

interface ReadingContext {
  readonly contracts: ReadonlyMap<string, Pick<ContractUsageTerms, 'customerRefs'>>;
  /** One object for all customers between whom balances are shared. */
  readonly balances: ReadonlyMap<string, object>;
}

/**
 * Those whose events lie side by side in ClickHouse follow one another, so that what is read for one is not read again for
 * the next. Invoices that draw on the same balances stay together, in their order.
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
      // Events of a customer that has an alias seldom come under its id, which is the first of its references.
      const id = family[0]?.target.contract.id ?? '';
      return { family, ref: contracts.get(id)?.customerRefs.at(-1) ?? '' };
    })
    .sort((a, b) => compareText(a.ref, b.ref))
    .flatMap(({ family }) => family);
}

type ReadContract = Pick<InvoiceTarget['contract'], 'id' | 'customerId'>;

/** Group by group; one is read while the one before it is used. */
async function* readAhead(run: BegunRun): AsyncGenerator<ReadGroup, void, undefined> {
  let current = run.first;
  assert(current !== null || run.planned.length === 0, 'a run is computed once');
  run.first = null;
  for (let from = 0; current !== null; ) {
    from += current.group.length;
    await run.deps.giveWay?.();
    const reading = from < run.planned.length ? readGroup(run, from) : null;
    // If the consumer stops early, nothing awaits this promise.
    reading?.catch(() => undefined);
    yield current;
    current = await reading;
  }
}

async function readGroup(run: BegunRun, from: number): Promise<ReadGroup> {
  const { deps, plan, planned, groupSize: size } = run;
  const group = planned.slice(from, from + size.invoices);
  const targets = group.map(({ target }) => target);
  // In a large group no question has more than its share.
  const room = group.length > FIRST_GROUP ? { ...deps.usageRoom, valuesOfQuestionMin: 0 } : deps.usageRoom;
  const usage = await readUsageAnswers(deps.usageSource, targets, plan.context, null, room);
  size.invoices = nextGroupSize(group.length, usage.fullness);
  // Groups that do not fit are read customer by customer, which costs more than small groups.
  if (usage.fullness > 1 && group.length > size.invoices) return readGroup(run, from);
  return { group, usage };
}
