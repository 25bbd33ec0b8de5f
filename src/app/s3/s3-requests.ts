/**
 * Signed requests to an S3-compatible store. Each is retried a few times if the network or the store fails, and aborted
 * if no data arrives for too long. Only whole answers are returned, so that a part is never mistaken for all. Messages
 * contain the code and message of the store, never any part of the signature.
 */

import { createHash } from 'node:crypto';
import { AwsClient } from 'aws4fetch';
import { messageOf } from '../../core/failures.ts';
import { backoffMs, retry } from '../../runtime/retry.ts';
import { CommandFailure, EXIT, WrongCall } from '../failures/command-failure.ts';

export interface S3Settings {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | undefined;
  readonly region: string;
  /** For path-style addresses of buckets; undefined: AWS. */
  readonly endpoint: string | undefined;
}

export interface S3Request {
  readonly method?: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** Null: the bucket itself. */
  readonly key: string | null;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Signed with its SHA-256, so the store refuses other bytes. */
  readonly body?: Buffer;
  /** Statuses that are accepted besides success. */
  readonly accepted?: readonly number[];
}

export interface S3Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
}

export interface S3Requests {
  readonly bucket: string;
  /** Throws an `S3Failure`. An attempt whose answer was lost may have changed something. */
  send(request: S3Request): Promise<S3Answer>;
}

/** The store refuses or fails. The message is for the operator. */
export class S3Failure extends CommandFailure {
  override readonly name = 'S3Failure';
  /** Null if there was no answer. */
  readonly status: number | null;

  constructor(message: string, status: number | null, exitCode: number = EXIT.failed) {
    super(message, { exitCode });
    this.status = status;
  }
}

/** Maximum attempts of one request. */
const TRIES_MAX = 6;
const FIRST_PAUSE_MS = 200;
const PAUSE_MS_MAX = 10_000;
/** A store that sends nothing for this time counts as unavailable. */
const SILENCE_MS_MAX = 30_000;
/** And one that accepts fewer bytes per second. */
const SENT_BYTES_PER_SECOND_MIN = 100_000;
/** The maximum size of one answer. Objects are read in ranges, so the largest is the manifest of a backup. */
const ANSWER_BYTES_MAX = 256 * 1024 * 1024;
/** The maximum size of error answers. */
const ERROR_BYTES_MAX = 64 * 1024;

/** Throws a `WrongCall` naming the variable that is missing. */
export function s3Settings(env: NodeJS.ProcessEnv): S3Settings {
  const needed = (name: string) => {
    const value = env[name];
    if (value === undefined || value === '') throw new WrongCall(`${name} is not set; s3:// needs it`);
    return value;
  };
  const endpoint = env.AWS_ENDPOINT_URL_S3 || env.AWS_ENDPOINT_URL || undefined;
  if (endpoint !== undefined && !(/^https?:\/\//.test(endpoint) && URL.canParse(endpoint))) {
    throw new WrongCall('AWS_ENDPOINT_URL must be an http or https address');
  }
  return {
    accessKeyId: needed('AWS_ACCESS_KEY_ID'),
    secretAccessKey: needed('AWS_SECRET_ACCESS_KEY'),
    sessionToken: env.AWS_SESSION_TOKEN || undefined,
    region: env.AWS_REGION || env.AWS_DEFAULT_REGION || 'us-east-1',
    endpoint,
  };
}

interface S3Patience {
  readonly firstPauseMs: number;
  readonly silenceMs: number;
}

const PATIENCE: S3Patience = { firstPauseMs: FIRST_PAUSE_MS, silenceMs: SILENCE_MS_MAX };

export function createS3Requests(settings: S3Settings, bucket: string, patience = PATIENCE): S3Requests {
  const client = new AwsClient({
    accessKeyId: settings.accessKeyId,
    secretAccessKey: settings.secretAccessKey,
    ...(settings.sessionToken === undefined ? {} : { sessionToken: settings.sessionToken }),
    service: 's3',
    region: settings.region,
    retries: 0,
  });
  const base = addressOf(settings, bucket);
  return {
    bucket,
    async send(request) {
      const { key, query = {} } = request;
      const url = new URL(key === null ? base : `${base}/${key.split('/').map(encoded).join('/')}`);
      for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
      const what = key === null ? `s3://${bucket}` : `s3://${bucket}/${key}`;
      const send = () => once(client, url, request, what, patience.silenceMs);
      return await retry(send, {
        name: 'S3 requests',
        attemptsMax: TRIES_MAX,
        isTransient: (error): error is TryAgain => error instanceof TryAgain,
        pauseMs: (failures) =>
          backoffMs(failures, { firstMs: patience.firstPauseMs, maxMs: PAUSE_MS_MAX }, Math.random),
        exhausted: ({ message, status }) => new S3Failure(`${what}: ${message}, ${TRIES_MAX} times`, status),
      });
    },
  };
}

class TryAgain extends Error {
  readonly status: number | null;

  constructor(message: string, status: number | null) {
    super(message);
    this.status = status;
  }
}

async function once(
  client: AwsClient,
  url: URL,
  asked: S3Request,
  what: string,
  silenceMs: number,
): Promise<S3Answer> {
  const sentBytes = asked.body?.length ?? 0;
  const silence = createSilence(silenceMs + (sentBytes / SENT_BYTES_PER_SECOND_MIN) * 1_000);
  try {
    const request = await client.sign(url, signed(asked));
    const response = await fetch(request, { signal: silence.signal, redirect: 'manual' });
    silence.heard();
    const body = await bodyOf(response, silence, asked.method === 'HEAD');
    const { status, headers } = response;
    if (response.ok && !(asked.method === 'POST' && isLateFailure(body))) return { status, headers, body };
    if (asked.accepted?.includes(status) === true) return { status, headers, body };
    throw refusal(response, body, asked, what);
  } catch (error) {
    if (error instanceof TryAgain || error instanceof S3Failure) throw error;
    const problem = silence.signal.aborted ? `sent nothing for ${silenceMs / 1000} s` : causeOf(error);
    throw new TryAgain(problem, null);
  } finally {
    silence.end();
  }
}

function signed({ method = 'GET', headers = {}, body }: S3Request): RequestInit {
  if (body === undefined) return { method, headers };
  const hash = createHash('sha256').update(body).digest('hex');
  return { method, headers: { ...headers, 'x-amz-content-sha256': hash }, body: new Uint8Array(body) };
}

/** A store that needs long for an answer begins it with 200 before it knows the outcome. */
function isLateFailure(body: Buffer): boolean {
  return /^\s*(<\?xml[^>]*>)?\s*<Error>/.test(body.subarray(0, 200).toString());
}

/** Aborts after a time without data. */
function createSilence(ms: number) {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), ms);
  return { signal: controller.signal, heard: () => timer.refresh(), end: () => clearTimeout(timer) };
}

