/**
 * Parses CLICKHOUSE_URL: `http[s]://user:password@host:port/database`, and in its query `analysis_user` and
 * `analysis_password`, a read-only user for queries written by users, and `ch_<setting>=<value>` for settings of
 * ClickHouse, which override our own.
 */
import { assert } from '../../core/errors.ts';

export interface ClickHouseAddress {
  /** For the client: without the database and our own parameters. */
  readonly url: string;
  /** The URL for queries written by users; equal to `url` if no analysis user is given. */
  readonly analysisUrl: string;
  readonly database: string;
  readonly settings: Readonly<Record<string, string>>;
}

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;
const SETTING = /^ch_([a-z][a-z0-9_]*)$/;
const DEFAULT_DATABASE = 'tallyhouse';

/** Throws if the path is not the name of a database, or a parameter is unknown. */
export function parseClickHouseUrl(text: string): ClickHouseAddress {
  const url = new URL(text);
  const database = url.pathname.replace(/^\//, '') || DEFAULT_DATABASE;
  assert(IDENTIFIER.test(database), `CLICKHOUSE_URL: ${database} is not a database name`);
  const settings: Record<string, string> = {};
  for (const [name, value] of url.searchParams) {
    const setting = SETTING.exec(name)?.[1];
    if (setting !== undefined) settings[setting] = value;
    else assert(name.startsWith('analysis_'), `CLICKHOUSE_URL: unknown parameter ${name}`);
  }
  const analysisUser = url.searchParams.get('analysis_user');
  const analysisPassword = url.searchParams.get('analysis_password');
  url.pathname = '';
  url.search = '';
  const analysisUrl = new URL(url);
  if (analysisUser !== null) {
    analysisUrl.username = encodeURIComponent(analysisUser);
    analysisUrl.password = encodeURIComponent(analysisPassword ?? '');
  }
  return { url: url.toString(), analysisUrl: analysisUrl.toString(), database, settings };
}
