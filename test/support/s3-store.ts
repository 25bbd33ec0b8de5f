/**
 * A store that speaks the part of S3 that reading needs: objects by address, lists in pages, ranges, conditions on the
 * version. It checks the signature of each request by its own code, and misbehaves when a test sets a fault.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export const S3_KEYS = {
  AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
  AWS_SECRET_ACCESS_KEY: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  AWS_REGION: 'eu-central-1',
} as const;

/** The fate of a request instead of its answer. */
export type Fault = 'unavailable' | 'cut' | 'silent' | 'reset' | 'ignores-conditions';

export interface S3Store {
  readonly url: string;
  /** Method and path of each request, with its range. */
  readonly requests: string[];
  put(key: string, body: Buffer | string): void;
  /** Asked before each answer. */
  onRequest(decide: (path: string, count: number) => Fault | null): void;
  close(): Promise<void>;
}

interface StoredObject {
  readonly body: Buffer;
  readonly etag: string;
}

/** `pageKeys`: how many objects a page of a list has. */
export async function startS3Store(
  bucket: string,
  { pageKeys = 1000, sessionToken = '' } = {},
): Promise<S3Store> {
  const objects = new Map<string, StoredObject>();
  const requests: string[] = [];
  let decide: (path: string, count: number) => Fault | null = () => null;
  const server = createServer((request, response) => answer(request, response));
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const url = new URL(request.url ?? '', 'http://store');
    const key = decodeURIComponent(url.pathname.slice(bucket.length + 2));
    requests.push(`${request.method} ${url.pathname}${url.search} ${request.headers.range ?? ''}`.trim());
    const fault = decide(key, requests.length);
    const problem = signatureProblem(request, url, sessionToken);
    if (fault === 'silent') response.socket?.setTimeout(0);
    else if (fault === 'reset') request.socket.destroy();
    else if (fault === 'unavailable') refuse(response, 503, 'SlowDown');
    else if (problem !== null) refuse(response, 403, problem);
    else if (!url.pathname.startsWith(`/${bucket}`)) refuse(response, 404, 'NoSuchBucket');
    else if (key === '') sendList(response, objects, url, pageKeys);
    else sendObject(request, response, objects.get(key), fault);
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    put(key, body) {
      const bytes = Buffer.from(body);
      objects.set(key, { body: bytes, etag: `"${createHash('md5').update(bytes).digest('hex')}"` });
    },
    onRequest(next) {
      decide = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function refuse(response: ServerResponse, status: number, code: string): void {
  // The words of S3 repeat what was signed; none of it may be shown.
  response.writeHead(status, { 'content-type': 'application/xml' });
  response.end(
    `<?xml version="1.0"?><Error><Code>${code}</Code><Message>not &quot;now&quot;</Message>` +
      `<StringToSign>secret-of-the-signature</StringToSign></Error>`,
  );
}

function sendList(
  response: ServerResponse,
  objects: ReadonlyMap<string, StoredObject>,
  url: URL,
  pageKeys: number,
): void {
  const prefix = url.searchParams.get('prefix') ?? '';
  const after = url.searchParams.get('continuation-token') ?? '';
  const keys = [...objects.keys()]
    .filter((key) => key.startsWith(prefix) && Buffer.compare(Buffer.from(key), Buffer.from(after)) > 0)
    .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const page = keys.slice(0, pageKeys);
  const contents = page.map((key) => {
    const object = objects.get(key);
    const name = encodeURIComponent(key).replaceAll('%20', '+').replaceAll('%2F', '/');
    return `<Contents><Key>${name}</Key><ETag>${object?.etag.replaceAll('"', '&quot;')}</ETag><Size>${object?.body.length}</Size></Contents>`;
  });
  const isTruncated = keys.length > page.length;
  const next = isTruncated ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : '';
  response.writeHead(200, { 'content-type': 'application/xml' });
  response.end(
    `<?xml version="1.0"?><ListBucketResult><IsTruncated>${isTruncated}</IsTruncated>${next}${contents.join('')}</ListBucketResult>`,
  );
}

function sendObject(
  request: IncomingMessage,
  response: ServerResponse,
  object: StoredObject | undefined,
  fault: Fault | null,
): void {
  if (object === undefined) {
    refuse(response, 404, 'NoSuchKey');
    return;
  }
  const wanted = request.headers['if-match'];
  if (wanted !== undefined && wanted !== object.etag && fault !== 'ignores-conditions') {
    refuse(response, 412, 'PreconditionFailed');
    return;
  }
  const [, from = '0', to = ''] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
  const part = object.body.subarray(Number(from), to === '' ? undefined : Number(to) + 1);
  response.writeHead(206, { etag: object.etag, 'content-length': part.length });
  if (fault === 'cut')
    response.write(part.subarray(0, Math.floor(part.length / 2)), () => request.socket.destroy());
  else response.end(part);
}

/** Checks version 4 of signatures as its description says, without the library that makes them. */
function signatureProblem(request: IncomingMessage, url: URL, sessionToken: string): string | null {
  const header = request.headers.authorization ?? '';
  const match =
    /^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(header);
  if (match === null) return 'AccessDenied';
  const [, credential = '', signed = '', signature = ''] = match;
  const [keyId = '', date = '', region = '', service = ''] = credential.split('/');
  if (keyId !== S3_KEYS.AWS_ACCESS_KEY_ID) return 'InvalidAccessKeyId';
  if (region !== S3_KEYS.AWS_REGION || service !== 's3') return 'AuthorizationHeaderMalformed';
  if (sessionToken !== '' && request.headers['x-amz-security-token'] !== sessionToken) return 'InvalidToken';
  const names = signed.split(';');
  if (!names.includes('host') || (sessionToken !== '' && !names.includes('x-amz-security-token')))
    return 'AccessDenied';
  const query = [...url.searchParams]
    .map(([name, value]) => [strict(name), strict(value)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map((pair) => pair.join('='));
  const canonical = [
    request.method,
    url.pathname
      .split('/')
      .map((part) => strict(decodeURIComponent(part)))
      .join('/'),
    query.join('&'),
    ...names.map((name) => `${name}:${String(request.headers[name] ?? '').trim()}`),
    '',
    signed,
    request.headers['x-amz-content-sha256'] ?? '',
  ].join('\n');
  const scope = `${date}/${region}/s3/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', request.headers['x-amz-date'], scope, sha256(canonical)].join('\n');
  const key = [date, region, 's3', 'aws4_request'].reduce<Buffer>(
    (before, part) => hmac(before, part),
    Buffer.from(`AWS4${S3_KEYS.AWS_SECRET_ACCESS_KEY}`),
  );
  const expected = hmac(key, toSign);
  return timingSafeEqual(expected, Buffer.from(signature, 'hex')) ? null : 'SignatureDoesNotMatch';
}

function strict(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
