/** The keys of the stand-in for an S3-compatible store, and what it thinks of signatures. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

export const S3_KEYS = {
  AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
  AWS_SECRET_ACCESS_KEY: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  AWS_REGION: 'eu-central-1',
} as const;

/** Checks version 4 of signatures as its description says, without the library that makes them. */
export function signatureProblem(
  request: IncomingMessage,
  url: URL,
  sessionToken: string,
  body: Buffer,
): string | null {
  const header = request.headers.authorization ?? '';
  const match =
    /^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(header);
  if (match === null) return 'AccessDenied';
  const [, credential = '', signed = '', signature = ''] = match;
  const [keyId = '', date = '', region = '', service = ''] = credential.split('/');
  if (keyId !== S3_KEYS.AWS_ACCESS_KEY_ID) return 'InvalidAccessKeyId';
  if (region !== S3_KEYS.AWS_REGION || service !== 's3') return 'AuthorizationHeaderMalformed';
  if (sessionToken !== '' && request.headers['x-amz-security-token'] !== sessionToken) return 'InvalidToken';
  const hash = request.headers['x-amz-content-sha256'];
  if (hash !== 'UNSIGNED-PAYLOAD' && hash !== sha256(body)) return 'XAmzContentSHA256Mismatch';
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

function sha256(text: string | Buffer): string {
  return createHash('sha256').update(text).digest('hex');
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
