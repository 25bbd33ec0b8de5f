/**
 * Customers who share balances, as one process sees them: an evaluation, and what has come since
 * (docs/explanation/holds.md, "The state"). In memory.
 */
import { type Decimal, ZERO } from '../../core/decimal.ts';
import type { Instant } from '../../core/time.ts';
import type { HoldBook } from '../../rating/holds/hold-book.ts';
import type { AccountMarks, AccountSeen, Hold } from '../../store/holds/holds.ts';
import type { EvaluatedFamily } from './evaluate-families.ts';
import { HoldState, type NotCharged, type PendingUsage } from './hold-state.ts';

/** The cost of an event on the invoice. */
export interface BilledCost {
  /** Null: not known. */
  readonly amount: Decimal | null;
  /** Why nothing charges it. */
  readonly reason: Exclude<NotCharged, 'not_priceable'> | null;
}

const UNKNOWN_COST: BilledCost = { amount: null, reason: null };

/** For the hour that begins next. */
interface Ahead {
  readonly state: HoldState;
  /** Up to which its evaluation counts usage: epoch microseconds. */
  readonly countedUpTo: number;
  readonly begunAt: number;
}

export class HoldFamily {
  state: HoldState;
  readonly active = new Map<string, Hold>();
  /** Ids of active ones that are not on disk yet. */
  readonly unwritten = new Set<string>();
  readonly pending = new Map<string, PendingUsage>();
  readonly seen = new Map<string, AccountSeen>();
  /** Something has changed that only an evaluation can tell, or another process has changed something. */
  isStale = false;
  /** Under which it is found. */
  names: readonly string[] = [];
  /** When the evaluation began, in milliseconds of this process. */
  begunAt = 0;
  /** When a request last asked for it, in milliseconds of this process. */
  askedAt = 0;
  /** Until then it is not evaluated before it is needed, in milliseconds of this process. */
  restsUntil = 0;
  /** From then on all its usage is noticed, and what came before is on disk. */
  noticed: Promise<void> = Promise.resolve();
  private ahead: Ahead | null = null;
  private readonly byTransaction = new Map<string, Hold>();

  /** Without an evaluation, if it has none yet. */
  constructor(evaluated: EvaluatedFamily) {
    this.state = new HoldState(evaluated);
    this.isStale = true;
  }

  get evaluated(): EvaluatedFamily {
    return this.state.evaluated;
  }

  get book(): HoldBook {
    return this.state.book;
  }

  /** Whether it is evaluated for an hour that has not begun. */
  isAheadOf(now: Instant): boolean {
    return this.ahead !== null && this.ahead.state.evaluated.validFrom > now;
  }

  /**
   * Continues from a new evaluation. It has counted the usage up to its moment, or where that is not known, that of these
   * ids: what was stored when it began. Holds are those of this process where nobody
   * else has changed anything, and else those that the evaluation has found.
   */
  takeOver(evaluated: EvaluatedFamily, counted: Iterable<string>): void {
    if (this.isStale || !isOfSameTerms(evaluated, this.ahead?.state.evaluated)) this.ahead = null;
    this.forgetCounted(evaluated.countedUpTo, counted);
    this.state = new HoldState(evaluated);
    this.see(evaluated);
    if (this.isStale) {
      this.active.clear();
      this.byTransaction.clear();
      for (const hold of evaluated.holds) this.keep(hold);
    }
    this.isStale = false;
    for (const usage of this.pending.values()) {
      if (this.state.use(usage) === 'not_priceable') this.isStale = true;
    }
    for (const hold of this.active.values()) this.state.hold(hold);
  }

  /**
   * Keeps an evaluation for the next hour, which takes over when it begins. Until then everything that is used or held is
   * added to both, so it misses nothing, also where a later evaluation of this hour counts usage that it has not.
   */
  prepare(evaluated: EvaluatedFamily, begunAt: number): void {
    const { countedUpTo } = evaluated;
    if (this.isStale || countedUpTo === null) return;
    if (!isOfSameTerms(this.evaluated, evaluated)) {
      this.isStale = true;
      return;
    }
    const state = new HoldState(evaluated);
    for (const usage of this.pending.values()) {
      if (usage.ingestedBefore > countedUpTo && state.use(usage) === 'not_priceable') return;
    }
    for (const hold of this.active.values()) state.hold(hold);
    this.ahead = { state, countedUpTo, begunAt };
  }

  /** The evaluation that was kept for this hour takes over. */
  private advance(now: Instant): void {
    const { ahead } = this;
    if (ahead === null || this.isStale || now < this.evaluated.validUntil) return;
    this.ahead = null;
    const { validFrom, validUntil } = ahead.state.evaluated;
    if (now < validFrom || now >= validUntil) return;
    this.forgetCounted(ahead.countedUpTo, []);
    this.state = ahead.state;
    this.begunAt = ahead.begunAt;
    this.see(ahead.state.evaluated);
  }

