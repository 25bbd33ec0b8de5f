/**
 * The command that manages API tokens while the service runs (`tallyhouse token`): its text and its JSON.
 * `access/manage-tokens.ts` does the work.
 */
import { join } from 'node:path';
import type { AccessContext } from '../../access/access-context.ts';
import {
  type IssuedToken,
  issueToken,
  listTokens,
  revokeToken,
  rotateToken,
  type Token,
} from '../../access/manage-tokens.ts';
import { actorOfToken } from '../../access/tokens.ts';
import type { Config } from '../../config.ts';
import { systemClock } from '../../core/clock.ts';
import { Refusal } from '../../core/errors.ts';
import { messageOf } from '../../core/failures.ts';
import type { KeysetPosition } from '../../core/paging.ts';
import { formatInstant, type Instant } from '../../core/time.ts';
import type { TokenScope } from '../../core/token-scopes.ts';
import { replaceKeptToken, tokenFileOf } from '../../embedded/api-token.ts';
import { runningPostgres } from '../../embedded/postgres.ts';
import { recordSystemChanges } from '../../store/access/system-changes.ts';
import { createDatabase } from '../../store/base/database.ts';
import { openUnit } from '../../store/base/request-unit.ts';
import type { PostgresConnection } from '../../store/postgres-driver/connect-postgres.ts';
import { CommandFailure } from '../failures/command-failure.ts';
import { reached, StoreFailure } from '../failures/store-failure.ts';

/** The operation, and its token. */
export type TokenCall = { readonly json: boolean } & (
  | { readonly kind: 'list' }
  | {
      readonly kind: 'create';
      readonly name: string;
      readonly scope: TokenScope;
      /** Null: it does not expire. */
      readonly expiresAt: Instant | null;
    }
  /** Undefined: the expiry of the former one. */
  | { readonly kind: 'rotate'; readonly id: string; readonly expiresAt: Instant | undefined }
  | { readonly kind: 'revoke'; readonly id: string }
);

const PAGE_TOKENS = 100;

/**
 * Runs a call and returns the text to print. A new token is the last word and is stored nowhere. Throws a
 * `CommandFailure` if the call cannot run.
 */
export async function tokenCommand(
  call: TokenCall,
  connection: PostgresConnection,
  dataDir: string | null = null,
): Promise<string> {
  const pool = createDatabase(connection);
  try {
    if ('url' in connection) {
      const where = { store: 'PostgreSQL', variable: 'DATABASE_URL', url: connection.url } as const;
      await reached(where, () => pool.ping());
    }
    const context = { db: pool.db, clock: systemClock, onRevoked: nothing, onReplaced: nothing };
    return await carriedOut(call, context, dataDir);
  } catch (error) {
    if (error instanceof Refusal || error instanceof StoreFailure) throw new CommandFailure(error.message);
    throw error;
  } finally {
    await pool.close();
  }
}

/** Running services are notified by PostgreSQL. */
const nothing = () => undefined;

async function carriedOut(call: TokenCall, options: AccessContext, dataDir: string | null): Promise<string> {
  if (call.kind === 'list') return await listing(options, call.json);
  if (call.kind === 'rotate') return await rotation(options, call, dataDir);
  if (call.kind === 'create') {
    const issued = await audited(options, 'createToken', issuedId, () => issueToken(options, call));
    return call.json ? issuedJson(issued) : issuedLine('Token', issued);
  }
  const { id, json } = call;
  const revoked = await audited(
    options,
    'revokeToken',
    () => id,
    () => revokeToken(options, id),
  );
  return json ? jsonText(tokenJson(revoked)) : `Token ${JSON.stringify(revoked.name)} is revoked: ${id}`;
}

