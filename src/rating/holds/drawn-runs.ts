/**
 * The charges on balances in the order in which invoices draw on them (docs/explanation/holds.md, "The law"): the
 * charges of drafts, and outstanding usage between them. Neighbours that the same balances may pay are one run, so that
 * allocation takes one step for each run.
 *
 * A larger charge never leaves more in any balance for the charges after it. So the amount left after everything
 * outstanding is the minimum over all its parts, and one allocation is valid for every part that may be settled.
 * Charges without a known place (amounts, and charges whose place depends on other usage) may be at any place: each
 * other charge that they can reach has to fit with and without them.
 */
import { connectedGroups } from '../../core/connected-groups.ts';
import { type Decimal, maximum, minimum, sum, ZERO } from '../../core/decimal.ts';
import { type BalanceBook, type BookedBucket, createBalanceBook } from '../balances/balance-book.ts';
import type { Claim } from '../balances/draw-down.ts';
import type { ChargeClass, ChargedSlot, SlotTerms } from './charged-slot.ts';
import { type ClaimPlace, comparePlaces } from './claim-place.ts';

/** A charge of a draft that balances pay at least in part. */
export interface DrawnClaim {
  readonly place: ClaimPlace;
  readonly claim: Claim;
  readonly charge: ChargeClass;
  /** The part that prepaid balances pay. */
  readonly amount: Decimal;
}

/** Neighbouring charges of one class, or charges of a class without a place. */
export interface Run {
  readonly charge: ChargeClass;
  readonly slots: Set<ChargedSlot>;
  readonly amounts: Map<string, Decimal>;
  /** The sum of `drawn`. */
  readonly base: Decimal;
  readonly drawn: readonly DrawnClaim[];
  /** Null: the charges have no place. */
  span: { readonly first: ClaimPlace; readonly last: ClaimPlace } | null;
}

export interface Allocation {
  /** The amounts that balances do not cover. */
  readonly open: ReadonlyMap<Run, Decimal>;
  /** The additional amount that fits for the queried run; below 0: the run exceeds its room. */
  readonly spare: Decimal;
}

/** `more`: an additional amount of one run. `asked`: the run whose spare room is wanted. */
interface Pass {
  readonly more?: { readonly run: Run; readonly amount: Decimal };
  readonly asked?: Run;
}

/** How often an amount is lowered until it fits: each time by the part that did not fit. */
const TRIALS_MAX = 50;

export class DrawnRuns {
  private readonly buckets: readonly BookedBucket[];
  private readonly bySegment: ReadonlyMap<string, BookedBucket>;
  private readonly byClass = new Map<string, readonly BookedBucket[]>();
  /** Runs in the order of drawdown. */
  private readonly placed: Run[] = [];
  /** By class. */
  private readonly loose = new Map<string, Run>();
  private readonly runOfSlot = new Map<ChargedSlot, Run>();
  private known: Allocation | null = null;

  /** `drawn`: in the order of drawdown; `buckets` with the amounts that `drawn` takes from them. */
  constructor(buckets: readonly BookedBucket[], drawn: readonly DrawnClaim[]) {
    this.buckets = buckets;
    this.bySegment = new Map(buckets.map((bucket) => [bucket.segmentId, bucket]));
    let own: DrawnClaim[] = [];
    for (const claim of drawn.filter(({ amount }) => amount.gt(ZERO))) {
      const [first] = own;
      if (first !== undefined && first.charge.key !== claim.charge.key) {
        this.placed.push(newRun(first.charge, own, []));
        own = [];
      }
      own.push(claim);
    }
    const [first] = own;
    if (first !== undefined) this.placed.push(newRun(first.charge, own, []));
  }

  /** The run of a slot, or of an amount (null). */
  runFor(charge: ChargeClass, terms: SlotTerms | null): Run {
    const place = terms?.place ?? null;
    const found = place === null ? null : this.placedRun(charge, place);
    if (found !== null) return found;
    const loose = this.loose.get(charge.key) ?? newRun(charge, [], []);
    this.loose.set(charge.key, loose);
    return loose;
  }

  addSlot(slot: ChargedSlot): void {
    if (this.runOfSlot.has(slot)) return;
    const run = this.runFor(slot.terms.charge, slot.terms);
    run.slots.add(slot);
    this.runOfSlot.set(slot, run);
  }

