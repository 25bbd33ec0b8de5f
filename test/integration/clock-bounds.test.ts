import { describe, expect, it } from 'vitest';
import { serviceForFile } from '../support/file-fixtures.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z' });
const move = (now: string) => service.api.send('POST', '/v1/sandbox/clock', { now });

describe('the sandbox clock', () => {
  it('the sandbox clock does not go back, naming where it stands', async () => {
    expect(await move('2026-11-09T23:59:59Z')).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('2026-11-10T00:00:00') },
    });
  });

  it('the sandbox clock ends with the year 2099, up to which events are accepted', async () => {
    expect(await move('2100-01-01T00:00:00Z')).toMatchObject({
      status: 400,
      body: { message: 'now: must be before 2100-01-01T00:00:00.000Z' },
    });
    await service.moveClock('2099-12-31T23:59:59Z');
    const event = {
      transaction_id: 'late',
      customer_id: 'a',
      event_type: 'e',
      timestamp: '2099-12-31T23:00:00Z',
    };
    expect(await service.api.post('/v1/ingest', [event])).toMatchObject({ body: { accepted: 1 } });
  });
});
