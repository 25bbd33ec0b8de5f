import { describe, expect, test } from 'vitest';
import { failureReason, MigrationError, pendingMigrations } from '../../../src/core/migrations.ts';

const [first, second, third] = ['0000_first', '0001_second', '0002_third'].map((name) => ({
  name,
  checksum: `of ${name}`,
})) as [
  { name: string; checksum: string },
  { name: string; checksum: string },
  { name: string; checksum: string },
];
const known = [first, second, third];

describe('pending migrations', () => {
  test.each([
    [[], known],
    [[first], [second, third]],
    [known, []],
  ])('pending migrations after %j are %j', (applied, pending) => {
    expect(pendingMigrations('the store', known, applied)).toEqual(pending);
  });

  test('pending migrations are refused where the store has one that is not known: its data is newer', () => {
    const look = () => pendingMigrations('the store', [first], [first, second]);
    expect(look).toThrow(MigrationError);
    expect(look).toThrow(
      /^the store has the migration 0001_second, which this version of tallyhouse does not know/,
    );
  });

  test('pending migrations are refused where one was changed after it was applied', () => {
    const look = () => pendingMigrations('the store', known, [{ ...first, checksum: 'other' }]);
    expect(look).toThrow(/^migration 0000_first was applied to the store with another text/);
  });

  test('pending migrations are refused where one would come too late', () => {
    const look = () => pendingMigrations('the store', known, [first, third]);
    expect(look).toThrow(/^migration 0001_second comes before 0002_third, which the store has already/);
  });
});

test('the reason of a failure is that of its cause, on one line', () => {
  const cause = new Error('column "a"\n  does not exist');
  expect(failureReason(new Error('Failed query: select a\nparams: ', { cause }))).toBe(
    'column "a" does not exist',
  );
  expect(failureReason('text')).toBe('text');
});
