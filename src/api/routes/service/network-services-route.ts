/** The addresses of this installation, for the allow-lists of others. */
import { z } from 'zod';
import type { NetworkService } from '../../../core/network-services.ts';
import { type RouteDefinition, route } from '../../http/route.ts';

const networkService = z
  .object({
    name: z.string(),
    usage: z.enum(['makes_connections_from', 'accepts_connections_at']),
    ips: z.array(z.string()),
  })
  .meta({ id: 'Service' });

export function networkServicesRoute(services: readonly NetworkService[]): RouteDefinition {
  return route({
    method: 'get',
    path: '/v1/services',
    operationId: 'listServices',
    summary: 'List the IP addresses of the service',
    description: 'For allow-lists. The operator sets them in the variable SERVICES.',
    tags: ['Service'],
    scope: 'read',
    response: z.object({ services: z.array(networkService) }),
    handler: async () => ({ services: [...services] }),
  });
}
