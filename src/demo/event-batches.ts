/** Events in batches for `/v1/ingest`: transaction ids assigned, counted in the demo's books, encoded once. */
import { formatInstant } from '../core/time.ts';
import type { DemoEvent, Scenario } from './scenario.ts';
import type { Tally } from './tally.ts';

/** The maximum of one ingest request. */
const EVENTS_PER_REQUEST = 100;

export interface EventBatch {
  readonly body: Buffer;
  readonly events: number;
}

/** Only one batch a connection is in memory at a time. `runId` keeps the transaction ids of several runs apart. */
export async function* eventBatches(
  scenario: Scenario,
  events: Iterable<DemoEvent> | AsyncIterable<DemoEvent>,
  tally: Tally,
  runId: string,
): AsyncGenerator<EventBatch> {
  let sequence = 0;
  for await (const pack of packs(events)) {
    const rows = pack.map((event) => {
      tally.add(event);
      sequence++;
      return {
        transaction_id: `${runId}-${sequence}`,
        customer_id: scenario.customers[event.customer]?.alias,
        event_type: scenario.eventType,
        timestamp: formatInstant(event.timestamp),
        properties: event.properties,
      };
    });
    yield { body: Buffer.from(JSON.stringify(rows)), events: rows.length };
  }
}

/** An asynchronous step costs more than an event, so a synchronous source is not awaited event by event. */
function packs(events: Iterable<DemoEvent> | AsyncIterable<DemoEvent>) {
  return Symbol.asyncIterator in events ? asyncPacks(events) : syncPacks(events);
}

function* syncPacks(events: Iterable<DemoEvent>): Generator<readonly DemoEvent[]> {
  let pack: DemoEvent[] = [];
  for (const event of events) {
    if (pack.push(event) < EVENTS_PER_REQUEST) continue;
    yield pack;
    pack = [];
  }
  if (pack.length > 0) yield pack;
}

async function* asyncPacks(events: AsyncIterable<DemoEvent>): AsyncGenerator<readonly DemoEvent[]> {
  let pack: DemoEvent[] = [];
  for await (const event of events) {
    if (pack.push(event) < EVENTS_PER_REQUEST) continue;
    yield pack;
    pack = [];
  }
  if (pack.length > 0) yield pack;
}
