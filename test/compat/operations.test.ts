import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { ABSENT_OPERATIONS } from '../../src/api/http/absent-operations.ts';
import { type ClientOperation, clientOperations } from '../support/client-operations.ts';
import { serviceForFile } from '../support/file-fixtures.ts';

const service = await serviceForFile();
const operations = await clientOperations();

/** Without the names of parameters, in which the client and the service may differ. */
const shapeOf = ({ method, path }: { readonly method: string; readonly path: string }) =>
  `${method.toUpperCase()} ${path.replaceAll(/\{[^}]*\}/g, '{}')}`;

const present = new Set(service.routes.map(shapeOf));
const works = operations.filter((operation) => present.has(shapeOf(operation)));
const absent = operations.filter((operation) => !present.has(shapeOf(operation)));
const reasons = new Map(ABSENT_OPERATIONS.map((operation) => [shapeOf(operation), operation.reason]));

const byPath = (a: ClientOperation, b: ClientOperation) => (a.path < b.path ? -1 : Number(a.path > b.path));

function page(): string {
  const workingRows = works
    .toSorted(byPath)
    .map(({ call, method, path }) => `| \`${call}\` | \`${method} ${path}\` |`);
  const absentRows = absent
    .toSorted(byPath)
    .map(
      (operation) =>
        `| \`${operation.call}\` | \`${operation.method} ${operation.path}\` | ${reasons.get(shapeOf(operation))} |`,
    );
  return `# Compatibility with the official client

${works.length} of the ${operations.length} operations of \`@metronome/sdk\` work. The others answer 404 with the reason. A test makes this page from the client itself.

## Operations that work

| call | request |
|---|---|
${workingRows.join('\n')}

## Operations that the service does not have

| call | request | reason |
|---|---|---|
${absentRows.join('\n')}

## Fields

- Fields that the official client or its documentation knows are accepted everywhere. Where the service has no effect for them, they are named in the header \`x-ignored-fields\` of the answer, and in its \`warnings\` on operations about money.
- On operations about money, and in objects of alerts and notifications, a field that nobody knows is refused with 400 and the name that was probably meant. With the header \`Prefer: handling=lenient\`, or with \`STRICT_FIELDS=0\` for all requests, it is ignored and named in the same way. Other operations ignore it and name it.
- \`exclude\` in specifiers of commits, credits and overrides works, although the client does not declare it.
- Rates of type CUSTOM are refused, because programs of the vendor compute their prices. \`custom_rate\` beside another type of rate is ignored and named.
- \`limit\` and \`next_page\` are taken from the query and from the body on every list. With different values in both places they are refused with 400.
- \`POST /v2/contracts/list\` lists the contract that starts last first, as programs rely on, and of equal starts the one that was created last. \`POST /v1/contracts/list\` lists the earliest start first.
- \`customerBalances/list\` has the balances of contracts unless \`include_contract_balances\` is false. \`sort_by_priority\` lists the lowest priority first. The whole order of drawdown is at \`GET /v1/customers/{customer_id}/drawdownOrder\`.
`;
}

describe('the operations of the official client', () => {
  it('the operations of the official client are all found by calling its methods', () => {
    expect(operations.length).toBe(116);
    expect(new Set(operations.map(shapeOf)).size).toBe(operations.length);
  });

  it('the operations of the official client either work or have a reason', () => {
    expect([...reasons.keys()].sort()).toEqual(absent.map(shapeOf).sort());
  });

  it('the operations of the official client are listed in docs/reference/compatibility.md', async () => {
    await expect(page()).toMatchFileSnapshot('../../docs/reference/compatibility.md');
  });

  it('the operations of the official client are counted in the README', async () => {
    const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
    expect(readme).toContain(`${works.length} of the client's ${operations.length} operations work`);
  });

  it.each(ABSENT_OPERATIONS)(
    'answer 404 with the reason: $method $path',
    async ({ method, path, reason }) => {
      const answer = await service.api.send(method, path.replaceAll(/\{[^}]*\}/g, 'x'));
      expect(answer.status).toBe(404);
      expect(answer.body).toEqual({
        message: `This service does not have ${method} ${path} of the official client: ${reason}. See /guide/reference/compatibility`,
      });
    },
  );
});
