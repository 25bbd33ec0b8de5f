/**
 * The HTTP front as a separate process, because chDB binds one directory per process. Prints its port and ends on
 * SIGTERM, or when its parent process ends.
 */
import { startClickHouseFront } from '../clickhouse-front.ts';

const [directory, port, cluster] = process.argv.slice(2);
if (directory === undefined || port === undefined)
  throw new Error('usage: clickhouse-front DIRECTORY PORT [CLUSTER]');

const front = await startClickHouseFront({ directory, port: Number(port), cluster });
process.stdout.write(`clickhouse front on port ${front.port}\n`);

const stop = async (): Promise<void> => {
  await front.close();
  process.exit(0);
};
process.once('SIGTERM', () => void stop());
process.stdin
  .once('end', () => process.exit(1))
  .once('error', () => process.exit(1))
  .resume();
