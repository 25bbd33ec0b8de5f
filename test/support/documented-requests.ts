/** The request of each operation that the documentation of the official client shows, read from its declarations. */
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const RESOURCES = fileURLToPath(new URL('../../node_modules/@metronome/sdk/resources', import.meta.url));

/** An example at the end of the comment of a method. */
const EXAMPLE = /@example\n((?:\s*\*.*\n)*?)\s*\*\/\n\s*\w+\(/g;
const CALL = /(client(?:\.\w+)+)\(/;

/** By call (`client.v1.customers.list`), statements that make it. */
export async function documentedRequests(): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const file of await readdir(RESOURCES, { recursive: true })) {
    if (!file.endsWith('.d.ts')) continue;
    const text = await readFile(`${RESOURCES}/${file}`, 'utf8');
    for (const [, comment = ''] of text.matchAll(EXAMPLE)) {
      const statements = comment.replaceAll(/^\s*\* ?/gm, '').replaceAll(/```(?:ts)?/g, '');
      const call = CALL.exec(statements)?.[1];
      // The documentation leaves members out of an object.
      if (call !== undefined) found.set(call, statements.replaceAll('{ ... }', '{}'));
    }
  }
  return found;
}

type Params = Record<string, unknown>;

/** `client` for running an example: `change` replaces the parameters of each call. */
export function withParams(client: object, change: (call: string, params: Params) => unknown): object {
  const nested = (target: object, call: string): object =>
    new Proxy(target, {
      get(_, name) {
        const member = Reflect.get(target, name);
        if (typeof member === 'function') {
          return (params: Params = {}) =>
            Reflect.apply(member, target, [change(`${call}.${String(name)}`, params)]);
        }
        return typeof member === 'object' && member !== null
          ? nested(member, `${call}.${String(name)}`)
          : member;
      },
    });
  return nested(client, 'client');
}

/** Runs the statements of an example. */
export async function run(statements: string, client: object): Promise<void> {
  const Statements = Object.getPrototypeOf(async () => undefined).constructor;
  await new Statements('client', 'console', statements)(client, { log: () => undefined });
}

/** The first timestamp of an example becomes this instant, and the others keep their distance. */
export function movedTimes(params: unknown, start: number): unknown {
  const times: number[] = [];
  mapped(params, (value) => {
    if (isTime(value)) times.push(Date.parse(value));
    return value;
  });
  const first = Math.min(...times);
  return mapped(params, (value) =>
    isTime(value) ? new Date(start + Date.parse(value) - first).toISOString() : value,
  );
}

function isTime(value: unknown): value is string {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value);
}

/** Every value within, with the name of the member that it is of. */
export function mapped(
  value: unknown,
  change: (value: unknown, name: string) => unknown,
  name = '',
): unknown {
  if (Array.isArray(value)) return value.map((item) => mapped(item, change, name));
  if (typeof value !== 'object' || value === null) return change(value, name);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, mapped(member, change, key)]));
}
