/** Entry of `npm run catalogue`: arguments and environment in, a line out. Exit code 1 with the reason on failure. */
import { ConfigError } from '../../../config.ts';
import { createServiceClock } from '../../../jobs/service-clock.ts';
import { commandConfig } from '../command-config.ts';
import { databaseOfService, TokenCommandError } from '../token-command.ts';
import { CatalogueCommandError, catalogueCommand } from './catalogue-command.ts';

try {
  const config = commandConfig();
  const line = await catalogueCommand(process.argv.slice(2), {
    findDatabase: () => databaseOfService(config),
    clockOf: (db) => createServiceClock(db, config.sandboxNow ?? null),
  });
  process.stdout.write(`${line}\n`);
} catch (error) {
  const expected = [CatalogueCommandError, TokenCommandError, ConfigError].some(
    (one) => error instanceof one,
  );
  const text =
    error instanceof Error ? (expected ? error.message : (error.stack ?? error.message)) : String(error);
  process.stderr.write(`${text}\n`);
  process.exitCode = 1;
}
