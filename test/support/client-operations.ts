/** The operations of the official client, found by calling each of its methods against a recording transport. */
import Metronome from '@metronome/sdk';
import { APIResource } from '@metronome/sdk/core/resource';

export interface ClientOperation {
  /** As it is called: `client.v1.customers.list`. */
  readonly call: string;
  /** `GET`. */
  readonly method: string;
  /** With parameters in braces: `/v1/customers/{customer_id}`. */
  readonly path: string;
}

/** Stands for every parameter: reads as its own name in braces, wherever the client puts it. */
const anyParameters = new Proxy(
  {},
  { get: (_target, name) => (typeof name === 'string' ? `{${name}}` : undefined) },
);

/** In the order of their calls. */
export async function clientOperations(): Promise<ClientOperation[]> {
  const requests: Omit<ClientOperation, 'call'>[] = [];
  const client = new Metronome({
    baseURL: 'http://client.invalid',
    bearerToken: 'token',
    maxRetries: 0,
    async fetch(input, init) {
      const { pathname } = new URL(String(input));
      requests.push({ method: String(init?.method).toUpperCase(), path: decodeURIComponent(pathname) });
      return Response.json({ data: [], next_page: null });
    },
  });
  const operations: ClientOperation[] = [];
  for (const { call, run } of methodsOf('client', client)) {
    requests.length = 0;
    await run().catch(() => undefined);
    operations.push(...requests.map((request) => ({ call, ...request })));
  }
  return operations.sort((a, b) => (a.call < b.call ? -1 : 1));
}

interface Method {
  readonly call: string;
  run(): Promise<unknown>;
}

function methodsOf(name: string, resource: object): Method[] {
  const nested = Object.entries(resource).flatMap(([key, value]) =>
    value instanceof APIResource ? methodsOf(`${name}.${key}`, value) : [],
  );
  if (!(resource instanceof APIResource)) return nested;
  const names = Object.getOwnPropertyNames(Object.getPrototypeOf(resource)).filter(
    (key) => key !== 'constructor',
  );
  const own = names.map((key) => ({
    call: `${name}.${key}`,
    run: async (): Promise<unknown> => Reflect.get(resource, key).call(resource, anyParameters),
  }));
  return [...own, ...nested];
}
