/**
 * Writes bytes in one system call if it takes them all. Node's own function writes half a megabyte at a time, and each
 * piece waits for a turn of the event loop.
 */
import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';

/** Replaces an existing file. */
export async function writeFileAtOnce(path: string, bytes: Buffer): Promise<void> {
  const file = await open(path, 'w', 0o600);
  try {
    await writeWhole(file, [bytes], 0);
  } finally {
    await file.close();
  }
}

/** A write may be short: on a full disk, where the next one fails. */
export async function writeWhole(file: FileHandle, parts: readonly Buffer[], offset: number): Promise<void> {
  const total = sizeOf(parts);
  if (total === 0) return;
  let { bytesWritten } = await file.writev(parts, offset);
  if (bytesWritten === total) return;
  const bytes = Buffer.concat(parts);
  while (bytesWritten < total) {
    const more = await file.write(bytes, bytesWritten, total - bytesWritten, offset + bytesWritten);
    if (more.bytesWritten === 0) throw new Error('the file takes no more bytes');
    bytesWritten += more.bytesWritten;
  }
}

export function sizeOf(parts: readonly Buffer[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0);
}
