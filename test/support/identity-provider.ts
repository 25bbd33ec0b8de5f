/** An identity provider as a separate process, and persons in browsers who sign in with it. */
import { afterAll } from 'vitest';
import { z } from 'zod';
import type { ProviderConfig, RoleRules } from '../../src/core/provider-settings.ts';
import { runCommand } from './child-process.ts';

/** The members that `POST /control` replaces (`programs/identity-provider.mjs`). */
interface Controlled {
  readonly people?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly origins?: readonly string[];
  readonly logoutUri?: string | null;
  readonly isThin?: boolean;
  readonly refreshes?: boolean;
  readonly clientKey?: object | null;
  readonly isAway?: boolean;
  readonly key?: number;
  readonly mangled?: object | null;
  readonly requests?: Readonly<Record<string, number>>;
}

export interface TestProvider {
  readonly issuer: string;
  /** The settings of a service of this provider. */
  config(roles?: Partial<RoleRules>): ProviderConfig;
  control(change: Controlled): Promise<{ readonly requests: Readonly<Record<string, number>> }>;
  /** Signs claims with the key of the provider. */
  sign(claims: object, header?: object): Promise<string>;
}

export const CLIENT_SECRET = 'secret-of-the-tests-of-tallyhouse';

export async function providerForFile(): Promise<TestProvider> {
  const program = runCommand(process.execPath, ['test/support/programs/identity-provider.mjs'], {});
  afterAll(async () => {
    program.child.kill();
    await program.ended;
  });
  await program.said('is ready');
  const issuer = /issuer (\S+) is ready/.exec(program.stdout())?.[1] ?? '';
  const post = async (path: string, body: object) => {
    const response = await fetch(issuer + path, { method: 'POST', body: JSON.stringify(body) });
    return (await response.json()) as unknown;
  };
  return {
    issuer,
    config: (roles = {}) => ({
      ...{ issuer, clientId: 'tallyhouse', credential: { secret: CLIENT_SECRET } },
      scopes: 'openid profile email',
      roles: { claim: 'groups', mapped: [], defaultRole: undefined, admins: [], ...roles },
    }),
    control: async (change) =>
      z.object({ requests: z.record(z.string(), z.number()) }).parse(await post('/control', change)),
    sign: async (claims, header = {}) =>
      z.object({ signed: z.string() }).parse(await post('/control/sign', { claims, header })).signed,
  };
}

interface Visited {
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** A browser that keeps cookies by host and follows addresses, as the pages of both sides need it. */
export class ProviderBrowser {
  readonly cookies = new Map<string, Map<string, string>>();
  readonly #login: string;
  /** Headers that the proxy in front of the service adds. */
  readonly #forwarded: Readonly<Record<string, string>>;
  /** Where the host of an address really is. */
  readonly #resolve: (url: URL) => URL;

  constructor(
    login: string,
    {
      forwarded = {},
      resolve = (url: URL) => url,
    }: { forwarded?: Record<string, string>; resolve?: (url: URL) => URL } = {},
  ) {
    this.#login = login;
    this.#forwarded = forwarded;
    this.#resolve = resolve;
  }

  async open(address: string | URL, init: RequestInit = {}): Promise<Visited> {
    const url = new URL(address);
    const jar = this.#jarOf(url);
    const headers = new Headers(init.headers);
    headers.set('cookie', [...jar].map(([name, value]) => `${name}=${value}`).join('; '));
    headers.set('x-login', this.#login);
    for (const [name, value] of Object.entries(this.#forwarded)) headers.set(name, value);
    const response = await fetch(this.#resolve(url), { ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';', 1);
      const at = pair.indexOf('=');
      const isRemoved = /max-age=0|expires=thu, 01 jan 1970/i.test(line);
      if (isRemoved) jar.delete(pair.slice(0, at));
      else jar.set(pair.slice(0, at), pair.slice(at + 1));
    }
    const { status } = response;
    return { url: url.href, status, headers: response.headers, text: await response.text() };
  }

  /** Follows addresses until a page, or until `stop` fits the next address. */
  async follow(address: string | URL, stop: (url: URL) => boolean = () => false): Promise<Visited> {
    let visited = await this.open(address);
    for (let hop = 0; hop < 20; hop += 1) {
      const location = visited.headers.get('location');
      if (location === null) return visited;
      const next = new URL(location, visited.url);
      if (stop(next)) return { ...visited, url: next.href };
      visited = await this.open(next);
    }
    throw new Error(`too many addresses after ${visited.url}`);
  }

  /** Begins at the service; stops before the provider's answer reaches it. */
  async toCallback(origin: string, to = ''): Promise<URL> {
    const begun = `${origin}/console/oidc/login?to=${encodeURIComponent(to)}`;
    const visited = await this.follow(begun, ({ pathname }) => pathname === '/console/oidc/callback');
    return new URL(visited.url);
  }

  /** The answer of the service to the one of the provider. */
  async signIn(origin: string, to = ''): Promise<Visited> {
    return await this.open(await this.toCallback(origin, to));
  }

  /** A request of a page of the service. */
  async send(origin: string, method: string, path: string, body?: object) {
    const visited = await this.open(origin + path, {
      method,
      headers: { 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answered: unknown = visited.text === '' ? {} : JSON.parse(visited.text);
    return { status: visited.status, body: answered as Readonly<Record<string, unknown>> };
  }

  #jarOf({ host }: URL): Map<string, string> {
    const jar = this.cookies.get(host) ?? new Map<string, string>();
    this.cookies.set(host, jar);
    return jar;
  }
}
