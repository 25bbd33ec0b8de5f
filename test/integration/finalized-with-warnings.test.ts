/** Invoices that are issued although something is left out of them, in the log. */
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { serviceForFile } from '../support/file-fixtures.ts';
import { completion, createScenario } from '../support/scenario.ts';

const record = z.record(z.string(), z.unknown());
const logged: z.infer<typeof record>[] = [];
const log = pino({ level: 'info' }, { write: (text: string) => logged.push(record.parse(JSON.parse(text))) });
const service = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z', log });
const { api } = service;

const of = (message: string) => logged.filter(({ msg }) => msg === message);

test('an invoice that is finalized with warnings has a warn record with their codes', async () => {
  await createScenario(api, { alias: 'ada', endingBefore: '2026-11-20T00:00:00Z' });
  const { customerId } = await createScenario(api, { alias: 'grace', endingBefore: '2026-11-20T00:00:00Z' });
  const at = '2026-11-03T10:00:00Z';
  await api.post('/v1/ingest', [
    completion('grace', { id: 'priced', at, tokens: 100 }),
    ...['xl', 'xxl'].map((model) => completion('grace', { id: model, at, tokens: 1, model })),
  ]);
  await service.moveClock('2026-11-22T00:00:00Z');
  const id = (await api.get(`/v1/customers/${customerId}/invoices`)).text('data[0].id');
  const warned = of('an invoice was finalized with warnings').filter(({ invoice_id }) => invoice_id === id);
  expect(warned).toMatchObject([{ level: 40, customer_id: customerId, warnings: { unpriced_usage: 2 } }]);
  // One without has none: Ada's is finalized at the same time.
  expect(of('an invoice was finalized')).toHaveLength(2);
  expect(of('an invoice was finalized with warnings')).toHaveLength(1);
});
