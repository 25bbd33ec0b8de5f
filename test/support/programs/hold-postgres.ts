/** Starts a PostgreSQL in the directory named by its argument, says so, and keeps it until it is killed. */
import { startEmbeddedPostgres } from '../../../src/embedded/postgres.ts';

await startEmbeddedPostgres({ directory: process.argv[2] ?? '' });
process.stdout.write('held\n');
