/** The present work of the service: arriving events, jobs that wait or fail. */
import { z } from 'zod';
import { recentEvents } from '../../../billing/events/recent-events.ts';
import { isUuid } from '../../../core/ids.ts';
import { listFailedJobs, queueFigures, retryJob } from '../../../jobs/queue-state.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { byHand, called, list, noted, nullable } from '../../wire/description.ts';
import { anyText, id, instant, integer } from '../../wire/kinds.ts';
import { pageOf, pageQuery, pageRequest, pageToWire } from '../../wire/paging.ts';
import { record } from '../../wire/record.ts';
import type { RouteContext } from '../route-context.ts';

const status = record(
  {
    now: noted('The clock of the service, in a sandbox the sandbox clock.', instant),
    gracePeriodHours: byHand(z.number()),
    events: record({
      lastAt: noted('When the last event came; null if none came within a day.', nullable(instant)),
      lastMinute: noted('Events of the last two days that arrived within the last minute.', integer),
      lastDay: noted('Events of the last two days that arrived within the last 24 hours.', integer),
      windowDays: noted('How far back events are accepted, and ids remembered.', integer),
    }),
    jobs: noted(
      'Kinds with jobs that are due or have failed.',
      list(
        record({
          kind: anyText,
          due: integer,
          overdue: noted('Due for more than ten minutes.', integer),
          failing: noted('Failed, and tried again.', integer),
          oldestFailing: nullable(instant),
        }),
      ),
    ),
  },
  { id: { answered: 'SystemStatus' } },
);

const failedJob = record(
  {
    id: noted('Null for the delivery of an invoice.', nullable(integer)),
    kind: anyText,
    invoiceId: noted('The invoice that is delivered; null for a job.', nullable(id)),
    contractId: nullable(id),
    customerId: nullable(id),
    runAt: called('due_at', instant),
    attempts: integer,
    retryAt: noted(
      'Time of the next attempt, in real time; for a delivery, by the clock of the service.',
      instant,
    ),
    lastError: nullable(anyText),
  },
  { id: { answered: 'FailedJob' } },
);

const failedPosition = z.union([
  z.object({ invoiceId: z.string().refine(isUuid) }),
  z.object({ id: z.int() }),
]);

const tags = ['Service'];

export function systemRoutes(context: RouteContext): RouteDefinition[] {
  return [statusRoute(context), failedJobsRoute(context), retryRoute(context)];
}

function statusRoute(context: RouteContext): RouteDefinition {
  return route({
    method: 'get',
    path: '/v1/system/status',
    operationId: 'getSystemStatus',
    summary: 'Get the current state of the service',
    description: 'Events that came lately and jobs that wait. Figures of a process are in `/metrics`.',
    tags,
    scope: 'read',
    response: z.object({ data: status.output }),
    async handler() {
      const [events, jobs] = await Promise.all([recentEvents(context), queueFigures(context)]);
      return {
        data: status.write({
          now: context.clock.now(),
          gracePeriodHours: context.gracePeriodHours,
          events: { ...events, windowDays: context.windowDays },
          jobs,
        }),
      };
    },
  });
}

function failedJobsRoute(context: RouteContext): RouteDefinition {
  return route({
    method: 'get',
    path: '/v1/system/failedJobs',
    operationId: 'listFailedJobs',
    summary: 'List jobs that have failed and wait for another attempt',
    description:
      'First the deliveries of invoices to billing providers that have been tried for more than an hour ' +
      '(`POST /v1/invoices/deliver` tries one again at once), then jobs.',
    tags,
    scope: 'read',
    query: pageQuery(failedPosition),
    response: pageOf(failedJob.output),
    handler: async ({ query }) =>
      pageToWire(await listFailedJobs(context, pageRequest(query)), failedJob.write),
  });
}

function retryRoute(context: RouteContext): RouteDefinition {
  return route({
    method: 'post',
    path: '/v1/system/retryJob',
    operationId: 'retryJob',
    summary: 'Try a failed job again at once',
    description:
      'Retries the job immediately instead of at its next attempt. 404 if the job is already done.',
    tags,
    scope: 'write',
    body: z.strictObject({ id: z.int().min(1).max(Number.MAX_SAFE_INTEGER) }).meta({ id: 'RetryJob' }),
    response: z.object({ data: z.object({ id: z.int() }) }),
    errors: [404],
    async handler({ body: { id } }) {
      await retryJob(context, id);
      return { data: { id } };
    },
  });
}
