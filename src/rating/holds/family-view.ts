/** An evaluation of customers who share balances, and what is outstanding since, at its prices. Pure. */
import type { AccountSeen, Hold } from '../../core/hold.ts';
import type { Instant } from '../../core/time.ts';
import type { BookedBucket } from '../balances/balance-book.ts';
import type { DrawnClaim } from './drawn-runs.ts';
import { HoldBook, type HoldPart, type LimitLeft } from './hold-book.ts';
import type { NotCharged } from './price-event.ts';
import { type Change, Revision } from './revision.ts';

/** An event as ingest stores it. */
export interface HeldEvent {
  readonly eventType: string;
  readonly timestamp: Instant;
  /** The text of every value. A map, because a name may be `__proto__`. */
  readonly properties: ReadonlyMap<string, string>;
}

/** Usage that no evaluation has counted yet. */
export interface PendingUsage {
  readonly id: string;
  readonly customerId: string;
  readonly event: HeldEvent;
  /** Epoch microseconds: evaluations that count up to here or further count it. */
  readonly ingestedBefore: number;
  /** Whether it is on disk, so that evaluations which begin now count it. */
  readonly isStored: boolean;
}

/** The drafts as they were at one moment. */
interface EvaluatedDrafts {
  /** Ingestion up to which usage is counted: epoch microseconds. Null: not known, beside other writers. */
  readonly countedUpTo: number | null;
  readonly validFrom: Instant;
  readonly validUntil: Instant;
  readonly seen: readonly AccountSeen[];
  /** Active ones, as of `seen`. */
  readonly holds: readonly Hold[];
  readonly buckets: readonly BookedBucket[];
  readonly limits: readonly LimitLeft[];
  readonly drawn: readonly DrawnClaim[];
}

/** The drafts, and the prices that events have on them. */
export interface Evaluation {
  readonly evaluated: EvaluatedDrafts;
  /** Equal if two evaluations have read the same terms of the same customers. */
  terms(): string;
  /** The amounts that an event takes, or why nothing charges it. */
  partsOfEvent(customerId: string, event: HeldEvent): readonly HoldPart[] | NotCharged;
  /** The amounts that a hold takes at the prices of this evaluation. */
  partsOfHold(hold: Hold): readonly HoldPart[];
}

interface Entries {
  /** Not counted by the evaluation. */
  readonly usage: Map<string, PendingUsage>;
  readonly book: HoldBook;
}

/** An evaluation, and what is outstanding since, at its prices. */
export interface View<E> {
  readonly evaluation: E;
  readonly begunAt: number;
  readonly entries: Revision<Entries>;
}

export function uncounted<E extends Evaluation>(
  { entries }: View<E>,
  { evaluated: { countedUpTo } }: E,
  counted: readonly string[],
): PendingUsage[] {
  const known = new Set(counted);
  return [...entries.read().usage.values()].filter(({ id, ingestedBefore }) =>
    countedUpTo === null ? !known.has(id) : ingestedBefore > countedUpTo,
  );
}

/** Without any usage or holds. */
export function emptyView<E extends Evaluation>(evaluation: E): View<E> {
  return { evaluation, begunAt: 0, entries: newEntries(evaluation) };
}

function newEntries({ evaluated: { buckets, limits, drawn } }: Evaluation): Revision<Entries> {
  return new Revision({ usage: new Map(), book: new HoldBook(buckets, limits, drawn) });
}

/** `isPriced`: all usage has a price ahead. */
export function newView<E extends Evaluation>(
  evaluation: E,
  begunAt: number,
  pending: readonly PendingUsage[],
  holds: Iterable<{ readonly hold: Hold }>,
): { readonly view: View<E>; readonly isPriced: boolean } {
  const entries = newEntries(evaluation);
  const { usage, book } = entries.read();
  let isPriced = true;
  for (const one of pending) {
    usage.set(one.id, one);
    const parts = evaluation.partsOfEvent(one.customerId, one.event);
    if (parts === 'not_priceable') isPriced = false;
    if (typeof parts !== 'string') book.add(one.id, parts);
  }
  for (const { hold } of holds) book.add(hold.id, evaluation.partsOfHold(hold), 'hold');
  return { view: { evaluation, begunAt, entries }, isPriced };
}

/** Usage that an invoice does not charge takes nothing. */
export function withUsage<E extends Evaluation>(
  view: View<E>,
  one: PendingUsage,
  parts: readonly HoldPart[] | NotCharged,
): View<E> {
  return changed(view, {
    apply({ usage, book }) {
      usage.set(one.id, one);
      if (typeof parts !== 'string') book.add(one.id, parts);
    },
    revert({ usage, book }) {
      usage.delete(one.id);
      book.remove(one.id);
    },
  });
}

export function withStored<E extends Evaluation>(view: View<E>, ids: readonly string[]): View<E> {
  const { usage } = view.entries.read();
  const before = ids.flatMap((id) => usage.get(id) ?? []).filter(({ isStored }) => !isStored);
  if (before.length === 0) return view;
  return changed(view, {
    apply(entries) {
      for (const one of before) entries.usage.set(one.id, { ...one, isStored: true });
    },
    revert(entries) {
      for (const one of before) entries.usage.set(one.id, one);
    },
  });
}

export function withHold<E extends Evaluation>(
  view: View<E>,
  id: string,
  parts: readonly HoldPart[],
): View<E> {
  return changed(view, {
    apply: ({ book }) => book.add(id, parts, 'hold'),
    revert: ({ book }) => book.remove(id),
  });
}

export function withoutHold<E extends Evaluation>(view: View<E>, id: string): View<E> {
  const parts = view.entries.read().book.partsOf(id);
  if (parts === null) return view;
  return changed(view, {
    apply: ({ book }) => book.remove(id),
    revert: ({ book }) => book.add(id, parts, 'hold'),
  });
}

function changed<E>(view: View<E>, change: Change<Entries>): View<E> {
  return { ...view, entries: view.entries.changed(change) };
}
