import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eq } from 'drizzle-orm';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { ensureFirstToken, issueToken, revokeToken, rotateToken } from '../../src/access/manage-tokens.ts';
import { TOKEN_MEMORY_MS } from '../../src/access/token-lookup.ts';
import { type Actor, createAuthenticator } from '../../src/access/tokens.ts';
import { databaseOfService, type TokenCall, tokenCommand } from '../../src/app/commands/token-command.ts';
import { CommandFailure } from '../../src/app/failures/command-failure.ts';
import type { Instant } from '../../src/core/time.ts';
import { firstToken } from '../../src/embedded/api-token.ts';
import { tokens } from '../../src/store/access/tokens.tables.ts';
import { countIssuedTokens, TOKENS_CHANNEL } from '../../src/store/access/tokens.ts';
import { listenTo } from '../../src/store/base/notifications.ts';
import { asRead } from '../../src/store/base/request-unit.ts';
import { databaseForFile } from '../support/file-fixtures.ts';
import { endOtherConnections, replaceLostConnections } from '../support/lost-connections.ts';
import { createTestDirectory } from '../support/stores.ts';

const database = await databaseForFile();
let now: Instant = Date.UTC(2026, 10, 20);
let passedMs = 0;
const clock = { now: () => now };

beforeEach(async () => {
  await database.db.delete(tokens);
});

const told = { onRevoked: () => undefined, onReplaced: () => undefined };
const context = () => ({ db: database.db, clock, monotonicMs: () => passedMs, ...told });

/** Asks as a separate process would, which remembers nothing. */
const actorOf = (text: string): Promise<Actor | null> =>
  createAuthenticator(context()).authenticate(text, 'store');
const issued = async (token: Partial<Parameters<typeof issueToken>[1]> = {}) =>
  issueToken(context(), { name: 'ci', scope: 'read', expiresAt: null, ...token });

/** Runs `work` while so many transactions are open. */
async function besideTransactions<Result>(count: number, work: () => Promise<Result>): Promise<Result> {
  if (count === 0) return await work();
  return await database.db.transaction(() => besideTransactions(count - 1, work));
}

describe('a token', () => {
  it('a token is looked up while all other connections are taken', async () => {
    const { text } = await issued();
    const actor = besideTransactions(10, () => asRead(() => besideTransactions(6, () => actorOf(text))));
    expect(await actor).toMatchObject({ name: 'ci' });
  });

  it('a token names its owner and scope, and only a hash of it is stored', async () => {
    const { text } = await issued();
    expect(await actorOf(text)).toMatchObject({ name: 'ci', scope: 'read' });
    expect(JSON.stringify(await database.db.select().from(tokens))).not.toContain(text);
  });

  it('a token that is looked up while connections end is somebody’s, or cannot be looked up now', async () => {
    const { text } = await issued();
    let found = 0;
    let isOver = false;
    const lookUp = async () => {
      while (!isOver) {
        const [actor] = await Promise.allSettled([actorOf(text)]);
        if (actor.status === 'rejected') continue;
        expect(actor.value).not.toBeNull();
        found += 1;
      }
    };
    const lookups = Array.from({ length: 20 }, lookUp);
    for (let round = 0; round < 20; round += 1) {
      await endOtherConnections(database.db).catch(() => undefined);
    }
    isOver = true;
    await Promise.all(lookups);
    await replaceLostConnections(database.db);
    expect(found).toBeGreaterThan(0);
  });

  it('a token that nobody created is nobody’s', async () => {
    expect(await actorOf('th_guess')).toBeNull();
  });

  it('a token ends at the instant it expires by the service’s clock, remembered or not', async () => {
    const { authenticate } = createAuthenticator(context());
    const { text } = await issued({ expiresAt: now + 1_000 });
    now += 999;
    expect(await authenticate(text, 'remembered')).not.toBeNull();
    now += 1;
    expect(await authenticate(text, 'remembered')).toBeNull();
    expect(await actorOf(text)).toBeNull();
  });

  it('a token that is revoked stops working at once in every process for all that uses PostgreSQL', async () => {
    const other = createAuthenticator(context());
    const { text, token } = await issued({ scope: 'write' });
    expect(await other.authenticate(text, 'store')).not.toBeNull();
    await revokeToken(context(), token.id);
    expect(await other.authenticate(text, 'store')).toBeNull();
  });

  it('a token that is revoked stops sending events as soon as the message of it arrives', async () => {
    const other = createAuthenticator(context());
    let isConnected: () => void = () => undefined;
    const connected = new Promise<void>((resolve) => {
      isConnected = resolve;
    });
    const subscription = listenTo(database.connection, TOKENS_CHANNEL, {
      onMessage: other.forget,
      onConnected: () => isConnected(),
    });
    try {
      await connected;
      const { text, token } = await issued({ scope: 'ingest' });
      expect(await other.authenticate(text, 'remembered')).not.toBeNull();
      await revokeToken(context(), token.id);
      await vi.waitFor(async () => expect(await other.authenticate(text, 'remembered')).toBeNull());
    } finally {
      await subscription.close();
    }
  });

  it('a token that is revoked stops sending events within five seconds where the message is lost', async () => {
    const { authenticate } = createAuthenticator(context());
    const { text, token } = await issued({ scope: 'ingest' });
    expect(await authenticate(text, 'remembered')).not.toBeNull();
    await revokeToken(context(), token.id);
    passedMs += TOKEN_MEMORY_MS;
    expect(await authenticate(text, 'remembered')).toBeNull();
  });

  it('a token that is created after it was refused works at once', async () => {
    const { authenticate } = createAuthenticator(context());
    expect(await authenticate('configured-later', 'remembered')).toBeNull();
    await ensureFirstToken({ ...context(), apiToken: 'configured-later', firstToken: unexpected });
    expect(await authenticate('configured-later', 'remembered')).toMatchObject({ scope: 'write' });
  });

  it('a token that is rotated is replaced by one of the same name, scope and end', async () => {
    const { text, token } = await issued({ scope: 'ingest', expiresAt: now + 60_000 });
    const next = await rotateToken(context(), token.id, { expiresAt: undefined });
    expect(await actorOf(text)).toBeNull();
    expect(await actorOf(next.text)).toMatchObject({ id: next.token.id, name: 'ci', scope: 'ingest' });
    expect(next.token.expiresAt).toBe(token.expiresAt);
    await expect(rotateToken(context(), token.id, { expiresAt: undefined })).rejects.toThrow(/is revoked/);
  });

  it('a token shows when it was used last, once the process has written it', async () => {
    const { text, token } = await issued();
    const authenticator = createAuthenticator(context());
    await authenticator.authenticate(text, 'store');
    now += 5_000;
    await authenticator.authenticate(text, 'remembered');
    await authenticator.close();
    const [row] = await database.db.select().from(tokens).where(eq(tokens.id, token.id));
    expect(row?.lastUsedAt).toBe(now);
  });
});

