import { expect, it } from 'vitest';
import { serviceForFile } from '../support/file-fixtures.ts';
import { fuzz } from '../support/fuzz.ts';

const IN_PROCESS = 4_500;
const OVER_HTTP = 500;

const service = await serviceForFile();

it('the service answers random requests to every operation as declared: never with 500, and nothing is stored where it refuses', async () => {
  const { statuses } = await fuzz({ ...service, api: service.inProcess }, IN_PROCESS, 1);
  const overHttp = await fuzz(service, OVER_HTTP, IN_PROCESS + 1);
  expect([...statuses.keys(), ...overHttp.statuses.keys()].every((status) => status < 500)).toBe(true);
  expect(statuses.get(200)).toBeGreaterThan(IN_PROCESS / 20);
  expect((await service.api.get('/readyz')).status).toBe(200);
}, 900_000);
