/**
 * The amounts left of the balances and spend limits of customers who share them, as of an evaluation, and the amounts
 * outstanding since: holds, and usage that the evaluation has not counted. Pure, and never optimistic: outstanding
 * amounts are allocated to balances in the order in which invoices draw on them, and a hold is granted only if all
 * other outstanding amounts stay covered.
 */
import { type Decimal, maximum, minimum, sum, ZERO } from '../../core/decimal.ts';
import type { Instant } from '../../core/time.ts';
import type { BookedBucket } from '../balances/balance-book.ts';
import { BilledUsage } from './billed-usage.ts';
import { type ChargeClass, ChargedSlot, type SlotTerms } from './charged-slot.ts';
import { type Allocation, type DrawnClaim, DrawnRuns, mostMissing, type Run } from './drawn-runs.ts';

/** How much a contract may spend in a billing period beyond balances. */
export interface LimitLeft {
  /** `periodKey` of the billing period. */
  readonly period: string;
  /** The end of the period, when the whole limit is available again. */
  readonly resetsAt: Instant;
  readonly creditTypeId: string;
  readonly limit: Decimal;
  /** The spend at the evaluation. */
  readonly spent: Decimal;
}

/** The part of an event or an amount: a value in a slot, or an amount of a class. */
export type HoldPart =
  | { readonly slot: SlotTerms; readonly value: Decimal }
  | { readonly charge: ChargeClass; readonly amount: Decimal };

export interface Decision {
  readonly granted: boolean;
  readonly reason: 'balance' | 'spend_limit' | null;
  /** Its cost in addition to everything that is outstanding. */
  readonly amount: Decimal;
  /** The quantity or amount of the same kind that may still be held; null: there is no limit. */
  readonly remaining: Decimal | null;
}

/** The quantity or amount of the same kind that may be held, without reserving it. */
export interface Standing extends Decision {
  /** The price of the next unit; null for an amount. */
  readonly unitPrice: Decimal | null;
  /** The cost of the holds on the same balances, or on the same limit. */
  readonly held: Decimal;
  /**
   * The spend limit that applies to the parts: the one with the least left. Null: balances apply, or there is no limit.
   */
  readonly limit: LimitLeft | null;
}

/** The outstanding parts of a class, split into holds and usage. */
interface ClassState {
  readonly charge: ChargeClass;
  readonly all: Outstanding;
  readonly held: Outstanding;
  readonly used: Outstanding;
}

interface Outstanding {
  readonly slots: Map<string, ChargedSlot>;
  readonly amounts: Map<string, Decimal>;
}

export class HoldBook {
  private readonly runs: DrawnRuns;
  private readonly billed: BilledUsage;
  private readonly limits: readonly LimitLeft[];
  private readonly classes = new Map<string, ClassState>();
  private readonly entries = new Map<string, readonly HoldPart[]>();
  /** The allocation with the parts that were decided last, which are usually added next. */
  private decided: { readonly parts: readonly HoldPart[]; readonly after: Allocation } | null = null;

  /** `drawn`: the claims of drafts on `buckets`, in the order of drawdown. */
  constructor(
    buckets: readonly BookedBucket[],
    limits: readonly LimitLeft[],
    drawn: readonly DrawnClaim[] = [],
  ) {
    this.runs = new DrawnRuns(buckets, drawn);
    this.billed = new BilledUsage(buckets, drawn);
    this.limits = limits;
  }

  /** Adds confirmed charges: usage, or a hold that was granted. */
  add(id: string, parts: readonly HoldPart[], kind: 'usage' | 'hold' = 'usage'): void {
    const after = this.decided?.parts === parts && !this.entries.has(id) ? this.decided.after : null;
    this.decided = null;
    this.remove(id);
    this.entries.set(id, parts);
    for (const part of parts) {
      const charge = chargeOf(part);
      const state = this.classes.get(charge.key) ?? newState(charge);
      this.classes.set(charge.key, state);
      this.addToRun(id, part, addPart(state.all, id, part));
      addPart(kind === 'hold' ? state.held : state.used, id, part);
    }
    this.runs.changed();
    if (after !== null) this.runs.restore(after);
  }

  /** Adds an outstanding slot, or an amount, to its run. */
  private addToRun(id: string, part: HoldPart, slot: ChargedSlot | null): void {
    const charge = chargeOf(part);
    // Charges that no balance may pay take no room.
    if (charge.segmentIds.length === 0) return;
    if (slot !== null) this.runs.addSlot(slot);
    else if (!('slot' in part)) {
      const { amounts } = this.runs.runFor(charge, null);
      amounts.set(id, (amounts.get(id) ?? ZERO).plus(part.amount));
    }
  }

