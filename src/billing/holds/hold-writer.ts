/**
 * Decides and stores holds in groups. Requests that arrive while a statement runs are written by the next one, so that they
 * share one write to the disk. One statement runs at a time, so that each decision knows all earlier ones.
 */
import type { Hold } from '../../core/hold.ts';
import { newId } from '../../core/ids.ts';
import { decide as decideHold } from '../../rating/holds/family-state.ts';
import type { Decision, HoldPart } from '../../rating/holds/hold-book.ts';
import type { NotCharged } from '../../rating/holds/price-event.ts';
import { withoutRequest } from '../../runtime/request-scope.ts';
import { endExpired, type HoldEnd, type HoldsWritten, writeHolds } from '../../store/holds/holds.ts';

import type { RowContext } from '../billing-context.ts';
import type { EvaluatedFamily } from './evaluate-families.ts';
import type { HoldFamily } from './hold-family.ts';

/** The outcome of a reservation. */
export type Reserved =
  | { readonly kind: 'granted'; readonly hold: Hold }
  | { readonly kind: 'refused'; readonly reason: NotCharged }
  | { readonly kind: 'refused'; readonly reason: 'balance' | 'spend_limit'; readonly decision: Decision }
  /** The family has to be evaluated again. */
  | { readonly kind: 'overtaken' }
  /** Another hold has its transaction id. */
  | { readonly kind: 'taken' };

export interface Reservation {
  readonly family: HoldFamily;
  /** The evaluation must have begun after this, in milliseconds of this process. */
  readonly begunAfter: number;
  /** Whether the prices must also be unchanged since the evaluation read them. */
  readonly needsPrices: boolean;
  partsNow(): readonly HoldPart[] | NotCharged;
  newHold(decision: Decision, parts: readonly HoldPart[]): Hold;
}

