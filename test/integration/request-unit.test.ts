import { eq, sql } from 'drizzle-orm';
import { beforeEach, describe, expect, it } from 'vitest';
import { inSnapshot, type Transaction } from '../../src/store/base/database.ts';
import { afterCommit, openUnit } from '../../src/store/base/request-unit.ts';
import { creditTypes } from '../../src/store/credit-types/credit-types.tables.ts';
import { databaseForFile } from '../support/file-fixtures.ts';

const { db } = await databaseForFile();

beforeEach(async () => {
  await db.delete(creditTypes);
});

const add = (name: string) => async (tx: Transaction) => {
  const id = crypto.randomUUID();
  await tx.insert(creditTypes).values({ id, name, createdAt: 0 });
};
const names = async () => (await db.select().from(creditTypes)).map(({ name }) => name).sort();

describe('a unit', () => {
  it('commits what a request writes together with the record of the request', async () => {
    const unit = openUnit(db);
    await unit.run(() => db.transaction(add('change')));
    expect(await names()).toEqual([]);
    await unit.commit(add('record'));
    expect(await names()).toEqual(['change', 'record']);
  });

  it('commits neither where the record cannot be written', async () => {
    const unit = openUnit(db);
    await unit.run(() => db.transaction(add('change')));
    await expect(
      unit.commit(async (tx) => {
        await add('record')(tx);
        await tx.execute(sql`select 1 / 0`);
      }),
    ).rejects.toThrow();
    expect(await names()).toEqual([]);
  });

  it('a unit lets the request read what it has written, in snapshots too', async () => {
    const unit = openUnit(db);
    const read = await unit.run(async () => {
      await db.transaction(add('change'));
      const inside = await inSnapshot(db, (tx) => tx.select().from(creditTypes));
      return [(await names()).length, inside.length];
    });
    expect(read).toEqual([1, 1]);
    await unit.commit(async () => {});
  });

  it('a unit rolls everything back', async () => {
    const unit = openUnit(db);
    await unit.run(() => db.transaction(add('change')));
    await unit.rollBack();
    expect(await names()).toEqual([]);
  });

  it('a unit passes the failure of a transaction on, and can record that', async () => {
    const unit = openUnit(db);
    const failure = unit.run(() =>
      db.transaction(async (tx) => {
        await add('change')(tx);
        throw new Error('refused');
      }),
    );
    await expect(failure).rejects.toThrow('refused');
    await unit.rollBack();
    await unit.commit(add('record'));
    expect(await names()).toEqual(['record']);
  });

  it('undoes a later transaction of the request that fails, and keeps the first', async () => {
    const unit = openUnit(db);
    await unit.run(async () => {
      await db.transaction(add('first'));
      const second = db.transaction(async (tx) => {
        await add('second')(tx);
        await add('first')(tx);
      });
      await expect(second).rejects.toThrow();
      await db.transaction(add('third'));
    });
    await unit.commit(add('record'));
    expect(await names()).toEqual(['first', 'record', 'third']);
  });

  it('a unit keeps requests at the same time apart', async () => {
    await Promise.all(
      Array.from({ length: 30 }, async (_, index) => {
        const unit = openUnit(db);
        await unit.run(() => db.transaction(add(`change ${index}`)));
        if (index % 2 === 0) await unit.rollBack();
        else await unit.commit(add(`record ${index}`));
      }),
    );
    expect(await names()).toHaveLength(30);
  });

  it('calls what waits for the commit after it, and only then', async () => {
    const seen: string[] = [];
    const unit = openUnit(db);
    await unit.run(async () => {
      await db.transaction(add('change'));
      afterCommit(() => seen.push('committed'));
    });
    expect(seen).toEqual([]);
    await unit.commit(async () => {});
    afterCommit(() => seen.push('outside'));
    expect(seen).toEqual(['committed', 'outside']);
  });

  it('a unit writes the record alone where the request wrote nothing', async () => {
    const unit = openUnit(db);
    await unit.run(async () => undefined);
    await unit.commit(add('record'));
    expect((await db.select().from(creditTypes).where(eq(creditTypes.name, 'record'))).length).toBe(1);
  });
});
