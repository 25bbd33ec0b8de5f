import { ClickHouseError } from '@clickhouse/client';
import { expect, test } from 'vitest';
import { reached } from '../../../../src/app/failures/store-failure.ts';

const POSTGRES = {
  store: 'PostgreSQL',
  variable: 'DATABASE_URL',
  url: 'postgres://me:s%26cret@db/x',
} as const;
const CLICKHOUSE = {
  store: 'ClickHouse',
  variable: 'CLICKHOUSE_URL',
  url: 'http://me:s3cret@ch:8123/x?analysis_password=0ther',
} as const;

const withCode = (code: string, message = code) => Object.assign(new Error(message), { code });

test.each([
  [
    POSTGRES,
    withCode('ECONNREFUSED'),
    'PostgreSQL of DATABASE_URL (db:5432) does not answer: connection refused',
  ],
  [
    POSTGRES,
    new Error('Failed query: select 1', { cause: withCode('28P01', 'password authentication failed') }),
    'PostgreSQL of DATABASE_URL (db:5432) refuses: user or password is refused',
  ],
  [
    POSTGRES,
    withCode('53300', 'too many clients\nalready'),
    'PostgreSQL of DATABASE_URL (db:5432) refuses: too many clients',
  ],
  [
    CLICKHOUSE,
    withCode('ENOTFOUND'),
    'ClickHouse of CLICKHOUSE_URL (ch:8123) does not answer: there is no such host',
  ],
  [
    CLICKHOUSE,
    new ClickHouseError({ message: 'me: not with s3cret, 0ther', code: '497', type: 'ACCESS_DENIED' }),
    'ClickHouse of CLICKHOUSE_URL (ch:8123) refuses: me: not with …, …',
  ],
])('a failure names variable, place and reason, and no password (%#)', async (where, error, line) => {
  const failure = reached(where, () => Promise.reject(error));
  await expect(failure).rejects.toMatchObject({ message: line });
});
