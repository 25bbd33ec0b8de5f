import { expect, it } from 'vitest';
import {
  connectionsMaxFor,
  descriptorLimit,
  descriptorsOpen,
  lowLimitLine,
} from '../../../../src/app/http/file-descriptors.ts';
import { isStoreUnavailable } from '../../../../src/core/failures.ts';

it.each([
  [1_048_576, 100, 4_000],
  [Number.POSITIVE_INFINITY, 0, 4_000],
  [1_024, 124, 450],
  [256, 110, 73],
  [64, 60, 16],
])('with %i descriptors of which %i are open, %i connections are taken', (limit, open, connections) => {
  expect(connectionsMaxFor(limit, open)).toBe(connections);
});

it('a low limit is reported with its consequences, another one is not', () => {
  expect(lowLimitLine(1_024, 450)).toBeNull();
  expect(lowLimitLine(256, 73)).toMatch(/only 256 .* at most 73 connections .* allow 1024 or more/);
});

it('the limit and what is open are read from the system', async () => {
  const [limit, open] = [await descriptorLimit(), await descriptorsOpen()];
  expect(open).toBeGreaterThan(3);
  expect(limit).toBeGreaterThan(open);
});

it.each([
  Object.assign(new Error('connect EMFILE /run/.s.PGSQL.5432'), { code: 'EMFILE' }),
  Object.assign(new Error('open'), { code: 'ENFILE' }),
  Object.assign(new Error('Code: 76. Cannot open file x, errno: 24, strerror: Too many open files'), {
    ...{ code: '76', type: 'CANNOT_OPEN_FILE' },
  }),
  new Error('Failed query', { cause: Object.assign(new Error('socket'), { code: 'EMFILE' }) }),
])('%s is a store that cannot be opened now', (error) => {
  expect(isStoreUnavailable(error)).toBe(true);
});
