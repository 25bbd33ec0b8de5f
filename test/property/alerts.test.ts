/** The states of alerts against a naive model: a customer that uses, buys and is edited while months pass. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Alert, firesAtLeast } from '../../src/core/alerts.ts';
import { USD_CENTS } from '../../src/core/credit-types.ts';
import { decimal } from '../../src/core/decimal.ts';
import { DAY_MS, floorToMonth, HOUR_MS } from '../../src/core/time.ts';
import type { AlertFacts } from '../../src/rating/alerts/facts.ts';
import { readingsOf } from '../../src/rating/alerts/readings.ts';
import { type AlertStates, advance } from '../../src/rating/alerts/states.ts';
import { alertOf, grantOf, NO_FACTS, NO_FILTERS } from '../support/alert-cases.ts';
import { runs } from '../support/shares-of-tests.ts';

const UNITS = [USD_CENTS.id, 'euro'];
const REGIONS = ['eu', 'us'];

interface World {
  now: number;
  readonly uses: { at: number; unit: string; region: string; cost: number }[];
  /** The amounts left of commits. */
  readonly commits: { unit: string; left: number; granted: number; end: number; isArchived: boolean }[];
}

type Step =
  | { readonly do: 'use'; readonly unit: number; readonly region: number; readonly cost: number }
  | { readonly do: 'buy'; readonly unit: number; readonly amount: number; readonly days: number }
  | { readonly do: 'edit'; readonly which: number; readonly left: number }
  | { readonly do: 'archive'; readonly which: number }
  | { readonly do: 'wait'; readonly hours: number }
  | { readonly do: 'reset' };

