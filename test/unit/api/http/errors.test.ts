import { ClickHouseError } from '@clickhouse/client';
import { describe, expect, it } from 'vitest';
import { errorAnswer } from '../../../../src/api/http/errors.ts';
import { conflict, invalid, namesNothing, notFound, Refusal, words } from '../../../../src/core/errors.ts';

const answer = (error: unknown) => errorAnswer(error, 'request-1');

function databaseError(): Error {
  const violation = Object.assign(new Error('duplicate key value violates unique constraint'), {
    code: '23505',
    constraint_name: 'customers_alias_unique',
  });
  return new Error('Failed query: insert into customers', { cause: violation });
}

describe('errorAnswer', () => {
  it.each([
    [invalid(['name'], 'is required'), 400, {}],
    [namesNothing(['name'], 'm'), 404, {}],
    [new Refusal('unauthenticated', 'm'), 401, { 'www-authenticate': 'Bearer' }],
    [new Refusal('forbidden', 'm'), 403, {}],
    [notFound('customer', 'x', 'CustomerNotFound'), 404, {}],
    [conflict('m'), 409, { 'x-should-retry': 'false' }],
    [new Refusal('too_large', 'm'), 413, {}],
    [new Refusal('overloaded', 'm'), 429, { 'retry-after': '1', 'x-metronome-rate-limit-type': 'client' }],
    [new Refusal('unavailable', 'm'), 503, { 'retry-after': '1' }],
  ])('errorAnswer answers %s with %i', (refusal, status, headers) => {
    expect(answer(refusal)).toMatchObject({
      status,
      headers,
      body: { message: refusal.message },
      logged: 'no',
    });
  });

  it.each([
    ['(total) memory limit exceeded: would use 516.03 MiB', 429, 'store'],
    ['Query memory limit exceeded: would use 10.00 GiB', 500, 'bug'],
  ])('errorAnswer answers a query without memory: %s', (message, status, logged) => {
    const error = new ClickHouseError({ code: '241', type: 'MEMORY_LIMIT_EXCEEDED', message });
    const told = answer(new Error('a query failed', { cause: error }));
    expect(told).toMatchObject({ status, logged });
    expect(told.headers['retry-after']).toBe(status === 429 ? '1' : undefined);
  });

  it('errorAnswer names fields in the words of the wire, those of the route first', () => {
    const path = ['additions', 'commits', 0, 'paymentGate', 'stripe'];
    const refusal = invalid(path, words`is for ${['type']} STRIPE only, see ${['customFields', 'aB']}`);
    expect(errorAnswer(refusal, 'request-1', { additions: 'add_' }).body).toEqual({
      message:
        'add_commits[0].payment_gate_config.stripe_config: is for payment_gate_type STRIPE only, see custom_fields.aB',
    });
  });

  it('errorAnswer tells a refusal within another one in full', () => {
    const inner = invalid(
      ['terms', 'commits', 0, 'applicability', 'specifiers'],
      words`cannot be combined with ${['productIds']}`,
    );
    const refusal = new Refusal('invalid', words`the package's ${inner}`, { path: ['packageAlias'] });
    expect(answer(refusal).body).toEqual({
      message:
        "package_alias: the package's commits[0].specifiers: cannot be combined with applicable_product_ids",
    });
  });

  it('errorAnswer adds code and details to the body', () => {
    const refusal = new Refusal('invalid', 'm', { code: 'InvalidArgument', details: { errors: [1] } });
    expect(answer(refusal).body).toEqual({ message: 'm', code: 'InvalidArgument', errors: [1] });
  });

  it.each([
    ['what the database refuses', databaseError()],
    ['a plain error', new Error('the password is hunter2')],
    ['something that is no error', 'the password is hunter2'],
    ['nothing', undefined],
  ])('errorAnswer says nothing but the request id about %s', (_what, error) => {
    expect(answer(error)).toEqual({
      status: 500,
      headers: {},
      body: { message: 'Internal error. The log has the details under request id request-1.' },
      logged: 'bug',
    });
  });
});