  removeSlot(slot: ChargedSlot): void {
    this.runOfSlot.get(slot)?.slots.delete(slot);
    this.runOfSlot.delete(slot);
  }

  /** Drops the allocation after outstanding charges have changed. */
  changed(): void {
    this.known = null;
  }

  /** Everything outstanding is again as it was for this allocation. */
  restore(allocation: Allocation): void {
    this.known = allocation;
  }

  /** The allocation of all outstanding charges. */
  allocation(): Allocation {
    this.known ??= this.allocate({});
    return this.known;
  }

  /** The amount by which a run may grow without reducing the coverage of others. */
  spareOf(run: Run): Decimal {
    const now = this.allocation();
    let spare = maximum(this.allocate({ asked: run }).spare, ZERO);
    if (this.isLast(run)) return spare;
    for (let trial = 0; trial < TRIALS_MAX && spare.gt(ZERO); trial += 1) {
      const missing = mostMissing(now, this.allocate({ more: { run, amount: spare } }));
      if (missing.lte(ZERO)) return spare;
      spare = spare.minus(missing);
    }
    return ZERO;
  }

  private allocate({ more, asked }: Pass): Allocation {
    const book = createBalanceBook(this.buckets);
    const open = new Map<Run, Decimal>();
    let spare = ZERO;
    const wanted = (run: Run) => (more?.run === run ? amountOf(run).plus(more.amount) : amountOf(run));
    const besides = this.looseBeside(wanted);
    const judge = (run: Run, amount: Decimal) => {
      const room = sum(this.bucketsOf(run.charge).map((bucket) => book.leftOf(bucket)));
      const own = room.minus(besides?.(run) ?? ZERO).minus(amount);
      if (run === asked) spare = own;
      if (own.lt(ZERO) && amount.gt(ZERO)) open.set(run, minimum(amount, ZERO.minus(own)));
    };
    for (const run of this.placed) {
      const amount = wanted(run);
      if (besides !== null || run === asked) judge(run, amount);
      if (amount.lte(ZERO)) continue;
      const rest = this.takeFrom(book, run.charge, amount);
      if (besides === null && rest.gt(ZERO)) open.set(run, rest);
    }
    for (const run of this.loose.values()) judge(run, wanted(run));
    return { open, spare };
  }

  /** Returns the amount that no balance covers. */
  private takeFrom(book: BalanceBook, charge: ChargeClass, amount: Decimal): Decimal {
    let rest = amount;
    for (const bucket of this.bucketsOf(charge)) {
      const taken = minimum(book.leftOf(bucket), rest);
      if (taken.lte(ZERO)) continue;
      book.take(bucket, taken);
      rest = rest.minus(taken);
      if (rest.lte(ZERO)) break;
    }
    return rest;
  }

  private bucketsOf({ key, segmentIds }: ChargeClass): readonly BookedBucket[] {
    const known = this.byClass.get(key);
    if (known !== undefined) return known;
    const found = segmentIds.flatMap((id) => this.bySegment.get(id) ?? []);
    this.byClass.set(key, found);
    return found;
  }

  /**
   * The amounts without a place, of other runs, that may take from the balances of a run, or from those of charges that
   * it displaces.
   */
  private looseBeside(wanted: (run: Run) => Decimal): ((run: Run) => Decimal) | null {
    const loose = [...this.loose.values()].map((run) => ({ run, amount: wanted(run) }));
    if (!loose.some(({ amount }) => amount.gt(ZERO))) return null;
    const used = [...this.placed.filter((run) => wanted(run).gt(ZERO)), ...loose.map(({ run }) => run)];
    const groups = connectedGroups(
      [],
      used.map(({ charge }) => charge.segmentIds),
    );
    const groupOf = ({ charge: { segmentIds } }: Run) => groups.get(segmentIds[0] ?? '');
    // The segments of a run are connected, so the first one identifies the group; a run without coverage may have
    // several groups.
    return (run) => {
      const own = new Set(run.charge.segmentIds.map((id) => groups.get(id)));
      const beside = loose.filter((one) => one.run !== run && own.has(groupOf(one.run)));
      return sum(beside.map(({ amount }) => amount));
    };
  }

