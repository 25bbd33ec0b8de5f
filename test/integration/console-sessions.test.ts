/** Sessions of the console: what begins one, what it may do, where it counts, and what ends it. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createConsoleSessions } from '../../src/access/console-sessions.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

const OWN = { 'sec-fetch-site': 'same-origin' };

async function signIn(token = service.token, headers: Record<string, string> = OWN) {
  return await service.api.send('POST', '/console/session', { token }, { token: null, headers });
}

/** The `Cookie` of a `Set-Cookie`. */
function cookieOf(answer: { readonly headers: Headers }): string {
  return (answer.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? '';
}

const customers = (headers: Record<string, string>) =>
  service.api.send('GET', '/v1/customers', undefined, { token: null, headers });

const create = (headers: Record<string, string>) =>
  service.api.send('POST', '/v1/customers', { name: 'Acme' }, { token: null, headers });

describe('a session', () => {
  it('a session begins with a token, and its cookie cannot be read by scripts or sent by other sites', async () => {
    const answer = await signIn();
    expect(answer.status).toBe(200);
    expect(answer.headers.get('set-cookie')).toMatch(
      /^tallyhouse_session=t_[\w-]{32}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/,
    );
    const behindHttps = await signIn(service.token, { ...OWN, 'x-forwarded-proto': 'https' });
    expect(behindHttps.headers.get('set-cookie')).toMatch(
      /^__Host-tallyhouse_session=t_[\w-]{32}; .*HttpOnly; SameSite=Strict; Secure$/,
    );
  });

  it('a session does not begin with a wrong token', async () => {
    const answer = await signIn('th_wrong-token-of-nobody');
    expect([answer.status, answer.text('message'), answer.headers.get('set-cookie')]).toEqual([
      401,
      'Unknown, expired or revoked token',
      null,
    ]);
  });

  it('a session is stored as a hash only', async () => {
    const text = cookieOf(await signIn()).split('=')[1] ?? '';
    const rows = await service.db.execute('select sha256 from console_sessions');
    const stored = rows.map(({ sha256 }) => sha256);
    expect(stored).toContain(createHash('sha256').update(text).digest('hex'));
    expect(JSON.stringify(rows)).not.toContain(text);
  });

  it('a session may do what its token may, and no more', async () => {
    const reader = await service.api.post('/v1/tokens/create', { name: 'reader', scope: 'read' });
    const cookie = cookieOf(await signIn(reader.text('data.token')));
    expect((await customers({ ...OWN, cookie })).status).toBe(200);
    const refused = await create({ ...OWN, cookie });
    expect([refused.status, refused.text('message')]).toEqual([
      403,
      'This needs the permission customers:write, which a token of scope read does not have',
    ]);
  });

  it('a session yields to a token that is sent, and speaks for an empty Authorization header', async () => {
    const cookie = cookieOf(await signIn());
    for (const authorization of ['', 'Bearer', 'bearer ']) {
      expect((await customers({ ...OWN, cookie, authorization })).status).toBe(200);
    }
    for (const authorization of ['Bearer th_wrong-token-of-nobody', 'Basic YTpi']) {
      expect((await customers({ ...OWN, cookie, authorization })).status).toBe(401);
    }
  });

  it('a session counts for requests of the own pages only', async () => {
    const cookie = cookieOf(await signIn());
    const host = new URL(service.url).host;
    for (const headers of [
      { cookie, 'sec-fetch-site': 'cross-site' },
      // Another port of the same host is the same site, for which the browser sends the cookie.
      { cookie, 'sec-fetch-site': 'same-site' },
      { cookie, origin: 'http://127.0.0.1:9' },
      { cookie, origin: 'null' },
      { cookie },
    ]) {
      const refused = await create(headers);
      expect([refused.status, refused.at('message')], JSON.stringify(headers)).toEqual([
        403,
        'A session is valid only for requests from the pages of this service',
      ]);
    }
    expect((await create({ cookie, origin: `http://${host}` })).status).toBe(200);
    // The person has typed an address that only reads.
    expect((await customers({ cookie, 'sec-fetch-site': 'none' })).status).toBe(200);
    expect((await customers({ cookie, 'sec-fetch-site': 'same-site' })).status).toBe(403);
  });

  it('a session is not begun by a page of another site', async () => {
    for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }]) {
      expect((await signIn(service.token, headers)).status).toBe(403);
    }
  });

  it('a session ends when the person signs out, at once', async () => {
    const headers = { ...OWN, cookie: cookieOf(await signIn()) };
    const out = await service.api.send('DELETE', '/console/session', undefined, { token: null, headers });
    expect(out.headers.get('set-cookie')).toContain('tallyhouse_session=; Path=/; Max-Age=0');
    expect((await customers(headers)).status).toBe(401);
    const read = await service.api.send('GET', '/console/session', undefined, { token: null, headers });
    expect(read.at('data')).toBeNull();
  });

  it('a session ends with its token', async () => {
    const token = await service.api.post('/v1/tokens/create', { name: 'short', scope: 'read' });
    const headers = { ...OWN, cookie: cookieOf(await signIn(token.text('data.token'))) };
    expect((await customers(headers)).status).toBe(200);
    await service.api.post('/v1/tokens/revoke', { id: token.text('data.id') });
    expect((await customers(headers)).status).toBe(401);
  });

  it('a session ends after twelve hours by the clock of the service', async () => {
    const headers = { ...OWN, cookie: cookieOf(await signIn()) };
    const now = Date.parse((await service.api.get('/v1/sandbox/clock')).text('data.now'));
    await service.moveClock(now + 6 * 3_600_000);
    expect((await customers(headers)).status).toBe(200);
    await service.moveClock(now + 12 * 3_600_000 - 1);
    expect((await customers(headers)).status).toBe(200);
    await service.moveClock(now + 12 * 3_600_000);
    expect((await customers(headers)).status).toBe(401);
    await signIn();
    const rows = await service.db.execute('select 1 from console_sessions');
    expect(rows).toHaveLength(1);
  });
});

