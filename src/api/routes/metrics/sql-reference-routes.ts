/** The functions of SQL metrics, as the checker of queries knows them. An endpoint of this service only. */
import { z } from 'zod';
import { listSqlFunctions, listSqlViews } from '../../../billing/metrics/sql-functions.ts';
import { type RouteDefinition, route } from '../../http/route.ts';

const sqlFunction = z
  .object({
    name: z.string(),
    group: z.enum(['aggregate', 'number', 'text', 'time', 'value', 'window']),
    signature: z.string(),
    example: z.string(),
    note: z.string().nullable(),
    synonyms: z.array(z.string()),
    is_hourly: z.boolean().meta({
      description:
        'If true, a query with it is computed incrementally; otherwise it is evaluated again for every hour.',
    }),
  })
  .meta({ id: 'SqlFunction' });

const sqlReference = z.object({
  data: z.object({
    columns: z.array(z.object({ name: z.string(), type: z.string() })),
    views: z
      .array(
        z.object({
          name: z.string(),
          columns: z.array(z.object({ name: z.string(), type: z.string(), description: z.string() })),
        }),
      )
      .meta({ description: 'Views for queries across customers (`POST /v1/sql`).' }),
    functions: z.array(sqlFunction),
  }),
});

const COLUMNS = [
  { name: 'event_type', type: 'text' },
  { name: 'timestamp', type: 'timestamp' },
  { name: 'transaction_id', type: 'text' },
  { name: 'properties.<name>', type: 'number, text or list' },
];

export function sqlReferenceRoutes(): RouteDefinition[] {
  return [
    route({
      method: 'get',
      path: '/v1/billable-metrics/sql-reference',
      operationId: 'getSqlReference',
      summary: 'List the columns and functions of SQL metrics, and the views of queries across customers',
      tags: ['Billable metrics'],
      scope: 'read',
      response: sqlReference,
      errors: [],
      async handler() {
        return {
          data: {
            columns: COLUMNS,
            views: listSqlViews(),
            functions: listSqlFunctions().map(functionToWire),
          },
        };
      },
    }),
  ];
}

function functionToWire({
  isHourly,
  synonyms,
  ...rest
}: ReturnType<typeof listSqlFunctions>[number]): z.input<typeof sqlFunction> {
  return { ...rest, synonyms: [...synonyms], is_hourly: isHourly };
}
