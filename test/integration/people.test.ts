/** Persons: invitations, passkeys in a real browser, sessions, roles, the audit log, and their end. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { userCommand } from '../../src/app/commands/user-command.ts';
import { isBrowserMissing, launchBrowser } from '../support/browser.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { type PersonInBrowser, personInBrowser } from '../support/passkey-browser.ts';

const service = await serviceForFile({ usage: 'naive' });
const { api } = service;
const origin = service.url.replace('127.0.0.1', 'localhost');
const HOUR_MS = 3_600_000;

const invite = async (email: string, role: string) => {
  const made = await api.post('/v1/people/invite', { email, role });
  return { id: made.text('data.id'), link: made.text('data.link').split('#')[1] ?? '' };
};
const auditRow = z.object({
  ...{ action: z.string(), status: z.string(), resource_type: z.string() },
  actor: z.object({ name: z.string(), email: z.string().optional(), role: z.string().optional() }),
});
const auditNow = async (query: string) =>
  (await api.get(`/v1/auditLogs?${query}`)).list('data').map((row) => auditRow.parse(row));
/** Waits for `count` rows: those of refusals are written after their answer. */
const auditOf = async (query: string, count: number) => {
  await expect
    .poll(async () => (await auditNow(query)).length, { timeout: 10_000 })
    .toBeGreaterThanOrEqual(count);
  return await auditNow(query);
};

