/** Calls of commands to the running service: its address, its token, and its answers. */
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { stringifyJson } from '../../api/base/json.ts';
import type { Config } from '../../config.ts';
import { SECOND_MS } from '../../core/time.ts';
import { tokenFileOf } from '../../embedded/api-token.ts';
import { CommandFailure } from '../failures/command-failure.ts';
import { commandConfig } from './command-config.ts';

export interface RunningService {
  readonly url: string;
  readonly token: string;
  /** The source of the token, for people. */
  readonly tokenFrom: string;
}

/** The service answered with another status than 200. */
export class RefusedCall extends CommandFailure {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The address given on the command line; null: taken from the environment of the service. */
export interface ServiceArguments {
  readonly url: string | null;
  readonly token: string | null;
}

/**
 * Finds the service and its token like the service itself, by PORT, HOST, API_TOKEN or DATA_DIR, unless they are given.
 */
export async function findService(given: ServiceArguments): Promise<RunningService> {
  const config = commandConfig();
  const url = given.url ?? `http://${config.host === '0.0.0.0' ? '127.0.0.1' : config.host}:${config.port}`;
  if (given.token !== null) return { url, token: given.token, tokenFrom: '--token' };
  if (config.apiToken !== undefined) return { url, token: config.apiToken, tokenFrom: 'API_TOKEN' };
  return { url, ...(await keptToken(config)) };
}

/** The token of the first start. */
async function keptToken({ dataDir }: Pick<Config, 'dataDir'>): Promise<Omit<RunningService, 'url'>> {
  const path = tokenFileOf(dataDir);
  const text = await readFile(path, 'utf8').catch(() => '');
  if (text.trim() !== '') return { token: text.trim(), tokenFrom: path };
  throw new CommandFailure(`There is no token in ${path}: set API_TOKEN or DATA_DIR, or give --token`);
}

interface AskOptions {
  readonly accept?: string;
  readonly method?: 'POST' | 'PUT';
}

/** The answer to a POST or PUT. Throws `CommandFailure` without an answer, or if the status is not 200. */
export async function ask(
  service: RunningService,
  path: string,
  body: unknown,
  { accept = 'application/json', method = 'POST' }: AskOptions = {},
): Promise<Response> {
  const headers = { 'content-type': 'application/json', accept };
  return sent(service, path, { method, headers, body: stringifyJson(body) });
}

/** The answer to a GET. Throws like `ask`. */
export async function askFor(service: RunningService, path: string): Promise<Response> {
  return sent(service, path, { method: 'GET', headers: { accept: 'application/json' } });
}

/** A request that is refused with 429 was not executed, and is sent again after Retry-After. */
const TOO_MANY = 429;
const WAITS_MAX = 30;
const WAIT_SECONDS_MAX = 60;

interface Sent {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

async function sent(
  { url, token, tokenFrom }: RunningService,
  path: string,
  { headers, ...rest }: Sent,
): Promise<Response> {
  const request = { ...rest, headers: { ...headers, authorization: `Bearer ${token}` } };
  const call = () =>
    fetch(new URL(path, url), request).catch((error: unknown) => {
      const { cause } = error instanceof Error ? error : { cause: error };
      throw new CommandFailure(`${url} does not answer: ${cause instanceof Error ? cause.message : cause}`);
    });
  let answer = await call();
  for (let waits = 0; answer.status === TOO_MANY && waits < WAITS_MAX; waits += 1) {
    const seconds = Number(answer.headers.get('retry-after') ?? 1);
    await pause(Math.min(Number.isFinite(seconds) ? seconds : 1, WAIT_SECONDS_MAX) * SECOND_MS);
    answer = await call();
  }
  if (answer.ok) return answer;
  const said = messageOf(await answer.text());
  const whose = answer.status === 401 ? ` (the token of ${tokenFrom}; set API_TOKEN or give --token)` : '';
  throw new RefusedCall(answer.status, `${url} answers ${answer.status}: ${said}${whose}`);
}

function messageOf(text: string): string {
  try {
    return z.object({ message: z.string() }).parse(JSON.parse(text)).message;
  } catch {
    return text.slice(0, 200);
  }
}