async function bodyOf(response: Response, silence: { heard(): unknown }, isHead: boolean): Promise<Buffer> {
  const bytesMax = response.ok ? ANSWER_BYTES_MAX : ERROR_BYTES_MAX;
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of response.body ?? []) {
    silence.heard();
    pieces.push(piece);
    bytes += piece.length;
    if (bytes > bytesMax) break;
  }
  if (response.ok && bytes > bytesMax)
    throw new S3Failure(`the store has sent more than ${ANSWER_BYTES_MAX} bytes at once`, response.status);
  const said = response.headers.get('content-length');
  if (response.ok && !isHead && said !== null && Number(said) !== bytes)
    throw new TryAgain('the answer was cut off', response.status);
  return Buffer.concat(pieces);
}

/** Codes of failures that are sent with 200. */
const LATE_CODES = ['InternalError', 'SlowDown', 'ServiceUnavailable', 'RequestTimeout'];

function refusal(response: Response, body: Buffer, { method = 'GET' }: S3Request, what: string): Error {
  const { status } = response;
  const code = elementOf(body.toString(), 'Code');
  const words = elementOf(body.toString(), 'Message');
  const said = [code, words].filter((each) => each !== null).join(': ');
  const problem = `answered ${status}${said === '' ? '' : ` (${said.slice(0, 300)})`}`;
  const isPassing = status >= 500 ? status !== 501 : status === 429 || status === 408;
  if (isPassing || (code !== null && LATE_CODES.includes(code))) return new TryAgain(problem, status);
  const region = response.headers.get('x-amz-bucket-region');
  const hint = region !== null && (status === 301 || status === 400) ? `; set AWS_REGION=${region}` : '';
  const does = method === 'GET' || method === 'HEAD' ? 'read' : 'write';
  return new S3Failure(`cannot ${does} ${what}: the store ${problem}${hint}`, status, EXIT.wrongCall);
}

/** Text of the first element with this name in an S3 answer, which has neither attributes nor comments in it. */
export function elementOf(xml: string, name: string): string | null {
  const match = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml);
  return match === null ? null : unescaped(match[1] ?? '');
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };

function unescaped(text: string): string {
  return text.replace(/&(?:#(\d+)|#x([0-9a-f]+)|(lt|gt|quot|apos|amp));/gi, (_, decimal, hex, name) => {
    if (name !== undefined) return ENTITIES[String(name).toLowerCase()] ?? '';
    return String.fromCodePoint(decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal));
  });
}

function addressOf({ endpoint, region }: S3Settings, bucket: string): string {
  if (endpoint !== undefined) return `${endpoint.replace(/\/+$/, '')}/${bucket}`;
  // A certificate of AWS covers one subdomain.
  return bucket.includes('.')
    ? `https://s3.${region}.amazonaws.com/${bucket}`
    : `https://${bucket}.s3.${region}.amazonaws.com`;
}

/** For signatures: everything but letters, digits and four marks is escaped. */
function encoded(part: string): string {
  return encodeURIComponent(part).replace(
    /[!'()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** `fetch` reports only that it failed; the reason is in the cause. */
function causeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return messageOf(cause);
}
