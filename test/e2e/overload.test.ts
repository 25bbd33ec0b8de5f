/**
 * More connections than the service can serve, which send again a few milliseconds after a refusal: the same events or
 * others in their place, or they hang up, or repeat events that are stored. At every moment: what was acknowledged ≤ what
 * is counted ≤ what was sent, and each id counts once.
 *
 * `npm run test:long` has 3,900 connections and bodies of 50 KB. Otherwise fewer connections send larger bodies, so that
 * the same limit is met: of all bodies.
 */
import { afterEach, expect, inject, it } from 'vitest';
import { type Program, runProgram } from '../support/child-process.ts';
import { createDataDirectory } from '../support/data-directory.ts';
import type { Overload, OverloadOptions } from '../support/overload/overload.ts';

const TOKEN = 'given-to-the-process';
/** The bodies of all requests take too much memory, or as many events wait as may. A slow machine meets only one of both. */
const REFUSALS = ['Too many request bodies', 'too many events are waiting'];
const FULL = { connections: 3_900, textLength: 400, secondsMin: 20, refusals: REFUSALS };
const SMALLER = { connections: 400, textLength: 4_500, secondsMin: 3, refusals: REFUSALS };
const BEFORE = 1_000;
const PER_REQUEST = 100;

let running: Program | undefined;
afterEach(async () => {
  running?.child.kill('SIGKILL');
  await running?.ended;
});

interface Service {
  readonly program: Program;
  readonly url: URL;
  post(path: string, body: unknown): Promise<{ status: number; data: unknown }>;
}

async function start(dataDir: string, settings: Record<string, string>): Promise<Service> {
  const env = { PORT: '0', DATA_DIR: dataDir, API_TOKEN: TOKEN, RATE_LIMIT_INGEST: '0', ...settings };
  const program = runProgram('src/main.ts', [], env);
  running = program;
  await program.said('is ready at');
  const url = new URL(/ready at (\S+)/.exec(program.stdout())?.[1] ?? '');
  return {
    ...{ program, url },
    async post(path, body) {
      const response = await fetch(new URL(path, url), {
        method: 'POST',
        headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      const { data } = (await response.json()) as { data: unknown };
      return { status: response.status, data };
    },
  };
}

const METRIC = {
  event_type_filter: { in_values: ['call'] },
  property_filters: [{ name: 'n', exists: true }],
};

async function createdIn({ post }: Service) {
  const idOf = async (path: string, body: object) => ((await post(path, body)).data as { id: string }).id;
  const create = (body: object) => idOf('/v1/billable-metrics/create', { ...METRIC, ...body });
  return {
    customer: { id: await idOf('/v1/customers', { name: 'Busy', ingest_aliases: ['busy'] }), alias: 'busy' },
    metrics: {
      all: await create({ name: 'all', aggregation_type: 'COUNT' }),
      each: await create({ name: 'each', aggregation_type: 'UNIQUE', aggregation_key: 'n' }),
    },
  };
}

type Created = Awaited<ReturnType<typeof createdIn>>;

async function countIn({ post }: Service, { customer, metrics }: Created) {
  const day = 86_400_000;
  const today = Math.floor(Date.now() / day) * day;
  const count = async (billable_metric_id: string) => {
    const { data } = await post('/v1/usage/groups', {
      ...{ customer_id: customer.id, billable_metric_id, window_size: 'NONE' },
      starting_on: new Date(today - 2 * day).toISOString(),
      ending_before: new Date(today + 2 * day).toISOString(),
    });
    return (data as { value: number }[])[0]?.value ?? 0;
  };
  return { all: await count(metrics.all), each: await count(metrics.each) };
}

/** Figures that are more than 0 where ids are in files and repeats were looked up. */
const OF_FILES = [
  'tallyhouse_known_transaction_ids{tier="recent"}',
  'tallyhouse_known_transaction_ids{tier="filtered"}',
  'tallyhouse_known_transaction_ids_bytes{tier="recent"}',
  'tallyhouse_known_transaction_ids_bytes{tier="filtered"}',
  'tallyhouse_known_id_lookups_total{result="known"}',
  'tallyhouse_known_id_lookup_seconds_count',
];

const sameOfBoth = (count: number) => ({ all: count, each: count });

function eventsBefore(from: number) {
  return Array.from({ length: PER_REQUEST }, (_, i) => ({
    ...{ transaction_id: `before-${from + i}`, customer_id: 'busy', event_type: 'call' },
    timestamp: new Date().toISOString(),
    properties: { n: `before-${from + i}` },
  }));
}

it.each([
  { ids: 'all known ids in memory', settings: {}, measured: [] },
  { ids: 'most known ids in files', settings: { KNOWN_IDS_RECENT: '5000' }, measured: OF_FILES },
])(
  'the overloaded service counts at least what was acknowledged and at most what was sent, each id once: before, in and after overload, and after a restart; $ids',
  async ({ settings, measured }) => {
    const dataDir = await createDataDirectory();
    const service = await start(dataDir, settings);
    const created = await createdIn(service);
    for (let sent = 0; sent < BEFORE; sent += PER_REQUEST)
      expect((await service.post('/v1/ingest', eventsBefore(sent))).status).toBe(200);
    expect(await countIn(service, created)).toEqual(sameOfBoth(BEFORE));

    const size = inject('isThorough') ? FULL : SMALLER;
    const { hostname: host, port } = service.url;
    const options: OverloadOptions = {
      ...size,
      ...{ host, port: Number(port), token: TOKEN, run: 'busy', eventsPerRequest: PER_REQUEST },
      ...{ secondsMax: 120, countedBefore: BEFORE, ...created },
    };
    const sender = runProgram('test/support/programs/send-too-much.ts', [JSON.stringify(options)]);
    expect(await sender.ended, sender.stderr()).toBe(0);
    const load = JSON.parse(sender.stdout()) as Overload;
    expect(load.wrong).toEqual([]);
    const refused = Object.keys(load.refused);
    expect(refused.filter((each) => REFUSALS.some((refusal) => each.includes(refusal)))).not.toEqual([]);
    expect(Math.min(load.hungUp, load.looks)).toBeGreaterThan(0);
    // Refused clients get an answer. Connections that were hung up count until that is seen, and there are 4,000 at
    // most.
    if (size === SMALLER) expect(load.cutOff).toEqual({});
    expect(load.after.each).toBe(load.after.all);
    expect(load.after.all).toBeGreaterThanOrEqual(BEFORE + load.acknowledged);
    // 429 and 408 store nothing: sent again, all of it is taken.
    expect(load.refusedAgain.taken).toBe(load.refusedAgain.sent);
    expect(load.refusedAgain.sent).toBeGreaterThan(0);
    // Events without an answer are taken exactly if they were not counted before.
    const taken = load.refusedAgain.taken + load.unsureAgain.taken;
    expect(load.after.all + taken).toBe(BEFORE + load.sent);
    expect(load.end).toEqual(sameOfBoth(BEFORE + load.sent));

    // The oldest ids, which are in files if any are.
    expect((await service.post('/v1/ingest', eventsBefore(0))).status).toBe(200);
    const measures = await (await fetch(new URL('/metrics', service.url))).text();
    for (const name of measured)
      expect(Number(measures.split(`\n${name} `)[1]?.split('\n')[0]), name).toBeGreaterThan(0);

    service.program.child.kill('SIGTERM');
    expect(await service.program.ended).toBe(0);
    const again = await start(dataDir, settings);
    expect(await countIn(again, created)).toEqual(sameOfBoth(BEFORE + load.sent));
    again.program.child.kill('SIGTERM');
    expect(await again.program.ended).toBe(0);
  },
);
