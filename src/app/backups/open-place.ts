/** Opens the place of backups that an operator names: a directory, or `s3://bucket/prefix`. */
import { parseS3Address } from '../s3/s3-address.ts';
import { createS3Requests, s3Settings } from '../s3/s3-requests.ts';
import { directoryPlace } from './directory-place.ts';
import type { BackupPlace } from './place.ts';
import { s3Place } from './s3-place.ts';

/** `env` has the keys of the store. Throws a `WrongCall` if one is missing. */
export function openPlace(name: string, env: NodeJS.ProcessEnv): BackupPlace {
  const address = parseS3Address(name);
  if (address === null) return directoryPlace(name);
  return s3Place(createS3Requests(s3Settings(env), address.bucket), address);
}
