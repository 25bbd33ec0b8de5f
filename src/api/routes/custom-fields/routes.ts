/** Custom fields: their keys, and their values on existing objects. */
import { z } from 'zod';
import type { RowContext } from '../../../billing/billing-context.ts';
import { addKey, listKeys, removeKey } from '../../../billing/custom-fields/keys.ts';
import { deleteValues, setValues } from '../../../billing/custom-fields/values.ts';
import {
  CUSTOM_FIELD_ENTITIES,
  CUSTOM_FIELD_KEY_LENGTH_MAX,
  CUSTOM_FIELD_KEYS_PER_ENTITY_MAX,
} from '../../../core/custom-fields.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { customFields, uuid } from '../../wire/fields.ts';
import { pageOf, pageQuery, pageRequest, pageToWire } from '../../wire/paging.ts';

/** Fixed, because the operation has no `limit` parameter. */
const KEYS_PER_PAGE = 100;

const entity = z.enum(CUSTOM_FIELD_ENTITIES).meta({ id: 'CustomFieldEntity' });

const enforceUniqueness = z
  .boolean()
  .meta({ description: 'If true, each value belongs to at most one object, including archived objects.' });

const declaredKey = z
  .object({ entity, key: z.string(), enforce_uniqueness: enforceUniqueness })
  .meta({ id: 'CustomFieldKey' });

export const addKeyBody = z
  .object({
    entity,
    key: z.string().min(1).max(CUSTOM_FIELD_KEY_LENGTH_MAX),
    enforce_uniqueness: enforceUniqueness,
  })
  .meta({
    id: 'AddCustomFieldKey',
    example: { entity: 'customer', key: 'account_id', enforce_uniqueness: true },
  });

const common = { method: 'post', tags: ['Custom fields'] } as const;

export function customFieldRoutes(context: RowContext): RouteDefinition[] {
  return [...keyRoutes(context), listRoute(context), ...valueRoutes(context)];
}

function keyRoutes(context: RowContext): RouteDefinition[] {
  return [
    route({
      ...common,
      path: '/v1/customFields/addKey',
      operationId: 'addCustomFieldKey',
      summary: 'Declare a custom field for a kind of object',
      description:
        'Only declared keys can be set. A key that is declared already answers 409: its uniqueness cannot ' +
        'be changed.',
      scope: 'write',
      body: addKeyBody,
      response: 'empty',
      errors: [400, 409],
      handler: ({ body }) =>
        addKey(context, { entity: body.entity, key: body.key, enforceUniqueness: body.enforce_uniqueness }),
    }),
    route({
      ...common,
      path: '/v1/customFields/removeKey',
      operationId: 'removeCustomFieldKey',
      summary: 'Withdraw a custom field from a kind of object',
      description:
        'Its values are permanently inaccessible. A key that is declared again starts without values.',
      scope: 'write',
      body: z.object({ entity, key: z.string().min(1) }).meta({ id: 'RemoveCustomFieldKey' }),
      response: 'empty',
      errors: [400],
      handler: ({ body }) => removeKey(context, body),
    }),
  ];
}

function listRoute(context: RowContext): RouteDefinition {
  return route({
    ...common,
    path: '/v1/customFields/listKeys',
    operationId: 'listCustomFieldKeys',
    summary: 'List declared custom fields',
    description: `In the order of declaration, ${KEYS_PER_PAGE} a page.`,
    scope: 'read',
    query: pageQuery(z.object({ after: z.int().min(0) }), KEYS_PER_PAGE),
    body: z.object({
      entities: z
        .array(entity)
        .max(100)
        .nullish()
        .meta({ description: 'Keys of these kinds of objects. Default: all kinds.' }),
    }),
    response: pageOf(declaredKey),
    errors: [400],
    async handler({ query, body }) {
      const page = await listKeys(context, body.entities ?? null, pageRequest(query));
      return pageToWire(page, ({ entity: of, key, enforceUniqueness: isUnique }) => ({
        entity: of,
        key,
        enforce_uniqueness: isUnique,
      }));
    },
  });
}

function valueRoutes(context: RowContext): RouteDefinition[] {
  const object = { entity, entity_id: uuid };
  return [
    route({
      ...common,
      path: '/v1/customFields/setValues',
      operationId: 'setCustomFieldValues',
      summary: 'Set custom fields of an object',
      description:
        'All or none. Fields that are not named stay. The value of a key that enforces uniqueness answers ' +
        '409 where another object holds it.',
      scope: 'write',
      body: z.object({ ...object, custom_fields: customFields }).meta({ id: 'SetCustomFieldValues' }),
      response: 'empty',
      errors: [400, 404, 409],
      handler: ({ body }) =>
        setValues(context, { entity: body.entity, entityId: body.entity_id, fields: body.custom_fields }),
    }),
    route({
      ...common,
      path: '/v1/customFields/deleteValues',
      operationId: 'deleteCustomFieldValues',
      summary: 'Delete custom fields of an object',
      description: 'All or none. Keys without a value are ignored.',
      scope: 'write',
      body: z
        .object({
          ...object,
          keys: z.array(z.string().min(1)).max(CUSTOM_FIELD_KEYS_PER_ENTITY_MAX),
        })
        .meta({ id: 'DeleteCustomFieldValues' }),
      response: 'empty',
      errors: [400, 404],
      handler: ({ body }) =>
        deleteValues(context, { entity: body.entity, entityId: body.entity_id, keys: body.keys }),
    }),
  ];
}
