/**
 * The command that manages API tokens while the service runs: `create --name X --scope read`, `list`, `revoke ID`,
 * `rotate ID`.
 *
 * Parses the arguments and finds the database; `access/manage-tokens.ts` does the work.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  type IssuedToken,
  issueToken,
  listTokens,
  revokeToken,
  rotateToken,
  type Token,
} from '../../access/manage-tokens.ts';
import { TOKEN_NAME_LENGTH_MAX, TOKEN_SCOPES, type TokenScope } from '../../access/tokens.ts';
import type { Config } from '../../config.ts';
import { type Clock, systemClock } from '../../core/clock.ts';
import { Refusal } from '../../core/errors.ts';
import type { KeysetPosition } from '../../core/paging.ts';
import { formatInstant, type Instant, parseRfc3339 } from '../../core/time.ts';
import { replaceKeptToken, tokenFileOf } from '../../embedded/api-token.ts';
import { runningPostgres } from '../../embedded/postgres.ts';
import { recordSystemChanges } from '../../store/access/system-changes.ts';
import { createDatabase, type Database } from '../../store/base/database.ts';
import { openUnit } from '../../store/base/request-unit.ts';
import type { PostgresConnection } from '../../store/postgres-driver/connect-postgres.ts';
import { reached, StoreFailure } from '../store-failure.ts';

/** A call that cannot be carried out. The message is for the operator. */
export class TokenCommandError extends Error {
  override readonly name = 'TokenCommandError';
}

const USAGE = `Usage: npm run token -- COMMAND
  create --name NAME --scope SCOPE [--expires TIME]   prints the token, only this once
  list                                                all tokens, without their texts
  revoke ID                                           stops it at once, in every process
  rotate ID [--expires TIME]                          revokes it and prints a new one of the same name and scope;
                                                      that of the first start is replaced in DATA_DIR/api-token
  --help                                              this text
SCOPE  ingest: send usage events; read: everything that only reads; write: everything
TIME   RFC 3339, such as 2027-01-01T00:00:00Z
It works beside the running service, with the same environment.`;

const PAGE_TOKENS = 100;

interface Deps {
  readonly db: Database;
  readonly clock: Clock;
  /** Where the token of the first start is kept, if it is. */
  readonly dataDir: string | null;
}

/** What a call asks for, or null for the usage. */
type Work = (deps: Deps) => Promise<string>;

/**
 * Carries out a call and returns the text to print. A new token is its last word and is kept nowhere. The database is
 * only looked for once the arguments are right. Throws a `TokenCommandError` for what cannot be carried out.
 */
export async function tokenCommand(
  args: readonly string[],
  findDatabase: () => Promise<PostgresConnection>,
  dataDir: string | null = null,
): Promise<string> {
  const work = workOf(args);
  if (work === null) return USAGE;
  const connection = await findDatabase();
  const pool = createDatabase(connection);
  try {
    if ('url' in connection) {
      const where = { store: 'PostgreSQL', variable: 'DATABASE_URL', url: connection.url } as const;
      await reached(where, () => pool.ping());
    }
    return await work({ db: pool.db, clock: systemClock, dataDir });
  } catch (error) {
    if (error instanceof Refusal || error instanceof StoreFailure) throw new TokenCommandError(error.message);
    throw error;
  } finally {
    await pool.close();
  }
}

function workOf(args: readonly string[]): Work | null {
  const { values, positionals } = parsed(args);
  const [command, ...operands] = positionals;
  if (values.help === true) return null;
  const expiresAt = expiryOf(values.expires);
  if (command === 'create' && operands.length === 0) {
    const token = { name: nameOf(values.name), scope: scopeOf(values.scope), expiresAt: expiresAt ?? null };
    return async (deps) =>
      issuedLine('Token', await audited(deps, 'createToken', issuedId, () => issueToken(deps, token)));
  }
  if (values.name !== undefined || values.scope !== undefined) throw new TokenCommandError(USAGE);
  if (command === 'list' && operands.length === 0 && expiresAt === undefined) return listing;
  const [id] = operands;
  if (id === undefined || operands.length !== 1) throw new TokenCommandError(USAGE);
  if (command === 'rotate') return (deps) => rotation(deps, id, expiresAt);
  if (command !== 'revoke' || expiresAt !== undefined) throw new TokenCommandError(USAGE);
  return async (deps) => {
    const { name } = await audited(
      deps,
      'revokeToken',
      () => id,
      () => revokeToken(deps, id),
    );
    return `Token ${JSON.stringify(name)} is revoked: ${id}`;
  };
}

