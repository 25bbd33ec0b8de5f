/** Reads a file to its end while something else writes it. */
import type { FileHandle } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';

const PIECE_BYTES = 64 * 1024;
/** How long what was written may lie there before it is seen. */
const LOOK_AGAIN_MS = 10;

/** The bytes of `file`, until `written` resolves and all of them are read. Throws what `written` rejects with. */
export async function* growingFile(
  file: FileHandle,
  written: Promise<unknown>,
): AsyncGenerator<Buffer, void, undefined> {
  let isWritten = false;
  const end = written.then(() => {
    isWritten = true;
  });
  // Whoever stops reading early does not hear of a failure.
  end.catch(() => {});
  for (let position = 0; ; ) {
    // Asked before reading: what is written in between is found by the next read.
    const isWhole = isWritten;
    const buffer = Buffer.allocUnsafe(PIECE_BYTES);
    const { bytesRead } = await file.read(buffer, 0, PIECE_BYTES, position);
    position += bytesRead;
    if (bytesRead > 0) yield buffer.subarray(0, bytesRead);
    else if (isWhole) return;
    else await Promise.race([end, setTimeout(LOOK_AGAIN_MS)]);
  }
}
