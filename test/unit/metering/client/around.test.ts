/** Hooks around a ClickHouse (src/metering/client/around.ts). */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { around, type ClickHouseCall, NO_EVENTS } from '../../../../src/metering/client/around.ts';
import type { ClickHouse } from '../../../../src/metering/client/clickhouse.ts';

/** Answers with the texts that it is asked, or fails. */
function engine({ failure = null as Error | null } = {}) {
  const asked: string[] = [];
  const ask = async (what: string) => {
    asked.push(what);
    if (failure !== null) throw failure;
  };
  const clickhouse: ClickHouse = {
    query: async ({ sql, lane, schema }) => {
      await ask(`query ${sql} ${lane}`);
      return [schema.parse(sql)];
    },
    queryBytes: async ({ sql, lane }) => {
      await ask(`bytes ${sql} ${lane}`);
      return Buffer.from(sql);
    },
    async *queryStream({ sql, lane }) {
      yield Buffer.from('one');
      await ask(`stream ${sql} ${lane}`);
      yield Buffer.from('two');
    },
    command: (sql) => ask(`command ${sql}`),
    insertRows: ({ table }) => ask(`insert ${table}`),
    ping: async () => {},
    laneFigures: () => new Map(),
    cancelQueries: async () => {},
    close: async () => {},
  };
  return { clickhouse, asked };
}

const INSERT = { table: 't', columns: [], rows: Buffer.alloc(0) };

async function collected(stream: AsyncIterable<Buffer>): Promise<string[]> {
  const pieces: string[] = [];
  for await (const piece of stream) pieces.push(String(piece));
  return pieces;
}

/** Asks in every way in which statements reach the engine. */
const EVERY_WAY: Readonly<Record<string, (clickhouse: ClickHouse) => Promise<unknown>>> = {
  query: (one) => one.query({ sql: 'a', schema: z.string() }),
  queryBytes: (one) => one.queryBytes({ sql: 'a' }),
  queryStream: (one) => collected(one.queryStream({ sql: 'a', format: 'Native' })),
  command: (one) => one.command('a', { eventsOf: NO_EVENTS }),
  insertRows: (one) => one.insertRows(INSERT),
};

describe('a hook around a ClickHouse', () => {
  it.each(Object.entries(EVERY_WAY))('a hook sees %s, its end and its result', async (_way, ask) => {
    const steps: string[] = [];
    const { clickhouse, asked } = engine();
    const hooked = around(clickhouse, {
      async run(call, work) {
        steps.push(`begin ${call.kind} after ${asked.length}`);
        const result = await work();
        steps.push(`end after ${asked.length}`);
        return result;
      },
    });
    expect(await ask(hooked)).toEqual(await ask(engine().clickhouse));
    expect(steps).toEqual([expect.stringMatching(/^begin (select|command|insert) after 0$/), 'end after 1']);
  });

  it.each(Object.entries(EVERY_WAY))('a hook that refuses %s keeps it from the engine', async (_way, ask) => {
    const { clickhouse, asked } = engine();
    const hooked = around(clickhouse, { run: () => Promise.reject(new Error('refused')) });
    await expect(ask(hooked)).rejects.toThrow('refused');
    expect(asked).toEqual([]);
  });

  it.each(Object.entries(EVERY_WAY))('a hook replaces the failure of %s', async (_way, ask) => {
    const { clickhouse } = engine({ failure: new Error('of the engine') });
    const hooked = around(clickhouse, {
      run: (_call, work) =>
        work().catch((error: unknown) => {
          throw new Error('replaced', { cause: error });
        }),
    });
    await expect(ask(hooked)).rejects.toThrow('replaced');
  });

  it('the statement that a hook changes is what hooks inside and the engine see', async () => {
    const seen: (ClickHouseCall & { kind: 'select' })[] = [];
    const { clickhouse, asked } = engine();
    const inner = around(clickhouse, {
      run(call, work) {
        if (call.kind === 'select') seen.push(call);
        return work();
      },
    });
    const hooked = around(inner, { change: (statement) => ({ ...statement, lane: 'reports' }) });
    for (const way of ['query', 'queryBytes', 'queryStream']) await EVERY_WAY[way]?.(hooked);
    expect(asked).toEqual(['query a reports', 'bytes a reports', 'stream a reports']);
    expect(seen.map(({ statement }) => statement.lane)).toEqual(['reports', 'reports', 'reports']);
  });

  it('a stream whose reader stops early ends the work of its hook', async () => {
    let isEnded = false;
    const { clickhouse, asked } = engine();
    const hooked = around(clickhouse, {
      async run(_call, work) {
        const result = await work();
        isEnded = true;
        return result;
      },
    });
    for await (const piece of hooked.queryStream({ sql: 'a', format: 'Native' })) {
      expect([String(piece), isEnded]).toEqual(['one', false]);
      break;
    }
    await Promise.resolve();
    expect([asked, isEnded]).toEqual([[], true]);
  });
});
