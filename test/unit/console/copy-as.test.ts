/** Requests of forms as text: what a shell and the official client send is what the form sends. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { numberOf } from '../../../console/src/api/exact.ts';
import { CLIENT_CALLS } from '../../../console/src/forms/client-calls.ts';
import { clientText, curlText } from '../../../console/src/forms/copy-as.ts';
import * as ON_CONTRACT from '../../../console/src/pages/create/contract-forms.ts';
import * as OBJECTS from '../../../console/src/pages/create/forms.ts';
import * as TERMS from '../../../console/src/pages/create/terms.ts';
import { clientOperations } from '../../support/client-operations.ts';

const { form: _make, ...specs } = { ...OBJECTS, ...TERMS, ...ON_CONTRACT };
const ORIGIN = 'https://billing.example.com';

test('operations of forms are called as the official client calls them, and those that it lacks are posted', async () => {
  const known = await clientOperations();
  const callOf = (operation: string) =>
    known.find(({ method, path }) => `${method} ${path}` === operation)?.call;
  const operations = Object.values(specs).flatMap(({ operation, next }) => [
    operation,
    next?.operation ?? operation,
  ]);
  for (const operation of operations) expect(CLIENT_CALLS[operation], operation).toBe(callOf(operation));
  const used = [...operations, 'POST /v1/contract-pricing/products/create'];
  expect(Object.keys(CLIENT_CALLS).filter((operation) => !used.includes(operation as never))).toEqual([]);
});

test('a request for curl is read by a shell with every character of its body, and all digits', async () => {
  const run = promisify(execFile);
  // The shell prints its arguments instead of sending them.
  const printed = async (text: string) => {
    const script = `curl() { for each in "$@"; do printf '%s\\0' "$each"; done; }\n${text}`;
    const { stdout } = await run('/bin/sh', ['-c', script], { env: { TALLYHOUSE_TOKEN: 'secret' } });
    return stdout.split('\0');
  };
  const name = fc.string({
    unit: fc.constantFrom("'", '"', '$', '\\', '`', '!', ' ', 'é', '\n'),
    maxLength: 12,
  });
  await fc.assert(
    fc.asyncProperty(name, async (text) => {
      const body = { name: text, price: numberOf('0.1234567890123456789') };
      const operation = 'POST /v1/customers/{customer_id}/setName';
      const words = await printed(curlText([{ operation, params: { customer_id: 'id' }, body }], ORIGIN));
      expect(words[2]).toBe(`${ORIGIN}/v1/customers/id/setName`);
      expect(words).toContain('Authorization: Bearer secret');
      const sent = words[words.indexOf('-d') + 1] ?? '';
      expect(JSON.parse(sent).name).toBe(text);
      expect(sent).toContain('0.1234567890123456789');
    }),
    { numRuns: 30 },
  );
});

test('a request for the official client has the ids of its path among its arguments, and one that it lacks is posted', () => {
  const set = { operation: 'POST /v1/customers/{customer_id}/setName', params: { customer_id: 'id' } };
  const text = clientText([{ ...set, body: { name: 'Aurora' } }], ORIGIN);
  expect(text).toContain(
    'await client.v1.customers.setName({\n  "customer_id": "id",\n  "name": "Aurora"\n});',
  );
  const token = { operation: 'POST /v1/tokens/create', params: {}, body: { name: 'A' } };
  expect(clientText([token], ORIGIN)).toContain(
    'await client.post("/v1/tokens/create", { body: {\n  "name": "A"\n} });',
  );
});
