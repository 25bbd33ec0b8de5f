/** The bytes of a file after decompression. */
import { createGunzip, type Gunzip } from 'node:zlib';
import type { InputFile } from '../files/input-file.ts';

const CHUNK_BYTES = 1024 * 1024;
/** Compressed bytes read at once: they expand to a thousand times as many at most. */
const GZIP_CHUNK_BYTES = 32 * 1024;
/** Decompressed bytes processed at once. At most as many bytes before damaged data are lost. */
const GUNZIP_CHUNK_BYTES = 16 * 1024;

/** The bytes after the first `skip`. `onRead` is called with the number of bytes of the file read so far. */
export async function* bytesOf(
  file: InputFile,
  skip: number,
  onRead: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  const start = file.isGzip ? 0 : skip;
  const source = counted(file.stream(start, file.isGzip ? GZIP_CHUNK_BYTES : CHUNK_BYTES), start, onRead);
  let passed = start;
  for await (const chunk of file.isGzip ? gunzipped(source) : source) {
    passed += chunk.length;
    const wanted = passed - skip;
    if (wanted > 0) yield wanted < chunk.length ? chunk.subarray(chunk.length - wanted) : chunk;
  }
}

async function* counted(
  source: AsyncIterable<Buffer>,
  start: number,
  onRead: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  let bytes = start;
  for await (const chunk of source) {
    bytes += chunk.length;
    onRead(bytes);
    yield chunk;
  }
}

/**
 * The decompressed bytes of gzip data. If the data end too early, all bytes before the end are yielded and then the
 * error is thrown. If they are damaged, the last `GUNZIP_CHUNK_BYTES` may be missing. A piped stream would drop its
 * buffered bytes.
 */
async function* gunzipped(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: GUNZIP_CHUNK_BYTES });
  const ready: Buffer[] = [];
  let error: Error | null = null;
  let isAtEnd = false;
  gunzip.on('data', (chunk: Buffer) => ready.push(chunk));
  gunzip.on('error', (reason) => {
    error = reason;
  });
  gunzip.on('end', () => {
    isAtEnd = true;
  });
  try {
    for await (const whole of source) {
      for (let at = 0; at < whole.length; at += GZIP_CHUNK_BYTES) {
        await stepDone(gunzip, (done) => gunzip.write(whole.subarray(at, at + GZIP_CHUNK_BYTES), done));
        yield* ready.splice(0);
        if (error !== null) throw error;
        // Zero padding after the last member, written by some programs.
        if (isAtEnd) return;
      }
    }
    await stepDone(gunzip, () => gunzip.end());
    yield* ready.splice(0);
    if (error !== null) throw error;
  } finally {
    gunzip.destroy();
  }
}

/** Resolves when the step is done, or the stream has ended or failed. */
function stepDone(gunzip: Gunzip, step: (done: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      for (const event of ['end', 'error']) gunzip.off(event, done);
      resolve();
    };
    for (const event of ['end', 'error']) gunzip.on(event, done);
    step(done);
  });
}
