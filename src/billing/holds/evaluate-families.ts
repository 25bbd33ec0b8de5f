/**
 * The state that holds are granted from (docs/explanation/holds.md, "The state"): the drafts of customers and of all
 * customers who share their balances, computed as for thresholds, and the amounts left of balances and limits. Many
 * families are read and computed together.
 */
import { assert } from '../../core/errors.ts';
import { groupBy } from '../../core/group-by.ts';
import type { AccountSeen, Hold } from '../../core/hold.ts';
import { floorToHour, HOUR_MS, type Instant } from '../../core/time.ts';
import { type Families, loadFamilies } from '../../store/balances/sharing-customers.ts';
import { type Database, inSnapshot, type Transaction } from '../../store/base/database.ts';
import { loadContracts } from '../../store/contracts/contracts.ts';
import { customerRefs } from '../../store/customers/customers.ts';
import { activeAmong } from '../../store/customers/usage-owners.ts';
import { ensureAccounts, loadActiveHolds, readAccounts } from '../../store/holds/holds.ts';
import type { BillingContext, SnapshotContext } from '../billing-context.ts';
import { NO_ALARMS } from '../invoice-log/invoice-alarms.ts';
import { type PlannedInvoices, planInvoices } from '../invoices/compute/plan-invoices.ts';
import { draftPlacesOf } from '../invoices/drafts/draft-places.ts';
import { type ComputedFamily, computeFamilies } from './held-drafts.ts';

export interface EvaluatedFamily extends ComputedFamily {
  /** Ascending. */
  readonly customerIds: readonly string[];
  /** Customers that can hold, by id or ingest alias. */
  readonly customerOf: ReadonlyMap<string, string>;
  readonly seen: readonly AccountSeen[];
  /** Active ones, as of `seen`. */
  readonly holds: readonly Hold[];
  /** Rates, periods and balances begin and end on full hours, so an evaluation is valid for one hour. */
  readonly validFrom: Instant;
  readonly validUntil: Instant;
}

/** More contracts are not computed together: they may take seconds, and the other families would wait. */
const CONTRACTS_TOGETHER_MAX = 500;

type Members = Pick<EvaluatedFamily, 'customerIds' | 'customerOf'>;
type Found = Pick<EvaluatedFamily, 'customerIds' | 'customerOf' | 'seen' | 'holds'>;

/** By customer: the members of its family, without an evaluation. From then on its usage can be watched. */
export async function unevaluatedFamilies(
  db: Database,
  customerIds: readonly string[],
): Promise<Map<string, EvaluatedFamily>> {
  const members = await inSnapshot(db, async (tx) => {
    const families = await loadFamilies(tx, customerIds);
    return membersOf(families, customerIds, await namesOf(tx, [...families.keys()]));
  });
  const nothing = {
    drafts: new Map(),
    metrics: new Map(),
    buckets: [],
    drawn: [],
    limits: [],
    seen: [],
    holds: [],
  };
  return new Map(
    [...members].map(([id, own]) => [
      id,
      { ...nothing, ...own, countedUpTo: null, validFrom: 0, validUntil: 0 },
    ]),
  );
}

/**
 * The families of these customers, by customer. Counts all events that were acknowledged before. A group that fails is
 * divided until each family is evaluated alone; its error is then the result.
 */
export async function evaluateFamilies(
  context: BillingContext,
  customerIds: readonly string[],
): Promise<Map<string, EvaluatedFamily | Error>> {
  const [first = '', ...others] = customerIds;
  if (others.length === 0) return new Map([[first, await evaluatedAlone(context, first)]]);
  const together = await evaluatedTogether(context, customerIds);
  if (together === null) {
    const half = Math.ceil(customerIds.length / 2);
    const parts = [customerIds.slice(0, half), customerIds.slice(half)];
    const evaluated: [string, EvaluatedFamily | Error][] = [];
    for (const part of parts) evaluated.push(...(await evaluateFamilies(context, part)));
    return new Map(evaluated);
  }
  const evaluated = new Map<string, EvaluatedFamily | Error>(together);
  for (const id of customerIds) if (!together.has(id)) evaluated.set(id, await evaluatedAlone(context, id));
  return evaluated;
}

