/** Objects of an S3-compatible store: listed page by page, read in ranges, of one version if it is known. */
import { elementOf, type S3Answer, S3Failure, type S3Requests } from './s3-requests.ts';

export interface S3Object {
  readonly key: string;
  readonly bytes: number;
  readonly etag: string;
}

const RANGE_BYTES = 8 * 1024 * 1024;
/** A thousand objects each. */
const PAGES_MAX = 10_000;

/** All objects with this key prefix, in the store's order, which is bytewise. Throws an `S3Failure`. */
export async function* listObjects(
  requests: S3Requests,
  prefix: string,
): AsyncGenerator<S3Object, void, undefined> {
  let token: string | null = null;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const next: Record<string, string> = token === null ? {} : { 'continuation-token': token };
    const { body }: S3Answer = await requests.send({
      key: null,
      query: { 'list-type': '2', 'encoding-type': 'url', prefix, ...next },
    });
    const xml = body.toString();
    if (!xml.includes('<ListBucketResult') || !xml.includes('</ListBucketResult>'))
      throw new S3Failure('the answer of the store is no list of objects', null);
    // A store that does not support `encoding-type` does not echo it, and sends plain keys.
    const isEncoded = elementOf(xml, 'EncodingType') === 'url';
    for (const [, part = ''] of xml.matchAll(/<Contents>(.*?)<\/Contents>/gs))
      yield objectOf(part, isEncoded);
    if (elementOf(xml, 'IsTruncated') !== 'true') return;
    token = elementOf(xml, 'NextContinuationToken');
    if (token === null)
      throw new S3Failure('the list of objects continues, but the store does not say where', null);
  }
  throw new S3Failure(`there are more than ${PAGES_MAX * 1000} objects; name a part of them`, null);
}

function objectOf(xml: string, isEncoded: boolean): S3Object {
  const key = elementOf(xml, 'Key');
  const bytes = Number(elementOf(xml, 'Size') ?? Number.NaN);
  const etag = elementOf(xml, 'ETag');
  if (key === null || etag === null || !Number.isSafeInteger(bytes))
    throw new S3Failure('the list of objects has one without key, size or ETag', null);
  return { key: isEncoded ? decodeURIComponent(key.replaceAll('+', ' ')) : key, bytes, etag };
}

/** Reads the bytes from `start` up to `end`. */
export type ReadRange = (start: number, end: number) => Promise<Buffer>;

/** The bytes from `start` up to `bytes`; the next range is prefetched while one is used. */
export async function* inRanges(
  read: ReadRange,
  start: number,
  bytes: number,
): AsyncGenerator<Buffer, void, undefined> {
  let next = read(start, Math.min(bytes, start + RANGE_BYTES));
  // Its failure is handled when it is awaited.
  next.catch(() => {});
  for (let at = start; at < bytes; ) {
    const piece = await next;
    at += piece.length;
    next = at < bytes ? read(at, Math.min(bytes, at + RANGE_BYTES)) : Promise.resolve(Buffer.alloc(0));
    next.catch(() => {});
    yield piece;
  }
  await next;
}