async function unexpected(): Promise<never> {
  throw new Error('no token was to be made');
}

describe('the first token', () => {
  it('the first token is generated once, kept in the data directory, and printed once', async () => {
    const directory = await createTestDirectory();
    const start = () =>
      ensureFirstToken({
        ...context(),
        apiToken: undefined,
        firstToken: () => firstToken(directory),
      });
    const text = await start();
    expect((await readFile(`${directory}/api-token`, 'utf8')).trim()).toBe(text);
    expect(await actorOf(String(text))).toMatchObject({ scope: 'write' });
    expect(await start()).toBeNull();
    expect(await countIssuedTokens(database.db)).toBe(1);
  });

  it('the first token that is configured is stored once however often the service starts, and none is generated', async () => {
    for (let start = 0; start < 2; start++) {
      expect(
        await ensureFirstToken({ ...context(), apiToken: 'configured', firstToken: unexpected }),
      ).toBeNull();
    }
    expect(await database.db.select().from(tokens)).toHaveLength(1);
    expect(await actorOf('configured')).toMatchObject({ name: 'API_TOKEN', scope: 'write' });
  });

  it('the first token that is configured stops working when another one is, and works again when it is back', async () => {
    const start = (apiToken: string) => ensureFirstToken({ ...context(), apiToken, firstToken: unexpected });
    await start('configured first');
    await start('configured next');
    expect(await actorOf('configured first')).toBeNull();
    expect(await actorOf('configured next')).not.toBeNull();
    await start('configured first');
    expect(await actorOf('configured first')).not.toBeNull();
    expect(await actorOf('configured next')).toBeNull();
  });

  it('a token is generated when the configured one is gone, which stops working', async () => {
    await ensureFirstToken({ ...context(), apiToken: 'configured', firstToken: unexpected });
    const start = () =>
      ensureFirstToken({ ...context(), apiToken: undefined, firstToken: async () => ({ token: 'kept' }) });
    expect(await start()).toBe('kept');
    expect(await actorOf('configured')).toBeNull();
    expect(await actorOf('kept')).toMatchObject({ scope: 'write' });
  });

  it('a first token is not generated again after it was revoked', async () => {
    const start = () =>
      ensureFirstToken({ ...context(), apiToken: undefined, firstToken: async () => ({ token: 'kept' }) });
    await start();
    const [first] = await database.db.select().from(tokens);
    await revokeToken(context(), String(first?.id));
    expect(await start()).toBeNull();
    expect(await actorOf('kept')).toBeNull();
  });

  it('the first token cannot be revoked while it is configured', async () => {
    await ensureFirstToken({ ...context(), apiToken: 'configured', firstToken: unexpected });
    const [configured] = await database.db.select().from(tokens);
    await expect(revokeToken(context(), String(configured?.id))).rejects.toThrow(/API_TOKEN/);
  });
});

