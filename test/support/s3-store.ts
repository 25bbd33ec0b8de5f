/**
 * A store that speaks the part of S3 that reading and backups need: objects by address, lists in pages, ranges, conditions,
 * uploads in parts. It checks the signature and the bytes of each request by its own code, and misbehaves when a test sets a
 * fault.
 */
import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { signatureProblem } from './s3-signature.ts';

export { S3_KEYS } from './s3-signature.ts';

/**
 * The fate of a request instead of its answer. `lost`: it is carried out, and the answer does not arrive. `late`: the answer
 * begins with 200 and is a failure.
 */
export type Fault =
  | 'unavailable'
  | 'cut'
  | 'silent'
  | 'reset'
  | 'ignores-conditions'
  | 'ignores-encoding'
  | 'lost'
  | 'late';

export interface S3Store {
  readonly url: string;
  /** Method and path of each request, with its range. */
  readonly requests: string[];
  readonly objects: ReadonlyMap<string, { readonly body: Buffer }>;
  /** Keys of uploads in parts that were neither completed nor removed. */
  unfinished(): string[];
  put(key: string, body: Buffer | string): void;
  remove(key: string): void;
  /** Asked before each answer. */
  onRequest(decide: (path: string, count: number, method: string) => Fault | null): void;
  /** The clock of the store is ahead by so much from now on. */
  advance(ms: number): void;
  close(): Promise<void>;
}

interface StoredObject {
  readonly body: Buffer;
  readonly etag: string;
  readonly writtenAt: number;
}

interface Upload {
  readonly key: string;
  readonly parts: Map<number, StoredObject>;
}

interface Asked {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  readonly key: string;
  readonly body: Buffer;
  readonly fault: Fault | null;
}

/** The minimum size of all parts but the last one. */
const PART_BYTES_MIN = 5 * 1024 * 1024;

