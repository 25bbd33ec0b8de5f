/** One attempt to deliver a message: one POST, without redirects, on a separate connection. */

import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { messageOf } from '../../core/failures.ts';
import { SECOND_MS } from '../../core/time.ts';
import { ClosedAddress, isPublicAddress, publicLookup } from './public-address.ts';

/** From the start of the attempt to the end of the answer. */
const TIMEOUT_MS = 10 * SECOND_MS;

/** The part of an answer that is stored; the rest is not read. */
const ANSWER_CHARACTERS_MAX = 1_000;
const UTF8_BYTES_MAX = 4;

const ACKNOWLEDGED_MAX = 299;
const REDIRECT_MIN = 300;
const REDIRECT_MAX = 399;

export interface SendOptions {
  /** Whether receivers on the machine itself and in private networks are allowed. */
  readonly allowPrivate: boolean;
  readonly timeoutMs?: number;
  /** The maximum length of the stored answer: 1,000 characters unless given. */
  readonly answerCharactersMax?: number;
  /** Aborts the attempt. */
  readonly signal?: AbortSignal;
}

export interface Attempt {
  /** Null if there was no answer. */
  readonly status: number | null;
  /** The start of the answer. */
  readonly answer: string | null;
  /** Null if the message was acknowledged. */
  readonly error: string | null;
}

/** Sends a JSON body. Never rejects: every failure is an attempt with an `error`. */
export async function sendWebhook(
  url: string,
  { headers, body }: { readonly headers: Readonly<Record<string, string>>; readonly body: string },
  { allowPrivate, timeoutMs = TIMEOUT_MS, answerCharactersMax = ANSWER_CHARACTERS_MAX, signal }: SendOptions,
): Promise<Attempt> {
  try {
    const target = new URL(url);
    // The URL may have been stored while http was allowed.
    if (!allowPrivate && target.protocol !== 'https:') throw new Error('the URL must have https');
    const host = target.hostname.replace(/^\[(.*)\]$/, '$1');
    if (!allowPrivate && isIP(host) !== 0 && !isPublicAddress(host)) throw new ClosedAddress(host);
    const content = Buffer.from(body, 'utf8');
    const request = (target.protocol === 'https:' ? httpsRequest : httpRequest)(target, {
      method: 'POST',
      // A reused connection would skip the check of the address.
      agent: false,
      headers: {
        ...headers,
        'content-type': 'application/json',
        'content-length': content.length,
        'user-agent': 'tallyhouse',
      },
      ...(allowPrivate ? {} : { lookup: publicLookup() }),
      ...(signal === undefined ? {} : { signal }),
    });
    return await answered(request, content, { timeoutMs, answerCharactersMax });
  } catch (error) {
    return { status: null, answer: null, error: shortMessageOf(error) };
  }
}

function answered(
  request: ClientRequest,
  content: Buffer,
  { timeoutMs, answerCharactersMax }: { readonly timeoutMs: number; readonly answerCharactersMax: number },
): Promise<Attempt> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      request.destroy(new Error(`no answer within ${timeoutMs / SECOND_MS} s`));
    }, timeoutMs);
    const end = (settle: () => void) => {
      clearTimeout(timer);
      settle();
    };
    request.on('error', (error) => end(() => reject(error)));
    request.on('response', (response) => {
      readStart(response, answerCharactersMax).then(
        (answer) => end(() => resolve(judged(response.statusCode ?? 0, answer))),
        (error: unknown) => end(() => reject(error)),
      );
    });
    request.end(content);
  });
}

/** Reads the start of the answer and drops the connection. */
async function readStart(response: IncomingMessage, charactersMax: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    chunks.push(Buffer.from(chunk));
    bytes += chunk.length;
    if (bytes >= UTF8_BYTES_MAX * charactersMax) break;
  }
  // PostgreSQL refuses texts with a null character.
  return Buffer.concat(chunks).toString('utf8').replaceAll('\0', '').slice(0, charactersMax);
}

function judged(status: number, answer: string): Attempt {
  if (status <= ACKNOWLEDGED_MAX) return { status, answer, error: null };
  const isRedirect = status >= REDIRECT_MIN && status <= REDIRECT_MAX;
  return {
    status,
    answer,
    error: isRedirect ? `status ${status}: redirects are refused` : `status ${status}`,
  };
}

function shortMessageOf(error: unknown): string {
  const own = error instanceof AggregateError ? error.errors[0] : error;
  return messageOf(own).slice(0, ANSWER_CHARACTERS_MAX);
}
