/**
 * Writes objects to an S3-compatible store: small ones by one request, large ones in parts. An object becomes visible
 * when it is complete; parts of an unfinished one are removed.
 */
import { elementOf, type S3Requests } from './s3-requests.ts';

export interface S3Upload {
  readonly key: string;
  readonly bytes: number;
  /** Exactly `bytes` of them. */
  readonly chunks: AsyncIterable<Buffer> | Iterable<Buffer>;
}

/** The size of a part, which is held in memory. Stores accept no smaller ones, except the last. */
const PART_BYTES_MIN = 8 * 1024 * 1024;
const PARTS_MAX = 10_000;
/** The limit of S3; other stores may have a lower one, and report it. */
const OBJECT_BYTES_MAX = 5 * 1024 ** 4;
/** A thousand uploads each. */
const PAGES_MAX = 100;

/** Throws an `S3Failure`, and an `Error` if the chunks differ from the stated size; nothing is stored then. */
export async function uploadObject(requests: S3Requests, upload: S3Upload): Promise<void> {
  const { key, bytes } = upload;
  if (bytes > OBJECT_BYTES_MAX) throw new Error(`${key} has more bytes than an object of S3`);
  const partBytes = Math.max(PART_BYTES_MIN, Math.ceil(bytes / PARTS_MAX));
  if (bytes > partBytes) return await uploadInParts(requests, upload, partBytes);
  const parts: Buffer[] = [];
  for await (const part of inParts(upload, partBytes)) parts.push(part);
  const body = Buffer.concat(parts);
  await requests.send({ method: 'PUT', key, body });
}

async function uploadInParts(requests: S3Requests, upload: S3Upload, partBytes: number): Promise<void> {
  const { key, bytes } = upload;
  const begun = await requests.send({ method: 'POST', key, query: { uploads: '' } });
  const uploadId = elementOf(begun.body.toString(), 'UploadId');
  if (uploadId === null) throw new Error(`the store does not say which upload of ${key} it has begun`);
  try {
    const tags: string[] = [];
    for await (const body of inParts(upload, partBytes)) {
      const query = { partNumber: String(tags.length + 1), uploadId };
      const { headers } = await requests.send({ method: 'PUT', key, query, body });
      const tag = headers.get('etag');
      if (tag === null) throw new Error(`the store has given no ETag to a part of ${key}`);
      tags.push(tag);
    }
    await complete(requests, { key, bytes, uploadId, tags });
  } catch (error) {
    await abort(requests, key, uploadId).catch(() => undefined);
    throw error;
  }
}

/** Chunks of any size are regrouped to parts of this size, and a last one. */
async function* inParts({ key, bytes, chunks }: S3Upload, partBytes: number): AsyncGenerator<Buffer> {
  let held: Buffer[] = [];
  let [heldBytes, total] = [0, 0];
  for await (const chunk of chunks) {
    total += chunk.length;
    if (total > bytes) break;
    for (let at = 0; at < chunk.length; ) {
      const piece = chunk.subarray(at, at + partBytes - heldBytes);
      held.push(piece);
      heldBytes += piece.length;
      at += piece.length;
      if (heldBytes < partBytes) continue;
      yield Buffer.concat(held);
      [held, heldBytes] = [[], 0];
    }
  }
  if (total !== bytes) throw new Error(`${key} has other bytes than it had before`);
  if (heldBytes > 0) yield Buffer.concat(held);
}

interface Parts {
  readonly key: string;
  readonly bytes: number;
  readonly uploadId: string;
  /** In the order of the parts. */
  readonly tags: readonly string[];
}

async function complete(requests: S3Requests, { key, bytes, uploadId, tags }: Parts): Promise<void> {
  const parts = tags.map(
    (tag, index) =>
      `<Part><PartNumber>${index + 1}</PartNumber><ETag>${tag.replaceAll('"', '&quot;')}</ETag></Part>`,
  );
  const body = Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`);
  const answer = await requests.send({ method: 'POST', key, query: { uploadId }, body, accepted: [404] });
  if (answer.status !== 404) return;
  // If an attempt succeeded but its answer was lost, the upload no longer exists, and the object does.
  const found = await requests.send({ method: 'HEAD', key, accepted: [404] });
  if (found.status === 404 || Number(found.headers.get('content-length')) !== bytes)
    throw new Error(`the store does not know the upload of ${key} any more`);
}

async function abort(requests: S3Requests, key: string, uploadId: string): Promise<void> {
  await requests.send({ method: 'DELETE', key, query: { uploadId }, accepted: [404] });
}

/** Removes the parts of unfinished uploads below a prefix: the caller knows that none is running. */
export async function abortUploads(requests: S3Requests, prefix: string): Promise<void> {
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const { status, body } = await requests.send({
      key: null,
      query: { uploads: '', prefix },
      // A store that cannot list them expires them by its own rule.
      accepted: [404, 405, 501],
    });
    const xml = status === 200 ? body.toString() : '';
    const uploads = [...xml.matchAll(/<Upload>(.*?)<\/Upload>/gs)].map(([, upload = '']) => upload);
    for (const upload of uploads) {
      const [key, uploadId] = [elementOf(upload, 'Key'), elementOf(upload, 'UploadId')];
      if (key !== null && uploadId !== null) await abort(requests, key, uploadId);
    }
    if (elementOf(xml, 'IsTruncated') !== 'true' || uploads.length === 0) return;
  }
}
