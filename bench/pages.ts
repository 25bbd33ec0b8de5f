/**
 * `POST /v1/usage/groups` page by page through up to 100,000 groups of a million events. Beside it in the same run: all groups
 * in one query by hand, which is what they cost once.
 */
import { z } from 'zod';
import { type InProcessService, startInProcessService } from './in-process-service.ts';
import { millisecondsOf, table } from './report.ts';

const EVENTS = 1_000_000;
const PAGE = 100;
const GROUPS = [1_000, 10_000, 100_000] as const;
const START = '2026-11-01T00:00:00Z';
const END = '2026-12-01T00:00:00Z';

const page = z.object({ data: z.array(z.unknown()), next_page: z.string().nullable() });

export async function benchPages(): Promise<string> {
  const service = await startInProcessService();
  try {
    const rows: string[][] = [];
    let first: number | undefined;
    for (const groups of GROUPS) {
      const asked = await askedOf(service, groups);
      const { ms, pages } = await paged(service, asked);
      const byHand = await millisecondsOf(() =>
        service.clickhouse.queryBytes({
          sql: `SELECT properties['user'] AS u, sum(toDecimal128(properties['tokens'], 12)) FROM usage_events FINAL
            WHERE customer_ref = 'of-${groups}' GROUP BY u ORDER BY u FORMAT TSV`,
        }),
      );
      first ??= ms;
      rows.push([
        groups.toLocaleString('en-US'),
        String(pages),
        ms.toFixed(0),
        byHand.toFixed(0),
        (ms / byHand).toFixed(1),
        (groups / GROUPS[0]).toFixed(0),
        (ms / first).toFixed(2),
      ]);
    }
    return `groups of ${EVENTS.toLocaleString('en-US')} events, ${PAGE} a page (target 2,000 ms for 10,000)\n\n${table(
      ['groups', 'pages', 'all pages, ms', 'once by hand, ms', 'ratio', 'times the groups', 'times the cost'],
      rows,
    )}`;
  } finally {
    await service.close();
  }
}

async function askedOf({ create, clickhouse }: InProcessService, groups: number): Promise<object> {
  const ref = `of-${groups}`;
  const customer = await create('/v1/customers', { name: ref, ingest_aliases: [ref] });
  const metric = await create('/v1/billable-metrics/create', {
    name: ref,
    aggregation_type: 'SUM',
    aggregation_key: 'tokens',
    property_filters: [
      { name: 'tokens', exists: true },
      { name: 'user', exists: true },
    ],
    group_keys: [['user']],
  });
  await clickhouse.command(`
    INSERT INTO usage_events (transaction_id, customer_ref, event_type, timestamp, properties, ingested_at, version,
                              id_hash_a, id_hash_b, id_hash_c)
    SELECT concat('${ref}-', toString(number)), '${ref}', 'call',
           toDateTime64('2026-11-01 00:00:00', 3, 'UTC') + toIntervalSecond(number % 2000000),
           map('tokens', toString(number % 4000), 'user', concat('user-', toString(cityHash64(number) % ${groups}))),
           now64(6), ${EVENTS} - number, rand(1), rand(2), rand(3)
    FROM numbers(${EVENTS})`);
  return {
    customer_id: customer,
    billable_metric_id: metric,
    window_size: 'NONE',
    starting_on: START,
    ending_before: END,
    group_key: ['user'],
  };
}

async function paged({ call }: InProcessService, asked: object): Promise<{ ms: number; pages: number }> {
  const start = performance.now();
  let cursor: string | null = null;
  let pages = 0;
  do {
    const query = new URLSearchParams({ limit: String(PAGE) });
    if (cursor !== null) query.set('next_page', cursor);
    const { next_page: next } = page.parse(await call('POST', `/v1/usage/groups?${query}`, asked));
    cursor = next;
    pages += 1;
  } while (cursor !== null);
  return { ms: performance.now() - start, pages };
}
