/** The objects below an address `s3://bucket/prefix`, read in ranges of the version that was listed. */
import { BackfillFailure, EXIT, InputFailure } from '../failure.ts';
import { isMarker } from './folder.ts';
import { changed, type StoredFile } from './input-file.ts';
import { elementOf, type S3Requests } from './s3-requests.ts';

export interface S3Address {
  readonly bucket: string;
  readonly prefix: string;
}

interface S3Object {
  readonly key: string;
  readonly bytes: number;
  readonly etag: string;
}

const RANGE_BYTES = 8 * 1024 * 1024;
/** A thousand objects each. */
const PAGES_MAX = 10_000;

/** Null where it is no such address. Throws `BackfillFailure` where the bucket is missing. */
export function parseS3Address(text: string): S3Address | null {
  if (!text.startsWith('s3://')) return null;
  const [, bucket = '', prefix = ''] = /^s3:\/\/([^/]*)\/?(.*)$/s.exec(text) ?? [];
  if (!/^[a-zA-Z0-9][a-zA-Z0-9._-]{1,254}$/.test(bucket)) {
    throw new BackfillFailure(`${text}: there must be a bucket after s3://`, EXIT.usage);
  }
  return { bucket, prefix };
}

/**
 * The object that is called so, else those in the folder that is called so, else all whose names begin so, in the order of
 * the store, which is that of bytes.
 */
export async function objectsAt(requests: S3Requests, { bucket, prefix }: S3Address): Promise<StoredFile[]> {
  const all = await list(requests, prefix);
  // Some stores represent a folder by an empty object with its name.
  const same = all.filter(({ key }) => key === prefix && !key.endsWith('/'));
  const inside =
    prefix === '' || prefix.endsWith('/') ? all : all.filter(({ key }) => key.startsWith(`${prefix}/`));
  const chosen = same.length > 0 ? same : inside.length > 0 ? inside : all;
  const isHidden = (key: string) => key.slice(prefix.length).split('/').some(isMarker);
  return chosen
    .filter(({ key, bytes }) => same.length > 0 || (!key.endsWith('/') && bytes > 0 && !isHidden(key)))
    .map((object) => storedObject(requests, bucket, object));
}

async function list(requests: S3Requests, prefix: string): Promise<S3Object[]> {
  const objects: S3Object[] = [];
  let token: string | null = null;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const { body } = await requests.get(null, {
      'list-type': '2',
      'encoding-type': 'url',
      prefix,
      ...(token === null ? {} : { 'continuation-token': token }),
    });
    const xml = body.toString();
    if (!xml.includes('<ListBucketResult'))
      throw new InputFailure('the answer of the store is no list of objects');
    for (const [, part = ''] of xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)) objects.push(objectOf(part));
    if (elementOf(xml, 'IsTruncated') !== 'true') return objects;
    token = elementOf(xml, 'NextContinuationToken');
    if (token === null)
      throw new InputFailure('the list of objects continues, but the store does not say where');
  }
  throw new BackfillFailure(
    `there are more than ${PAGES_MAX * 1000} objects; load parts of them`,
    EXIT.usage,
  );
}

function objectOf(xml: string): S3Object {
  const key = elementOf(xml, 'Key');
  const bytes = Number(elementOf(xml, 'Size') ?? Number.NaN);
  const etag = elementOf(xml, 'ETag');
  if (key === null || etag === null || !Number.isSafeInteger(bytes)) {
    throw new InputFailure('the list of objects has one without key, size or ETag');
  }
  return { key: decodeURIComponent(key.replaceAll('+', ' ')), bytes, etag };
}

function storedObject(requests: S3Requests, bucket: string, { key, bytes, etag }: S3Object): StoredFile {
  const name = `s3://${bucket}/${key}`;
  const read = async (start: number, end: number): Promise<Buffer> => {
    if (end <= start) return Buffer.alloc(0);
    const range = { range: `bytes=${start}-${end - 1}`, 'if-match': etag };
    const { body, headers } = await requests.get(key, {}, range);
    const now = headers.get('etag');
    // Stores that do not know If-Match answer with what is there now.
    if (now !== null && now !== etag) throw changed(name);
    if (body.length !== end - start)
      throw new InputFailure(`${name}: the store sent another range than was asked for`);
    return body;
  };
  return {
    name,
    bytes,
    version: etag,
    read,
    async *stream(start) {
      let next = read(start, Math.min(bytes, start + RANGE_BYTES));
      for (let at = start; at < bytes; ) {
        const piece = await next;
        at += piece.length;
        next = read(at, Math.min(bytes, at + RANGE_BYTES));
        // Its failure is handled where it is awaited.
        next.catch(() => {});
        yield piece;
      }
      await next;
    },
    // Every range was of the version that was listed.
    unchanged: async () => {},
  };
}
