/**
 * Signed requests to an S3-compatible store. Each is tried again a few times where the network or the store fails, and is
 * given up where no data arrives for too long. Only whole answers are returned, so that a part is never taken for all.
 * Messages have the code and the words of the store, never anything of the signature.
 */
import { AwsClient } from 'aws4fetch';
import { BackfillFailure, EXIT, InputFailure, reasonOf } from '../failure.ts';

export interface S3Settings {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | undefined;
  readonly region: string;
  /** Where buckets are the first part of the path; undefined: those of AWS. */
  readonly endpoint: string | undefined;
}

interface S3Answer {
  readonly headers: Headers;
  readonly body: Buffer;
}

export interface S3Requests {
  /** `key` null: of the bucket itself. Throws `InputFailure`. */
  get(
    key: string | null,
    query: Readonly<Record<string, string>>,
    headers?: Record<string, string>,
  ): Promise<S3Answer>;
}

/** Of one request, the first included. */
const TRIES_MAX = 6;
const FIRST_PAUSE_MS = 200;
const PAUSE_MS_MAX = 10_000;
/** A store that sends nothing for this time is taken to be unavailable. */
const SILENCE_MS_MAX = 30_000;
/** Of answers that say what is wrong. */
const ERROR_BYTES_MAX = 64 * 1024;

/** Throws `BackfillFailure` naming the variable that is missing. */
export function s3Settings(env: NodeJS.ProcessEnv): S3Settings {
  const needed = (name: string) => {
    const value = env[name];
    if (value === undefined || value === '')
      throw new BackfillFailure(`${name} is not set; s3:// needs it`, EXIT.usage);
    return value;
  };
  const endpoint = env.AWS_ENDPOINT_URL_S3 || env.AWS_ENDPOINT_URL || undefined;
  if (endpoint !== undefined && !(/^https?:\/\//.test(endpoint) && URL.canParse(endpoint))) {
    throw new BackfillFailure('AWS_ENDPOINT_URL must be an http or https address', EXIT.usage);
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
    // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: one loop of attempts, and the address that they share.
    async get(key, query, headers = {}) {
      const url = new URL(`${base}${key === null ? '' : `/${key.split('/').map(encoded).join('/')}`}`);
      for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
      const what = `s3://${bucket}${key === null ? '' : `/${key}`}`;
      for (let tried = 1; ; tried += 1) {
        try {
          return await once(client, url, headers, what, patience.silenceMs);
        } catch (error) {
          if (!(error instanceof TryAgain)) throw error;
          if (tried === TRIES_MAX) throw new InputFailure(`${what}: ${error.message}, ${TRIES_MAX} times`);
          const pause = Math.min(PAUSE_MS_MAX, patience.firstPauseMs * 2 ** (tried - 1));
          await new Promise((resolve) => setTimeout(resolve, pause));
        }
      }
    },
  };
}

class TryAgain extends Error {}

async function once(
  client: AwsClient,
  url: URL,
  headers: Record<string, string>,
  what: string,
  silenceMs: number,
): Promise<S3Answer> {
  const silence = createSilence(silenceMs);
  try {
    const request = await client.sign(url, { headers });
    const response = await fetch(request, { signal: silence.signal, redirect: 'manual' });
    silence.heard();
    const body = await bodyOf(response, silence, response.ok ? Number.POSITIVE_INFINITY : ERROR_BYTES_MAX);
    if (response.ok) return { headers: response.headers, body };
    throw refusal(response, body, what);
  } catch (error) {
    if (error instanceof TryAgain || error instanceof BackfillFailure) throw error;
    throw new TryAgain(silence.signal.aborted ? `sent nothing for ${silenceMs / 1000} s` : causeOf(error));
  } finally {
    silence.end();
  }
}

/** Aborts what nothing was heard of. */
function createSilence(ms: number) {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), ms);
  return { signal: controller.signal, heard: () => timer.refresh(), end: () => clearTimeout(timer) };
}

async function bodyOf(response: Response, silence: { heard(): unknown }, bytesMax: number): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of response.body ?? []) {
    silence.heard();
    pieces.push(piece);
    bytes += piece.length;
    if (bytes > bytesMax) break;
  }
  const said = response.headers.get('content-length');
  if (response.ok && said !== null && Number(said) !== bytes) throw new TryAgain('the answer was cut off');
  return Buffer.concat(pieces);
}

function refusal(response: Response, body: Buffer, what: string): Error {
  const { status } = response;
  const code = elementOf(body.toString(), 'Code');
  const words = elementOf(body.toString(), 'Message');
  const said = [code, words].filter((each) => each !== null).join(': ');
  const problem = `answered ${status}${said === '' ? '' : ` (${said.slice(0, 300)})`}`;
  if (status >= 500 || status === 429 || status === 408 || code === 'RequestTimeout')
    return new TryAgain(problem);
  if (status === 412) return new InputFailure(`${what} has changed while it was read; run the same again`);
  const region = response.headers.get('x-amz-bucket-region');
  const hint = region !== null && (status === 301 || status === 400) ? `; set AWS_REGION=${region}` : '';
  return new InputFailure(`cannot read ${what}: the store ${problem}${hint}`, EXIT.usage);
}

/** Text of the first element of this name in an answer of S3, which has neither attributes nor comments in it. */
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
  // A certificate of AWS covers one name before its own.
  return bucket.includes('.')
    ? `https://s3.${region}.amazonaws.com/${bucket}`
    : `https://${bucket}.s3.${region}.amazonaws.com`;
}

/** As signatures want it: everything but letters, digits and four marks. */
function encoded(part: string): string {
  return encodeURIComponent(part).replace(
    /[!'()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** `fetch` says only that it failed; the cause says why. */
function causeOf(error: unknown): string {
  return error instanceof Error && error.cause !== undefined ? reasonOf(error.cause) : reasonOf(error);
}
