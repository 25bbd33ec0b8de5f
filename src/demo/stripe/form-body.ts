/** Parses request bodies for Stripe: `lines[0][metadata][a]=b`. */

export type FormValue = string | FormValue[] | { readonly [name: string]: FormValue };

export function parseForm(text: string): Record<string, FormValue> {
  const root: Record<string, unknown> = {};
  for (const [name, value] of new URLSearchParams(text)) {
    const path = name.replaceAll(']', '').split('[');
    let place = root;
    for (const part of path.slice(0, -1)) {
      place[part] ??= {};
      place = place[part] as Record<string, unknown>;
    }
    place[path.at(-1) ?? ''] = value;
  }
  return withLists(root) as Record<string, FormValue>;
}

/** Objects whose names are 0, 1, 2 … are lists. */
function withLists(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, member]) => [name, withLists(member)] as const);
  const isList = entries.length > 0 && entries.every(([name], index) => name === String(index));
  return isList ? entries.map(([, member]) => member) : Object.fromEntries(entries);
}
