import { expect, it } from 'vitest';
import { z } from 'zod';
import { createAuthenticator } from '../../src/access/tokens.ts';
import { serviceForFile } from '../support/file-fixtures.ts';

const { api, db, moveClock, token: ownToken } = await serviceForFile();

const create = (body: object) => api.post('/v1/tokens/create', body);
const statusWith = async (token: string, method = 'GET', path = '/v1/customers') =>
  (await api.send(method, path, method === 'GET' ? undefined : [], { token })).status;

it('creates a token whose text is shown once, and lists it without', async () => {
  const made = await create({ name: 'dashboard', scope: 'read', expires_at: '2027-01-01T00:00:00Z' });
  const text = made.text('data.token');
  expect(await statusWith(text)).toBe(200);
  const listed = await api.get('/v1/tokens');
  expect(JSON.stringify(listed.body)).not.toContain(text);
  expect(listed.list('data')).toContainEqual({
    id: made.text('data.id'),
    name: 'dashboard',
    scope: 'read',
    permissions: expect.arrayContaining(['invoices:read', 'customers:read']),
    origin: 'issued',
    created_at: '2026-11-10T00:00:00.000Z',
    expires_at: '2027-01-01T00:00:00.000Z',
    revoked_at: null,
    last_used_at: '2026-11-10T00:00:00.000Z',
  });
});

it('revokes a token at once, for events too', async () => {
  const [reader, sender] = [
    await create({ name: 'r', scope: 'read' }),
    await create({ name: 's', scope: 'ingest' }),
  ];
  expect(await statusWith(reader.text('data.token'))).toBe(200);
  expect(await statusWith(sender.text('data.token'), 'POST', '/v1/ingest')).toBe(400);
  for (const made of [reader, sender]) await api.post('/v1/tokens/revoke', { id: made.text('data.id') });
  expect(await statusWith(reader.text('data.token'))).toBe(401);
  expect(await statusWith(sender.text('data.token'), 'POST', '/v1/ingest')).toBe(401);
});

it('rotates a token: the new one has its name and scope, the old one is gone', async () => {
  const made = await create({ name: 'ci', scope: 'read' });
  const next = await api.post('/v1/tokens/rotate', { id: made.text('data.id') });
  expect([next.text('data.name'), next.text('data.scope')]).toEqual(['ci', 'read']);
  expect(await statusWith(made.text('data.token'))).toBe(401);
  expect(await statusWith(next.text('data.token'))).toBe(200);
  expect((await api.send('POST', '/v1/tokens/rotate', { id: made.text('data.id') })).status).toBe(409);
});

it('the API lets tokens of scope write manage tokens, and no others', async () => {
  const reader = await create({ name: 'r', scope: 'read' });
  const refused = await api.send('GET', '/v1/tokens', undefined, { token: reader.text('data.token') });
  expect(refused.status).toBe(403);
  expect(refused.body).toEqual({
    message: 'This needs the permission tokens:read, which a token of scope read does not have',
  });
});

it('a token with a list of permissions covers their operations alone, and a refusal names the permission that it lacks', async () => {
  const made = await create({ name: 'crm', permissions: ['customers:read', 'tokens:write'] });
  expect([made.at('data.scope'), made.at('data.permissions')]).toEqual([
    null,
    ['customers:read', 'tokens:write'],
  ]);
  const token = made.text('data.token');
  expect(await statusWith(token)).toBe(200);
  const refused = await api.send('POST', '/v1/customers', { name: 'Acme' }, { token });
  expect([refused.status, refused.text('message')]).toEqual([
    403,
    'This needs the permission customers:write, which you do not have',
  ]);
  const next = await api.send('POST', '/v1/tokens/rotate', { id: made.text('data.id') });
  expect(next.at('data.permissions')).toEqual(['customers:read', 'tokens:write']);
});

