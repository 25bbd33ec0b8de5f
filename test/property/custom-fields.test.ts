/** After any sequence of calls, fields and answers equal those of a simple model. */
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import type { CustomFieldEntity } from '../../src/core/custom-fields.ts';
import { createTermsCatalogue, type TermsCatalogue } from '../support/contract-terms.ts';
import { type ObjectKind, objectKinds } from '../support/custom-field-objects.ts';
import { ADD_KEY, DELETE_VALUES, LIST_KEYS, REMOVE_KEY, SET_VALUES } from '../support/custom-fields.ts';
import { catalogueForFile } from '../support/file-fixtures.ts';
import { runs } from '../support/shares-of-tests.ts';

const { pool, api } = await catalogueForFile();
const catalogue = {} as TermsCatalogue;

beforeAll(async () => {
  Object.assign(catalogue, await createTermsCatalogue(api));
});

const ENTITIES = ['customer', 'rate_card'] as const;
type Entity = (typeof ENTITIES)[number];
const OBJECTS = 6;

type Fields = Record<string, string>;
type Call =
  | { readonly kind: 'addKey'; readonly entity: Entity; readonly key: string; readonly unique: boolean }
  | { readonly kind: 'removeKey'; readonly entity: Entity; readonly key: string }
  | { readonly kind: 'create'; readonly entity: Entity; readonly fields: Fields }
  | {
      readonly kind: 'setValues';
      readonly entity: Entity;
      readonly object: number;
      readonly fields: Fields;
    }
  | {
      readonly kind: 'deleteValues';
      readonly entity: Entity;
      readonly object: number;
      readonly keys: readonly string[];
    };

const entity = fc.constantFrom(...ENTITIES);
const key = fc.constantFrom('a', 'b', 'c', 'A');
const fields = fc.dictionary(key, fc.constantFrom('', '1', '2'), { maxKeys: 3 });
const object = fc.nat(OBJECTS - 1);
const call: fc.Arbitrary<Call> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('addKey' as const), entity, key, unique: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('removeKey' as const), entity, key }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('create' as const), entity, fields }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('setValues' as const), entity, object, fields }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('deleteValues' as const),
      entity,
      object,
      keys: fc.array(key, { maxLength: 3 }),
    }),
  },
);

/** One entity: its keys in the order of declaration, and the fields of its objects by place. */
interface Model {
  readonly keys: { key: string; unique: boolean }[];
  readonly objects: Map<string, string>[];
}

/** The status of the answer. Changes the model where that is 200. `place` is that of the object. */
function answerOf(model: Model, one: Call, place: number): number {
  const find = (name: string) => model.keys.find(({ key: known }) => known === name);
  if (one.kind === 'addKey') {
    if (find(one.key) !== undefined) return 409;
    model.keys.push({ key: one.key, unique: one.unique });
    return 200;
  }
  if (one.kind === 'removeKey') {
    const index = model.keys.findIndex(({ key: known }) => known === one.key);
    if (index === -1) return 400;
    model.keys.splice(index, 1);
    for (const held of model.objects) held.delete(one.key);
    return 200;
  }
  const held = model.objects[place];
  if (one.kind !== 'create' && held === undefined) return 404;
  const named = one.kind === 'deleteValues' ? one.keys : Object.keys(one.fields);
  if (named.some((name) => find(name) === undefined)) return 400;
  if (one.kind === 'deleteValues') {
    for (const name of one.keys) held?.delete(name);
    return 200;
  }
  const isTaken = ([name, value]: [string, string]) =>
    find(name)?.unique === true &&
    model.objects.some((other, index) => index !== place && other.get(name) === value);
  if (Object.entries(one.fields).some(isTaken)) return 409;
  if (one.kind === 'create') model.objects.push(new Map(Object.entries(one.fields)));
  else for (const [name, value] of Object.entries(one.fields)) held?.set(name, value);
  return 200;
}

async function send(kind: ObjectKind, one: Call, id: string) {
  const target = { entity: one.entity, entity_id: id };
  switch (one.kind) {
    case 'addKey':
      return api.send('POST', ADD_KEY, { entity: one.entity, key: one.key, enforce_uniqueness: one.unique });
    case 'removeKey':
      return api.send('POST', REMOVE_KEY, { entity: one.entity, key: one.key });
    case 'create':
      return kind.create(one.fields);
    case 'setValues':
      return api.send('POST', SET_VALUES, { ...target, custom_fields: one.fields });
    case 'deleteValues':
      return api.send('POST', DELETE_VALUES, { ...target, keys: one.keys });
  }
}

async function keysOf(of: CustomFieldEntity): Promise<unknown[]> {
  return (await api.post(LIST_KEYS, { entities: [of] })).list('data');
}

test('calls in any order answer and leave what the model says', async () => {
  const kinds = objectKinds(
    () => api,
    catalogue,
    () => '',
  );
  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 10, maxLength: 40 }), async (calls) => {
      await pool.db.execute('truncate custom_field_values, custom_field_keys');
      const models = new Map<Entity, Model>(ENTITIES.map((name) => [name, { keys: [], objects: [] }]));
      const ids = new Map<Entity, string[]>(ENTITIES.map((name) => [name, []]));
      for (const one of calls) {
        const model = models.get(one.entity);
        const kind = kinds.find((each) => each.entity === one.entity);
        const own = ids.get(one.entity);
        if (model === undefined || kind === undefined || own === undefined) throw new Error('a known entity');
        const place = 'object' in one ? one.object : own.length;
        const answer = await send(kind, one, own[place] ?? '00000000-0000-4000-8000-000000000000');
        expect(answer.status, JSON.stringify([one, answer.body])).toBe(answerOf(model, one, place));
        if (one.kind === 'create' && answer.status === 200) own.push(await kind.idOf(answer));
      }
      for (const kind of kinds) {
        const name = ENTITIES.find((each) => each === kind.entity);
        const model = name && models.get(name);
        if (model === undefined) continue;
        expect(await keysOf(kind.entity)).toEqual(
          model.keys.map(({ key: own, unique }) => ({
            entity: name,
            key: own,
            enforce_uniqueness: unique,
          })),
        );
        for (const [place, held] of model.objects.entries()) {
          const shown = await kind.shown(ids.get(name ?? 'customer')?.[place] ?? '');
          const expected = Object.fromEntries(held);
          // A rate card beyond the first hundred is not on the first page.
          expect(shown.filter((one) => one !== undefined)).toContainEqual(expected);
          for (const one of shown) if (one !== undefined) expect(one).toEqual(expected);
        }
      }
    }),
    { numRuns: runs(25) },
  );
});