describe('the link of the first start', () => {
  const clock = { now: () => Date.parse('2026-11-12T00:00:00Z') };
  const openLink = (link: string, headers: Record<string, string> = OWN) =>
    service.api.send('POST', '/console/session', { link }, { token: null, headers });

  it('the link of the first start begins one session, of many requests at once too', async () => {
    const sessions = createConsoleSessions({ db: service.db, clock });
    const link = (await sessions.newLink(service.token)) ?? '';
    const answers = await Promise.all(Array.from({ length: 8 }, () => openLink(link)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(401)]);
    const cookie = cookieOf(answers.find(({ status }) => status === 200) ?? { headers: new Headers() });
    expect((await customers({ ...OWN, cookie })).status).toBe(200);
  });

  it('the link of the first start works on the machine of the service only, and not through a proxy on it', async () => {
    const sessions = createConsoleSessions({ db: service.db, clock });
    const link = (await sessions.newLink(service.token)) ?? '';
    expect((await openLink(link, { ...OWN, 'x-forwarded-for': '203.0.113.7' })).status).toBe(403);
    expect((await openLink(link)).status).toBe(200);
  });

  it('the link of the first start is no session itself', async () => {
    const sessions = createConsoleSessions({ db: service.db, clock });
    const link = (await sessions.newLink(service.token)) ?? '';
    expect(await sessions.find(link)).toBeNull();
    expect((await customers({ ...OWN, cookie: `tallyhouse_session=${link}` })).status).toBe(401);
  });

  it('the link of the first start expires after an hour', async () => {
    const made = createConsoleSessions({ db: service.db, clock });
    const link = (await made.newLink(service.token)) ?? '';
    const later = createConsoleSessions({ db: service.db, clock: { now: () => clock.now() + 3_600_000 } });
    await expect(later.openLink(link, { ip: null, userAgent: null })).rejects.toThrow(
      'The link was opened before, or has expired',
    );
  });
});

it('the console refuses a sign-in with both, with neither, and with unknown members', async () => {
  for (const body of [
    {},
    { token: service.token, link: 'x'.repeat(32) },
    { token: service.token, extra: 1 },
  ]) {
    const refused = await service.api.send('POST', '/console/session', body, { token: null, headers: OWN });
    expect(refused.status).toBe(400);
  }
});
