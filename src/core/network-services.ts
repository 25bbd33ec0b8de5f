/** Addresses of this installation, for firewalls of others (`GET /v1/services`). */
import { z } from 'zod';

const address = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], {
  error: 'must be an IP address or a range such as 203.0.113.0/24',
});

export const networkService = z.strictObject({
  name: z.string().min(1).max(200),
  /** Whether it makes connections from these addresses, or accepts them there. */
  usage: z.enum(['makes_connections_from', 'accepts_connections_at']),
  ips: z.array(address).min(1).max(1_000),
});

export type NetworkService = z.output<typeof networkService>;
