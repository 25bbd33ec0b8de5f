/** `tallyhouse reconcile` as an operator runs it: a process beside the running service. */
import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { runProgram } from '../support/child-process.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { completion, createScenario } from '../support/scenario.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z' });
const { api, db, url, token } = service;
const RANGE = ['--from', '2026-11-01', '--to', '2026-12-01'];

async function command(...args: string[]) {
  const program = runProgram('src/app/cli/main.ts', ['reconcile', ...args], { DATA_DIR: '/nowhere' });
  const code = await program.ended;
  return { code, out: program.stdout(), err: program.stderr() };
}

const asked = (...args: string[]) => command('--url', url, '--token', token, ...RANGE, ...args);

test('tallyhouse reconcile prints a summary and ends with 0 where all agrees, and names each difference and ends with 1', async () => {
  // Before the contract, whose invoice is due as soon as it exists.
  await api.post('/v1/ingest', [completion('ada', { id: 'e1', at: '2026-11-03T10:00:00Z', tokens: 100 })]);
  const { customerId } = await createScenario(api, { alias: 'ada', endingBefore: '2026-11-09T00:00:00Z' });
  await createScenario(api, { alias: 'bob' });
  await service.moveClock('2026-11-10T01:00:00Z');
  expect(await asked()).toEqual({
    code: 0,
    out: 'Reconciled 2 customers, 2 invoices, 3 lines: no differences.\n',
    err: '',
  });
  const invoice = (await api.get(`/v1/customers/${customerId}/invoices`)).text('data[0].id');
  await db.execute(sql`update invoices set total = 6 where id = ${invoice}`);
  await api.post('/v1/ingest', [completion('ada', { id: 'e2', at: '2026-11-03T10:00:00Z', tokens: 1 })]);
  const { code, out } = await asked();
  expect([code, out]).toEqual([
    1,
    `invoice_total: customer ${customerId}, invoice ${invoice}: the lines do not add up to the total of the invoice ` +
      '(total: expected 5, found 6)\n' +
      'Reconciled 2 customers, 2 invoices, 3 lines: 1 difference; 2 entries of late usage.\n',
  ]);
  const document = await asked('--json');
  expect([document.code, JSON.parse(document.out)]).toEqual([
    1,
    {
      customer_count: 2,
      invoice_count: 2,
      line_count: 3,
      difference_count: 1,
      late_usage_count: 2,
      unchecked_count: 0,
      differences: [
        {
          code: 'invoice_total',
          customer_id: customerId,
          invoice_id: invoice,
          message: 'the lines do not add up to the total of the invoice',
          field: 'total',
          expected: 5,
          found: 6,
        },
      ],
      unchecked: [],
      provider_difference_count: 0,
      provider_sums: [],
      provider_differences: [],
    },
  ]);
  const one = await asked('--customer', customerId);
  expect([one.code, one.out.split('\n').at(-2)]).toEqual([
    1,
    'Reconciled 1 customer, 1 invoice, 2 lines: 1 difference; 2 entries of late usage.',
  ]);
});

test('tallyhouse reconcile ends with 1 and says why where the service cannot be asked', async () => {
  const help = await command('--help');
  expect([help.code, help.out.split('\n')[0]]).toEqual([0, 'Usage: tallyhouse reconcile [options]']);
  expect(await command('--form', 'x')).toMatchObject({ code: 2, out: '' });
  expect(await command(...RANGE)).toMatchObject({
    code: 1,
    err: 'tallyhouse reconcile: There is no token in /nowhere/api-token: set API_TOKEN or DATA_DIR, or give --token\n',
  });
  const refused = await command('--url', 'http://127.0.0.1:9', '--token', 'x');
  expect(refused.code).toBe(1);
  expect(refused.err).toMatch(/^tallyhouse reconcile: http:\/\/127.0.0.1:9 does not answer: /);
  expect(await command('--url', url, '--token', 'wrong')).toMatchObject({ code: 1 });
});