  remove(id: string): void {
    const parts = this.entries.get(id);
    if (parts === undefined) return;
    this.decided = null;
    this.entries.delete(id);
    for (const part of parts) {
      const state = this.classes.get(chargeOf(part).key);
      if (state === undefined) continue;
      const emptied = removePart(state.all, id, part);
      if (emptied !== null) this.runs.removeSlot(emptied);
      if (!('slot' in part) && part.charge.segmentIds.length > 0)
        this.runs.runFor(part.charge, null).amounts.delete(id);
      removePart(state.held, id, part);
      removePart(state.used, id, part);
      if (state.all.slots.size + state.all.amounts.size === 0) this.classes.delete(state.charge.key);
    }
    this.runs.changed();
  }

  /** The parts of an entry; null: there is no such entry. */
  partsOf(id: string): readonly HoldPart[] | null {
    return this.entries.get(id) ?? null;
  }

  /** Whether there is room for it. Adds nothing. */
  decide(id: string, parts: readonly HoldPart[]): Decision {
    // Their places first: the allocation is that of all runs.
    this.runsOf(parts);
    const before = this.runs.allocation();
    const decision = this.reserve(id, parts);
    const after = decision.granted ? this.runs.allocation() : null;
    this.remove(id);
    this.runs.restore(before);
    this.decided = after === null ? null : { parts, after };
    return decision;
  }

  /** Adds the parts if there is room for them. */
  reserve(id: string, parts: readonly HoldPart[]): Decision {
    // Places are set first, because they define the runs that are compared.
    this.runsOf(parts);
    const before = this.runs.allocation();
    const costs = new Map(chargesOf(parts).map(({ key }) => [key, this.amountOf(key)]));
    this.add(id, parts, 'hold');
    const amount = this.costOf(parts).minus(sum([...costs.values()]));
    const reason = this.refusalOf(parts, before, costs);
    if (reason !== null) this.remove(id);
    return { granted: reason === null, reason, amount, remaining: this.remaining(parts) };
  }

  /**
   * A number that grows by the amount by which usage of these parts grows the invoice: at the payers' prices, after all
   * usage and without holds, which are on no invoice. Null if unknown.
   */
  billedCostOf(parts: readonly HoldPart[]): Decimal | null {
    const own = parts.flatMap((part) => ('slot' in part ? part.slot : []));
    const used = [...this.classes.values()].flatMap((state) => [...state.used.slots.values()]);
    return this.billed.costOf(own, used);
  }

  /** The quantity or amount that may still be held in the slots of these parts; null: there is no limit. */
  remaining(parts: readonly HoldPart[]): Decimal | null {
    let least: Decimal | null = null;
    const limit = (own: Decimal | null) => {
      if (own !== null) least = least === null ? own : minimum(least, own);
    };
    for (const run of this.runsOf(parts)) limit(this.runs.spareOf(run));
    for (const charge of chargesOf(parts))
      if (charge.segmentIds.length === 0) limit(this.leftToSpend(charge));
    return least === null ? null : maximum(least, ZERO);
  }

  private runsOf(parts: readonly HoldPart[]): Set<Run> {
    const runs = new Set<Run>();
    for (const part of parts) {
      const charge = chargeOf(part);
      if (charge.segmentIds.length > 0) runs.add(this.runs.runFor(charge, 'slot' in part ? part.slot : null));
    }
    return runs;
  }

  /** The decision that `reserve` would return, and the amount that may be held. Adds nothing. */
  standing(id: string, parts: readonly HoldPart[]): Standing {
    const unitPrice = this.nextPrice(parts);
    const remaining = this.remaining(parts);
    const held = sum(this.sharing(parts).map((state) => amountOf(state.held)));
    const limit = this.limitOf(parts);
    return { ...this.decide(id, parts), remaining, unitPrice, held, limit };
  }

  private nextPrice(parts: readonly HoldPart[]): Decimal | null {
    let price: Decimal | null = null;
    for (const part of parts) {
      if (!('slot' in part)) continue;
      const state = this.classes.get(part.slot.charge.key);
      const slot = state?.all.slots.get(part.slot.key) ?? new ChargedSlot(part.slot);
      price = (price ?? ZERO).plus(slot.nextPrice());
    }
    return price;
  }

  /** The classes that draw on the same balances or limits. */
  private sharing(parts: readonly HoldPart[]): ClassState[] {
    const touched = chargesOf(parts);
    return [...this.classes.values()].filter(({ charge }) =>
      touched.some((one) => one.key === charge.key || this.shares(one, charge)),
    );
  }

