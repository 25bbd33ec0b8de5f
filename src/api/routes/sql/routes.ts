/** Queries of analysts across customers. An endpoint of this service only. */
import { z } from 'zod';
import type { BillingContext } from '../../../billing/billing-context.ts';
import { queryParquet, queryRows, type ReportQuery } from '../../../billing/sql/run-query.ts';
import { checkInput } from '../../http/problems.ts';
import type { RouteDefinition } from '../../http/route.ts';
import { StreamedAnswer } from '../../http/streamed-answer.ts';
import { csvRows, jsonText } from './answers.ts';
import { sqlText } from './sql-text.ts';

const body = z.object({ sql: sqlText }).meta({
  id: 'SqlQuery',
  example: { sql: 'SELECT customer_id, SUM(total) AS cents FROM invoices GROUP BY customer_id' },
});

const response = z.object({
  columns: z.array(z.object({ name: z.string(), type: z.string() })).meta({
    description: '`number`, `text`, `timestamp`, `boolean` or `list`, in the order of the query.',
  }),
  data: z.array(z.record(z.string(), z.unknown())).meta({
    description: 'A row each. Numbers have all their digits; times are RFC 3339, lists are JSON texts.',
  }),
});

/** All answers are streams, so the route is written out instead of defined with a handler. */
export function sqlRoutes(context: BillingContext): RouteDefinition[] {
  return [
    {
      method: 'post',
      path: '/v1/sql',
      operationId: 'querySql',
      summary: 'Query usage and invoices of all customers with SQL',
      description:
        'One SELECT over the views events, customers, contracts, invoices, invoice_lines, invoice_hours and balances, in ' +
        'the language of SQL metrics. The answer has every acknowledged event and every issued invoice.',
      tags: ['SQL'],
      scope: 'read',
      params: undefined,
      query: undefined,
      body,
      response,
      errors: [400, 429],
      answersStream: true,
      run: async (input) => new StreamedAnswer(jsonText(await queryRows(context, queryOf(input)))),
      csv: {
        columns: null,
        async *run(input) {
          yield* csvRows(await queryRows(context, queryOf(input)));
        },
      },
      parquet: {
        description:
          'All rows as a Parquet file. Numbers are texts with all their digits, times are timestamps in UTC with ' +
          'milliseconds, conditions are booleans, lists are JSON texts.',
        run: (input) => queryParquet(context, queryOf(input)),
      },
    },
  ];
}

function queryOf({ body: sent, http }: Parameters<RouteDefinition['run']>[0]): ReportQuery {
  const { sql } = checkInput(body, 'body', sent);
  return { sql, signal: http.req.raw.signal };
}
