/** The keys by which a file of prices names objects. Pure. */

/** `Input tokens (EU)` becomes `input-tokens-eu`. Empty if no letter or digit is in it. */
function slugOf(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-|-$/g, '');
}

export interface Named {
  readonly id: string;
  readonly name: string;
  /** The custom field `key` of the object, which comes before its name. */
  readonly custom_fields?: Readonly<Record<string, string>> | undefined;
}

/**
 * The key of each object by its id: its custom field `key`, else the slug of its name. Keys are numbered in the order
 * of the objects where two are equal.
 */
export function keysOf(objects: readonly Named[]): ReadonlyMap<string, string> {
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