/** `pageKeys`: how many objects a page of a list has. */
export async function startS3Store(
  bucket: string,
  { pageKeys = 1000, sessionToken = '' } = {},
): Promise<S3Store> {
  const store = new Store(pageKeys);
  const requests: string[] = [];
  let decide: Parameters<S3Store['onRequest']>[0] = () => null;
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? '', 'http://store');
    const key = decodeURIComponent(url.pathname.slice(bucket.length + 2));
    requests.push(`${request.method} ${url.pathname}${url.search} ${request.headers.range ?? ''}`.trim());
    const fault = decide(key, requests.length, request.method ?? '');
    if (fault === 'silent') return void response.socket?.setTimeout(0);
    if (fault === 'reset') return void request.socket.destroy();
    const body = await buffer(request);
    const problem = signatureProblem(request, url, sessionToken, body);
    if (fault === 'unavailable') refuse(response, 503, 'SlowDown');
    else if (problem !== null) refuse(response, 403, problem);
    else if (!url.pathname.startsWith(`/${bucket}`)) refuse(response, 404, 'NoSuchBucket');
    else store.answer({ request, response, url, key, body, fault });
  };
  const server = createServer((request, response) => {
    // The body of a request that was given up has no end.
    answer(request, response).catch(() => request.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    objects: store.objects,
    unfinished: () => [...store.uploads.values()].map(({ key }) => key),
    put: (key, body) => void store.put(key, Buffer.from(body)),
    remove: (key) => void store.objects.delete(key),
    onRequest(next) {
      decide = next;
    },
    advance: (ms) => store.advance(ms),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

class Store {
  readonly objects = new Map<string, StoredObject>();
  readonly uploads = new Map<string, Upload>();
  readonly #pageKeys: number;
  #aheadMs = 0;

  constructor(pageKeys: number) {
    this.#pageKeys = pageKeys;
  }

  advance(ms: number): void {
    this.#aheadMs += ms;
  }

  answer(asked: Asked): unknown {
    const { request, response, key, url, fault } = asked;
    response.setHeader('date', new Date(this.#now()).toUTCString());
    if (fault === 'late') return sendXml(response, errorXml('InternalError'));
    if (fault === 'lost') response.end = () => response.destroy();
    if (key === '') {
      if (url.searchParams.has('uploads')) this.#sendUploads(response, url);
      else sendList(response, this.objects, url, this.#pageKeys, fault);
      return;
    }
    if (request.method === 'GET' || request.method === 'HEAD')
      return sendObject(request, response, this.objects.get(key), fault);
    if (url.searchParams.has('uploads') || url.searchParams.has('uploadId')) return this.#inParts(asked);
    if (request.method === 'PUT') return this.#write(asked);
    this.objects.delete(key);
    response.writeHead(204).end();
  }

  put(key: string, body: Buffer): StoredObject {
    const etag = `"${createHash('md5').update(body).digest('hex')}"`;
    const object = { body, etag, writtenAt: this.#now() };
    this.objects.set(key, object);
    return object;
  }

  #now(): number {
    return Date.now() + this.#aheadMs;
  }

  #write({ request, response, key, body, fault }: Asked): unknown {
    const found = this.objects.get(key);
    const { 'if-none-match': none, 'if-match': match } = request.headers;
    const isRefused = (none === '*' && found !== undefined) || (match !== undefined && found?.etag !== match);
    if (isRefused && fault !== 'ignores-conditions') return refuse(response, 412, 'PreconditionFailed');
    response.writeHead(200, { etag: this.put(key, body).etag }).end();
  }

  #inParts({ request, response, url, key, body }: Asked): unknown {
    const id = url.searchParams.get('uploadId');
    if (id === null) {
      const begun = randomUUID();
      this.uploads.set(begun, { key, parts: new Map() });
      return sendXml(
        response,
        `<InitiateMultipartUploadResult><UploadId>${begun}</UploadId></InitiateMultipartUploadResult>`,
      );
    }
    const upload = this.uploads.get(id);
    if (upload === undefined || upload.key !== key) return refuse(response, 404, 'NoSuchUpload');
    if (request.method === 'PUT') {
      const etag = `"${createHash('md5').update(body).digest('hex')}"`;
      upload.parts.set(Number(url.searchParams.get('partNumber')), { body, etag, writtenAt: 0 });
      return response.writeHead(200, { etag }).end();
    }
    if (request.method === 'POST') return this.#complete(response, id, upload, body.toString());
    this.uploads.delete(id);
    response.writeHead(204).end();
  }

  #complete(response: ServerResponse, id: string, { key, parts }: Upload, xml: string): unknown {
    const named = [...xml.matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>([^<]*)<\/ETag>/g)];
    const bodies = named.flatMap(([, number, tag]) => {
      const part = parts.get(Number(number));
      return part !== undefined && part.etag === tag?.replaceAll('&quot;', '"') ? [part.body] : [];
    });
    if (bodies.length === 0 || bodies.length !== named.length) return refuse(response, 400, 'InvalidPart');
    if (bodies.slice(0, -1).some((part) => part.length < PART_BYTES_MIN))
      return refuse(response, 400, 'EntityTooSmall');
    this.put(key, Buffer.concat(bodies));
    this.uploads.delete(id);
    sendXml(response, '<CompleteMultipartUploadResult></CompleteMultipartUploadResult>');
  }

  #sendUploads(response: ServerResponse, url: URL): void {
    const prefix = url.searchParams.get('prefix') ?? '';
    const found = [...this.uploads].filter(([, { key }]) => key.startsWith(prefix));
    const page = found.slice(0, this.#pageKeys);
    const uploads = page.map(
      ([id, { key }]) => `<Upload><Key>${key}</Key><UploadId>${id}</UploadId></Upload>`,
    );
    const isTruncated = found.length > page.length;
    sendXml(
      response,
      `<ListMultipartUploadsResult><IsTruncated>${isTruncated}</IsTruncated>${uploads.join('')}</ListMultipartUploadsResult>`,
    );
  }
}

function sendXml(response: ServerResponse, xml: string): void {
  response.writeHead(200, { 'content-type': 'application/xml' });
  response.end(`<?xml version="1.0"?>${xml}`);
}

function refuse(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { 'content-type': 'application/xml' });
  response.end(`<?xml version="1.0"?>${errorXml(code)}`);
}

/** The words of S3 repeat what was signed; none of it may be shown. */
function errorXml(code: string): string {
  return (
    `<Error><Code>${code}</Code><Message>not &quot;now&quot;</Message>` +
    `<StringToSign>secret-of-the-signature</StringToSign></Error>`
  );
}

function sendList(
  response: ServerResponse,
  objects: ReadonlyMap<string, StoredObject>,
  url: URL,
  pageKeys: number,
  fault: Fault | null,
): void {
  const isEncoded = url.searchParams.get('encoding-type') === 'url' && fault !== 'ignores-encoding';
  const prefix = url.searchParams.get('prefix') ?? '';
  const after = url.searchParams.get('continuation-token') ?? '';
  const keys = [...objects.keys()]
    .filter((key) => key.startsWith(prefix) && Buffer.compare(Buffer.from(key), Buffer.from(after)) > 0)
    .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const page = keys.slice(0, pageKeys);
  const contents = page.map((key) => {
    const object = objects.get(key);
    const name = isEncoded ? encodeURIComponent(key).replaceAll('%20', '+').replaceAll('%2F', '/') : key;
    return `<Contents><Key>${name}</Key><ETag>${object?.etag.replaceAll('"', '&quot;')}</ETag><Size>${object?.body.length}</Size></Contents>`;
  });
  const isTruncated = keys.length > page.length;
  const next = isTruncated ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : '';
  sendXml(
    response,
    `<ListBucketResult>${isEncoded ? '<EncodingType>url</EncodingType>' : ''}<IsTruncated>${isTruncated}</IsTruncated>${next}${contents.join('')}</ListBucketResult>`,
  );
}

function sendObject(
  request: IncomingMessage,
  response: ServerResponse,
  object: StoredObject | undefined,
  fault: Fault | null,
): unknown {
  if (object === undefined) return refuse(response, 404, 'NoSuchKey');
  const wanted = request.headers['if-match'];
  if (wanted !== undefined && wanted !== object.etag && fault !== 'ignores-conditions')
    return refuse(response, 412, 'PreconditionFailed');
  const { body, etag, writtenAt } = object;
  const about = { etag, 'last-modified': new Date(writtenAt).toUTCString() };
  if (request.method === 'HEAD')
    return response.writeHead(200, { ...about, 'content-length': body.length }).end();
  const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '');
  if (range !== null && Number(range[1]) >= body.length) return refuse(response, 416, 'InvalidRange');
  const part = range === null ? body : body.subarray(Number(range[1]), Number(range[2]) + 1);
  const place = range === null ? {} : { 'content-range': `bytes ${range[1]}-${range[2]}/${body.length}` };
  response.writeHead(range === null ? 200 : 206, { ...about, ...place, 'content-length': part.length });
  if (fault === 'cut')
    response.write(part.subarray(0, Math.floor(part.length / 2)), () => request.socket.destroy());
  else response.end(part);
}
