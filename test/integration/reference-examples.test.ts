/** Each example of a request in the reference is sent, with ids of objects that exist, and is done. */
import { randomBytes } from 'node:crypto';
import { Stripe } from 'stripe';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { stringifyJson } from '../../src/api/base/json.ts';
import { EXAMPLE_IDS } from '../../src/api/http/examples/ids.ts';
import { PATH_EXAMPLES, REQUEST_EXAMPLES } from '../../src/api/http/examples/request-examples.ts';
import type { JsonSchema } from '../../src/api/http/json-schema.ts';
import { openApiDocument } from '../../src/api/http/openapi.ts';
import type { RouteDefinition } from '../../src/api/http/route.ts';
import { exampleOf } from '../../src/api/http/schema-example.ts';
import { afterOtherWork } from '../../src/core/in-chunks.ts';
import { startStripeStandIn } from '../../src/demo/stripe/stand-in.ts';
import { createExampleWorld, type Replacements, START } from '../support/example-world.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { connectedTo } from '../support/stripe/billed-customer.ts';

const schemas = z.custom<JsonSchema>();
/** The parts of the OpenAPI document that are read here. References stay references, as in a separate schema. */
const documentShape = z.object({
  components: z.object({ schemas: z.record(z.string(), schemas) }),
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({
        operationId: z.string(),
        responses: z.record(
          z.string(),
          z.object({ content: z.record(z.string(), z.object({ schema: schemas })).optional() }),
        ),
      }),
    ),
  ),
});

/** Where Stripe is one account: sent before the others, in this order. */
const FIRST = [
  'ingest',
  'archiveStripeAccount',
  'setCustomerBillingProviderConfigurations',
  'setBillingConfig',
  'getBillingConfig',
  'deleteBillingConfig',
];
/** Where Stripe is one account: these are sent before the others, in this order. */
/** Requests that remove something which the others need are sent last, in this order; the others as they are listed. */
const LAST = [
  'archiveCustomerBillingProviderConfigurations',
  'deleteCustomFieldValues',
  'removeCustomFieldKey',
  'archiveAlert',
  'archiveOffsetNotification',
  'archiveWebhook',
  'rotateToken',
  'revokeToken',
  'voidInvoice',
  'regenerateInvoice',
  'archiveCommit',
  'archiveCredit',
  'updateContractEndDate',
  'archivePackage',
  'archiveContract',
  'archiveProduct',
  'archiveRateCard',
  'archiveBillableMetric',
  'moveSandboxClock',
  'archiveCustomer',
  'eraseCustomer',
  'archiveRole',
  'endSession',
  'resetPerson',
  'disablePerson',
  'erasePerson',
  'signOut',
];

const stripe = await startStripeStandIn();
const service = await serviceForFile({
  sandboxNow: START,
  secretsKey: randomBytes(32),
  ...connectedTo(stripe),
});
afterAll(() => stripe.close());
const { routes } = service;
const placeOf = ({ operationId }: RouteDefinition) =>
  FIRST.includes(operationId) ? FIRST.indexOf(operationId) - FIRST.length : LAST.indexOf(operationId) + 1;
const inOrder = [...routes].sort((a, b) => placeOf(a) - placeOf(b));
let world: Replacements;
beforeAll(async () => {
  world = await createExampleWorld(service, stripe.state.addCustomer());
});

function withIds(value: unknown): unknown {
  if (typeof value === 'number') return world.get(value) ?? value;
  if (typeof value === 'string') {
    return [...world].reduce(
      (text, [example, id]) => (typeof example === 'string' ? text.replaceAll(example, String(id)) : text),
      value,
    );
  }
  if (Array.isArray(value)) return value.map(withIds);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withIds(member)]));
}

function pathOf({ path, operationId }: RouteDefinition): string {
  const members = { ...PATH_EXAMPLES, ...REQUEST_EXAMPLES[operationId]?.params };
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(withIds(members[name])));
}

/** Stripe signs the bytes of its events. */
const signed = (payload: string) => ({
  'stripe-signature': Stripe.webhooks.generateTestHeaderString({ payload, secret: stripe.webhookSecret }),
});