const unit = fc.nat({ max: 1 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('use'),
      unit,
      region: fc.nat({ max: 1 }),
      cost: fc.nat({ max: 6 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('buy'),
      unit,
      amount: fc.nat({ max: 12 }),
      days: fc.integer({ min: 1, max: 60 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('edit'), which: fc.nat({ max: 4 }), left: fc.nat({ max: 12 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('archive'), which: fc.nat({ max: 4 }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('wait'), hours: fc.integer({ min: 1, max: 500 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reset') }) },
);

const alert: fc.Arbitrary<Alert> = fc
  .record({
    type: fc.constantFrom(
      'spend_threshold_reached' as const,
      'low_remaining_commit_balance_reached' as const,
      'low_remaining_days_for_commit_segment_reached' as const,
    ),
    threshold: fc.nat({ max: 10 }),
    unit,
    evaluateOnCreate: fc.boolean(),
    byRegion: fc.boolean(),
  })
  .map(({ type, threshold, byRegion, ...of }) => {
    const isKeyed = byRegion && type === 'spend_threshold_reached';
    const groupValues = isKeyed ? [{ key: 'region', value: null }] : [];
    return alertOf(type, String(threshold), {
      creditTypeId: UNITS[of.unit] ?? '',
      evaluateOnCreate: of.evaluateOnCreate,
      filters: { ...NO_FILTERS, groupValues },
    });
  });

function change(world: World, step: Step): void {
  const commit = 'which' in step ? world.commits[step.which] : undefined;
  if (step.do === 'wait') world.now += step.hours * HOUR_MS;
  if (step.do === 'use') {
    world.uses.push({
      at: world.now,
      unit: UNITS[step.unit] ?? '',
      region: REGIONS[step.region] ?? '',
      cost: step.cost,
    });
  }
  if (step.do === 'buy') {
    const end = world.now + step.days * DAY_MS;
    const { amount } = step;
    world.commits.push({
      unit: UNITS[step.unit] ?? '',
      left: amount,
      granted: amount,
      end,
      isArchived: false,
    });
  }
  if (step.do === 'edit' && commit !== undefined) commit.left = step.left;
  if (step.do === 'archive' && commit !== undefined) commit.isArchived = true;
}

/** The facts that the service gives to its rules. */
function factsOf({ now, uses, commits }: World): AlertFacts {
  const start = floorToMonth(now);
  const charges = uses
    .filter(({ at }) => at >= start)
    .map(({ unit: creditTypeId, region, cost }) => ({
      creditTypeId,
      groups: { region },
      total: decimal(String(cost)),
    }));
  const grants = commits.flatMap(({ unit: creditTypeId, left, granted, end, isArchived }, index) => {
    const segment = {
      id: `s${index}`,
      remaining: decimal(String(left)),
      granted: decimal(String(granted)),
      endingBefore: end,
    };
    return isArchived
      ? []
      : [grantOf(`c${index}`, '0', { creditTypeId, segments: end > now ? [segment] : [] })];
  });
  const invoice = {
    id: 'draft',
    type: 'USAGE' as const,
    contractFields: {},
    currentSince: start,
    totals: new Map(),
    charges,
  };
  return { ...NO_FACTS, grants, invoices: [invoice] };
}

/** By name of the alarm; null: there is nothing to compare. */
function naiveValues(world: World, alert: Alert): Map<string, number | null> {
  const own = world.commits.filter((one) => one.unit === alert.creditTypeId && !one.isArchived);
  const open = own.filter(({ end }) => end > world.now);
  if (alert.type === 'spend_threshold_reached') {
    const spent = (region: string | null) =>
      world.uses
        .filter((use) => use.unit === alert.creditTypeId && (region === null || use.region === region))
        .filter(
          ({ at }) =>
            new Date(at).toISOString().slice(0, 7) === new Date(world.now).toISOString().slice(0, 7),
        )
        .reduce((total, { cost }) => total + cost, 0);
    const hasUsed = (region: string) =>
      world.uses.some(
        (use) =>
          use.unit === alert.creditTypeId && use.region === region && use.at >= floorToMonth(world.now),
      );
    if (alert.filters.groupValues.length === 0) return new Map([['', spent(null)]]);
    return new Map(REGIONS.map((region) => [`=${region}`, hasUsed(region) ? spent(region) : null]));
  }
  if (alert.type === 'low_remaining_commit_balance_reached') {
    return new Map([['', own.length === 0 ? null : open.reduce((total, { left }) => total + left, 0)]]);
  }
  return new Map(
    world.commits.map((one, index) => {
      const days = open.includes(one) ? Math.ceil((one.end - world.now) / DAY_MS) : null;
      return [`s${index}`, days];
    }),
  );
}

/** One switch for each alarm, thrown by hand. */
class NaiveAlarms {
  readonly #alert: Alert;
  readonly #on = new Map<string, { told: boolean; month: string }>();
  #isFirst = true;
  constructor(alert: Alert) {
    this.#alert = alert;
  }
  reset(): void {
    this.#on.clear();
  }
  get isOn(): boolean {
    return this.#on.size > 0;
  }
  evaluate(world: World): string[] {
    const told: string[] = [];
    const month = new Date(world.now).toISOString().slice(0, 7);
    const isSpend = this.#alert.type === 'spend_threshold_reached';
    const isQuiet = this.#isFirst && !this.#alert.evaluateOnCreate;
    for (const [name, found] of naiveValues(world, this.#alert)) {
      const limit = Number(this.#alert.threshold.toFixed());
      const isPast = found !== null && (firesAtLeast(this.#alert.type) ? found >= limit : found <= limit);
      const on = this.#on.get(name);
      if (on !== undefined && (!isPast || (isSpend && on.month !== month))) {
        this.#on.delete(name);
        // A group without usage has spent nothing; a commit or segment that is gone has no value.
        const value = found === null && isSpend ? 0 : found;
        if (on.told && value !== null) told.push(`resolved ${name} ${value}`);
      }
      if (isPast && !this.#on.has(name)) {
        this.#on.set(name, { told: !isQuiet, month });
        if (!isQuiet) told.push(`reached ${name} ${found}`);
      }
    }
    this.#isFirst = false;
    return told.toSorted();
  }
}

test('alerts tell what a switch for each alarm would tell, over usage, edits and months', () => {
  fc.assert(
    fc.property(alert, fc.array(step, { maxLength: 40 }), (alert, steps) => {
      const world: World = { now: Date.UTC(2026, 10, 20), uses: [], commits: [] };
      const naive = new NaiveAlarms(alert);
      let states: AlertStates = new Map();
      for (const one of steps) {
        if (one.do === 'reset') {
          naive.reset();
          states = new Map(
            states.size === 0 ? [] : [['', { state: 'evaluating', isTold: false, since: null }]],
          );
        } else change(world, one);
        const readings = readingsOf(alert, factsOf(world), world.now) ?? [];
        const next = advance(alert, states, readings, false);
        const told = next.turns.map(
          ({ kind, reading }) => `${kind} ${reading.target} ${reading.value.toFixed()}`,
        );
        expect(told.toSorted()).toEqual(naive.evaluate(world));
        expect(next.states.get('')?.state).toBe(naive.isOn ? 'in_alarm' : 'ok');
        // An evaluation of the same facts changes nothing.
        expect(advance(alert, next.states, readings, false).turns).toEqual([]);
        states = next.states;
      }
    }),
    { numRuns: runs(600) },
  );
});
