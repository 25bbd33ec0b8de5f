/** The address of a place in an S3-compatible store: `s3://bucket/prefix`. */
import { WrongCall } from '../failures/command-failure.ts';

export interface S3Address {
  readonly bucket: string;
  readonly prefix: string;
}

/** Null if it is not such an address. Throws a `WrongCall` if the bucket is missing. */
export function parseS3Address(text: string): S3Address | null {
  if (!text.startsWith('s3://')) return null;
  const [, bucket = '', prefix = ''] = /^s3:\/\/([^/]*)\/?(.*)$/s.exec(text) ?? [];
  // Other text at its place may be a password.
  if (!/^[a-zA-Z0-9][a-zA-Z0-9._-]{1,254}$/.test(bucket))
    throw new WrongCall('there must be a bucket after s3://, and nothing else in its place');
  return { bucket, prefix };
}
