import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { EXAMPLE_IDS } from '../../../../src/api/http/examples/ids.ts';
import { openApiDocument } from '../../../../src/api/http/openapi.ts';
import { route } from '../../../../src/api/http/route.ts';
import {
  commaList,
  creditType,
  customFields,
  enumIn,
  exactNumber,
  limit,
  uuid,
} from '../../../../src/api/wire/fields.ts';
import { pageOf } from '../../../../src/api/wire/paging.ts';
import { testApp } from '../fixtures.ts';

const thing = z
  .object({
    id: uuid,
    credit_type: creditType.nullable(),
    other_credit_type: creditType,
    price: exactNumber().nullable(),
    custom_fields: customFields.optional(),
  })
  .meta({ id: 'Thing', description: 'A thing.' });

const listThings = route({
  method: 'post',
  path: '/v1/customers/{customer_id}/things',
  operationId: 'listThings',
  summary: 'List things',
  tags: ['things'],
  scope: 'read',
  params: z.object({ customer_id: uuid }),
  query: z.object({ limit: limit(1, 100, 10), kinds: commaList(enumIn(['BIG', 'SMALL'])).optional() }),
  body: z.object({ price: exactNumber({ min: '0' }), count: z.int().optional() }),
  errors: [409],
  response: pageOf(thing),
  handler: async () => ({ data: [], next_page: null }),
});

const document = openApiDocument([listThings], '1.2.3');
const operation = document.paths['/v1/customers/{customer_id}/things']?.post;

describe('the OpenAPI document', () => {
  it('the OpenAPI document of an app is valid OpenAPI 3.1', async () => {
    const served = (await testApp([listThings]).client.get('/openapi.json')).body;
    const result = await new Validator().validate(JSON.parse(JSON.stringify(served)));
    expect(result.errors ?? []).toEqual([]);
    expect(result.valid).toBe(true);
    expect(served).toMatchObject({ openapi: '3.1.0', info: { version: '1.2.3' } });
  });

  it('describes every operation of the app, ingest and the service routes too', async () => {
    const { routes, client } = testApp([listThings]);
    const served = await client.get('/openapi.json');
    for (const { method, path, operationId } of routes) {
      expect(served.body).toHaveProperty(['paths', path, method, 'operationId'], operationId);
    }
    expect(routes).toHaveLength(12);
  });

  it('the OpenAPI document writes parameters with their places and limits', () => {
    expect(operation?.parameters).toEqual([
      {
        name: 'customer_id',
        in: 'path',
        required: true,
        schema: { type: 'string', format: 'uuid' },
        example: EXAMPLE_IDS.customer,
      },
      expect.objectContaining({
        name: 'limit',
        required: false,
        schema: { type: 'integer', minimum: 1, maximum: 100 },
      }),
      {
        name: 'kinds',
        in: 'query',
        required: false,
        style: 'form',
        explode: false,
        schema: { type: 'array', items: { type: 'string', enum: ['BIG', 'SMALL'] } },
      },
      expect.objectContaining({ name: 'Idempotency-Key', in: 'header', required: false }),
    ]);
  });

  it('the OpenAPI document writes exact numbers as numbers', () => {
    expect(operation?.requestBody?.content['application/json']?.schema).toEqual({
      type: 'object',
      properties: {
        price: { type: 'number', minimum: 0, description: expect.stringMatching(/^Unit: .*US cents/) },
        count: { type: 'integer' },
      },
      required: ['price'],
    });
  });

  it('the OpenAPI document writes a nullable component as null or the component, and leaves the component itself alone', () => {
    expect(document.components.schemas.Thing).toMatchObject({
      properties: {
        credit_type: { anyOf: [{ $ref: '#/components/schemas/CreditType' }, { type: 'null' }] },
        other_credit_type: { $ref: '#/components/schemas/CreditType' },
        price: { type: ['number', 'null'] },
      },
    });
    expect(document.components.schemas.CreditType).toMatchObject({ type: 'object' });
  });

  it('declares every status that the route can answer, and who may call it', () => {
    expect(Object.keys(operation?.responses ?? {})).toEqual([
      '200',
      '400',
      '401',
      '403',
      '404',
      '409',
      '413',
      '429',
      '500',
      '503',
    ]);
    expect(operation?.security).toEqual([{ token: [] }]);
  });

  it.each([
    ['ingest', 'Needs the permission `ingest:write`, which a token of scope `ingest` or `write` has.'],
    ['listCustomers', 'Needs the permission `customers:read`, which a token of scope `read` or `write` has.'],
    ['createToken', 'Needs the permission `tokens:write`, which a token of scope `write` has.'],
  ] as const)(
    'the OpenAPI document names the permission of an operation and the scopes that have it: %s',
    (operationId, sentence) => {
      const { paths } = openApiDocument([{ ...listThings, operationId }], '1');
      expect(paths[listThings.path]?.post?.description).toBe(sentence);
      expect(sentence).toContain(paths[listThings.path]?.post?.['x-permission']);
    },
  );

  it('the OpenAPI document has no permission for a public operation', () => {
    const { paths } = openApiDocument([{ ...listThings, scope: 'public' }], '1');
    expect(paths[listThings.path]?.post).toMatchObject({ description: '', 'x-permission': null });
  });

  it('the OpenAPI document cannot be built from two different schemas with one id', () => {
    const other = {
      ...listThings,
      path: '/v1/other',
      response: z.object({ a: z.string() }).meta({ id: 'Thing' }),
    };
    expect(() => openApiDocument([listThings, { ...other, path: '/v1/other' }], '1')).toThrow(/id Thing/);
  });
});
