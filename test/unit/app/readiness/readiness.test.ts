import { describe, expect, it } from 'vitest';
import { readiness } from '../../../../src/app/readiness/readiness.ts';

const watch = { problems: () => [], check: async () => {} } as unknown as Parameters<
  typeof readiness
>[0]['watch'];
const answers = async () => {};
const stores = { pingPostgres: answers, clickhouse: { ping: answers } };

const room = { shortage: async () => null };
const index = { isBuilt: () => true, build: answers };

describe('readiness', () => {
  it('readiness is there when the stores answer, nothing is missing and there is room', async () => {
    expect(await readiness({ stores, watch, index, room })).toEqual({
      ready: true,
      checks: { postgresql: true, clickhouse: true, data: true, disk: true },
      problems: [],
    });
  });

  it('readiness is answered in time although a store does not answer', async () => {
    const silent = { ...stores, clickhouse: { ping: () => new Promise<void>(() => {}) } };
    expect(await readiness({ stores: silent, watch, index, room })).toEqual({
      ready: false,
      checks: { postgresql: true, clickhouse: false, data: true, disk: true },
      problems: ['ClickHouse does not answer'],
    });
  });

  it('readiness is missing where a store is gone, or its directory cannot be written', async () => {
    const gone = { ...stores, pingPostgres: () => Promise.reject(new Error('gone')) };
    const lost = { shortage: () => Promise.reject(new Error('gone')) };
    expect(await readiness({ stores: gone, watch, index, room: lost })).toEqual({
      ready: false,
      checks: { postgresql: false, clickhouse: true, data: true, disk: false },
      problems: ['PostgreSQL does not answer', 'the disk of DATA_DIR does not answer'],
    });
  });

  it('readiness is missing until the ids of stored events are known, because no event is taken before', async () => {
    const building = { ...index, isBuilt: () => false };
    expect(await readiness({ stores, watch, index: building, room })).toMatchObject({
      ready: false,
      checks: { data: false },
      problems: ['the index of known events is being built'],
    });
  });
});
