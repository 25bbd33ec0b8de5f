/** Corrected events count as if they had been sent that way, and as they were sent for readers of an earlier instant. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyCorrection, revertCorrection } from '../../src/billing/events/apply-correction.ts';
import { addToCorrection, createCorrection } from '../../src/billing/events/correction-sets.ts';
import { formatInstant } from '../../src/core/time.ts';
import { billingContext } from '../support/billing-context.ts';
import { clickhouseForFile, databaseForFile } from '../support/file-fixtures.ts';
import type { NaiveEvent } from '../support/naive/usage.ts';
import { naiveUsageSource } from '../support/naive/usage-source.ts';
import { runs } from '../support/shares-of-tests.ts';
import { storeEvents } from '../support/usage-events.ts';
import { answers, cutOf, question } from '../support/usage-questions.ts';
import { type UsageScenario, usageScenario } from '../support/usage-scenarios.ts';

const clickhouse = await clickhouseForFile();
const { db } = await databaseForFile();
const context = billingContext({ db, clickhouse });

interface Change {
  /** Which event, and of which other event an amended one gets members. */
  readonly of: number;
  readonly from: number;
  readonly kind: 'void' | 'customer' | 'time' | 'properties' | 'all';
}

const change: fc.Arbitrary<Change> = fc.record({
  of: fc.nat({ max: 59 }),
  from: fc.nat({ max: 59 }),
  kind: fc.constantFrom('void', 'customer', 'time', 'properties', 'all'),
});

/** A set that is applied, or the last standing one reverted. */
const step = fc.oneof(
  { weight: 3, arbitrary: fc.array(change, { minLength: 1, maxLength: 8 }) },
  { weight: 1, arbitrary: fc.constant('revert' as const) },
);

let drawn = 0;

/** The table has the events of other runs as well, and a set finds events by their ids. */
function withOwnNames({ events, customers }: UsageScenario): UsageScenario {
  drawn += 1;
  const own = (name: string) => `${drawn}-${name}`;
  return {
    events: events.map((event) => ({
      ...event,
      transactionId: own(event.transactionId),
      customerRef: own(event.customerRef),
    })),
    customers: customers.map(({ customerId, refs }) => ({
      customerId: own(customerId),
      refs: refs.map(own),
    })),
  };
}

/** One of the copies of each event, the one that counts. */
function firstCopies(events: readonly NaiveEvent[]): NaiveEvent[] {
  const byId = new Map<string, NaiveEvent>();
  for (const event of events) if (!byId.has(event.transactionId)) byId.set(event.transactionId, event);
  return [...byId.values()];
}

const MEMBERS: Readonly<Record<Change['kind'], readonly (keyof NaiveEvent)[]>> = {
  void: [],
  customer: ['customerRef'],
  time: ['timestamp'],
  properties: ['properties'],
  all: ['customerRef', 'eventType', 'timestamp', 'properties'],
};

