/** The keys by which a file of prices names objects. Pure. */
import type { LiveCatalogue } from './live-catalogue.ts';

/** `Input tokens (EU)` becomes `input-tokens-eu`. Empty if no letter or digit is in it. */
export function slugOf(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-|-$/g, '');
}

interface Named {
  readonly id: string;
  readonly name: string;
  /** The custom field `key` of the object, which comes before its name. */
  readonly custom_fields?: Readonly<Record<string, string>> | undefined;
}

/**
 * The key of each object by its id: its custom field `key`, else the slug of its name. Keys are numbered in the order
 * of the objects where two are equal.
 */
function keysOf(objects: readonly Named[]): ReadonlyMap<string, string> {
  const keys = new Map<string, string>();
  const given = objects.filter(({ custom_fields: fields }) => fields?.key !== undefined);
  const used = new Set<string>();
  const others = objects.filter(({ custom_fields: fields }) => fields?.key === undefined);
  for (const one of [...given, ...others]) {
    const wanted = one.custom_fields?.key ?? (slugOf(one.name) || 'unnamed');
    let key = wanted;
    for (let number = 2; used.has(key); number += 1) key = `${wanted}-${number}`;
    used.add(key);
    keys.set(one.id, key);
  }
  return keys;
}

/** The key of each object by its id. */
export interface CatalogueKeys {
  readonly metrics: ReadonlyMap<string, string>;
  readonly products: ReadonlyMap<string, string>;
  readonly cards: ReadonlyMap<string, string>;
}

/** Archived objects come last, so that the others have the keys that they would have without them. */
export function keysOfCatalogue({ metrics, products, cards }: LiveCatalogue): CatalogueKeys {
  const named = products.map((one) => ({ ...one, name: one.current.name }));
  return {
    metrics: keysOf(archivedLast(metrics)),
    products: keysOf(archivedLast(named)),
    cards: keysOf(cards),
  };
}

function archivedLast<One extends { readonly archived_at?: string | null | undefined }>(
  objects: readonly One[],
): One[] {
  const isActive = ({ archived_at: archived }: One) => archived == null;
  return [...objects.filter(isActive), ...objects.filter((one) => !isActive(one))];
}
