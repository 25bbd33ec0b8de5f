/** Entry of `npm run token`: arguments and environment in, one line out. Exit code 1 with the reason on failure. */
import { ConfigError } from '../../config.ts';
import { commandConfig } from './command-config.ts';
import { databaseOfService, TokenCommandError, tokenCommand } from './token-command.ts';

try {
  const config = commandConfig();
  const line = await tokenCommand(process.argv.slice(2), () => databaseOfService(config), config.dataDir);
  process.stdout.write(`${line}\n`);
} catch (error) {
  const expected = error instanceof TokenCommandError || error instanceof ConfigError;
  process.stderr.write(
    `${expected ? error.message : error instanceof Error ? error.stack : String(error)}\n`,
  );
  process.exitCode = 1;
}
