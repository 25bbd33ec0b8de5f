/** Saved queries for `POST /v1/sql`. Endpoints of this service only. */
import { z } from 'zod';
import type { RowContext } from '../../../billing/billing-context.ts';
import { listSavedQueries, removeQuery, saveQuery } from '../../../billing/sql/saved-queries.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { noted } from '../../wire/description.ts';
import { createdId, uuid } from '../../wire/fields.ts';
import { anyText, id, instant } from '../../wire/kinds.ts';
import { pageOf, pageQuery, pageRequest, pageToWire } from '../../wire/paging.ts';
import { record } from '../../wire/record.ts';
import { sqlText } from './sql-text.ts';

const savedQuery = record(
  {
    id,
    name: anyText,
    sql: anyText,
    savedBy: noted('The name of the token that last saved the query.', anyText),
    savedAt: instant,
  },
  { id: { answered: 'SavedQuery' } },
);

const tags = ['SQL'];

export function savedQueryRoutes(context: RowContext): RouteDefinition[] {
  return [listRoute(context), saveRoute(context), deleteRoute(context)];
}

function listRoute(context: RowContext): RouteDefinition {
  return route({
    method: 'get',
    path: '/v1/sql/queries',
    operationId: 'listSavedQueries',
    summary: 'List saved SQL queries',
    description: 'By name.',
    tags,
    scope: 'read',
    query: pageQuery(z.object({ name: z.string() })),
    response: pageOf(savedQuery.output),
    errors: [400],
    async handler({ query }) {
      return pageToWire(await listSavedQueries(context, pageRequest(query)), savedQuery.write);
    },
  });
}

function saveRoute(context: RowContext): RouteDefinition {
  return route({
    method: 'post',
    path: '/v1/sql/queries/save',
    operationId: 'saveQuery',
    summary: 'Save a SQL query under a name',
    description:
      'In the place of a query with the same name, which keeps its id. The text is checked when it is run.',
    tags,
    scope: 'write',
    body: z.strictObject({ name: z.string().trim().min(1).max(200), sql: sqlText }).meta({ id: 'SaveQuery' }),
    response: createdId,
    errors: [400],
    async handler({ body, actor }) {
      return { data: { id: await saveQuery(context, { ...body, savedBy: actor.name }) } };
    },
  });
}

function deleteRoute(context: RowContext): RouteDefinition {
  return route({
    method: 'post',
    path: '/v1/sql/queries/delete',
    operationId: 'deleteSavedQuery',
    summary: 'Delete a saved SQL query',
    tags,
    scope: 'write',
    body: z.strictObject({ id: uuid }).meta({ id: 'DeleteSavedQuery' }),
    response: createdId,
    errors: [400, 404],
    async handler({ body: { id } }) {
      await removeQuery(context, id);
      return { data: { id } };
    },
  });
}