/** The page of a dashboard says its address instead of a token. */
async function asDashboard({ path, method }: RouteDefinition): Promise<Record<string, string>> {
  if (method !== 'get' || !path.startsWith('/v1/dashboards/')) return {};
  const shows = [
    ['/balances', 'credits'],
    ['/usage', 'usage'],
    ['/metrics', 'usage'],
  ] as const;
  const [, dashboard] = shows.find(([end]) => path.endsWith(end)) ?? ['', 'invoices'];
  const asked = { customer_id: withIds(EXAMPLE_IDS.customer), dashboard };
  const url = (await service.api.post('/v1/dashboards/getEmbeddableUrl', asked)).text('data.url');
  return { authorization: `Dashboard ${url.slice(url.lastIndexOf('/') + 1)}` };
}

/** A dashboard shows the metrics that have a price. */
async function queryOf(route: RouteDefinition): Promise<Record<string, string>> {
  const { query = {} } = REQUEST_EXAMPLES[route.operationId] ?? {};
  const texts = Object.entries(query).map(([name, value]) => [name, String(withIds(value))]);
  if (route.operationId !== 'listDashboardUsage') return Object.fromEntries(texts);
  const priced = await service.api.send('GET', '/v1/dashboards/metrics', undefined, {
    token: null,
    headers: await asDashboard(route),
  });
  return { ...Object.fromEntries(texts), billable_metric_id: priced.text('data[0].id') };
}

const needsQuery = ({ query }: RouteDefinition) => query !== undefined && !query.safeParse({}).success;

describe('of every operation', () => {
  test.each(inOrder.map((route) => [route.operationId, route] as const))(
    '%s has an example that is done as it is printed',
    async (operationId, route) => {
      const { body, query = {} } = REQUEST_EXAMPLES[operationId] ?? {};
      expect(body !== undefined, 'an example of its body').toBe(route.body !== undefined);
      if (needsQuery(route)) expect(query, 'an example of its query').not.toEqual({});
      expect(Object.keys(route.query?.shape ?? {})).toEqual(expect.arrayContaining(Object.keys(query)));
      for (const name of Object.keys(route.params?.shape ?? {})) expect(PATH_EXAMPLES).toHaveProperty(name);
      const answer = await service.api.send(route.method.toUpperCase(), pathOf(route), withIds(body), {
        query: await queryOf(route),
        headers: {
          ...(operationId === 'takeStripeEvent' ? signed(stringifyJson(body)) : {}),
          ...(await asDashboard(route)),
        },
      });
      // An authenticator signs the challenge of one browser.
      const done = operationId === 'registerPasskey' ? 401 : (route.emptyStatus ?? 200);
      expect(answer.status, JSON.stringify(answer.body)).toBe(done);
    },
  );
});

test('the example of each answer is what its schema says', async () => {
  const text = JSON.stringify(openApiDocument(routes, '1'));
  const { paths, components } = documentShape.parse(
    JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/')),
  );
  let checked = 0;
  for (const { operationId, responses } of Object.values(paths).flatMap((methods) =>
    Object.values(methods),
  )) {
    const schema = responses['200']?.content?.['application/json']?.schema;
    if (schema === undefined) continue;
    // The service is in this process, and answers idle connections meanwhile.
    await afterOtherWork();
    const example = exampleOf(schema, components.schemas);
    const answer = z.fromJSONSchema({ ...schema, $defs: components.schemas });
    expect(answer.safeParse(example).error?.issues, operationId).toBeUndefined();
    checked += 1;
  }
  expect(checked).toBeGreaterThan(100);
});

test('no example is of an operation that is not there', () => {
  const known = routes.map(({ operationId }) => operationId);
  expect(known).toEqual(expect.arrayContaining([...Object.keys(REQUEST_EXAMPLES), ...FIRST, ...LAST]));
});

test('the document of the reference has these examples', async () => {
  const document = (await service.api.get('/openapi.json')).body;
  for (const { operationId, path, method } of routes) {
    const { body } = REQUEST_EXAMPLES[operationId] ?? {};
    if (body === undefined) continue;
    const content = ['paths', path, method, 'requestBody', 'content', 'application/json'];
    expect(document).toHaveProperty([...content, 'example'], body);
  }
  const costs = ['paths', '/v1/customers/{customer_id}/costs', 'get', 'parameters'];
  expect(document).toHaveProperty([...costs, 0, 'example'], EXAMPLE_IDS.customer);
});
