/** The files below an address `s3://bucket/prefix`, read in ranges of the version that was listed. */
import type { S3Address } from '../../../s3/s3-address.ts';
import { inRanges, listObjects, type S3Object } from '../../../s3/s3-objects.ts';
import { type S3Answer, S3Failure, type S3Request, type S3Requests } from '../../../s3/s3-requests.ts';
import { InputFailure } from '../failure.ts';
import { isMarker } from './folder.ts';
import { changed, type StoredFile } from './input-file.ts';

/**
 * The object with this name, else those in the folder with this name, else all with this prefix, in the store's order,
 * which is bytewise.
 */
export async function objectsAt(requests: S3Requests, { bucket, prefix }: S3Address): Promise<StoredFile[]> {
  const all = await asInput(() => listed(requests, prefix));
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

async function listed(requests: S3Requests, prefix: string): Promise<S3Object[]> {
  const objects: S3Object[] = [];
  for await (const object of listObjects(requests, prefix)) objects.push(object);
  return objects;
}

function storedObject(requests: S3Requests, bucket: string, { key, bytes, etag }: S3Object): StoredFile {
  const name = `s3://${bucket}/${key}`;
  const read = async (start: number, end: number): Promise<Buffer> => {
    if (end <= start) return Buffer.alloc(0);
    const headers = { range: `bytes=${start}-${end - 1}`, 'if-match': etag };
    const { status, body, headers: said } = await sent(requests, { key, headers, accepted: [412] });
    // Stores that do not support If-Match return the current object.
    const now = said.get('etag');
    if (status === 412 || (now !== null && now !== etag)) throw changed(name);
    if (body.length !== end - start)
      throw new InputFailure(`${name}: the store sent another range than was asked for`);
    return body;
  };
  return {
    name,
    bytes,
    version: etag,
    read,
    stream: (start) => inRanges(read, start, bytes),
    // Every range was of the version that was listed.
    unchanged: async () => {},
  };
}

async function sent(requests: S3Requests, request: S3Request): Promise<S3Answer> {
  return await asInput(() => requests.send(request));
}

/** A file that the store does not return cannot be read any further. */
async function asInput<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof S3Failure) throw new InputFailure(error.message, error.exitCode);
    throw error;
  }
}
