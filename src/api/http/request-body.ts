/**
 * Reads the bytes of a request body, up to a limit.
 *
 * With the Node server the bytes come from Node's request object, which is measurably cheaper than a web
 * stream at 30 KB a body. Without it (`app.request()` in tests) the web request is read.
 */
import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import type { Context } from 'hono';
import { Refusal } from '../../core/errors.ts';
import type { BodyBudget } from './body-budget.ts';
import { isGivenUp } from './open-requests.ts';

/** The Node request of a context, if there is one. */
function incomingOf(context: Context): IncomingMessage | undefined {
  const env: { incoming?: IncomingMessage } | undefined = context.env;
  return env?.incoming;
}

/** A request header by its lower-case name. Avoids building a web `Headers` object where Node has the header. */
export function headerOf(
  context: Context,
  name:
    | 'authorization'
    | 'user-agent'
    | 'x-request-id'
    | 'content-encoding'
    | 'content-type'
    | 'idempotency-key'
    | 'prefer'
    | 'traceparent'
    | 'tracestate'
    | 'cookie'
    | 'host'
    | 'origin'
    | 'sec-fetch-site'
    | 'x-forwarded-for'
    | 'x-forwarded-host'
    | 'x-forwarded-proto',
) {
  const incoming = incomingOf(context);
  if (incoming === undefined) return context.req.header(name);
  const value = incoming.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** The media type of the body in lower case, without its parameters; undefined where the request does not say. */
export function mediaTypeOf(context: Context): string | undefined {
  return headerOf(context, 'content-type')?.split(';', 1)[0]?.trim().toLowerCase();
}

/** The address that the connection comes from; null without a connection, in tests. */
export function addressOf(context: Context): string | null {
  return incomingOf(context)?.socket.remoteAddress ?? null;
}

export interface BodyLimits {
  /** Limit of one body. */
  readonly limitBytes: number;
  /** Budget of all bodies together. */
  readonly budget: BodyBudget;
}

export interface ReadBody {
  readonly bytes: Buffer;
  /** Releases the room of the bytes. Call it when they are no longer needed. */
  release(): void;
}

/** A body that can grow. */
interface HeldBody extends ReadBody {
  /** Takes room for more bytes. Refuses with `overloaded` if there is none. */
  take(bytes: number): void;
}

/**
 * Refuses a body that is larger than the limits with 413 or 429, and a compressed or truncated one with 400. With
 * `takesCompressed` a compressed one is decompressed, within the same limits.
 */
export async function readBody(
  context: Context,
  limits: BodyLimits,
  takesCompressed = false,
): Promise<ReadBody> {
  const encoding = headerOf(context, 'content-encoding')?.toLowerCase() ?? 'identity';
  const decompress = encoding === 'identity' ? null : decompressionOf(encoding, takesCompressed);
  const incoming = incomingOf(context);
  const sent =
    incoming === undefined ? readWebBody(context.req.raw, limits.limitBytes) : readNodeBody(incoming, limits);
  if (decompress === null) return sent;
  return decompressed(await sent, limits.limitBytes, { encoding, decompress });
}

type Decompress = (bytes: Buffer, options: { readonly maxOutputLength: number }) => Promise<Buffer>;

/** Node has zstd from 22.15 on. */
function zstdDecompress(): Decompress | null {
  const ofNode: unknown = Reflect.get(zlib, 'zstdDecompress');
  if (typeof ofNode !== 'function') return null;
  return (bytes, options) =>
    new Promise((resolve, reject) => {
      const done = (error: unknown, result: Buffer) => (error === null ? resolve(result) : reject(error));
      Reflect.apply(ofNode, zlib, [bytes, options, done]);
    });
}

const zstd = zstdDecompress();
const DECOMPRESSIONS: ReadonlyMap<string, Decompress> = new Map([
  ['gzip', promisify(zlib.gunzip)],
  ...(zstd === null ? [] : ([['zstd', zstd]] as const)),
]);

function decompressionOf(encoding: string, takesCompressed: boolean): Decompress {
  if (!takesCompressed) {
    throw new Refusal('invalid', `Content-Encoding ${encoding} is not supported: send the body as it is`);
  }
  const decompress = DECOMPRESSIONS.get(encoding);
  if (decompress !== undefined) return decompress;
  const names = [...DECOMPRESSIONS.keys()].join(', ');
  throw new Refusal('unsupported', `Content-Encoding ${encoding} is not supported: use ${names}, or none`);
}

/** A small body can decompress to a thousand times its size: it is given up at the limit. */
async function decompressed(
  sent: HeldBody,
  limitBytes: number,
  { encoding, decompress }: { readonly encoding: string; readonly decompress: Decompress },
): Promise<ReadBody> {
  try {
    const bytes = await decompress(sent.bytes, { maxOutputLength: limitBytes });
    sent.take(bytes.length);
    return { bytes, release: sent.release };
  } catch (error) {
    sent.release();
    if (error instanceof Refusal) throw error;
    if (error instanceof RangeError) throw tooLarge(limitBytes);
    throw new Refusal('invalid', `The request body is not valid ${encoding}`);
  }
}

function tooLarge(limitBytes: number): Refusal {
  return new Refusal('too_large', `The request body is larger than ${limitBytes} bytes`);
}

function readNodeBody(incoming: IncomingMessage, { limitBytes, budget }: BodyLimits): Promise<HeldBody> {
  if (Number(incoming.headers['content-length'] ?? 0) > limitBytes)
    return Promise.reject(tooLarge(limitBytes));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const settle = (): void => {
      incoming.off('data', onData);
      incoming.off('end', onEnd);
      incoming.off('error', onCut);
      incoming.off('close', onCut);
    };
    const refuse = (refusal: unknown): void => {
      settle();
      share.release();
      // The listeners are removed, but this promise may still be awaited: the bytes are dropped now.
      chunks.length = 0;
      reject(refusal);
    };
    const share = budget.open(refuse);
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length;
      try {
        if (bytes > limitBytes) throw tooLarge(limitBytes);
        share.take(chunk.length);
        chunks.push(chunk);
      } catch (refusal) {
        refuse(refusal);
      }
    };
    const onEnd = (): void => {
      if (isGivenUp(incoming)) {
        onCut();
        return;
      }
      settle();
      share.complete();
      const [only] = chunks;
      const whole = chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, bytes);
      resolve({ bytes: whole, take: share.take, release: share.release });
    };
    const onCut = (): void =>
      refuse(new Refusal('invalid', 'The request ended before its body was complete'));
    if (incoming.destroyed && !incoming.readableEnded) return onCut();
    incoming.on('data', onData);
    incoming.on('end', onEnd);
    incoming.on('error', onCut);
    incoming.on('close', onCut);
  });
}

/** The body of a request without a connection, in tests: nothing is shared. */
async function readWebBody(request: Request, limitBytes: number): Promise<HeldBody> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of request.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > limitBytes) throw tooLarge(limitBytes);
    chunks.push(chunk);
  }
  return { bytes: Buffer.concat(chunks, bytes), take: () => {}, release: () => {} };
}