class World {
  /** The event that counts, by id; null where it was taken back. */
  counting: ReadonlyMap<string, NaiveEvent | null>;
  readonly #sent: readonly NaiveEvent[];
  /** The latest contents, also of events that were taken back. */
  #contents: ReadonlyMap<string, NaiveEvent>;
  readonly #standing: {
    readonly id: string;
    readonly before: Pick<World, 'counting'>;
    readonly contents: World['contents'];
  }[] = [];

  constructor(sent: readonly NaiveEvent[]) {
    this.#sent = sent;
    this.#contents = new Map(sent.map((event) => [event.transactionId, event]));
    this.counting = this.#contents;
  }

  get contents() {
    return this.#contents;
  }

  get events(): NaiveEvent[] {
    return [...this.counting.values()].filter((event) => event !== null);
  }

  async apply(changes: readonly Change[]): Promise<void> {
    const chosen = new Map(changes.map((one) => [one.of % this.#sent.length, one]));
    const counting = new Map(this.counting);
    const contents = new Map(this.#contents);
    const voided: string[] = [];
    const amended: Parameters<typeof addToCorrection>[2]['amend'][number][] = [];
    for (const [index, { from, kind }] of chosen) {
      const id = this.#sent[index]?.transactionId ?? '';
      const known = contents.get(id);
      const other = this.#sent[from % this.#sent.length];
      if (known === undefined || other === undefined) throw new Error('an event is drawn');
      if (kind === 'void') {
        voided.push(id);
        counting.set(id, null);
        continue;
      }
      const given = Object.fromEntries(MEMBERS[kind].map((name) => [name, other[name]]));
      const next: NaiveEvent = { ...known, ...given };
      contents.set(id, next);
      counting.set(id, next);
      const has = (name: keyof NaiveEvent) => MEMBERS[kind].includes(name);
      amended.push({
        transactionId: id,
        customerId: has('customerRef') ? other.customerRef : undefined,
        eventType: has('eventType') ? other.eventType : undefined,
        timestamp: has('timestamp') ? formatInstant(other.timestamp) : undefined,
        propertiesJson: has('properties') ? JSON.stringify(other.properties) : undefined,
      });
    }
    const id = await createCorrection(context, { name: 'drawn', reason: 'drawn', createdBy: 'test' });
    await addToCorrection(context, id, { void: voided, amend: amended });
    await applyCorrection(context, id, 'test');
    this.#standing.push({ id, before: { counting: this.counting }, contents: this.#contents });
    this.counting = counting;
    this.#contents = contents;
  }

  /** Whether there was a set to revert. */
  async revertLast(): Promise<boolean> {
    const last = this.#standing.pop();
    if (last === undefined) return false;
    await revertCorrection(context, last.id, 'test');
    this.counting = last.before.counting;
    this.#contents = last.contents;
    return true;
  }
}

describe('corrections of events', () => {
  it('corrections of events count as if the corrected events had been sent, at each instant those of its sets', async () => {
    await fc.assert(
      fc.asyncProperty(
        usageScenario,
        fc.array(step, { minLength: 1, maxLength: 4 }),
        fc.array(question, { minLength: 1, maxLength: 2 }),
        async (drawnScenario, steps, asked) => {
          const scenario = withOwnNames(drawnScenario);
          await storeEvents(clickhouse, scenario.events);
          const world = new World(firstCopies(scenario.events));
          const moments: { readonly upTo: string; readonly events: readonly NaiveEvent[] }[] = [];
          for (const one of steps) {
            const isChanged =
              one === 'revert' ? await world.revertLast() : await world.apply(one).then(() => true);
            await context.corrections.refresh();
            if (isChanged)
              moments.push({ upTo: String(context.corrections.lastTick()), events: world.events });
          }
          for (const one of asked) {
            const cut = cutOf(scenario.events, one);
            const as = { hasLast: false, ingestedUpTo: cut };
            // Before the first set is applied, events count as they were sent.
            const naive = naiveUsageSource(() => (cut === null ? world.events : scenario.events));
            const [now, expectedNow] = [
              await answers(context.usageSource, scenario, one, as),
              await answers(naive, scenario, one, as),
            ];
            // References of any version are a hint. Names are the current ones, whatever is counted.
            expect(now.present).toEqual(expect.arrayContaining(one.isCut ? [] : expectedNow.present));
            const names = one.isCut ? now.names : expectedNow.names;
            expect(now).toEqual({ ...expectedNow, names, present: now.present });
            for (const { upTo, events } of moments) {
              const then = { hasLast: false, ingestedUpTo: upTo };
              const [found, expected] = [
                await answers(context.usageSource, scenario, one, then),
                await answers(
                  naiveUsageSource(() => events),
                  scenario,
                  one,
                  then,
                ),
              ];
              expect({ ...found, names: [], present: [] }).toEqual({ ...expected, names: [], present: [] });
            }
          }
        },
      ),
      { numRuns: runs(30) },
    );
  });
});
