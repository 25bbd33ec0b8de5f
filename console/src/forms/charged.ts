/** FIXED products that forms name: their ids, and those that do not exist yet. */
import { callAll } from '../api/client.ts';
import { entriesOf, type FormField, shownFields, textOf, type Values } from './field.ts';

const LIST = 'POST /v1/contract-pricing/products/list';

/** The names in the fields of kind `charged`, each once. */
export function chargedNames(fields: readonly FormField[], values: Values): string[] {
  const names = shownFields(fields, values).flatMap(({ at, kind, fields: inner = [] }) =>
    kind === 'charged'
      ? [textOf(values, at).trim()]
      : entriesOf(values, at).flatMap((entry) => chargedNames(inner, entry)),
  );
  return [...new Set(names)].filter((name) => name !== '');
}

/** The ids of the FIXED products with these names; `create` is asked for the id of one that does not exist. */
export async function chargedProducts(
  names: readonly string[],
  create: (name: string) => Promise<string>,
): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  if (names.length === 0) return ids;
  const known = await fixedProducts();
  for (const name of names) ids.set(name, known.get(name) ?? (await create(name)));
  return ids;
}

interface NamedProducts {
  /** The ids by name; that of a product that does not exist is what `idOf` says. */
  readonly products: ReadonlyMap<string, string>;
  /** The names of those that do not exist. */
  readonly added: readonly string[];
}

/** Like `chargedProducts`, and nothing is created. */
export async function namedProducts(
  names: readonly string[],
  idOf: (name: string) => string,
): Promise<NamedProducts> {
  const added: string[] = [];
  const products = await chargedProducts(names, async (name) => {
    added.push(name);
    return idOf(name);
  });
  return { products, added };
}

/** The ids of all FIXED products, by name. */
async function fixedProducts(): Promise<Map<string, string>> {
  const products = await callAll(LIST, { body: {}, query: { limit: '100' } });
  const fixed = products.filter(({ type }) => type === 'FIXED');
  return new Map(fixed.reverse().map(({ id, current }) => [current.name, id]));
}

/** Stands in a body for the id of a product that does not exist yet. */
export const notYet = (name: string) => `product ${name} that does not exist yet`;

/**
 * A body for a preview, in which other products stand in for those that do not exist yet: the terms of a new product
 * have its name, and a FIXED product changes nothing else of an invoice. Throws if there is none to stand in.
 */
export async function withStandIns(body: unknown, newNames: readonly string[]): Promise<unknown> {
  if (newNames.length === 0) return body;
  const [standIn] = (await fixedProducts()).values();
  if (standIn === undefined) {
    throw new Error(
      `${newNames[0]} is the first fixed product, which saving creates: it cannot be previewed before`,
    );
  }
  return replaced(body, new Map(newNames.map((name) => [notYet(name), name])), standIn);
}

function replaced(value: unknown, names: ReadonlyMap<unknown, string>, standIn: string): unknown {
  if (Array.isArray(value)) return value.map((each) => replaced(each, names, standIn));
  if (typeof value !== 'object' || value === null || !isPlain(value)) return value;
  const entries = Object.entries(value).map(([key, each]) => [key, replaced(each, names, standIn)]);
  const members = Object.fromEntries(entries) as Record<string, unknown>;
  const name = names.get(members.product_id);
  return name === undefined ? members : { ...members, product_id: standIn, name };
}

/** Numbers of bodies are objects, too. */
function isPlain(value: object): boolean {
  return Object.getPrototypeOf(value) === Object.prototype;
}
