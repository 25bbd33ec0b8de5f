import { expect, it } from 'vitest';
import { serviceForFile } from '../support/file-fixtures.ts';
import { fuzz } from '../support/fuzz.ts';

const REQUESTS = 1_000_000;
const PART = 10_000;
/** The number of the first request. Set it to continue after a failure. */
const FIRST = Number(process.env.FUZZ_FIRST ?? 1);

const service = await serviceForFile();

it(
  'the service answers a million random requests as declared, and is ready afterwards',
  async () => {
    for (let seed = FIRST; seed <= REQUESTS; seed += PART) {
      const { statuses } = await fuzz({ ...service, api: service.inProcess }, PART, seed);
      const counts = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
      process.stdout.write(`${seed + PART - 1} requests; of the last ${PART}: ${counts.join(', ')}\n`);
    }
    expect((await service.api.get('/readyz')).status).toBe(200);
  },
  24 * 3_600_000,
);