async function evaluatedAlone(context: BillingContext, customerId: string): Promise<EvaluatedFamily | Error> {
  try {
    const evaluated = (await evaluate(context, [customerId]))?.get(customerId);
    assert(evaluated !== undefined, 'one family is evaluated, or fails');
    return evaluated;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** Without families that have to be evaluated alone. Null: the failed family is unknown. */
async function evaluatedTogether(
  context: BillingContext,
  customerIds: readonly string[],
): Promise<ReadonlyMap<string, EvaluatedFamily> | null> {
  try {
    return await evaluate(context, customerIds);
  } catch {
    return null;
  }
}

/** Null: too many contracts to evaluate together. */
async function evaluate(
  context: BillingContext,
  customerIds: readonly string[],
): Promise<Map<string, EvaluatedFamily> | null> {
  const now = context.clock.now();
  await ensureAccounts(context.db, [...(await loadFamilies(context.db, customerIds)).keys()]);
  const read = await inSnapshot(context.db, (db) => readFamilies({ ...context, db }, customerIds, now));
  if (read === null) return null;
  const { plan, families } = read;
  // Two of the customers may belong to one family.
  const distinct = [
    ...new Map([...families.values()].map((family) => [family.customerIds[0], family])).values(),
  ];
  const computed = await computeFamilies(
    { ...context, alarms: NO_ALARMS },
    plan,
    distinct.map((family) => family.customerIds),
  );
  const validFrom = floorToHour(now);
  const evaluated = new Map<string, EvaluatedFamily>();
  for (const [index, family] of distinct.entries()) {
    const own = computed[index];
    if (own == null) continue;
    const whole = { ...family, ...own, validFrom, validUntil: validFrom + HOUR_MS };
    for (const id of family.customerIds) if (families.has(id)) evaluated.set(id, whole);
  }
  return evaluated;
}

async function readFamilies(
  context: SnapshotContext,
  customerIds: readonly string[],
  now: Instant,
): Promise<{ readonly plan: PlannedInvoices; readonly families: ReadonlyMap<string, Found> } | null> {
  const { db } = context;
  const sharing = await loadFamilies(db, customerIds);
  const all = [...sharing.keys()];
  const contracts = await loadContracts(db, { customerIds: all });
  if (customerIds.length > 1 && contracts.length > CONTRACTS_TOGETHER_MAX) return null;
  const places = await draftPlacesOf(context, contracts, { type: 'USAGE' });
  const targets = places.flatMap((place) => (place.kind === 'usage' ? [place.target] : []));
  const plan = await planInvoices(db, targets, now, { schedulesOf: contracts, usageIn: context });
  const members = membersOf(sharing, customerIds, await namesOf(db, all));
  const seen = groupBy(await readAccounts(db, all), ({ customerId }) => customerId);
  const holds = groupBy(await loadActiveHolds(db, all), ({ customerId }) => customerId);
  const families = [...members].map(([id, own]): [string, Found] => [
    id,
    {
      ...own,
      seen: own.customerIds.flatMap((one) => seen.get(one) ?? []),
      holds: own.customerIds.flatMap((one) => holds.get(one) ?? []),
    },
  ]);
  return { plan, families: new Map(families) };
}

function membersOf(
  families: Families,
  customerIds: readonly string[],
  names: ReadonlyMap<string, readonly string[]>,
): Map<string, Members> {
  return new Map(
    customerIds.map((customerId) => {
      const ids = [...(families.get(customerId) ?? [customerId])].sort();
      const customerOf = new Map(ids.flatMap((id) => (names.get(id) ?? []).map((ref) => [ref, id] as const)));
      return [customerId, { customerIds: ids, customerOf }];
    }),
  );
}

/** By customer: its id and ingest aliases. Without archived customers. */
async function namesOf(db: Transaction, customerIds: readonly string[]): Promise<Map<string, string[]>> {
  const active = await activeAmong(db, customerIds);
  const refs = await customerRefs(db, active);
  return new Map(active.map((id) => [id, refs.get(id) ?? [id]]));
}
