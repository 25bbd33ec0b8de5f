/** Sign-in at a real identity provider, which runs as a separate process. */
import { beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { serviceForFile } from '../support/file-fixtures.ts';
import { ProviderBrowser, providerForFile } from '../support/identity-provider.ts';

const START = Date.UTC(2026, 10, 10);
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const provider = await providerForFile();
const service = await serviceForFile({
  usage: 'naive',
  identityProvider: provider.config({
    mapped: [
      { value: 'fin', role: 'finance' },
      { value: 'care', role: 'support' },
      { value: 'gone', role: 'a-role-that-is-not-there' },
    ],
    admins: ['ada@acme.example', 'bob@acme.example'],
  }),
});
const origin = service.url;
const { api } = service;

const PEOPLE = {
  kim: { name: 'Kim', email: 'kim@acme.example', email_verified: true, groups: ['fin'] },
  lee: { name: 'Lee', email: 'lee@acme.example', email_verified: true, groups: ['fin', 'care', 'x'] },
  mia: { name: 'Mia', email: 'mia@acme.example', email_verified: true, groups: ['x'] },
  ada: { name: 'Ada', email: 'Ada@acme.example', email_verified: true },
  eve: { name: 'Eve', email: 'ada@acme.example', email_verified: false },
  gus: { name: 'Gus', email: 'gus@acme.example', groups: ['gone'] },
};

let now = START;
const moveTo = async (ms: number) => {
  now = ms;
  await service.moveClock(now);
};

beforeEach(async () => {
  const logoutUri = `${origin}/console/oidc/logout`;
  const plain = { isThin: false, refreshes: true, isAway: false, mangled: null };
  await provider.control({ people: PEOPLE, origins: [origin], logoutUri, ...plain });
  await service.db.execute('delete from failed_sign_ins');
});

const sessionOf = async (browser: ProviderBrowser) => {
  const { body } = await browser.send(origin, 'GET', '/console/session');
  return z.object({ data: z.looseObject({}).nullable() }).parse(body).data;
};
const statusOf = async (browser: ProviderBrowser, path = '/v1/customers') =>
  (await browser.send(origin, 'GET', path)).status;
const signedIn = async (login: string) => {
  const browser = new ProviderBrowser(login);
  const done = await browser.signIn(origin);
  expect([done.status, done.text]).toEqual([303, '']);
  return browser;
};
/** Waits for `count` rows: those of refusals are written after their answer. */
const auditOf = async (query: string, count: number) => {
  const read = async () => (await api.get(`/v1/auditLogs?sort=date_desc&${query}`)).list('data');
  await expect.poll(async () => (await read()).length, { timeout: 10_000 }).toBeGreaterThanOrEqual(count);
  return await read();
};
const personOf = async (login: string) => {
  const rows = await service.db.execute(
    `select id, to_json(roles) as roles from people where subject = '${login}'`,
  );
  return z.looseObject({ id: z.string(), roles: z.array(z.string()) }).parse(rows[0]);
};

describe('a sign-in at the identity provider', () => {
  it('a sign-in at the identity provider begins a session of the person, with the roles of the claim', async () => {
    const kim = new ProviderBrowser('kim');
    const begun = await kim.open(`${origin}/console/oidc/login?to=/console/customers?x=1`);
    const asked = new URL(begun.headers.get('location') ?? '');
    expect([begun.status, asked.origin, asked.searchParams.get('response_type')]).toEqual([
      303,
      provider.issuer,
      'code',
    ]);
    for (const name of ['state', 'nonce', 'code_challenge']) {
      expect(asked.searchParams.get(name), name).toMatch(/^[\w-]{43}$/);
    }
    expect(asked.searchParams.get('code_challenge_method')).toBe('S256');
    expect(begun.headers.get('set-cookie')).toMatch(
      /^tallyhouse_provider=[\w-]{32}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/,
    );
    const done = await kim.signIn(origin, '/console/customers?x=1');
    expect([done.status, done.headers.get('location')]).toEqual([303, '/console/customers?x=1']);
    expect(done.headers.get('set-cookie')).toMatch(
      /^tallyhouse_session=p_[\w-]{32}; .*HttpOnly; SameSite=Strict$/,
    );
    expect(await sessionOf(kim)).toMatchObject({ name: 'Kim', email: 'kim@acme.example', role: 'finance' });
    expect([await statusOf(kim), await statusOf(kim, '/v1/people/list')]).toEqual([200, 403]);
    const { id } = await personOf('kim');
    const [row] = await auditOf(`actor_id=${id}`, 1);
    expect(row).toMatchObject({
      action: 'signIn',
      status: 'success',
      actor: { name: 'Kim', role: 'finance' },
    });
    const changes = await auditOf('actor_id=identity:provider', 1);
    expect(changes).toContainEqual(
      expect.objectContaining({ action: 'setRoleOfPerson', resource_id: id, resource_type: 'person' }),
    );
  });

  it('a sign-in at the identity provider unites several roles, and takes what userinfo alone says', async () => {
    await provider.control({ isThin: true });
    const lee = await signedIn('lee');
    expect(await sessionOf(lee)).toMatchObject({ email: 'lee@acme.example', role: 'finance, support' });
  });

  it('a sign-in at the identity provider makes an administrator by a verified address only', async () => {
    expect(await sessionOf(await signedIn('ada'))).toMatchObject({ role: 'admin' });
    const refused = await new ProviderBrowser('eve').signIn(origin);
    expect(refused.status).toBe(403);
  });

  it.each(['mia', 'gus'])(
    'a person without a role is refused, with a page that says whom to ask: %s',
    async (login) => {
      const browser = new ProviderBrowser(login);
      const refused = await browser.signIn(origin);
      expect(refused.status).toBe(403);
      expect(refused.text).toContain(
        'The identity provider states no role here for this person. Ask for one: ada@acme.example, bob@acme.example.',
      );
      expect(refused.headers.get('set-cookie')).toBeNull();
      expect(await sessionOf(browser)).toBeNull();
      const [row] = await auditOf('actor_id=anybody', 1);
      expect(row).toMatchObject({ action: 'signIn', status: 'failure' });
      expect(await service.db.execute(`select 1 from people where subject = '${login}'`)).toHaveLength(0);
    },
  );

  it('a person whom the identity provider refuses sees so, without its text', async () => {
    const refused = await new ProviderBrowser('nobody').signIn(origin);
    expect(refused.status).toBe(401);
    expect(refused.text).toContain('has refused the sign-in (access_denied)');
    expect(refused.text).not.toContain('knows');
  });

  it('a person is the same by issuer and subject, whatever name and address are', async () => {
    await signedIn('kim');
    const { id } = await personOf('kim');
    await provider.control({
      people: { kim: { ...PEOPLE.kim, name: 'Kim Two', email: 'kim2@acme.example', groups: ['care'] } },
    });
    const again = await signedIn('kim');
    expect(await sessionOf(again)).toMatchObject({
      name: 'Kim Two',
      email: 'kim2@acme.example',
      role: 'support',
    });
    expect((await personOf('kim')).id).toBe(id);
  });

  it('a disabled person is refused and has no session, until the person may sign in again', async () => {
    const lee = await signedIn('lee');
    const { id } = await personOf('lee');
    await api.post('/v1/people/disable', { id });
    expect(await statusOf(lee)).toBe(401);
    const refused = await lee.signIn(origin);
    expect([refused.status, refused.text]).toEqual([
      401,
      expect.stringContaining('Nobody signs in with this'),
    ]);
    await api.post('/v1/people/disable', { id, disabled: false });
    expect((await lee.signIn(origin)).status).toBe(303);
    expect((await api.send('POST', '/v1/people/role', { id, role: 'admin' })).status).toBe(409);
  });

  it('a sign-in at the identity provider replaces the session that the browser had', async () => {
    const kim = await signedIn('kim');
    const former = new ProviderBrowser('kim');
    const cookies = kim.cookies.get(new URL(origin).host) ?? new Map();
    former.cookies.set(new URL(origin).host, new Map(cookies));
    expect(await statusOf(former)).toBe(200);
    await kim.signIn(origin);
    expect([await statusOf(former), await statusOf(kim)]).toEqual([401, 200]);
  });
});

describe('the answer of the identity provider', () => {
  const refusedWith = async (browser: ProviderBrowser, address: URL) => {
    const refused = await browser.open(address);
    expect([refused.status, refused.headers.get('set-cookie')]).toEqual([401, null]);
    expect(refused.headers.get('content-security-policy')).toContain("default-src 'none'");
    return refused.text;
  };

  it('the answer of the identity provider counts once', async () => {
    const kim = new ProviderBrowser('kim');
    const address = await kim.toCallback(origin);
    expect((await kim.open(address)).status).toBe(303);
    expect(await refusedWith(kim, address)).toContain('This sign-in has ended');
  });

  it('a code that was used is refused also with the state of another sign-in', async () => {
    const kim = new ProviderBrowser('kim');
    const first = await kim.toCallback(origin);
    expect((await kim.open(first)).status).toBe(303);
    const second = await kim.toCallback(origin);
    second.searchParams.set('code', first.searchParams.get('code') ?? '');
    expect(await refusedWith(kim, second)).toContain('does not fit this sign-in');
  });

  it('the answer of the identity provider does not sign in another browser', async () => {
    const address = await new ProviderBrowser('eve').toCallback(origin);
    expect(await refusedWith(new ProviderBrowser('kim'), address)).toContain('This sign-in has ended');
    const kim = new ProviderBrowser('kim');
    await kim.toCallback(origin);
    expect(await refusedWith(kim, address)).toContain('This sign-in has ended');
  });

  it.each(['state', 'code', 'iss'])('a changed %s of the answer is refused', async (name) => {
    const kim = new ProviderBrowser('kim');
    const address = await kim.toCallback(origin);
    address.searchParams.set(name, name === 'iss' ? 'https://other.example' : 'x'.repeat(43));
    await refusedWith(kim, address);
    expect(await sessionOf(kim)).toBeNull();
  });

  it('several sign-ins of one browser are under way beside each other', async () => {
    const kim = new ProviderBrowser('kim');
    const [one, two] = [
      await kim.toCallback(origin, '/console/a'),
      await kim.toCallback(origin, '/console/b'),
    ];
    expect((await kim.open(one)).headers.get('location')).toBe('/console/a');
    expect((await kim.open(two)).headers.get('location')).toBe('/console/b');
  });

  it.each([
    'https://evil.example',
    '//evil.example',
    '/console@evil.example',
    '/console/oidc/login',
    '/v1/x',
    '/console/\\evil',
  ])('a sign-in returns to a page of the console, not to %s', async (to) => {
    const done = await new ProviderBrowser('kim').signIn(origin, to);
    expect(done.headers.get('location')).toBe('/console');
  });

  const seconds = () => Math.floor(Date.now() / 1_000);
  it.each<readonly [what: string, mangled: () => object]>([
    ['without a signature', () => ({ header: { alg: 'none' } })],
    ['signed with another key of the same name', () => ({ header: { key: 99, kid: 'key-0' } })],
    ['signed with an unknown key', () => ({ header: { key: 98 } })],
    ['of another issuer', () => ({ claims: { iss: 'https://other.example' } })],
    ['for another service', () => ({ claims: { aud: 'another' } })],
    ['for several services, issued to another', () => ({ claims: { aud: ['tallyhouse', 'b'], azp: 'b' } })],
    ['with the nonce of another sign-in', () => ({ claims: { nonce: 'x'.repeat(43) } })],
    ['without a nonce', () => ({ claims: { nonce: null } })],
    ['that has expired', () => ({ claims: { exp: seconds() - 120 } })],
    ['of the future', () => ({ claims: { nbf: seconds() + 120 } })],
    ['with a subject that is no text', () => ({ claims: { sub: 7 } })],
    ['with a subject of a thousand characters', () => ({ claims: { sub: 'x'.repeat(1_000) } })],
  ])('an ID token %s is refused', async (_what, mangled) => {
    await provider.control({ key: 0, mangled: mangled() });
    const kim = new ProviderBrowser('kim');
    await refusedWith(kim, await kim.toCallback(origin));
    expect(await sessionOf(kim)).toBeNull();
  });

  it('an ID token is accepted within a minute of skew between the clocks', async () => {
    for (const claims of [{ exp: seconds() - 30 }, { iat: seconds() + 30, nbf: seconds() + 30 }]) {
      await provider.control({ mangled: { claims } });
      await signedIn('kim');
    }
  });

  it('a new key of the identity provider signs at once', async () => {
    await signedIn('kim');
    await provider.control({ key: 1 });
    await expect.poll(async () => (await new ProviderBrowser('kim').signIn(origin)).status).toBe(303);
    await provider.control({ key: 0 });
    await expect.poll(async () => (await new ProviderBrowser('kim').signIn(origin)).status).toBe(303);
  });
});

describe('a session of a person of the identity provider', () => {
  it('a withdrawn role ends the session at the first request after an hour', async () => {
    const kim = await signedIn('kim');
    await provider.control({ people: { ...PEOPLE, kim: PEOPLE.mia } });
    await moveTo(now + HOUR_MS - 1);
    expect(await statusOf(kim)).toBe(200);
    await moveTo(now + 1);
    expect(await statusOf(kim)).toBe(401);
    expect((await personOf('kim')).roles).toEqual([]);
    expect((await kim.signIn(origin)).status).toBe(403);
  });

  it('a changed role counts after an hour, and each refresh uses the token that the last one brought', async () => {
    const lee = await signedIn('lee');
    for (const [groups, role] of [
      [['care'], 'support'],
      [['fin'], 'finance'],
      [['fin', 'care'], 'finance, support'],
    ] as const) {
      await provider.control({ people: { ...PEOPLE, lee: { ...PEOPLE.lee, groups } } });
      await moveTo(now + HOUR_MS);
      expect(await sessionOf(lee)).toMatchObject({ role });
    }
  });

  it('a session is refreshed by one of many requests at once', async () => {
    const kim = await signedIn('kim');
    await moveTo(now + HOUR_MS);
    await provider.control({ requests: {} });
    const statuses = await Promise.all(Array.from({ length: 10 }, () => statusOf(kim)));
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect((await provider.control({})).requests['/token']).toBe(1);
  });

  it('a person whom the identity provider does not know any more is signed out after an hour', async () => {
    const kim = await signedIn('kim');
    await provider.control({ people: { lee: PEOPLE.lee } });
    await moveTo(now + HOUR_MS);
    expect(await statusOf(kim)).toBe(401);
  });

  it('an identity provider that is away lets nobody in and puts nobody out', async () => {
    const kim = await signedIn('kim');
    await provider.control({ isAway: true, people: { ...PEOPLE, kim: PEOPLE.mia } });
    await moveTo(now + HOUR_MS);
    expect(await statusOf(kim)).toBe(200);
    const lee = new ProviderBrowser('lee');
    expect((await lee.open(`${origin}/console/oidc/login`)).status).toBe(303);
    expect((await api.get('/v1/customers')).status).toBe(200);
    await provider.control({ isAway: false });
    expect(await statusOf(kim)).toBe(200);
    await moveTo(now + MINUTE_MS);
    expect(await statusOf(kim)).toBe(401);
  });

  it('an answer that arrives while the identity provider is away is refused with 503', async () => {
    const kim = new ProviderBrowser('kim');
    const address = await kim.toCallback(origin);
    await provider.control({ isAway: true });
    const refused = await kim.open(address);
    expect([refused.status, refused.text]).toEqual([
      503,
      expect.stringContaining('not available at the moment'),
    ]);
  });

  it('a session without a refresh token ends after twelve hours', async () => {
    await provider.control({ refreshes: false });
    const kim = await signedIn('kim');
    await provider.control({ people: { kim: PEOPLE.mia } });
    const begun = now;
    for (const hours of [5, 11]) {
      await moveTo(begun + hours * HOUR_MS);
      expect(await statusOf(kim)).toBe(200);
    }
    await moveTo(begun + 12 * HOUR_MS);
    expect(await statusOf(kim)).toBe(401);
  });

  it('no token of the identity provider can be read from the database', async () => {
    const kim = await signedIn('kim');
    const rows = await service.db.execute('select refresh_token from person_sessions');
    expect(rows.length).toBeGreaterThan(0);
    for (const { refresh_token: sealed } of rows) expect(String(sealed)).toMatch(/^v1\.[\w+/=]+$/);
    expect(await statusOf(kim)).toBe(200);
  });
});

describe('a sign-out', () => {
  const confirmed = async (browser: ProviderBrowser, address: string) => {
    const page = await browser.open(address);
    const xsrf = /name="xsrf" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
    const action = /action="([^"]+)"/.exec(page.text)?.[1] ?? '';
    return await browser.open(new URL(action, page.url), {
      method: 'POST',
      body: new URLSearchParams({ xsrf, logout: 'yes' }),
    });
  };

  it('a sign-out ends the session here, and leads to the page of the identity provider that ends it there', async () => {
    const kim = await signedIn('kim');
    const out = await kim.send(origin, 'DELETE', '/console/session');
    const address = z.object({ sign_out_url: z.string() }).parse(out.body).sign_out_url;
    expect(address).toMatch(/^http:\/\/localhost:\d+\/session\/end\?/);
    expect(await statusOf(kim)).toBe(401);
    const done = await confirmed(kim, address);
    expect(done.headers.get('location')).toBe(`${origin}/console`);
    const asked = await kim.follow(`${origin}/console/oidc/login`, ({ pathname }) =>
      pathname.startsWith('/interaction'),
    );
    expect(asked.url).toContain('/interaction/');
  });

  it('a sign-out ends the session here also while the identity provider is away', async () => {
    const kim = await signedIn('kim');
    await provider.control({ isAway: true });
    expect((await kim.send(origin, 'DELETE', '/console/session')).status).toBe(200);
    expect(await statusOf(kim)).toBe(401);
  });

  it('a sign-out at the identity provider ends the session here by its message', async () => {
    const [kim, elsewhere] = [await signedIn('kim'), await signedIn('kim')];
    await confirmed(kim, `${provider.issuer}/session/end`);
    await expect.poll(() => statusOf(kim)).toBe(401);
    expect(await statusOf(elsewhere)).toBe(200);
  });

  const seconds = () => Math.floor(Date.now() / 1_000);
  const message = (claims: object = {}) => ({
    ...{ iss: provider.issuer, aud: 'tallyhouse', sub: 'kim', iat: seconds(), exp: seconds() + 60 },
    ...{ jti: crypto.randomUUID(), events: { 'http://schemas.openid.net/event/backchannel-logout': {} } },
    ...claims,
  });
  const send = async (token: string) => {
    const response = await fetch(`${origin}/console/oidc/logout`, {
      method: 'POST',
      body: new URLSearchParams({ logout_token: token }),
    });
    return response.status;
  };

  it('a message of the identity provider ends all sessions of a subject, once', async () => {
    const [kim, elsewhere, lee] = [await signedIn('kim'), await signedIn('kim'), await signedIn('lee')];
    const token = await provider.sign(message());
    expect(await send(token)).toBe(200);
    expect([await statusOf(kim), await statusOf(elsewhere), await statusOf(lee)]).toEqual([401, 401, 200]);
    await kim.signIn(origin);
    expect(await send(token)).toBe(200);
    expect(await statusOf(kim)).toBe(200);
  });

  it.each<readonly [what: string, claims: () => object, header: object]>([
    ['without a signature', () => ({}), { alg: 'none' }],
    ['with an unknown key', () => ({}), { key: 97 }],
    ['for another service', () => ({ aud: 'another' }), {}],
    ['of another issuer', () => ({ iss: 'https://other.example' }), {}],
    ['with a nonce, which is an ID token', () => ({ nonce: 'x' }), {}],
    ['without events', () => ({ events: {} }), {}],
    ['of nobody', () => ({ sub: undefined }), {}],
    ['without an id', () => ({ jti: undefined }), {}],
    ['that is old', () => ({ iat: seconds() - 600 }), {}],
    ['that has expired', () => ({ exp: seconds() - 120 }), {}],
  ])('a message %s ends nothing', async (_what, claims, header) => {
    const kim = await signedIn('kim');
    expect(await send(await provider.sign(message(claims()), header))).toBe(400);
    expect(await statusOf(kim)).toBe(200);
  });

  it('a message that is none is refused', async () => {
    expect([await send('x'), await send('a.b.c'), await send('')]).toEqual([400, 400, 400]);
    const empty = await fetch(`${origin}/console/oidc/logout`, { method: 'POST' });
    expect(empty.status).toBe(400);
  });
});
