/** Commands that ask the running service: where it is, its token, and its answers. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { type Config, ConfigError } from '../../config.ts';
import { commandConfig } from './command-config.ts';

/** What cannot be done. The message is for the operator. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
}

export interface RunningService {
  readonly url: string;
  readonly token: string;
}

/** Finds the service and its token as the service does, by PORT, HOST, API_TOKEN or DATA_DIR, unless they are given. */
export async function findService(given: {
  readonly url: string | null;
  readonly token: string | null;
}): Promise<RunningService> {
  const config = commandConfig();
  const url = given.url ?? `http://${config.host === '0.0.0.0' ? '127.0.0.1' : config.host}:${config.port}`;
  return { url, token: given.token ?? config.apiToken ?? (await keptToken(config)) };
}

/** That of the first start. */
async function keptToken({ dataDir }: Pick<Config, 'dataDir'>): Promise<string> {
  const path = join(dataDir, 'api-token');
  const text = await readFile(path, 'utf8').catch(() => '');
  if (text.trim() !== '') return text.trim();
  throw new CommandFailure(`There is no token in ${path}: set API_TOKEN or DATA_DIR, or give --token`);
}

/** The answer to a POST. Throws `CommandFailure` where there is none, or another than 200. */
export async function ask(
  { url, token }: RunningService,
  path: string,
  body: unknown,
  { accept = 'application/json' }: { readonly accept?: string } = {},
): Promise<Response> {
  const request = {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', accept },
    body: JSON.stringify(body),
  };
  const answer = await fetch(new URL(path, url), request).catch((error: unknown) => {
    const { cause } = error instanceof Error ? error : { cause: error };
    throw new CommandFailure(`${url} does not answer: ${cause instanceof Error ? cause.message : cause}`);
  });
  if (answer.ok) return answer;
  throw new CommandFailure(`${url} answers ${answer.status}: ${messageOf(await answer.text())}`);
}

function messageOf(text: string): string {
  try {
    return z.object({ message: z.string() }).parse(JSON.parse(text)).message;
  } catch {
    return text.slice(0, 200);
  }
}

/** Ends the process with the code of the command, or with `failedCode` and one line where it fails as expected. */
export async function endWith(name: string, failedCode: number, main: () => Promise<number>): Promise<void> {
  try {
    process.exitCode = await main();
  } catch (error) {
    const isExpected = error instanceof CommandFailure || error instanceof ConfigError;
    const text = error instanceof Error ? (isExpected ? error.message : error.stack) : String(error);
    process.stderr.write(`${name}: ${text}\n`);
    process.exitCode = failedCode;
  }
}
