/**
 * Versions of objects: the header `ETag` of an answer names the version that it shows, and a change with `If-Match` is
 * refused with 412 if the object has another version by then (docs/reference/access.md, "Versions of objects").
 *
 * A version is a digest of each member of the object as its read operation answers it, so the refusal can name the
 * members that differ, and nothing has to be stored. Requests with `If-Match` for one object follow one another.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { assert, Refusal } from '../../core/errors.ts';
import { AnswerWithHeaders } from './answer-with-headers.ts';
import type { RouteDefinition } from './route.ts';
import { digestJson } from './write-json.ts';

/** The operation that reads an object, and the parameters that identify it, by their names in this operation. */
interface VersionedRead {
  readonly operation: string;
  readonly names: readonly string[];
  /** Members of the request that make the answer show more than the object. */
  readonly options?: readonly string[];
}

const READS = {
  billable_metric: { operation: 'getBillableMetric', names: ['billable_metric_id'] },
  contract: {
    operation: 'getContractV2',
    names: ['customer_id', 'contract_id'],
    options: ['as_of_date', 'include_balance', 'include_ledgers'],
  },
  customer: { operation: 'getCustomer', names: ['customer_id'] },
  package: { operation: 'getPackage', names: ['package_id'] },
  product: { operation: 'getProduct', names: ['id'] },
  rate_card: { operation: 'getRateCard', names: ['id'] },
  webhook: { operation: 'getWebhook', names: ['webhook_id'] },
} as const satisfies Readonly<Record<string, VersionedRead>>;
type Kind = keyof typeof READS;

/** A kind, and the names of its identifying parameters in a change, in the order of those of its read. */
type VersionedChange = readonly [kind: Kind, ...names: readonly string[]];

const CONTRACT = ['contract', 'customer_id', 'contract_id'] as const;

/** By the operation that changes an object. */
const CHANGES: Readonly<Record<string, VersionedChange>> = {
  renameBillableMetric: ['billable_metric', 'billable_metric_id'],
  archiveBillableMetric: ['billable_metric', 'id'],
  editContract: CONTRACT,
  amendContract: CONTRACT,
  updateContractEndDate: CONTRACT,
  setContractUsageFilter: CONTRACT,
  archiveContract: CONTRACT,
  setCustomerName: ['customer', 'customer_id'],
  setIngestAliases: ['customer', 'customer_id'],
  updateCustomerConfig: ['customer', 'customer_id'],
  archiveCustomer: ['customer', 'id'],
  archivePackage: ['package', 'package_id'],
  updateProduct: ['product', 'product_id'],
  archiveProduct: ['product', 'product_id'],
  updateRateCard: ['rate_card', 'rate_card_id'],
  setRateCardProductsOrder: ['rate_card', 'rate_card_id'],
  moveRateCardProducts: ['rate_card', 'rate_card_id'],
  archiveRateCard: ['rate_card', 'id'],
  archiveWebhook: ['webhook', 'id'],
  rotateWebhookSecret: ['webhook', 'id'],
};

/** Whether an operation takes `If-Match`. */
export function takesVersion(operationId: string): boolean {
  return Object.hasOwn(CHANGES, operationId);
}

/** Holds the object until the transaction of the request ends. */
type LockObject = (kind: string, id: string) => Promise<void>;

/** The same routes, with versions. */
export function withVersions(routes: readonly RouteDefinition[], lock: LockObject): RouteDefinition[] {
  const byId = new Map(routes.map((route) => [route.operationId, route]));
  return routes.map((route) => {
    const change = CHANGES[route.operationId];
    if (change !== undefined) return checking(route, change, byId, lock);
    const read = Object.values(READS).find(({ operation }) => operation === route.operationId);
    return read === undefined ? route : telling(route, read);
  });
}

const answered = z.object({ data: z.custom<object>((value) => typeof value === 'object' && value !== null) });

function telling(route: RouteDefinition, { options = [] }: VersionedRead): RouteDefinition {
  return {
    ...route,
    async run(input) {
      const result = await route.run(input);
      const sent: Readonly<Record<string, unknown>> = Object(input.body);
      if (options.some((name) => Boolean(sent[name]))) return result;
      const { data } = answered.parse(result);
      return new AnswerWithHeaders(result, { ...route.headers, etag: headerText(await versionOf(data)) });
    },
  };
}

function checking(
  route: RouteDefinition,
  [kind, ...names]: VersionedChange,
  routes: ReadonlyMap<string, RouteDefinition>,
  lock: LockObject,
): RouteDefinition {
  const read: VersionedRead = READS[kind];
  return {
    ...route,
    async run(input) {
      const expected = input.http.req.header('if-match')?.trim();
      const sent: Readonly<Record<string, unknown>> = { ...Object(input.body), ...input.http.req.param() };
      const ids = names.map((name) => sent[name]);
      // A request without an id is refused by the operation itself.
      if (expected === undefined || expected === '*' || !ids.every((id) => typeof id === 'string')) {
        return await route.run(input);
      }
      await lock(kind, ids.at(-1) ?? '');
      const reader = routes.get(read.operation);
      assert(reader?.ask !== undefined, `${read.operation} can be asked`);
      const asked = Object.fromEntries(read.names.map((name, index) => [name, ids[index]]));
      const present = await reader.ask(asked, input);
      if (present !== null) await requireVersion(kind, expected, answered.parse(present).data);
      return await route.run(input);
    },
  };
}

async function requireVersion(kind: Kind, expected: string, object: object): Promise<void> {
  const version = await versionOf(object);
  const given = expected.split(',').map((one) => one.trim().replace(/^W\//, ''));
  if (given.includes(headerText(version))) return;
  const changed = changedMembers(given[0] ?? '', version);
  const named = changed.length === 0 ? '' : `: ${changed.join(', ')}`;
  throw new Refusal(
    'changed',
    `the ${kind.replace('_', ' ')} is not the version of If-Match any more${named}. Read it again`,
    { details: { version: headerText(version), changed } },
  );
}

/** The digest of each member, in the order of their names. */
type Version = ReadonlyMap<string, string>;

const KEY_CHARACTERS = 3;
const VALUE_CHARACTERS = 10;

async function versionOf(object: object): Promise<Version> {
  const members = Object.entries(object).filter(([, value]) => value !== undefined);
  members.sort(([one], [other]) => (one < other ? -1 : 1));
  const version = new Map<string, string>();
  for (const [name, value] of members) {
    const hash = createHash('sha256');
    await digestJson(value, hash);
    version.set(name, hash.digest('base64url').slice(0, VALUE_CHARACTERS));
  }
  return version;
}

function keyOf(name: string): string {
  return createHash('sha256').update(name).digest('base64url').slice(0, KEY_CHARACTERS);
}

function headerText(version: Version): string {
  return `"${[...version].map(([name, digest]) => keyOf(name) + digest).join('')}"`;
}

/** The names of the members that differ from a version. Members that are absent now are not named. */
function changedMembers(given: string, version: Version): string[] {
  const length = KEY_CHARACTERS + VALUE_CHARACTERS;
  const parts = given.slice(1, -1);
  const before = new Map<string, string>();
  for (let from = 0; from < parts.length; from += length) {
    const part = parts.slice(from, from + length);
    before.set(part.slice(0, KEY_CHARACTERS), part.slice(KEY_CHARACTERS));
  }
  const isOurs = [...version.keys()].some((name) => before.has(keyOf(name)));
  return isOurs ? [...version].flatMap(([name, now]) => (before.get(keyOf(name)) === now ? [] : [name])) : [];
}