  private shares(a: ChargeClass, b: ChargeClass): boolean {
    if (a.segmentIds.length > 0) return a.segmentIds.some((id) => b.segmentIds.includes(id));
    if (b.segmentIds.length > 0) return false;
    return this.limits.some((limit) => isLimitOf(limit, a) && isLimitOf(limit, b));
  }

  private limitOf(parts: readonly HoldPart[]): LimitLeft | null {
    let least: { readonly limit: LimitLeft; readonly left: Decimal } | null = null;
    for (const charge of chargesOf(parts)) {
      if (charge.segmentIds.length > 0) continue;
      for (const one of this.limitsLeft(charge)) {
        if (least === null || one.left.lt(least.left)) least = one;
      }
    }
    return least?.limit ?? null;
  }

  private costOf(parts: readonly HoldPart[]): Decimal {
    return sum(chargesOf(parts).map((charge) => this.amountOf(charge.key)));
  }

  private amountOf(key: string): Decimal {
    const state = this.classes.get(key);
    return state === undefined ? ZERO : amountOf(state.all);
  }

  /** Usage may have exceeded balances and limits already: only additional cost is refused, so free usage never is. */
  private refusalOf(
    parts: readonly HoldPart[],
    before: Allocation,
    costsBefore: ReadonlyMap<string, Decimal>,
  ): Decision['reason'] {
    if (mostMissing(before, this.runs.allocation()).gt(ZERO)) return 'balance';
    const isOver = chargesOf(parts).some((charge) => {
      if (charge.segmentIds.length > 0) return false;
      if (this.amountOf(charge.key).lte(costsBefore.get(charge.key) ?? ZERO)) return false;
      return this.leftToSpend(charge)?.lt(ZERO) === true;
    });
    return isOver ? 'spend_limit' : null;
  }

  /** The amount left of the limits for charges that no balance pays for; null: there is no limit. */
  private leftToSpend(charge: ChargeClass): Decimal | null {
    const left = this.limitsLeft(charge).map((one) => one.left);
    return left.length === 0 ? null : left.reduce(minimum);
  }

  private limitsLeft(charge: ChargeClass): { readonly limit: LimitLeft; readonly left: Decimal }[] {
    return this.limits
      .filter((limit) => isLimitOf(limit, charge))
      .map((limit) => ({
        limit,
        left: limit.limit.minus(limit.spent).minus(this.spentSince(limit)),
      }));
  }

  /** The amounts that no balance may pay for, and those that exceed balances. */
  private spentSince(limit: LimitLeft): Decimal {
    let spent = ZERO;
    for (const [key, { charge }] of this.classes) {
      if (isLimitOf(limit, charge) && charge.segmentIds.length === 0) spent = spent.plus(this.amountOf(key));
    }
    for (const [{ charge }, open] of this.runs.allocation().open) {
      if (isLimitOf(limit, charge)) spent = spent.plus(open);
    }
    return spent;
  }
}

function newState(charge: ChargeClass): ClassState {
  const nothing = (): Outstanding => ({ slots: new Map(), amounts: new Map() });
  return { charge, all: nothing(), held: nothing(), used: nothing() };
}

/** Returns the slot of the part. */
function addPart({ slots, amounts }: Outstanding, id: string, part: HoldPart): ChargedSlot | null {
  if (!('slot' in part)) {
    amounts.set(id, (amounts.get(id) ?? ZERO).plus(part.amount));
    return null;
  }
  const slot = slots.get(part.slot.key) ?? new ChargedSlot(part.slot);
  slots.set(part.slot.key, slot);
  slot.add(id, part.value);
  return slot;
}

/** Returns the slot of the part, if it is empty now. */
function removePart({ slots, amounts }: Outstanding, id: string, part: HoldPart): ChargedSlot | null {
  if (!('slot' in part)) {
    amounts.delete(id);
    return null;
  }
  const slot = slots.get(part.slot.key);
  slot?.remove(id);
  if (slot === undefined || !slot.isEmpty) return null;
  slots.delete(part.slot.key);
  return slot;
}

function amountOf({ slots, amounts }: Outstanding): Decimal {
  let amount = ZERO;
  for (const { cost } of slots.values()) amount = amount.plus(cost);
  for (const one of amounts.values()) amount = amount.plus(one);
  return amount;
}

function isLimitOf({ period, creditTypeId }: LimitLeft, charge: ChargeClass): boolean {
  return charge.creditTypeId === creditTypeId && charge.periods.includes(period);
}

function chargeOf(part: HoldPart): ChargeClass {
  return 'slot' in part ? part.slot.charge : part.charge;
}

/** Each once. */
function chargesOf(parts: readonly HoldPart[]): ChargeClass[] {
  return [...new Map(parts.map((part) => [chargeOf(part).key, chargeOf(part)])).values()];
}