describe('the token command', () => {
  const command = (call: TokenCall, dataDir: string | null = null) =>
    tokenCommand(call, database.connection, dataDir);
  const create = (token: {
    readonly name: string;
    readonly scope: 'ingest' | 'read';
    readonly json?: boolean;
  }) => command({ kind: 'create', expiresAt: null, json: false, ...token });
  const rotate = (id: string, dataDir: string | null = null) =>
    command({ kind: 'rotate', id, expiresAt: undefined, json: false }, dataDir);
  const revoke = (id: string) => command({ kind: 'revoke', id, json: false });
  const list = () => command({ kind: 'list', json: false });

  it('the token command prints a working token as its last word', async () => {
    const line = await create({ name: 'my laptop', scope: 'ingest' });
    const text = line.split(/\s/).at(-1) ?? '';
    expect(await actorOf(text)).toMatchObject({ name: 'my laptop', scope: 'ingest' });
  });

  it('the token command lists, rotates and revokes', async () => {
    const expiresAt = Date.UTC(2099, 0, 1);
    await command({ kind: 'create', name: 'ci', scope: 'read', expiresAt, json: false });
    expect(await list()).toMatch(
      /^[\w-]{36} {2}read {4}works until 2099-01-01T00:00:00.000Z {2}never used {2}"ci"$/,
    );
    const id = (await list()).slice(0, 36);
    const text = (await rotate(id)).split(/\s/).at(-1) ?? '';
    expect(await actorOf(text)).toMatchObject({ name: 'ci', scope: 'read' });
    const [, next = ''] = (await list()).split('\n');
    expect(await list()).toMatch(/revoked .*\n.*works until/);
    expect(await revoke(next.slice(0, 36))).toMatch(/^Token "ci" is revoked/);
    expect(await actorOf(text)).toBeNull();
  });

  it('the token command prints JSON with the names of the API, and the text of a token only where it is created', async () => {
    const made = JSON.parse(await create({ name: 'ci', scope: 'read', json: true }));
    expect(made).toEqual({
      id: expect.stringMatching(/^[\w-]{36}$/),
      name: 'ci',
      scope: 'read',
      permissions: expect.arrayContaining(['invoices:read']),
      origin: 'issued',
      created_at: expect.stringMatching(/Z$/),
      expires_at: null,
      revoked_at: null,
      last_used_at: null,
      token: expect.stringMatching(/^th_/),
    });
    expect(await actorOf(made.token)).toMatchObject({ name: 'ci' });
    const { token: text, ...token } = made;
    const listed = await command({ kind: 'list', json: true });
    expect(JSON.parse(listed)).toEqual({ data: [token] });
    expect(listed).not.toContain(text);
    const revoked = JSON.parse(await command({ kind: 'revoke', id: made.id, json: true }));
    expect(revoked).toMatchObject({ id: made.id, revoked_at: expect.stringMatching(/Z$/) });
  });

  it('the token command prints the new token also where it cannot be kept, and says so', async () => {
    const dataDir = await createTestDirectory();
    const { token } = await firstToken(dataDir);
    await ensureFirstToken({ ...context(), apiToken: undefined, firstToken: async () => ({ token }) });
    // In the way of what is written aside.
    await mkdir(join(dataDir, 'api-token.new'));
    const line = await rotate((await list()).slice(0, 36), dataDir);
    expect(line).toContain(`NOT kept in ${join(dataDir, 'api-token')}, which cannot be written (EISDIR`);
    expect(await actorOf(line.split(/\s/).at(-1) ?? '')).toMatchObject({ name: 'first token' });
  });

  it('the token command refuses to revoke a token that does not exist', async () => {
    await expect(revoke('x')).rejects.toThrow(/token x not found/);
    await expect(revoke('x')).rejects.toThrow(CommandFailure);
  });

  it('the token command says in one sentence that PostgreSQL of DATABASE_URL does not answer', async () => {
    const unreachable = { url: 'postgres://meter:secret@127.0.0.1:1/meter' };
    await expect(tokenCommand({ kind: 'list', json: false }, unreachable)).rejects.toThrow(
      new CommandFailure('PostgreSQL of DATABASE_URL (127.0.0.1:1) does not answer: connection refused'),
    );
  });

  it('the token command says so when no service is running on the data directory', async () => {
    const dataDir = await createTestDirectory();
    await expect(databaseOfService({ dataDir, databaseUrl: undefined })).rejects.toThrow(
      /No tallyhouse is running/,
    );
  });
});
