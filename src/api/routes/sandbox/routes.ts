/** The sandbox clock: only registered when the service runs with SANDBOX_NOW. */
import { z } from 'zod';
import type { Clock } from '../../../core/clock.ts';
import { formatInstant } from '../../../core/time.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { timestamp } from '../../wire/fields.ts';
import type { Sandbox } from '../route-context.ts';

const clockAnswer = z
  .object({ data: z.object({ now: timestamp }) })
  .meta({ id: 'SandboxClock', description: 'The time of the sandbox clock.' });

export function sandboxRoutes(clock: Clock, sandbox: Sandbox): RouteDefinition[] {
  return [
    route({
      method: 'get',
      path: '/v1/sandbox/clock',
      operationId: 'getSandboxClock',
      summary: 'Read the sandbox clock',
      tags: ['Sandbox'],
      scope: 'read',
      response: clockAnswer,
      handler: async () => ({ data: { now: formatInstant(clock.now()) } }),
    }),
    route({
      method: 'post',
      path: '/v1/sandbox/clock',
      operationId: 'moveSandboxClock',
      summary: 'Move the sandbox clock forward',
      description:
        'Everything that falls due on the way is done in time order, as if the time between had passed. ' +
        'The answer is sent when it is done. Work that cannot be done is tried again later and holds up nothing but ' +
        'its own contract. The clock cannot go back.',
      tags: ['Sandbox'],
      scope: 'write',
      commitsItself: true,
      body: z.object({ now: timestamp }).meta({ id: 'MoveSandboxClock' }),
      response: clockAnswer,
      errors: [400, 503],
      handler: async ({ body }) => ({
        data: { now: formatInstant(await sandbox.clock.advance(body.now, sandbox.jobs)) },
      }),
    }),
  ];
}