/** Replaces the token of the first start where commands read it. */
async function rotation(
  options: AccessContext,
  { id, expiresAt, json }: Extract<TokenCall, { kind: 'rotate' }>,
  dataDir: string | null,
): Promise<string> {
  let kept = '';
  const onReplaced = (isFormer: (text: string) => boolean, text: string) => {
    if (dataDir === null) return;
    const path = tokenFileOf(dataDir);
    try {
      if (replaceKeptToken(dataDir, isFormer, text)) kept = `, kept in ${path}`;
    } catch (error) {
      kept = `, NOT kept in ${path}, which cannot be written (${messageOf(error)})`;
    }
  };
  const work = () => rotateToken({ ...options, onReplaced }, id, { expiresAt });
  const issued = await audited(options, 'rotateToken', () => id, work);
  return json ? issuedJson(issued) : issuedLine('New token', issued, kept);
}

const issuedId = ({ token }: IssuedToken) => token.id;

const WHAT_WAS_DONE = {
  createToken: 'Create a token',
  rotateToken: 'Replace a token',
  revokeToken: 'Revoke a token',
} as const;

/** Runs a change together with its row of the audit log, in one transaction. */
async function audited<Result>(
  { db, clock }: AccessContext,
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
  return `${what} ${JSON.stringify(token.name)} of scope ${scopeText(token)}${end}${kept}, shown only this once: ${text}`;
}

/** `list` for a token with a list of permissions, which `--json` shows. */
function scopeText({ scope, permissions }: Token): string {
  return permissions === null ? scope : 'list';
}

function issuedJson({ token, text }: IssuedToken): string {
  return jsonText({ ...tokenJson(token), token: text });
}

/** With the names of `GET /v1/tokens`. */
function tokenJson(token: Token) {
  const { id, name, origin, createdAt, expiresAt, revokedAt, lastUsedAt } = token;
  const { scope, permissions } = actorOfToken(token);
  const at = (instant: Instant | null) => (instant === null ? null : formatInstant(instant));
  return {
    id,
    name,
    scope,
    permissions: [...permissions],
    origin,
    created_at: formatInstant(createdAt),
    expires_at: at(expiresAt),
    revoked_at: at(revokedAt),
    last_used_at: at(lastUsedAt),
  };
}

function jsonText(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

/** A line for each token: id, scope, state, last use, name. */
async function listing({ db, clock }: AccessContext, json: boolean): Promise<string> {
  const tokens: Token[] = [];
  let after: KeysetPosition | null = null;
  do {
    const page: Awaited<ReturnType<typeof listTokens>> = await listTokens(
      { db },
      { after, limit: PAGE_TOKENS },
    );
    tokens.push(...page.rows);
    after = page.next;
  } while (after !== null);
  if (json) return jsonText({ data: tokens.map(tokenJson) });
  if (tokens.length === 0) return 'There are no tokens.';
  return tokens.map((token) => tokenLine(token, clock.now())).join('\n');
}

function tokenLine(token: Token, now: Instant): string {
  const used = token.lastUsedAt === null ? 'never used' : `last used ${formatInstant(token.lastUsedAt)}`;
  return `${token.id}  ${scopeText(token).padEnd(6)}  ${stateOf(token, now)}  ${used}  ${JSON.stringify(token.name)}`;
}

function stateOf({ revokedAt, expiresAt, origin }: Token, now: Instant): string {
  if (revokedAt !== null) return `revoked ${formatInstant(revokedAt)}`;
  if (expiresAt !== null) {
    return `${expiresAt <= now ? 'expired' : 'works until'} ${formatInstant(expiresAt)}`;
  }
  return origin === 'api_token' ? 'works while API_TOKEN is set' : 'works';
}

/** The database of the service with this configuration. Throws if it is an embedded one that is not running. */
export async function databaseOfService(
  config: Pick<Config, 'dataDir' | 'databaseUrl'>,
): Promise<PostgresConnection> {
  if (config.databaseUrl !== undefined) return { url: config.databaseUrl };
  const running = await runningPostgres(join(config.dataDir, 'postgres'));
  if (running !== null) return running;
  throw new CommandFailure(
    `No tallyhouse is running on ${config.dataDir}. Start it first, or set DATA_DIR or DATABASE_URL as it has them.`,
  );
}
