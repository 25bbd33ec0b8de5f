import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, it } from 'vitest';
import {
  createKeptMetrics,
  createMetricReader,
  type MetricReader,
} from '../../../../src/metering/sql/read/metric-reader.ts';
import { readSqlMetric } from '../../../../src/metering/sql/read/read-metric.ts';

/**
 * No query is known that takes too long to read, so the thread of these tests reads words: some never end,
 * all memory, or the thread with them. To all others it says how many it has answered.
 */
const HOSTILE_THREAD = `
  const { parentPort } = require('node:worker_threads');
  let answered = 0;
  parentPort.on('message', ({ sql: word }) => {
    if (word === 'for ever') for (;;);
    if (word === 'all memory') for (const all = []; ; ) all.push(new Array(10_000).fill({}));
    if (word === 'throws') throw new Error('a fault of ours');
    if (word === 'ends') process.exit(0);
    answered += 1;
    parentPort.postMessage({ kind: 'refused', problem: 'answer ' + answered });
  });
  parentPort.postMessage({ kind: 'ready' });
`;
const LIMITS = { timeMs: 20_000, memoryMebibytes: 32, waitingMax: 3 };
/** A thread that never answers is ended by these; a laden machine needs some of the time to answer the others. */
const HASTY = { ...LIMITS, timeMs: 1_000 };

let reader: MetricReader;
let threads: number;
afterEach(() => reader.close());

function startHostile(limits = LIMITS): void {
  threads = 0;
  reader = createMetricReader(limits, ({ memoryMebibytes }) => {
    threads += 1;
    return new Worker(HOSTILE_THREAD, {
      eval: true,
      resourceLimits: { maxOldGenerationSizeMb: memoryMebibytes },
    });
  });
}

const problem = (sql: string) => reader.read(sql).catch((error: unknown) => String(error));

describe('the thread that reads queries', () => {
  it.each([
    ['for ever', 'Refusal: sql: the query takes longer than 1 s to read'],
    ['all memory', 'Refusal: sql: the query needs too much memory to read'],
  ])(
    'the thread that reads queries is ended by a text that takes %s, at the cost of who sent it',
    async (word, message) => {
      startHostile(word === 'for ever' ? HASTY : LIMITS);
      expect(await problem('first')).toBe('Refusal: sql: answer 1');
      const [hostile, next] = await Promise.all([problem(word), problem('second')]);
      expect(hostile).toBe(message);
      expect(next).toBe('Refusal: sql: answer 1');
      expect(threads).toBe(2);
    },
  );

  it('the thread that reads queries leaves this thread free while it is busy', async () => {
    startHostile(HASTY);
    let isAnswered = false;
    const answer = problem('for ever').then(() => {
      isAnswered = true;
    });
    let turns = 0;
    while (!isAnswered) {
      await new Promise((resolve) => setImmediate(resolve));
      turns += 1;
    }
    await answer;
    expect(turns).toBeGreaterThan(100);
  });

  it.each(['throws', 'ends'])('the thread that reads queries is replaced when it %s', async (word) => {
    startHostile();
    expect(await problem(word)).toMatch(
      /^Error: (?:a fault of ours|the thread that reads queries has ended)$/,
    );
    expect(await problem('next')).toBe('Refusal: sql: answer 1');
  });

  it('the thread that reads queries takes so many texts and no more, and one that several ask for once', async () => {
    startHostile();
    const answers = await Promise.all(['a', 'a', 'b', 'c', 'd'].map(problem));
    expect(answers).toEqual([
      ...[
        'Refusal: sql: answer 1',
        'Refusal: sql: answer 1',
        'Refusal: sql: answer 2',
        'Refusal: sql: answer 3',
      ],
      'Refusal: too many queries wait to be read, try again later',
    ]);
  });
});

describe('a definition', () => {
  const sql = "SELECT SUM(properties.a) AS value, properties.b FROM events WHERE event_type = 'x' GROUP BY b";

  it('a definition is the same read on the thread as read here, and is read once', async () => {
    reader = createMetricReader();
    const metric = await reader.read(sql);
    expect(metric).toEqual(readSqlMetric(sql));
    expect(await reader.read(sql)).toBe(metric);
  });

  it('a definition that is refused is refused in the same words, each time', async () => {
    reader = createMetricReader();
    for (const _ of [1, 2]) {
      await expect(reader.read('SELECT COUNT(*) FROM users')).rejects.toMatchObject({
        name: 'Refusal',
        kind: 'invalid',
        message: 'sql: line 1, column 22: the table users is not available; the only table is events',
      });
    }
  });

  it('a definition is kept until others that were used later fill the space', () => {
    const [a, b, c] = ['a', 'b', 'c'].map((name) =>
      readSqlMetric(`SELECT SUM(properties.${name}) FROM events`),
    );
    if (a === undefined || b === undefined || c === undefined) throw new Error('there are three');
    const { sql, query } = a;
    const size = sql.length + query.whole.from.length + query.windows.from.length + query.hours.from.length;
    const kept = createKeptMetrics(2 * size);
    for (const metric of [a, b, b]) kept.set(metric.sql, metric);
    expect(kept.get(a.sql)).toBe(a);
    kept.set(c.sql, c);
    expect([a, b, c].map((metric) => kept.get(metric.sql))).toEqual([a, undefined, c]);
  });
});
