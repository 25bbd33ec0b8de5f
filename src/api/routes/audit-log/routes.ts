/** The audit log. */
import { z } from 'zod';
import { type AuditFilter, listAudit } from '../../../access/audit.ts';
import type { RowContext } from '../../../billing/billing-context.ts';
import { isUuid } from '../../../core/ids.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { byHand, called, noted, optional } from '../../wire/description.ts';
import { timestamp } from '../../wire/fields.ts';
import { anyText, instant } from '../../wire/kinds.ts';
import { pageQuery, pageToWire } from '../../wire/paging.ts';
import { inside, record } from '../../wire/record.ts';

const SORTS = ['date_asc', 'date_desc'] as const;
const TEXT_LENGTH_MAX = 200;

/** The parameters that the next page needs: clients may send the cursor alone. */
const position = z.strictObject({
  recordedAt: z.string().regex(/^\d{1,17}$/),
  id: z.string().refine(isUuid),
  sort: z.enum(SORTS),
  from: z.int().nullable(),
  to: z.int().nullable(),
  resource: z
    .strictObject({ type: z.string().max(TEXT_LENGTH_MAX), id: z.string().max(TEXT_LENGTH_MAX) })
    .nullable(),
  actorId: z.string().max(TEXT_LENGTH_MAX).nullish(),
});

const text = z.string().min(1).max(TEXT_LENGTH_MAX).optional();

const query = pageQuery(position)
  .extend({
    starting_on: timestamp.optional(),
    ending_before: timestamp.optional(),
    sort: z.enum(SORTS).optional().meta({ description: 'By time. Default: `date_asc`.' }),
    resource_type: text,
    resource_id: text,
    actor_id: text.meta({ description: 'Rows of one person, token, job or command.' }),
  })
  .superRefine((sent, context) => {
    if ((sent.resource_type === undefined) !== (sent.resource_id === undefined)) {
      const path = [sent.resource_type === undefined ? 'resource_type' : 'resource_id'];
      context.addIssue({
        code: 'custom',
        path,
        message: 'is required: resource_type and resource_id go together',
      });
    }
    for (const name of ['starting_on', 'ending_before'] as const) {
      if (sent.next_page === undefined || sent[name] === undefined) continue;
      context.addIssue({ code: 'custom', path: [name], message: 'must not be combined with next_page' });
    }
  });

const entry = record(
  {
    id: anyText,
    at: called('timestamp', instant),
    actor: inside(
      {
        actorId: called('id', anyText),
        actorName: called('name', anyText),
        actorEmail: called('email', optional(anyText)),
        actorRole: called('role', noted('The roles of a person, at that time.', optional(anyText))),
      },
      {
        id: { answered: 'Actor' },
        note: 'The person, token, job, evaluation, command or service start that caused the change.',
      },
    ),
    request: inside({
      requestId: called('id', noted('As in the header `x-request-id` and in the log.', anyText)),
      ip: optional(anyText),
      userAgent: optional(anyText),
    }),
    resourceType: anyText,
    resourceId: optional(anyText),
    action: noted('The operation, by its `operationId`.', anyText),
    status: byHand(z.enum(['success', 'failure'])),
    description: anyText,
  },
  { id: { answered: 'AuditLog' } },
);

export function auditLogRoute({ db }: Pick<RowContext, 'db'>): RouteDefinition {
  return route({
    method: 'get',
    path: '/v1/auditLogs',
    operationId: 'listAuditLogs',
    summary: 'List what was changed, and by whom',
    description:
      'A row for every request that changes something, failed ones too, and for what the service changes by itself. `next_page` is always there, also after an ' +
      'empty page: keep it and ask again, and nothing is missed. Rows appear about a second after their request.',
    tags: ['Audit log'],
    scope: 'read',
    query,
    response: z.object({
      data: z.array(entry.output),
      next_page: z.string().meta({ description: 'Cursor for rows that follow, now or later.' }),
    }),
    async handler({ query: sent }) {
      const { next_page: cursor } = sent;
      const filter: AuditFilter = {
        from: cursor?.from ?? sent.starting_on ?? null,
        to: cursor?.to ?? sent.ending_before ?? null,
        resource: resourceOf(sent) ?? cursor?.resource ?? null,
        actorId: sent.actor_id ?? cursor?.actorId ?? null,
      };
      const sort = sent.sort ?? cursor?.sort ?? 'date_asc';
      const after = cursor === undefined ? null : { recordedAt: cursor.recordedAt, id: cursor.id };
      const order = sort === 'date_asc' ? 'asc' : 'desc';
      const page = await listAudit(db, filter, order, { after, limit: sent.limit });
      const next: z.output<typeof position> = { ...page.next, sort, ...filter };
      const { data, next_page } = pageToWire({ rows: page.rows, next }, entry.write);
      return { data, next_page: next_page ?? '' };
    },
  });
}

function resourceOf({
  resource_type: type,
  resource_id: id,
}: {
  resource_type?: string | undefined;
  resource_id?: string | undefined;
}) {
  return type === undefined || id === undefined ? undefined : { type, id };
}
