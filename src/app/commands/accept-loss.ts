/** Entry of `npm run accept-loss`: arguments and environment in, lines out. Exit code 1 with the reason on failure. */
import { ConfigError } from '../../config.ts';
import { AcceptLossError, acceptLossCommand } from './accept-loss-command.ts';
import { commandConfig } from './command-config.ts';
import { databaseOfService, TokenCommandError } from './token-command.ts';

const EXPECTED = [AcceptLossError, ConfigError, TokenCommandError];

try {
  const config = commandConfig();
  const lines = await acceptLossCommand(process.argv.slice(2), () => databaseOfService(config));
  process.stdout.write(`${lines.join('\n')}\n`);
} catch (error) {
  const isExpected = EXPECTED.some((expected) => error instanceof expected);
  const text = error instanceof Error ? (isExpected ? error.message : error.stack) : String(error);
  process.stderr.write(`${text}\n`);
  process.exitCode = 1;
}