/** The token of the first start is replaced where commands find it. */
async function rotation(deps: Deps, id: string, expiresAt: Instant | undefined): Promise<string> {
  const { dataDir } = deps;
  let kept = '';
  const onReplaced = (isFormer: (text: string) => boolean, text: string) => {
    if (dataDir === null) return;
    const path = tokenFileOf(dataDir);
    try {
      if (replaceKeptToken(dataDir, isFormer, text)) kept = `, kept in ${path}`;
    } catch (error) {
      kept = `, NOT kept in ${path}, which cannot be written (${error instanceof Error ? error.message : error})`;
    }
  };
  const work = () => rotateToken({ ...deps, onReplaced }, id, { expiresAt });
  const issued = await audited(deps, 'rotateToken', () => id, work);
  return issuedLine('New token', issued, kept);
}

const issuedId = ({ token }: IssuedToken) => token.id;

const WHAT_WAS_DONE = {
  createToken: 'Create a token',
  rotateToken: 'Replace a token',
  revokeToken: 'Revoke a token',
} as const;

/** Carries out a change together with its row of the audit log, in one transaction. */
async function audited<Result>(
  { db, clock }: Deps,
  action: keyof typeof WHAT_WAS_DONE,
  resourceIdOf: (result: Result) => string,
  work: () => Promise<Result>,
): Promise<Result> {
  const unit = openUnit(db);
  try {
    const result = await unit.run(work);
    const change = { action, resourceType: 'token', resourceId: resourceIdOf(result) };
    await unit.commit((tx) =>
      recordSystemChanges(tx, { kind: 'command', name: 'token' }, clock.now(), [
        { ...change, description: WHAT_WAS_DONE[action] },
      ]),
    );
    return result;
  } catch (error) {
    await unit.rollBack();
    throw error;
  }
}

function issuedLine(what: string, { token, text }: IssuedToken, kept = ''): string {
  const end = token.expiresAt === null ? '' : `, until ${formatInstant(token.expiresAt)}`;
  return `${what} ${JSON.stringify(token.name)} of scope ${token.scope}${end}${kept}, shown only this once: ${text}`;
}

/** A line for each token: id, scope, state, last use, name. */
async function listing({ db, clock }: Deps): Promise<string> {
  const lines: string[] = [];
  let after: KeysetPosition | null = null;
  do {
    const page: Awaited<ReturnType<typeof listTokens>> = await listTokens(
      { db },
      { after, limit: PAGE_TOKENS },
    );
    lines.push(...page.rows.map((token) => tokenLine(token, clock.now())));
    after = page.next;
  } while (after !== null);
  return lines.length === 0 ? 'There are no tokens.' : lines.join('\n');
}

function tokenLine(token: Token, now: Instant): string {
  const used = token.lastUsedAt === null ? 'never used' : `last used ${formatInstant(token.lastUsedAt)}`;
  return `${token.id}  ${token.scope.padEnd(6)}  ${stateOf(token, now)}  ${used}  ${JSON.stringify(token.name)}`;
}

function stateOf({ revokedAt, expiresAt, origin }: Token, now: Instant): string {
  if (revokedAt !== null) return `revoked ${formatInstant(revokedAt)}`;
  if (expiresAt !== null) {
    return `${expiresAt <= now ? 'expired' : 'works until'} ${formatInstant(expiresAt)}`;
  }
  return origin === 'api_token' ? 'works while API_TOKEN is set' : 'works';
}

function nameOf(name = ''): string {
  if (name !== '' && name.length <= TOKEN_NAME_LENGTH_MAX) return name;
  throw new TokenCommandError(`--name must have 1 to ${TOKEN_NAME_LENGTH_MAX} characters\n${USAGE}`);
}

function scopeOf(text: string | undefined): TokenScope {
  const scope = TOKEN_SCOPES.find((known) => known === text);
  if (scope !== undefined) return scope;
  throw new TokenCommandError(`--scope must be one of ${TOKEN_SCOPES.join(', ')}\n${USAGE}`);
}

function expiryOf(text: string | undefined): Instant | undefined {
  const at = text === undefined ? undefined : parseRfc3339(text);
  if (at === null) throw new TokenCommandError(`--expires must be an RFC 3339 timestamp\n${USAGE}`);
  return at;
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        name: { type: 'string' },
        scope: { type: 'string' },
        expires: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
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
