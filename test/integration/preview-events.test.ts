/** Previews of events: which are taken, and what is answered. */
import { expect, test } from 'vitest';
import { createdId } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { completion, createScenario } from '../support/scenario.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z' });
const { api } = service;
const scenario = await createScenario(api, { alias: 'ada' });
const path = `/v1/customers/${scenario.customerId}/previewEvents`;

function given(tokens: number | string, more: Record<string, unknown> = {}) {
  return { event_type: 'completion', properties: { tokens, model: 'small', region: 'eu' }, ...more };
}

test('an event without time and id is one of the present; numbers keep all their digits', async () => {
  const rawBody =
    '{"events":[{"event_type":"completion","properties":{"tokens":9007199254740993.123456789012,"model":"small","region":"eu"}}]}';
  const answer = await api.post(path, undefined, { rawBody });
  expect(answer.list('data')).toHaveLength(1);
  expect(answer.text('data[0].status')).toBe('DRAFT');
  expect(answer.digits('data[0].line_items[1].quantity')).toBe('9007199254740993.123456789012');
  expect((await api.get(`/v1/customers/${scenario.customerId}/invoices`)).digits('data[0].total')).toBe('0');
});

test('replace leaves out what was sent, merge adds to it; known ids count once', async () => {
  await api.post('/v1/ingest', [
    completion('ada', { id: 'known', at: '2026-11-03T00:00:00Z', tokens: 1_000, model: 'small' }),
  ]);
  const totalOf = async (mode: string | undefined, ...events: unknown[]) =>
    (await api.post(path, { mode, events })).digits('data[0].total');
  expect(await totalOf(undefined, given(200))).toBe('3');
  expect(await totalOf('merge', given(200))).toBe('10');
  expect(await totalOf('MERGE', given(200, { transaction_id: 'known' }))).toBe('7');
  expect(await totalOf('replace', given(200, { transaction_id: 'known' }))).toBe('3');
});

test('lines without quantity can be left out', async () => {
  const event = { event_type: 'other' };
  const all = await api.post(path, { events: [event] });
  expect(all.list('data[0].line_items')).toHaveLength(1);
  const some = await api.post(path, { events: [event], skip_zero_qty_line_items: true });
  expect(some.list('data[0].line_items')).toEqual([]);
});

test('a preview refuses events that ingestion refuses, and an id that is given twice', async () => {
  const late = await api.send('POST', path, { events: [given(1, { timestamp: '2026-01-01T00:00:00Z' })] });
  expect([late.status, late.at('errors[0].index')]).toEqual([400, 0]);
  const twice = [given(1, { transaction_id: 'x' }), given(1, { transaction_id: 'x' })];
  const refused = await api.send('POST', path, { events: twice });
  expect([refused.status, refused.text('message')]).toEqual([
    400,
    'events[1].transaction_id: another event of the request has the same',
  ]);
  expect((await api.send('POST', path, { events: [] })).status).toBe(400);
});

test('a customer without a contract has no drafts, and an unknown one is not found', async () => {
  const id = await createdId(api, '/v1/customers', { name: 'new' });
  const events = [given(1)];
  for (const mode of ['replace', 'merge']) {
    expect((await api.post(`/v1/customers/${id}/previewEvents`, { mode, events })).list('data')).toEqual([]);
  }
  const unknown = '/v1/customers/00000000-0000-4000-8000-000000000000/previewEvents';
  expect((await api.send('POST', unknown, { events })).status).toBe(404);
});
