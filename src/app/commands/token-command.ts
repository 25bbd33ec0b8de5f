/**
 * The command that creates API tokens while the service runs: `create --name X --scope read`.
 *
 * Parses the arguments and finds the database; `access/tokens.ts` creates the token.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { issueToken, type TokenScope } from '../../access/tokens.ts';
import type { Config } from '../../config.ts';
import { systemClock } from '../../core/clock.ts';
import { runningPostgres } from '../../embedded/postgres.ts';
import { createDatabase, type PostgresConnection } from '../../store/database.ts';

/** A call that cannot be carried out. The message is for the operator. */
export class TokenCommandError extends Error {
  override readonly name = 'TokenCommandError';
}

const SCOPES: readonly TokenScope[] = ['ingest', 'read', 'write'];
const NAME_LENGTH_MAX = 200;
const USAGE =
  'Usage: npm run token -- create --name NAME --scope SCOPE\n' +
  '  SCOPE  ingest: send usage events; read: everything that only reads; write: everything';

/**
 * Makes a token and returns the line to print; the token is its last word and is kept nowhere. The
 * database is only looked for once the arguments are right.
 */
export async function tokenCommand(
  args: readonly string[],
  findDatabase: () => Promise<PostgresConnection>,
): Promise<string> {
  const { name, scope } = argumentsOf(args);
  const pool = createDatabase(await findDatabase());
  try {
    const text = await issueToken({ db: pool.db, clock: systemClock }, { name, scope, expiresAt: null });
    return `Token ${JSON.stringify(name)} of scope ${scope}, shown only this once: ${text}`;
  } finally {
    await pool.close();
  }
}

function argumentsOf(args: readonly string[]): { readonly name: string; readonly scope: TokenScope } {
  const { values, positionals } = parsed(args);
  if (positionals.length !== 1 || positionals[0] !== 'create') throw new TokenCommandError(USAGE);
  const name = values.name ?? '';
  if (name === '' || name.length > NAME_LENGTH_MAX) {
    throw new TokenCommandError(`--name must have 1 to ${NAME_LENGTH_MAX} characters\n${USAGE}`);
  }
  const scope = SCOPES.find((known) => known === values.scope);
  if (scope === undefined)
    throw new TokenCommandError(`--scope must be one of ${SCOPES.join(', ')}\n${USAGE}`);
  return { name, scope };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: { name: { type: 'string' }, scope: { type: 'string' } },
      allowPositionals: true,
    });
  } catch (error) {
    throw new TokenCommandError(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`);
  }
}

/** Where the service with this configuration has its database. Throws where that is an embedded one that is not running. */
export async function databaseOfService(
  config: Pick<Config, 'dataDir' | 'databaseUrl'>,
): Promise<PostgresConnection> {
  if (config.databaseUrl !== undefined) return { url: config.databaseUrl };
  const running = await runningPostgres(join(config.dataDir, 'postgres'));
  if (running !== null) return running;
  throw new TokenCommandError(
    `No tallyhouse is running on ${config.dataDir}. Start it first, or set DATA_DIR or DATABASE_URL as it has them.`,
  );
}
