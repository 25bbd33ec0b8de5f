/** Over TLS a connection to PostgreSQL is lost, refused and verified as it says in `sslmode`. */
import { sql } from 'drizzle-orm';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createDatabase } from '../../src/store/base/database.ts';
import { type Program, runProgram } from '../support/child-process.ts';
import { answersAfterLosses, moreSucceed } from '../support/losses-of-postgres.ts';
import { startTcpPostgres, type TcpPostgres } from '../support/postgres-with-tls.ts';
import { type Ending, type StoreProxy, startStoreProxy } from '../support/store-proxy.ts';

let secure: TcpPostgres;
let plain: TcpPostgres;
let proxy: StoreProxy;
let url: string;
let program: Program | null = null;

beforeAll(async () => {
  secure = await startTcpPostgres({ takesTls: true });
  plain = await startTcpPostgres({ takesTls: false });
  proxy = await startStoreProxy({ host: '127.0.0.1', port: secure.port });
  url = urlOf(proxy, 'require');
});

afterEach(async () => {
  program?.child.kill('SIGKILL');
  await program?.ended;
  program = null;
});

afterAll(async () => {
  await proxy.close();
  await Promise.all([secure.stop(), plain.stop()]);
});

function urlOf({ port }: { readonly port: number }, mode: string, host = '127.0.0.1'): string {
  return `postgres://tallyhouse@${host}:${port}/postgres?sslmode=${mode}`;
}

/** Whether the connection is encrypted, as the server sees it; the reason where there is none. */
async function isEncrypted(asked: string): Promise<unknown> {
  const pool = createDatabase({ url: asked });
  try {
    const [row] = await pool.db.execute(sql`select ssl from pg_stat_ssl where pid = pg_backend_pid()`);
    return row?.ssl;
  } catch (error) {
    return String(error instanceof Error ? (error.cause ?? error) : error);
  } finally {
    await pool.close();
  }
}

test('each sslmode gets the encryption that it asks for, or none', async () => {
  expect(await isEncrypted(urlOf(secure, 'require'))).toBe(true);
  expect(await isEncrypted(urlOf(secure, 'prefer'))).toBe(true);
  expect(await isEncrypted(urlOf(secure, 'disable'))).toBe(false);
  expect(await isEncrypted(urlOf(plain, 'prefer'))).toBe(false);
  expect(await isEncrypted(urlOf(plain, 'require'))).toMatch('does not take TLS');
});

test('verify-full refuses a certificate that nobody vouches for', async () => {
  expect(await isEncrypted(urlOf(secure, 'verify-full', 'localhost'))).toMatch(/self-signed certificate/);
});

test.each<Ending>(['reset', 'closed'])(
  'no transaction is written in part when connections are %s',
  async (ending) => {
    const { db, close } = createDatabase({ url });
    await db.execute(sql`drop table if exists transfers`);
    await db.execute(sql`create table transfers (run int, part int, note text)`);
    program = runProgram('test/support/programs/transfer-money.ts', [JSON.stringify({ url })]);
    await moreSucceed(program, 4);
    for (let after = 0; after < 30; after += 1) {
      await proxy.cutAt({ direction: after % 2 === 0 ? 'question' : 'answer', after, ending });
      await moreSucceed(program, 4);
    }
    const rows = await db.execute(sql`
    select distinct parts from (select count(*)::int as parts from transfers group by run) as runs`);
    expect(rows.map(({ parts }) => parts)).toEqual([3]);
    await close();
  },
);

test('after a loss at any moment every connection answers again', async () => {
  await answersAfterLosses(url, proxy);
});

test('a server that never answers the handshake is given up, and the next statement reaches it', async () => {
  proxy.holdAnswers();
  const pool = createDatabase({ url });
  const asked = pool.db.execute(sql`select 1`).then(
    () => 'answered',
    () => 'refused',
  );
  expect(await asked).toBe('refused');
  proxy.goOn();
  expect(await pool.db.execute(sql`select 1 as n`)).toMatchObject([{ n: 1 }]);
  await pool.close();
}, 30_000);
