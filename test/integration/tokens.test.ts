import { readFile } from 'node:fs/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { TOKEN_MEMORY_MS } from '../../src/access/token-lookup.ts';
import { createAuthenticator, ensureFirstToken, issueToken } from '../../src/access/tokens.ts';
import { databaseOfService, TokenCommandError, tokenCommand } from '../../src/app/commands/token-command.ts';
import type { Instant } from '../../src/core/time.ts';
import { firstToken } from '../../src/embedded/api-token.ts';
import { tokens } from '../../src/store/schema/tokens.ts';
import { countTokens } from '../../src/store/tokens.ts';
import { databaseForFile } from '../support/file-fixtures.ts';
import { createTestDirectory } from '../support/stores.ts';

const database = await databaseForFile();
let now: Instant = Date.UTC(2026, 10, 20);
let passedMs = 0;
const clock = { now: () => now };

beforeEach(async () => {
  await database.db.delete(tokens);
});

const deps = () => ({ db: database.db, clock, monotonicMs: () => passedMs });

describe('a token', () => {
  it('names its owner and scope, and only a hash of it is stored', async () => {
    const text = await issueToken(deps(), { name: 'ci', scope: 'read', expiresAt: null });
    expect(await createAuthenticator(deps())(text)).toMatchObject({ name: 'ci', scope: 'read' });
    expect(JSON.stringify(await database.db.select().from(tokens))).not.toContain(text);
  });

  it('that nobody made is nobody’s', async () => {
    expect(await createAuthenticator(deps())('th_guess')).toBeNull();
  });

  it('ends at the instant it expires by the service’s clock, remembered or not', async () => {
    const authenticate = createAuthenticator(deps());
    const text = await issueToken(deps(), { name: 'short', scope: 'write', expiresAt: now + 1_000 });
    now += 999;
    expect(await authenticate(text)).not.toBeNull();
    now += 1;
    expect(await authenticate(text)).toBeNull();
    expect(await createAuthenticator(deps())(text)).toBeNull();
  });

  it('that is revoked stops working within five seconds', async () => {
    const authenticate = createAuthenticator(deps());
    const text = await issueToken(deps(), { name: 'leaked', scope: 'write', expiresAt: null });
    expect(await authenticate(text)).not.toBeNull();
    await database.db.update(tokens).set({ revokedAt: now });
    passedMs += TOKEN_MEMORY_MS;
    expect(await authenticate(text)).toBeNull();
  });

  it('made after it was refused works at once', async () => {
    const authenticate = createAuthenticator(deps());
    expect(await authenticate('configured-later')).toBeNull();
    await ensureFirstToken({ ...deps(), apiToken: 'configured-later', firstToken: unexpected });
    expect(await authenticate('configured-later')).toMatchObject({ scope: 'write' });
  });
});

async function unexpected(): Promise<never> {
  throw new Error('no token was to be made');
}

describe('the first token', () => {
  it('is made once, kept in the data directory, and told once', async () => {
    const directory = await createTestDirectory();
    const start = () =>
      ensureFirstToken({
        ...deps(),
        apiToken: undefined,
        firstToken: () => firstToken(directory),
      });
    const text = await start();
    expect((await readFile(`${directory}/api-token`, 'utf8')).trim()).toBe(text);
    expect(await createAuthenticator(deps())(String(text))).toMatchObject({ scope: 'write' });
    expect(await start()).toBeNull();
    expect(await countTokens(database.db)).toBe(1);
  });

  it('that is configured is stored once however often the service starts, and none is made', async () => {
    for (let start = 0; start < 2; start++) {
      expect(
        await ensureFirstToken({ ...deps(), apiToken: 'configured', firstToken: unexpected }),
      ).toBeNull();
    }
    expect(await countTokens(database.db)).toBe(1);
    expect(await createAuthenticator(deps())('configured')).toMatchObject({
      name: 'API_TOKEN',
      scope: 'write',
    });
  });
});

describe('the token command', () => {
  const find = async () => database.connection;

  it('prints a working token as its last word', async () => {
    const line = await tokenCommand(['create', '--name', 'my laptop', '--scope', 'ingest'], find);
    const text = line.split(/\s/).at(-1) ?? '';
    expect(await createAuthenticator(deps())(text)).toMatchObject({ name: 'my laptop', scope: 'ingest' });
  });

  it.each([
    [['create', '--scope', 'read'], /--name/],
    [['create', '--name', 'x', '--scope', 'admin'], /one of ingest, read, write/],
    [['create', '--name', 'x'], /--scope/],
    [['delete', '--name', 'x', '--scope', 'read'], /Usage/],
    [['create', '--colour', 'red'], /--colour/],
    [[], /Usage/],
  ])('refuses %j and says how it is used', async (args, message) => {
    await expect(tokenCommand(args, find)).rejects.toThrow(message);
    await expect(tokenCommand(args, find)).rejects.toThrow(TokenCommandError);
  });

  it('says so when no service is running on the data directory', async () => {
    const dataDir = await createTestDirectory();
    const command = tokenCommand(['create', '--name', 'x', '--scope', 'read'], () =>
      databaseOfService({ dataDir, databaseUrl: undefined }),
    );
    await expect(command).rejects.toThrow(/No tallyhouse is running/);
  });
});
