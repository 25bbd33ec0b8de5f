import { expect, it } from 'vitest';
import { serviceForFile } from '../support/file-fixtures.ts';
import { fuzz } from '../support/fuzz.ts';

const REQUESTS = 5_000;

const service = await serviceForFile();

it('answers random requests to every operation as declared: never with 500, and nothing is stored where it refuses', async () => {
  const { statuses } = await fuzz(service, REQUESTS, 1);
  expect([...statuses.keys()].every((status) => status < 500)).toBe(true);
  expect(statuses.get(200)).toBeGreaterThan(REQUESTS / 20);
  expect((await service.api.get('/readyz')).status).toBe(200);
}, 300_000);
