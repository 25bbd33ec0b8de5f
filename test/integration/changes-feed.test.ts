/** The feed of changed customers loses none, also where PostgreSQL does not answer in the middle of it. */
import { expect, test } from 'vitest';
import { newId } from '../../src/core/ids.ts';
import { createChangesFeed } from '../../src/jobs/evaluations/changes-feed.ts';
import type { Database } from '../../src/store/base/database.ts';
import { noteCustomerChanges } from '../../src/store/customers/customer-changes.ts';
import { databaseForFile } from '../support/file-fixtures.ts';

const { db } = await databaseForFile();

/** The same database, of which the reads that are named by their number fail. */
function failingAt(...reads: readonly number[]): Database {
  let count = 0;
  return new Proxy(db, {
    get(target, name) {
      if (name !== 'select') return Reflect.get(target, name, target);
      count += 1;
      if (reads.includes(count)) throw new Error('the connection is lost');
      return target.select.bind(target);
    },
  });
}

const note = (ids: readonly string[]) => db.transaction((tx) => noteCustomerChanges(tx, ids));
const customers = (count: number) => Array.from({ length: count }, () => newId());

test('each changed customer is listed once, and earlier changes are skipped', async () => {
  const [before, first, second] = [customers(3), customers(5), customers(2)];
  await note(before);
  const feed = createChangesFeed(db);
  await feed.skip();
  expect(await feed.next()).toEqual([]);
  await note(first);
  await note(first);
  expect((await feed.next()).toSorted()).toEqual(first.toSorted());
  await note(second);
  expect((await feed.next()).toSorted()).toEqual(second.toSorted());
  expect(await feed.next()).toEqual([]);
});

test('customers of a page that was read come with the next call if a later page fails', async () => {
  // Two reads to skip, then three pages.
  const feed = createChangesFeed(failingAt(4));
  await feed.skip();
  const changed = customers(2_500);
  await note(changed);
  await expect(feed.next()).rejects.toThrow('the connection is lost');
  expect((await feed.next()).toSorted()).toEqual(changed.toSorted());
  expect(await feed.next()).toEqual([]);
});