  /** Whether no later run could lose coverage to it. */
  private isLast(run: Run): boolean {
    const others = [...this.loose.values()].filter((one) => one !== run && amountOf(one).gt(ZERO));
    const later = run.span === null ? [] : this.placed.slice(this.placed.indexOf(run) + 1);
    const isTouched = (one: Run) => amountOf(one).gt(ZERO);
    const texts = run.charge.segmentIds.join(' ');
    return others.every(({ charge }) => charge.segmentIds.join(' ') === texts) && !later.some(isTouched);
  }

  private placedRun(charge: ChargeClass, place: ClaimPlace): Run | null {
    const { placed } = this;
    const at = firstFrom(placed, ({ span }) => span === null || comparePlaces(span.last, place) >= 0);
    let around: Run | null = null;
    for (let index = at; index < placed.length; index += 1) {
      const run = placed[index];
      if (run?.span == null || comparePlaces(run.span.first, place) > 0) break;
      if (run.charge.key === charge.key) return run;
      around = run;
    }
    if (around !== null) return this.splitRun(around, charge, place);
    for (const neighbour of [placed[at - 1], placed[at]]) {
      if (neighbour?.charge.key !== charge.key || neighbour.span === null) continue;
      const { first, last } = neighbour.span;
      if (comparePlaces(place, first) < 0) neighbour.span = { first: place, last };
      else neighbour.span = { first, last: place };
      return neighbour;
    }
    const run = newRun(charge, [], [place]);
    placed.splice(at, 0, run);
    this.changed();
    return run;
  }

  /** Null: one of its charges has the same place, so that ids would decide the order. */
  private splitRun(run: Run, charge: ChargeClass, place: ClaimPlace): Run | null {
    const parts = [-1, 1].map((side) => {
      const drawn = run.drawn.filter((one) => Math.sign(comparePlaces(one.place, place)) === side);
      const slots = [...run.slots].filter(
        ({ terms }) => terms.place !== null && Math.sign(comparePlaces(terms.place, place)) === side,
      );
      return { drawn, slots };
    });
    const kept = parts.reduce((count, { drawn, slots }) => count + drawn.length + slots.length, 0);
    if (kept < run.drawn.length + run.slots.size) return null;
    const own = newRun(charge, [], [place]);
    const [before, after] = parts.map(({ drawn, slots }) => {
      if (drawn.length + slots.length === 0) return [];
      const places = slots.flatMap(({ terms }) => terms.place ?? []);
      const part = newRun(run.charge, drawn, places);
      for (const slot of slots) {
        part.slots.add(slot);
        this.runOfSlot.set(slot, part);
      }
      return [part];
    });
    this.placed.splice(this.placed.indexOf(run), 1, ...(before ?? []), own, ...(after ?? []));
    this.changed();
    return own;
  }
}

function amountOf({ base, slots, amounts }: Run): Decimal {
  let amount = base;
  for (const { cost } of slots) amount = amount.plus(cost);
  for (const one of amounts.values()) amount = amount.plus(one);
  return amount;
}

/** The largest loss of coverage of any run. */
export function mostMissing(before: Allocation, after: Allocation): Decimal {
  let most = ZERO;
  for (const [run, amount] of after.open) most = maximum(most, amount.minus(before.open.get(run) ?? ZERO));
  return most;
}

function newRun(charge: ChargeClass, drawn: readonly DrawnClaim[], others: readonly ClaimPlace[]): Run {
  const places = [...drawn.map(({ place }) => place), ...others].sort(comparePlaces);
  const first = places[0];
  const last = places.at(-1);
  return {
    ...{ charge, drawn, base: sum(drawn.map(({ amount }) => amount)), slots: new Set(), amounts: new Map() },
    span: first === undefined || last === undefined ? null : { first, last },
  };
}

/** The index of the first item for which `isSo` holds; it must hold for all later ones too. */
function firstFrom<Item>(items: readonly Item[], isSo: (item: Item) => boolean): number {
  let from = 0;
  let to = items.length;
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    const item = items[middle];
    if (item !== undefined && isSo(item)) to = middle;
    else from = middle + 1;
  }
  return from;
}
