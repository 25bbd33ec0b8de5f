/** The present work of the service: arriving events, jobs that wait or fail. */
import { z } from 'zod';
import { recentEvents } from '../../../billing/events/recent-events.ts';
import { isUuid } from '../../../core/ids.ts';
import { formatInstant } from '../../../core/time.ts';
import { type FailedJob, listFailedJobs, queueFigures, retryJob } from '../../../jobs/queue-state.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { timestamp, uuid } from '../../wire/fields.ts';
import { pageOf, pageQuery, pageRequest, pageToWire } from '../../wire/paging.ts';
import type { RouteContext } from '../route-context.ts';

const count = z.int();

const status = z
  .object({
    now: timestamp.meta({ description: 'The clock of the service, in a sandbox the sandbox clock.' }),
    grace_period_hours: z.number(),
    events: z.object({
      last_at: timestamp.nullable().meta({
        description: 'When the last event came; null if none came within a day.',
      }),
      last_minute: count.meta({
        description: 'Events of the last two days that arrived within the last minute.',
      }),
      last_day: count.meta({
        description: 'Events of the last two days that arrived within the last 24 hours.',
      }),
      window_days: count.meta({ description: 'How far back events are accepted, and ids remembered.' }),
    }),
    jobs: z
      .array(
        z.object({
          kind: z.string(),
          due: count,
          overdue: count.meta({ description: 'Due for more than ten minutes.' }),
          failing: count.meta({ description: 'Failed, and tried again.' }),
          oldest_failing: timestamp.nullable(),
        }),
      )
      .meta({ description: 'Kinds with jobs that are due or have failed.' }),
  })
  .meta({ id: 'SystemStatus' });

const failedJob = z
  .object({
    id: count.nullable().meta({ description: 'Null for the delivery of an invoice.' }),
    kind: z.string(),
    invoice_id: uuid.nullable().meta({ description: 'The invoice that is delivered; null for a job.' }),
    contract_id: uuid.nullable(),
    customer_id: uuid.nullable(),
    due_at: timestamp,
    attempts: count,
    retry_at: timestamp.meta({
      description: 'Time of the next attempt, in real time; for a delivery, by the clock of the service.',
    }),
    last_error: z.string().nullable(),
  })
  .meta({ id: 'FailedJob' });

const failedPosition = z.union([
  z.object({ invoiceId: z.string().refine(isUuid) }),
  z.object({ id: z.int() }),
]);

const tags = ['Service'];

export function systemRoutes(deps: RouteContext): RouteDefinition[] {
  return [statusRoute(deps), failedJobsRoute(deps), retryRoute(deps)];
}

function statusRoute(deps: RouteContext): RouteDefinition {
  return route({
    method: 'get',
    path: '/v1/system/status',
    operationId: 'getSystemStatus',
    summary: 'Get the current state of the service',
    description: 'Events that came lately and jobs that wait. Figures of a process are in `/metrics`.',
    tags,
    scope: 'read',
    response: z.object({ data: status }),
    async handler() {
      const [events, jobs] = await Promise.all([recentEvents(deps), queueFigures(deps)]);
      return {
        data: {
          now: formatInstant(deps.clock.now()),
          grace_period_hours: deps.gracePeriodHours,
          events: {
            last_at: events.lastAt === null ? null : formatInstant(events.lastAt),
            last_minute: events.lastMinute,
            last_day: events.lastDay,
            window_days: deps.windowDays,
          },
          jobs: jobs.map(({ oldestFailing, ...figures }) => ({
            ...figures,
            oldest_failing: oldestFailing === null ? null : formatInstant(oldestFailing),
          })),
        },
      };
    },
  });
}

function failedJobsRoute(deps: RouteContext): RouteDefinition {
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
    response: pageOf(failedJob),
    handler: async ({ query }) => pageToWire(await listFailedJobs(deps, pageRequest(query)), toWire),
  });
}

function retryRoute(deps: RouteContext): RouteDefinition {
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
      await retryJob(deps, id);
      return { data: { id } };
    },
  });
}

function toWire(job: FailedJob): z.input<typeof failedJob> {
  return {
    id: job.id,
    kind: job.kind,
    invoice_id: job.invoiceId,
    contract_id: job.contractId,
    customer_id: job.customerId,
    due_at: formatInstant(job.runAt),
    attempts: job.attempts,
    retry_at: formatInstant(job.retryAt),
    last_error: job.lastError,
  };
}
