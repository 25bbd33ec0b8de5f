/** The rows that COPY writes, with a fault of the driver closed (README.md of this folder). */
import type postgres from 'postgres';

/**
 * In chunks of any size. The driver pauses the socket while much of it is not taken yet, and resumes it when more is asked
 * for. Where the end has come with the last rows nothing more is, and the next statement would never be answered.
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
      // The connection is closed. The next statement on it says so.
    }
  }
}
