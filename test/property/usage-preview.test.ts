/** A preview of events is the draft as it is after they were sent, for metrics of every kind. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ApiAnswer } from '../support/api-client.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import {
  createMeteredCard,
  createMeteredCustomer,
  type Job,
  jobEvent,
  jobs,
  sendJobs,
} from '../support/metered-company.ts';
import { runs } from '../support/shares-of-tests.ts';

const RUNS = runs(12);
const service = await serviceForFile({ sandboxNow: '2026-11-03T00:00:00Z' });
const { api } = service;
const cardId = await createMeteredCard(api);

function previewed({ customer_id: _, ...event }: ReturnType<typeof jobEvent>) {
  return event;
}

async function preview(customerId: string, mode: string, events: readonly unknown[]): Promise<ApiAnswer> {
  return api.post(`/v1/customers/${customerId}/previewEvents`, { mode, events });
}

async function drafts(customerId: string): Promise<unknown> {
  const query = { status: 'DRAFT' };
  return (await api.get(`/v1/customers/${customerId}/invoices`, { query })).at('data');
}

/** The parts of an invoice that do not depend on its customer. */
function described(answer: unknown): string {
  return JSON.stringify(answer)
    .replace(/"(?:id|customer_id|contract_id)":"[0-9a-f-]{36}",?/g, '')
    .replace(/"customer_(?:name|external_id)":"[^"]*",?/g, '');
}

async function checkMerge(stored: readonly Job[], added: readonly [Job, ...Job[]]): Promise<void> {
  const { customerId, alias } = await createMeteredCustomer(api, cardId);
  const events = [...stored, ...added].map((one, index) => jobEvent(alias, one, index));
  await sendJobs(api, events.slice(0, stored.length));
  const before = await drafts(customerId);
  const more = events.slice(stored.length);
  // Events that were sent already do not count again.
  const merged = await preview(
    customerId,
    'merge',
    [...events.slice(0, stored.length), ...more].map(previewed),
  );
  expect(await drafts(customerId)).toEqual(before);
  await sendJobs(api, more);
  expect(merged.at('data')).toEqual(await drafts(customerId));
}

async function checkReplace(stored: readonly Job[], given: readonly [Job, ...Job[]]): Promise<void> {
  const [old, fresh] = [await createMeteredCustomer(api, cardId), await createMeteredCustomer(api, cardId)];
  await sendJobs(
    api,
    stored.map((one, index) => jobEvent(old.alias, one, index)),
  );
  const events = given.map((one, index) => jobEvent(fresh.alias, one, index));
  const replaced = await preview(old.customerId, 'replace', events.map(previewed));
  await sendJobs(api, events);
  expect(described(replaced.at('data'))).toBe(described(await drafts(fresh.customerId)));
}

const some = jobs.filter((given): given is [Job, ...Job[]] => given.length > 0);

it('in merge mode it is the draft after the events were sent, and stores nothing', async () => {
  await fc.assert(fc.asyncProperty(jobs, some, checkMerge), { numRuns: RUNS });
});

it('in replace mode it is the draft of a customer with these events alone', async () => {
  await fc.assert(fc.asyncProperty(jobs, some, checkReplace), { numRuns: RUNS });
});