  /** Versions are known of what this process has changed since. */
  private see(evaluated: EvaluatedFamily): void {
    const known = new Map(this.seen);
    this.seen.clear();
    for (const account of evaluated.seen) {
      const own = this.isStale ? undefined : known.get(account.customerId);
      const marks = own === undefined ? {} : { version: own.version, usageMark: own.usageMark };
      this.seen.set(account.customerId, { ...account, ...marks });
    }
  }

  private forgetCounted(countedUpTo: number | null, counted: Iterable<string>): void {
    if (countedUpTo === null) {
      for (const id of counted) this.pending.delete(id);
      return;
    }
    for (const { id, ingestedBefore } of [...this.pending.values()]) {
      if (ingestedBefore <= countedUpTo) this.pending.delete(id);
    }
  }

  /** `since`: the evaluation must have begun after this. */
  isValidAt(now: Instant, since: number): boolean {
    this.advance(now);
    return !this.isStale && now < this.evaluated.validUntil && this.begunAt >= since;
  }

  /** Adds usage, which counts until an evaluation includes it. Answers the cost of an event that was held. */
  use(usage: PendingUsage, { wasHeld }: { readonly wasHeld: boolean }): BilledCost {
    this.pending.set(usage.id, usage);
    if (this.ahead?.state.use(usage) === 'not_priceable') this.ahead = null;
    const parts = this.state.partsOfEvent(usage.customerId, usage.event);
    if (typeof parts === 'string') {
      // Usage that an invoice does not charge takes nothing; usage without a price ahead may take anything.
      if (parts !== 'not_priceable') return { amount: ZERO, reason: parts };
      this.isStale = true;
      return UNKNOWN_COST;
    }
    if (wasHeld) return { amount: this.book.use(usage.id, parts), reason: null };
    this.book.add(usage.id, parts);
    return UNKNOWN_COST;
  }

  /** Whether the accounts are as they were when this process saw them. Versions change by others only. */
  isAsSeen(
    accounts: readonly AccountSeen[],
    { isShared, needsPrices }: { readonly isShared: boolean; readonly needsPrices: boolean },
  ): boolean {
    return accounts.every(({ customerId, changes, prices, version, usageMark }) => {
      const own = this.seen.get(customerId);
      if (own === undefined || own.changes !== changes) return false;
      if (needsPrices && own.prices !== prices) return false;
      return !isShared || (own.version === version && own.usageMark === usageMark);
    });
  }

  /** The ids of the usage that an evaluation from now on counts. */
  storedUsage(): string[] {
    return [...this.pending.values()].flatMap(({ id, isStored }) => (isStored ? [id] : []));
  }

  /** Whether there is usage that an evaluation from now on would count. */
  hasStoredUsage(): boolean {
    for (const { isStored } of this.pending.values()) if (isStored) return true;
    return false;
  }

  /** The active hold of a transaction. */
  holdOf(transactionId: string): Hold | null {
    return this.byTransaction.get(transactionId) ?? null;
  }

  /** A hold that the book has room for, and has. */
  grant(hold: Hold): void {
    this.keep(hold);
    this.unwritten.add(hold.id);
    this.ahead?.state.hold(hold);
  }

  /** Without adding it to the book. */
  keep(hold: Hold): void {
    this.active.set(hold.id, hold);
    this.byTransaction.set(hold.transactionId, hold);
  }

  end(holdId: string): void {
    const hold = this.active.get(holdId);
    if (hold !== undefined && this.byTransaction.get(hold.transactionId)?.id === holdId)
      this.byTransaction.delete(hold.transactionId);
    this.active.delete(holdId);
    this.book.remove(holdId);
    this.ahead?.state.book.remove(holdId);
  }

  /** Takes over the accounts after a change of this process; anything else was another's change. */
  follow(accounts: ReadonlyMap<string, AccountMarks>): void {
    for (const [customerId, { version, usageMark }] of accounts) {
      const seen = this.seen.get(customerId);
      if (seen === undefined) continue;
      if (version !== seen.version + 1 || usageMark > seen.usageMark + 1) this.isStale = true;
      this.seen.set(customerId, { ...seen, version, usageMark });
    }
  }
}

/** Whether two evaluations have read the same terms of the same customers. */
function isOfSameTerms(one: EvaluatedFamily, other: EvaluatedFamily | undefined): boolean {
  return other !== undefined && termsOf(one) === termsOf(other);
}

function termsOf({ customerIds, customerOf, seen }: EvaluatedFamily): string {
  const accounts = seen.map(({ customerId, changes, prices }) => `${customerId} ${changes} ${prices}`);
  return JSON.stringify([customerIds, [...customerOf], accounts.sort()]);
}
