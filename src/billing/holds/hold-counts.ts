/** The figures of holds for `/metrics`: counts of this process since its start, and the outstanding holds of all processes. */
import type { Decimal } from '../../core/decimal.ts';
import { SECOND_MS } from '../../core/time.ts';
import { createPoll, type Poll } from '../../runtime/poll.ts';
import { readOutstanding } from '../../store/holds/holds.ts';
import type { BillingContext } from '../billing-context.ts';
import { createUnitNames } from './list-holds.ts';

export interface HoldFigures {
  readonly granted: number;
  /** By reason. */
  readonly refused: ReadonlyMap<string, number>;
  /** By `allowed` and reason. */
  readonly checked: ReadonlyMap<string, number>;
  readonly outstanding: {
    readonly count: number;
    /** By the name of the unit. In floating point, for graphs. */
    readonly amounts: ReadonlyMap<string, number>;
  };
}

export interface HoldCounts {
  /** Counts the answers to one request; `granted` holds are new. */
  answered(
    answers: readonly ({ readonly hold: unknown } | { readonly reason: string })[],
    granted: number,
  ): void;
  /** Null: allowed. */
  checked(reason: string | null): void;
  evaluated(seconds: number): void;
  observeEvaluations(observe: (seconds: number) => void): void;
  figures(): HoldFigures;
  /** Reads the outstanding holds at each interval. */
  outstanding(context: BillingContext): Poll;
}

const OUTSTANDING_INTERVAL_MS = 5 * SECOND_MS;

export function createHoldCounts(): HoldCounts {
  let granted = 0;
  const refused = new Map<string, number>();
  const checked = new Map<string, number>();
  let outstanding: HoldFigures['outstanding'] = { count: 0, amounts: new Map() };
  let observer: (seconds: number) => void = () => undefined;
  const add = (counts: Map<string, number>, name: string) => counts.set(name, (counts.get(name) ?? 0) + 1);
  return {
    answered(answers, count) {
      granted += count;
      for (const answer of answers) if ('reason' in answer) add(refused, answer.reason);
    },
    checked: (reason) => void add(checked, reason ?? 'allowed'),
    evaluated: (seconds) => observer(seconds),
    observeEvaluations(observe) {
      observer = observe;
    },
    figures: () => ({ granted, refused, checked, outstanding }),
    outstanding(context) {
      const nameOf = createUnitNames(context.db);
      return createPoll({
        name: 'outstanding holds',
        intervalMs: OUTSTANDING_INTERVAL_MS,
        async work() {
          outstanding = await looked(context, nameOf);
        },
        onFailure: (err) =>
          context.log.error({ err }, 'outstanding holds could not be read: it will be tried again'),
      });
    },
  };
}

async function looked(
  { db, clock }: BillingContext,
  nameOf: (creditTypeId: string) => Promise<string>,
): Promise<HoldFigures['outstanding']> {
  const rows = await readOutstanding(db, clock.now());
  const named = rows.map(async ({ creditTypeId, amount }) => [await nameOf(creditTypeId), toNumber(amount)]);
  return {
    count: rows.reduce((total, { count }) => total + count, 0),
    amounts: new Map((await Promise.all(named)) as [string, number][]),
  };
}

/** For `/metrics`, whose values are floats; never part of a calculation. */
function toNumber(amount: Decimal): number {
  return Number(amount.toFixed());
}
