/** Explains in one line why a store does not respond at the start: its variable, its address, and the reason. */
import { ClickHouseError } from '@clickhouse/client';
import { codeOf } from '../../core/failures.ts';

/** An unusable store. The message is one line for the operator, without passwords. */
export class StoreFailure extends Error {
  override readonly name = 'StoreFailure';
}

interface StoreByUrl {
  readonly store: 'PostgreSQL' | 'ClickHouse';
  readonly variable: 'DATABASE_URL' | 'CLICKHOUSE_URL';
  readonly url: string;
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = {
  'postgres:': '5432',
  'postgresql:': '5432',
  'http:': '80',
  'https:': '443',
};

/** Codes of Node, postgres.js, PostgreSQL and ClickHouse. */
const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was closed',
  CONNECTION_CLOSED: 'the connection was closed',
  CONNECT_TIMEOUT: 'no answer in time',
  ETIMEDOUT: 'no answer in time',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name of the host cannot be looked up',
  '28P01': 'user or password is refused',
  '28000': 'user or password is refused',
  '3D000': 'there is no such database',
  '516': 'user or password is refused',
};

/** Runs the first statement on a store. Throws a `StoreFailure` for any failure. */
export async function reached<T>(where: StoreByUrl, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { store, variable, url } = where;
    const { protocol, hostname, port } = new URL(url);
    const place = `${hostname}:${port || DEFAULT_PORTS[protocol]}`;
    const what = isAnswer(error) ? 'refuses' : 'does not answer';
    const reason = withoutSecrets(reasonOf(error), url);
    throw new StoreFailure(`${store} of ${variable} (${place}) ${what}: ${reason}`, { cause: error });
  }
}

/** Whether the store itself refused. */
function isAnswer(error: unknown): boolean {
  const innermost = innermostOf(error);
  return innermost instanceof ClickHouseError || /^[0-9A-Z]{5}$/.test(codeOf(innermost) ?? '');
}

function reasonOf(error: unknown): string {
  const innermost = innermostOf(error);
  const known = REASONS[codeOf(innermost) ?? ''];
  if (known !== undefined) return known;
  const text = innermost instanceof Error ? innermost.message || innermost.name : String(innermost);
  return text.split('\n', 1).join('');
}

function innermostOf(error: unknown): unknown {
  const isKnown = REASONS[codeOf(error) ?? ''] !== undefined;
  return !isKnown && error instanceof Error && error.cause !== undefined ? innermostOf(error.cause) : error;
}

function withoutSecrets(text: string, url: string): string {
  const { password, searchParams } = new URL(url);
  const secrets = [password, decodeURIComponent(password), searchParams.get('analysis_password') ?? ''];
  return secrets
    .filter((secret) => secret !== '')
    .reduce((safe, secret) => safe.replaceAll(secret, '…'), text);
}