interface Waiting<Task, Result> {
  readonly task: Task;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

interface HoldChange {
  readonly family: HoldFamily | null;
  readonly end?: HoldEnd;
  readonly extension?: { readonly id: string; readonly expiresAt: number };
}

export interface HoldWriter {
  reserve(reservation: Reservation): Promise<Reserved>;
  /** Resolves when the running statement has committed or failed. */
  groupEnded(): Promise<void>;
  /** Resolves with whether the hold was in the state that the change requires. */
  change(change: HoldChange): Promise<boolean>;
  /** Ends the expired holds of the family. */
  endOver(family: HoldFamily): Promise<void>;
}

const GROUP_MAX = 500;

/** Resolved once it is known that nothing has changed since the decision. */
interface Decided {
  readonly waiting: Waiting<Reservation, Reserved>;
  readonly evaluated: EvaluatedFamily;
  /** Null: refused. */
  readonly hold: Hold | null;
  readonly answer: Reserved;
}

export function createHoldWriter({
  db,
  clock,
  granted,
}: RowContext & { granted(holds: readonly Hold[]): void }): HoldWriter {
  const reservations: Waiting<Reservation, Reserved>[] = [];
  const changes: Waiting<HoldChange, boolean>[] = [];
  let isWriting = false;
  let group = Promise.resolve();

  async function writeAll(): Promise<void> {
    if (isWriting) return;
    isWriting = true;
    try {
      while (reservations.length + changes.length > 0) {
        group = writeGroup(reservations.splice(0, GROUP_MAX), changes.splice(0, GROUP_MAX));
        await group;
      }
    } finally {
      isWriting = false;
    }
  }

  async function writeGroup(
    asked: readonly Waiting<Reservation, Reserved>[],
    changed: readonly Waiting<HoldChange, boolean>[],
  ): Promise<void> {
    const now = clock.now();
    const families = [...new Set(asked.map(({ task }) => task.family))];
    const decided: Decided[] = [];
    try {
      await endOver(families, now);
      for (const waiting of asked) {
        const one = decide(waiting, now);
        if (one !== null) decided.push(one);
      }
      if (decided.length + changed.length === 0) return;
      const written = await writeHolds(db, writesOf(families, decided, changed, now));
      granted(decided.flatMap(({ hold }) => (hold !== null && written.ids.has(hold.id) ? [hold] : [])));
      finish(families, decided, changed, written);
    } catch (error) {
      failAll(decided, changed);
      for (const { reject } of [...asked, ...changed]) reject(error);
    }
  }

  /** Frees expired holds, also for a process whose clock is slow. */
  async function endOver(families: readonly HoldFamily[], now: number): Promise<void> {
    const over = families.flatMap((family) =>
      [...family.active.values()].flatMap(({ hold }) => (hold.expiresAt <= now ? [{ family, hold }] : [])),
    );
    if (over.length === 0) return;
    const ids = over.map(({ hold }) => hold.id);
    const accounts = await endExpired(db, ids, now);
    for (const { family, hold } of over) family.send({ kind: 'ended', holdId: hold.id });
    for (const family of families) family.send({ kind: 'written', accounts, holds: [] });
  }

  const waitIn = <Task, Result>(list: Waiting<Task, Result>[], task: Task) =>
    new Promise<Result>((resolve, reject) => {
      list.push({ task, resolve, reject });
      withoutRequest(() => setImmediate(() => void writeAll()));
    });
  return {
    groupEnded: () => group,
    endOver: (family) => endOver([family], clock.now()),
    reserve: (task) => waitIn(reservations, task),
    change: (task) => waitIn(changes, task),
  };
}

/** Null: the family has to be evaluated first. */
function decide(waiting: Waiting<Reservation, Reserved>, now: number): Decided | null {
  const { task, resolve } = waiting;
  const { family } = task;
  const { evaluated } = family;
  if (!family.isValidAt(now, task.begunAfter)) {
    resolve({ kind: 'overtaken' });
    return null;
  }
  const parts = task.partsNow();
  const common = { waiting, evaluated };
  if (typeof parts === 'string') return { ...common, hold: null, answer: { kind: 'refused', reason: parts } };
  const id = newId();
  const decision = decideHold(family.state, id, parts);
  const { reason } = decision;
  if (reason !== null) return { ...common, hold: null, answer: { kind: 'refused', reason, decision } };
  const hold = { ...task.newHold(decision, parts), id };
  family.send({ kind: 'granted', hold, parts });
  return { ...common, hold, answer: { kind: 'granted', hold } };
}

function writesOf(
  families: readonly HoldFamily[],
  decided: readonly Decided[],
  changed: readonly Waiting<HoldChange, boolean>[],
  now: number,
): Parameters<typeof writeHolds>[1] {
  const numbers = new Map(families.map((family, index) => [family, index]));
  const placeOf = ({ family, needsPrices }: Reservation) => ({
    family: numbers.get(family) ?? -1,
    needsPrices,
  });
  const deciding = new Set(decided.map(({ waiting }) => waiting.task.family));
  return {
    now,
    seen: [...deciding].flatMap((family) =>
      [...family.state.accounts.values()].map((seen) => ({ ...seen, family: numbers.get(family) ?? -1 })),
    ),
    grants: decided.flatMap(({ hold, waiting }) =>
      hold === null ? [] : [{ hold, ...placeOf(waiting.task) }],
    ),
    ends: changed.flatMap(({ task }) => task.end ?? []),
    extensions: changed.flatMap(({ task }) => task.extension ?? []),
  };
}

function finish(
  families: readonly HoldFamily[],
  decided: readonly Decided[],
  changed: readonly Waiting<HoldChange, boolean>[],
  { families: valid, repriced, ids, accounts }: HoldsWritten,
): void {
  const told = new Set(families);
  for (const { task } of changed) if (task.family !== null) told.add(task.family);
  for (const family of told) family.send({ kind: 'written', accounts, holds: [] });
  const stateOf = (index: number): WrittenAs =>
    valid.has(index) ? 'as seen' : repriced.has(index) ? 'repriced' : 'changed';
  const states = new Map(families.map((family, index) => [family, stateOf(index)]));
  for (const one of decided) tell(one, ids, states.get(one.waiting.task.family) ?? 'changed');
  for (const { task, resolve } of changed) {
    const id = task.end?.id ?? task.extension?.id ?? '';
    if (ids.has(id)) tellChange(task);
    resolve(ids.has(id));
  }
}

function tellChange({ family, end, extension }: HoldChange): void {
  if (end !== undefined) family?.send({ kind: 'ended', holdId: end.id });
  const hold = extension === undefined ? undefined : family?.active.get(extension.id)?.hold;
  if (extension === undefined || hold === undefined) return;
  family?.send({
    ...{ kind: 'written', accounts: new Map() },
    holds: [{ ...hold, expiresAt: extension.expiresAt }],
  });
}

/** A family as a statement found it: unchanged, unchanged except for prices, or changed. */
type WrittenAs = 'as seen' | 'repriced' | 'changed';

function tell(
  { waiting, evaluated, hold, answer }: Decided,
  stored: ReadonlySet<string>,
  state: WrittenAs,
): void {
  const { family, needsPrices } = waiting.task;
  const isValid = state === 'as seen' || (state === 'repriced' && !needsPrices);
  // A newer evaluation has read its own prices.
  if (state === 'changed' || (state === 'repriced' && family.evaluated === evaluated))
    family.send({ kind: 'overtaken' });
  if (hold === null) {
    waiting.resolve(isValid ? answer : { kind: 'overtaken' });
    return;
  }
  const isStored = stored.has(hold.id);
  if (isStored) family.send({ kind: 'written', accounts: new Map(), holds: [hold] });
  else family.send({ kind: 'ended', holdId: hold.id });
  if (isStored) waiting.resolve(answer);
  else waiting.resolve({ kind: isValid ? 'taken' : 'overtaken' });
}

/** The outcome of the statement is unknown. */
function failAll(decided: readonly Decided[], changed: readonly Waiting<HoldChange, boolean>[]): void {
  for (const { task } of changed) task.family?.send({ kind: 'overtaken' });
  for (const { waiting, hold } of decided) {
    const { family } = waiting.task;
    family.send({ kind: 'overtaken' });
    if (hold !== null) family.send({ kind: 'ended', holdId: hold.id });
  }
}
