/** The rows that COPY writes, with a workaround for a fault of the driver (README.md of this folder). */
import type postgres from 'postgres';

/**
 * Yields chunks of any size. The driver pauses the socket while many are unread, and resumes it on the next read. If
 * the end arrived with the last rows there is no next read, and the next statement would never be answered.
 */
export async function* copiedOut(
  client: postgres.Sql | postgres.TransactionSql,
  copy: string,
): AsyncGenerator<Buffer, void, undefined> {
  const rows = await client.unsafe(copy).readable();
  try {
    for await (const chunk of rows) yield chunk as Buffer;
  } finally {
    try {
      rows._read(0);
    } catch {
      // The connection is closed. The next statement on it reports that.
    }
  }
}
