/**
 * Customers who share balances, as one process sees them (docs/explanation/holds.md, "The state"): the state, which only
 * `reduce` changes, and the schedule of its evaluations. In memory.
 */
import { type Decimal, ZERO } from '../../core/decimal.ts';
import type { AccountSeen, Hold } from '../../core/hold.ts';
import type { Instant } from '../../core/time.ts';
import {
  activeHolds,
  billedCost,
  type FamilyEvent,
  type FamilyState,
  holdOf,
  pendingUsage,
  reduce,
  unevaluated,
} from '../../rating/holds/family-state.ts';
import type { PendingUsage } from '../../rating/holds/family-view.ts';
import type { KnownHold } from '../../rating/holds/known-holds.ts';
import type { NotCharged } from '../../rating/holds/price-event.ts';
import type { EvaluatedFamily } from './evaluate-families.ts';
import { FamilyPrices } from './family-prices.ts';

/** The cost of an event on the invoice. */
export interface BilledCost {
  /** Null: not known. */
  readonly amount: Decimal | null;
  /** Why nothing charges it. */
  readonly reason: Exclude<NotCharged, 'not_priceable'> | null;
}

const UNKNOWN_COST: BilledCost = { amount: null, reason: null };

export class HoldFamily {
  private known: FamilyState<FamilyPrices>;
  /** The ids and ingest aliases of its customers. */
  names: readonly string[] = [];
  /** The time of the last request for the family, in milliseconds of this process. */
  askedAt = 0;
  /** No background evaluation before this time, in milliseconds of this process. */
  pausedUntil = 0;
  /** Resolves when all earlier usage is on disk; later usage is watched. */
  noticed: Promise<void> = Promise.resolve();

  /** A family that has not been evaluated. */
  constructor(evaluated: EvaluatedFamily) {
    this.known = unevaluated(new FamilyPrices(evaluated));
  }

  get state(): FamilyState<FamilyPrices> {
    return this.known;
  }

  /** The only way to change the state. */
  send(event: FamilyEvent<FamilyPrices>): void {
    this.known = reduce(this.known, event);
  }

  get prices(): FamilyPrices {
    return this.known.current.evaluation;
  }

  get evaluated(): EvaluatedFamily {
    return this.prices.evaluated;
  }

  /** Only an evaluation can show the effect of a change, or another process has changed something. */
  get isStale(): boolean {
    return this.known.isStale;
  }

  /** The start of the evaluation, in milliseconds of this process. */
  get begunAt(): number {
    return this.known.current.begunAt;
  }

  get active(): ReadonlyMap<string, KnownHold> {
    return activeHolds(this.known);
  }

  get pending(): ReadonlyMap<string, PendingUsage> {
    return pendingUsage(this.known);
  }

  /** Whether the family is evaluated for an hour that has not begun. */
  isAheadOf(now: Instant): boolean {
    const { ahead } = this.known;
    return ahead !== null && ahead.evaluation.evaluated.validFrom > now;
  }

  /** `begunAfter`: the evaluation must have begun after this. */
  isValidAt(now: Instant, begunAfter: number): boolean {
    this.send({ kind: 'hour begun', now });
    return !this.isStale && now < this.evaluated.validUntil && this.begunAt >= begunAfter;
  }

  /** Adds usage, which counts until an evaluation includes it. Returns the cost of an event that had a hold. */
  use(usage: PendingUsage, { wasHeld }: { readonly wasHeld: boolean }): BilledCost {
    const parts = this.prices.partsOfEvent(usage.customerId, usage.event);
    const costNow = () => (wasHeld && typeof parts !== 'string' ? billedCost(this.known, parts) : null);
    const before = costNow();
    this.send({ kind: 'used', usage, parts });
    if (parts === 'not_priceable') return UNKNOWN_COST;
    if (typeof parts === 'string') return { amount: ZERO, reason: parts };
    const after = costNow();
    return { amount: before === null || after === null ? null : after.minus(before), reason: null };
  }

  /** Whether the accounts are unchanged since this process read them. Only other processes change versions. */
  isAsSeen(
    accounts: readonly AccountSeen[],
    { isShared, needsPrices }: { readonly isShared: boolean; readonly needsPrices: boolean },
  ): boolean {
    return accounts.every(({ customerId, changes, prices, version, usageMark }) => {
      const own = this.known.accounts.get(customerId);
      if (own === undefined || own.changes !== changes) return false;
      if (needsPrices && own.prices !== prices) return false;
      return !isShared || (own.version === version && own.usageMark === usageMark);
    });
  }

  /** The ids of the usage that an evaluation beginning now counts. */
  storedUsage(): string[] {
    return [...this.pending.values()].flatMap(({ id, isStored }) => (isStored ? [id] : []));
  }

  /** Whether an evaluation beginning now would count pending usage. */
  hasStoredUsage(): boolean {
    for (const { isStored } of this.pending.values()) if (isStored) return true;
    return false;
  }

  /** The active hold of a transaction. */
  holdOf(transactionId: string): Hold | null {
    return holdOf(this.known, transactionId)?.hold ?? null;
  }
}