it('nobody gives out a permission that is not his, by a new token, a rotated one, or a role', async () => {
  const made = await create({
    name: 'keys',
    permissions: ['customers:read', 'tokens:write', 'people:write'],
  });
  const token = made.text('data.token');
  const other = await create({ name: 'other', scope: 'read' });
  const asked: [string, object][] = [
    ['/v1/tokens/create', { name: 'x', scope: 'write' }],
    ['/v1/tokens/create', { name: 'x', permissions: ['customers:read', 'invoices:write'] }],
    ['/v1/tokens/rotate', { id: other.text('data.id') }],
    ['/v1/roles/create', { name: 'too-much', permissions: ['invoices:write'] }],
  ];
  for (const [path, body] of asked) {
    const refused = await api.send('POST', path, body, { token });
    expect([refused.status, refused.text('message')]).toEqual([
      403,
      expect.stringMatching(/^This would give out the permission \w+:\w+, which you do not have$/),
    ]);
  }
  const given = await api.send(
    'POST',
    '/v1/tokens/create',
    { name: 'y', permissions: ['customers:read'] },
    { token },
  );
  expect(given.status).toBe(200);
});

it('roles are listed with the built-in ones first, and a name is used once', async () => {
  const created = await api.post('/v1/roles/create', { name: 'auditor', permissions: ['settings:read'] });
  expect(created.at('data.built_in')).toBe(false);
  const names = async () =>
    (await api.get('/v1/roles')).list('data').map((role) => z.object({ name: z.string() }).parse(role).name);
  expect(await names()).toEqual(['admin', 'finance', 'support', 'analyst', 'developer', 'auditor']);
  const status = async (path: string, body: object) => (await api.send('POST', path, body)).status;
  const again = { name: 'auditor', permissions: ['invoices:read'] };
  expect(await status('/v1/roles/create', again)).toBe(409);
  expect(await status('/v1/roles/create', { ...again, name: 'finance' })).toBe(409);
  expect(await status('/v1/roles/create', { name: 'a,b', permissions: ['invoices:read'] })).toBe(400);
  expect(await status('/v1/roles/create', { name: 'c', permissions: ['invoices:sell'] })).toBe(400);
  expect(await status('/v1/roles/archive', { name: 'admin' })).toBe(409);
  expect(await status('/v1/roles/archive', { name: 'nobody' })).toBe(404);
  const archived = await api.post('/v1/roles/archive', { name: 'auditor' });
  expect(archived.text('data.archived_at')).toBe('2026-11-10T00:00:00.000Z');
  expect(await status('/v1/roles/create', again)).toBe(409);
});

it.each([
  [{ name: 'x' }, 400, /scope: is required, or permissions/],
  [{ name: 'x', scope: 'read', permissions: ['sql:read'] }, 400, /must not be combined with permissions/],
  [{ name: 'x', scope: 'admin' }, 400, /scope/],
  [{ name: '', scope: 'read' }, 400, /name/],
  [{ name: 'x', scope: 'read', expires_at: '2026-11-09T00:00:00Z' }, 400, /expires_at: must be after/],
  [{ name: 'x', scope: 'read', scopes: ['write'] }, 400, /scopes/],
])('the API refuses %j', async (body, status, message) => {
  const refused = await api.send('POST', '/v1/tokens/create', body);
  expect([refused.status, refused.at('message')]).toEqual([status, expect.stringMatching(message)]);
});

it('the API does not revoke the token of API_TOKEN, nor one that does not exist', async () => {
  const { id } = z
    .object({ id: z.string() })
    .parse(
      (await api.get('/v1/tokens')).list('data').find((one) => JSON.stringify(one).includes('api_token')),
    );
  expect((await api.send('POST', '/v1/tokens/revoke', { id })).status).toBe(409);
  const unknown = { id: '00000000-0000-4000-8000-000000000000' };
  expect((await api.send('POST', '/v1/tokens/revoke', unknown)).status).toBe(404);
  expect(
    await createAuthenticator({ db, clock: { now: Date.now } }).authenticate(ownToken, 'store'),
  ).not.toBeNull();
});

it('the API lets a token expire by the clock of the service', async () => {
  const made = await create({ name: 'short', scope: 'read', expires_at: '2026-11-11T00:00:00Z' });
  expect(await statusWith(made.text('data.token'))).toBe(200);
  await moveClock('2026-11-11T00:00:00Z');
  expect(await statusWith(made.text('data.token'))).toBe(401);
});