describe('an invitation', () => {
  it('an invitation names the person and the role, and an address is invited once', async () => {
    const made = await api.post('/v1/people/invite', {
      email: 'ada@acme.example',
      name: 'Ada',
      role: 'analyst',
    });
    expect([made.at('data.name'), made.at('data.roles'), made.text('data.link_expires_at')]).toEqual([
      'Ada',
      ['analyst'],
      '2026-11-17T00:00:00.000Z',
    ]);
    expect(made.text('data.link')).toMatch(/^http:\/\/[^#]+\/console\/invite#[\w-]{32}$/);
    const refused = async (body: object) => (await api.send('POST', '/v1/people/invite', body)).status;
    expect(await refused({ email: 'ada@acme.example', role: 'analyst' })).toBe(409);
    expect(await refused({ email: 'no address', role: 'analyst' })).toBe(400);
    expect(await refused({ email: 'b@acme.example', role: 'nobody' })).toBe(400);
    const rows = await service.db.execute('select * from person_links');
    expect(JSON.stringify(rows)).not.toContain(made.text('data.link').split('#')[1]);
  });

  it('a person is invited, changed and reset by nobody who has fewer permissions', async () => {
    const made = await api.post('/v1/tokens/create', {
      name: 'hr',
      permissions: ['people:write', 'invoices:read'],
    });
    const token = made.text('data.token');
    const boss = await invite('boss@acme.example', 'admin');
    for (const [path, body] of [
      ['/v1/people/invite', { email: 'c@acme.example', role: 'finance' }],
      ['/v1/people/role', { id: boss.id, role: 'support' }],
      ['/v1/people/reset', { id: boss.id }],
      ['/v1/people/disable', { id: boss.id }],
      ['/v1/people/erase', { id: boss.id }],
    ] as const) {
      const answer = await api.send('POST', path, body, { token });
      expect([answer.status, answer.text('message')]).toEqual([
        403,
        expect.stringContaining('would give out'),
      ]);
    }
  });

  it('the command invites, lists, changes, disables and resets persons beside the service', async () => {
    const command = (call: Parameters<typeof userCommand>[0]) =>
      userCommand(call, service.connection, {
        origin,
        clockOf: () => ({ now: () => Date.UTC(2026, 10, 10) }),
      });
    const json = false;
    const email = 'dan@acme.example';
    const line = await command({ kind: 'invite', email, name: null, role: 'support', json });
    expect(line).toMatch(
      /^dan@acme\.example sets a passkey .*2026-11-17T00:00:00\.000Z: http.*\/console\/invite#/,
    );
    expect(await command({ kind: 'role', who: email, role: 'finance', json })).toBe(
      `${email} has the role finance now`,
    );
    expect(await command({ kind: 'list', json })).toMatch(/active {4}finance {2}never signed in {2}dan@acme/);
    expect(await command({ kind: 'disable', who: email, isDisabled: true, json })).toContain('is disabled');
    await expect(command({ kind: 'reset', who: email, json })).rejects.toThrow('is disabled');
    expect(await command({ kind: 'disable', who: email, isDisabled: false, json })).toContain(
      'may sign in again',
    );
    const reset = JSON.parse(await command({ kind: 'reset', who: email, json: true }));
    expect(reset).toMatchObject({
      email,
      roles: ['finance'],
      link: expect.stringContaining('/console/invite#'),
    });
    await expect(command({ kind: 'reset', who: 'nobody@acme.example', json })).rejects.toThrow(
      'There is no person',
    );
    const rows = await auditOf('actor_id=command:user', 5);
    expect(rows.map(({ action }) => action)).toEqual([
      ...['invitePerson', 'setRoleOfPerson', 'disablePerson', 'disablePerson', 'resetPerson'],
    ]);
  });
});

describe.skipIf(isBrowserMissing())('a passkey in a real browser', () => {
  let browser: Awaited<ReturnType<typeof launchBrowser>>;
  const opened: PersonInBrowser[] = [];
  const open = async () => {
    const person = await personInBrowser(browser, origin);
    opened.push(person);
    return person;
  };
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser.close());

  it('a person sets a passkey with a link once, signs in with it, and may do what the role says', async () => {
    const { id, link } = await invite('kim@acme.example', 'finance');
    const kim = await open();
    const set = await kim.register(link);
    expect([set.status, set.body.data?.email, set.body.data?.role]).toEqual([
      200,
      'kim@acme.example',
      'finance',
    ]);
    expect(set.body.data?.permissions).toContain('invoices:write');
    expect((await kim.send('GET', '/v1/customers')).status).toBe(200);
    const refused = await kim.send('POST', '/v1/tokens/create', { name: 'x', scope: 'read' });
    expect([refused.status, refused.body.message]).toEqual([
      403,
      'This needs the permission tokens:write, which you do not have',
    ]);
    await kim.send('DELETE', '/console/session');
    expect((await kim.send('GET', '/v1/customers')).status).toBe(401);
    expect((await kim.signIn()).status).toBe(200);
    const again = await (await open()).register(link);
    expect([again.status, again.body.message]).toEqual([401, expect.stringContaining('used before')]);
    const other = await kim.register(null).catch(() => ({ status: 'the authenticator has one already' }));
    expect(other.status).toBe('the authenticator has one already');
    const rows = await auditOf(`actor_id=${id}`, 4);
    expect(rows.map(({ action }) => action)).toEqual(['registerPasskey', 'createToken', 'signOut', 'signIn']);
    expect(rows[1]).toMatchObject({
      status: 'failure',
      actor: { name: 'kim@acme.example', email: 'kim@acme.example', role: 'finance' },
    });
  });

  it('a challenge signs in once, in the browser that it was for', async () => {
    const { link } = await invite('lee@acme.example', 'support');
    const lee = await open();
    await lee.register(link);
    expect((await lee.signIn()).status).toBe(200);
    const replay = 'passkeys.send("POST", "/console/session", { passkey: passkeys.last })';
    expect(await lee.page.evaluate(replay)).toMatchObject({ status: 401 });
    const last = (await lee.page.evaluate('passkeys.last')) as object;
    const thief = await open();
    await thief.send('POST', '/console/passkeys/challenge', {});
    expect((await thief.send('POST', '/console/session', { passkey: last })).status).toBe(401);
  });

  it('a person sees and ends the own sessions, an administrator all, and a disabled person has none', async () => {
    const { id, link } = await invite('mia@acme.example', 'support');
    const mia = await open();
    await mia.register(link);
    const listed = await mia.send('GET', '/v1/sessions');
    expect(listed.body.data).toMatchObject([
      { actor: { id }, current: true, expires_at: expect.any(String) },
    ]);
    const all = (await api.get('/v1/sessions')).list('data').map((one) => JSON.stringify(one));
    expect(all.some((one) => one.includes('kim@acme.example'))).toBe(true);
    const kims = z
      .object({ id: z.string() })
      .parse(JSON.parse(all.find((one) => one.includes('kim@acme')) ?? '{}'));
    expect((await mia.send('POST', '/v1/sessions/end', { id: kims.id })).status).toBe(403);
    expect((await opened[0]?.send('GET', '/v1/customers'))?.status).toBe(200);
    expect((await api.send('POST', '/v1/sessions/end', { id: kims.id })).status).toBe(200);
    expect((await opened[0]?.send('GET', '/v1/customers'))?.status).toBe(401);
    await api.post('/v1/people/disable', { id });
    expect((await mia.send('GET', '/v1/customers')).status).toBe(401);
    const refused = await mia.signIn();
    expect([refused.status, refused.body.message]).toEqual([401, 'Nobody signs in with this']);
    await api.post('/v1/people/disable', { id, disabled: false });
    expect((await mia.signIn()).status).toBe(200);
  });

  it('a role that is changed or archived counts from the next request', async () => {
    await api.post('/v1/roles/create', { name: 'reader', permissions: ['customers:read'] });
    const { id, link } = await invite('noa@acme.example', 'reader');
    const noa = await open();
    await noa.register(link);
    const status = async (path: string) => (await noa.send('GET', path)).status;
    expect([await status('/v1/customers'), await status('/v1/auditLogs')]).toEqual([200, 403]);
    await api.post('/v1/people/role', { id, role: 'analyst' });
    expect(await status('/v1/auditLogs')).toBe(200);
    await api.post('/v1/people/role', { id, role: 'reader' });
    await api.post('/v1/roles/archive', { name: 'reader' });
    expect(await status('/v1/customers')).toBe(403);
  });

  it('a reset ends sessions and passkeys, and an erased person is nobody in the audit log', async () => {
    const { id, link } = await invite('oli@acme.example', 'support');
    const oli = await open();
    await oli.register(link);
    const reset = await api.post('/v1/people/reset', { id });
    expect((await oli.send('GET', '/v1/customers')).status).toBe(401);
    expect((await oli.signIn()).status).toBe(401);
    const anew = await open();
    expect((await anew.register(reset.text('data.link').split('#')[1] ?? '')).status).toBe(200);
    await api.post('/v1/people/erase', { id });
    expect((await anew.send('GET', '/v1/customers')).status).toBe(401);
    const rows = await auditOf(`actor_id=${id}`, 2);
    expect(rows.map(({ actor }) => actor)).toEqual(
      rows.map(() => ({ name: 'erased person', role: 'support' })),
    );
    expect(rows.length).toBeGreaterThan(1);
    expect(JSON.stringify((await api.get('/v1/people/list')).body)).not.toContain('oli@acme.example');
  });

  it('wrong links from one address are refused with 429 after twenty, and right ones with them', async () => {
    const guesser = await open();
    const statuses: number[] = [];
    for (let guess = 0; guess < 22; guess += 1) {
      statuses.push((await guesser.send('POST', '/console/session', { token: `th_wrong_${guess}` })).status);
    }
    expect(statuses.at(-1)).toBe(429);
    expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(20);
    expect((await guesser.send('POST', '/console/session', { token: service.token })).status).toBe(429);
    await service.db.execute('delete from failed_sign_ins');
  });

  it('a session ends when nobody used it for eight hours, and after twelve in any case', async () => {
    const { link } = await invite('pat@acme.example', 'support');
    const pat = await open();
    await pat.register(link);
    const start = Date.UTC(2026, 10, 10);
    const statusAt = async (hours: number) => {
      await service.moveClock(start + hours * HOUR_MS);
      return (await pat.send('GET', '/v1/customers')).status;
    };
    expect([await statusAt(7), await statusAt(11), await statusAt(12)]).toEqual([200, 200, 401]);
    await pat.signIn();
    expect([await statusAt(19), await statusAt(27)]).toEqual([200, 401]);
  });
});
