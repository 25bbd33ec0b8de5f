import { ClickHouseError } from '@clickhouse/client';
import { sql } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { failureFacts, isStoreUnavailable } from '../../../src/core/failures.ts';
import { createDatabase } from '../../../src/store/base/database.ts';

const postgresError = (code: string, message = 'm') =>
  Object.assign(new Error(message), { name: 'PostgresError', severity: 'ERROR', code });
const systemError = (code: string) => Object.assign(new Error(`connect ${code}`), { code });
const failedQuery = (cause: Error) =>
  Object.assign(new Error('Failed query: select $1\nparams: secret', { cause }), {
    query: 'select $1',
    params: ['secret'],
  });

describe('failureFacts', () => {
  it.each([
    ['a statement and its parameters', failedQuery(postgresError('22P02', 'invalid input: "secret"'))],
    [
      'a row that violates a key',
      Object.assign(postgresError('23505'), { detail: 'Key (a)=(secret) exists' }),
    ],
    ['a value with quotes in it', postgresError('22P02', 'invalid input: "a \\"secret" more')],
    ['a message cut inside a value', postgresError('22P02', 'invalid input: "secret')],
    [
      'what ClickHouse quotes',
      new ClickHouseError({ code: '6', type: 'CANNOT_PARSE_TEXT', message: "'secret'" }),
    ],
    ['a text that was thrown', 'secret'],
    ['other members of an error', Object.assign(new Error('m'), { args: ['secret'], body: 'secret' })],
  ])('failureFacts leave out %s', (_what, error) => {
    expect(JSON.stringify(failureFacts(error))).not.toContain('secret');
  });

  it('name the statement, the code, the constraint and where it happened', () => {
    const violation = Object.assign(postgresError('23505', 'duplicate key violates "one_alias"'), {
      constraint_name: 'one_alias',
      table_name: 'customers',
    });
    expect(failureFacts(failedQuery(violation))).toMatchObject({
      message: 'Failed query: select $1',
      stack: expect.stringMatching(/^\s+at /),
      cause: {
        type: 'PostgresError',
        code: '23505',
        constraint: 'one_alias',
        table: 'customers',
        message: 'duplicate key violates …',
      },
    });
  });

  it('end in a chain of causes without end', () => {
    const error = new Error('m');
    error.cause = error;
    expect(JSON.stringify(failureFacts(error)).length).toBeLessThan(20_000);
  });
});

describe('isStoreUnavailable', () => {
  it.each([
    ['a connection refused', failedQuery(systemError('ECONNREFUSED'))],
    ['a connection cut', failedQuery(systemError('CONNECTION_CLOSED'))],
    ['a server that is stopped', failedQuery(postgresError('57P01'))],
    ['a server that starts', postgresError('57P03')],
    ['a full disk', postgresError('53100')],
    ['a disk that is full for the service itself', systemError('ENOSPC')],
    ['too many connections', postgresError('53300')],
    ['a deadlock', failedQuery(postgresError('40P01'))],
    ['a snapshot that was overtaken', failedQuery(postgresError('40001'))],
    ['a lock that others held too long', failedQuery(postgresError('55P03'))],
    ['a statement that took too long', failedQuery(postgresError('57014'))],
    [
      'a full disk of ClickHouse',
      new ClickHouseError({ code: '243', type: 'NOT_ENOUGH_SPACE', message: 'm' }),
    ],
  ])('isStoreUnavailable is true of %s', (_what, error) => {
    expect(isStoreUnavailable(error)).toBe(true);
  });

  it.each([
    ['a violated key', failedQuery(postgresError('23505'))],
    ['a statement that is wrong', postgresError('42601')],
    [
      'a query of ClickHouse that fails',
      new ClickHouseError({ code: '62', type: 'SYNTAX_ERROR', message: 'm' }),
    ],
    ['a bug', new TypeError('x is not a function')],
    ['nothing', undefined],
  ])('isStoreUnavailable is false of %s', (_what, error) => {
    expect(isStoreUnavailable(error)).toBe(false);
  });

  it('isStoreUnavailable is true of what the driver throws when nobody listens', async () => {
    const pool = createDatabase({ url: 'postgres://nobody@127.0.0.1:1/none' });
    const error: unknown = await pool.db.execute(sql`select 1`).catch((thrown: unknown) => thrown);
    await pool.close();
    expect(isStoreUnavailable(error)).toBe(true);
  });
});
