import Metronome from '@metronome/sdk';
import { expect, it } from 'vitest';
import { serviceForFile } from '../support/file-fixtures.ts';

const networkServices = [
  { name: 'webhooks', usage: 'makes_connections_from', ips: ['203.0.113.7', '2001:db8::/32'] },
  { name: 'api', usage: 'accepts_connections_at', ips: ['198.51.100.0/24'] },
] as const;

const service = await serviceForFile({
  networkServices: networkServices.map((one) => ({ ...one, ips: [...one.ips] })),
});

it('the official client lists the configured addresses, without an envelope', async () => {
  const client = new Metronome({ baseURL: service.url, bearerToken: service.token });
  expect(await client.v1.services.list()).toEqual({ services: networkServices });
  expect((await service.api.get('/v1/services')).body).toEqual({ services: networkServices });
});
