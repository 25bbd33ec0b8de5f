/** Five million values of group and hour on one invoice, in bounded memory. */
import { expect, it } from 'vitest';
import { serviceForFile } from '../support/file-fixtures.ts';
import { createManyKeys, memoryGrowth } from '../support/many-keys.ts';

const service = await serviceForFile();

const KEYS = 7_200;
const HOURS = 700;
/** Slices of half a million values, and the engine, which is in this process. All values at once take several times that. */
const GROWTH_MAX_MIB = 1_200;

it('an invoice bills five million values, with and without their hours', async () => {
  const { api } = service;
  const { customerId, total } = await createManyKeys(service, { name: 'huge', keys: KEYS, hours: HOURS });
  const path = `/v1/customers/${customerId}/invoices`;
  const day = {
    starting_on: '2026-11-30T00:00:00Z',
    ending_before: '2026-12-01T00:00:00Z',
    window_size: 'DAY',
  };
  const growths = {
    draft: await measured('draft', async () => {
      const drafts = await api.get(path);
      expect(drafts.digits('data[0].total')).toBe(total);
      expect(drafts.list('data[0].line_items')).toHaveLength(KEYS + 1);
    }),
    breakdown: await measured('breakdown', async () => {
      const windows = await api.get(`${path}/breakdowns`, { query: day });
      expect(windows.digits('data[0].total')).toBe(String(KEYS * 4 * 4));
    }),
    finalization: await measured('finalization', async () => {
      await service.moveClock('2026-12-02T00:00:00Z');
    }),
  };
  const issued = await api.get(path, { query: { status: 'FINALIZED' } });
  expect(issued.digits('data[0].total')).toBe(total);
  const windows = await api.get(`${path}/breakdowns`, { query: day });
  expect(windows.digits('data[0].total')).toBe(String(KEYS * 4 * 4));
  for (const growth of Object.values(growths)) expect(growth).toBeLessThan(GROWTH_MAX_MIB);
});

/** Growth of memory in MiB, which is shown with the time that the work took. */
async function measured(what: string, work: () => Promise<void>): Promise<number> {
  const start = Date.now();
  const growth = await memoryGrowth(work);
  process.stderr.write(`${what}: ${Math.round((Date.now() - start) / 1000)} s, memory + ${growth} MiB\n`);
  return growth;
}
