/** Entry of `npm run stray-data`: arguments in, lines out. Exit code 1 with the reason on failure. */
import { StrayDataError, strayDataCommand } from './stray-data-command.ts';

try {
  process.stdout.write(`${(await strayDataCommand(process.argv.slice(2))).join('\n')}\n`);
} catch (error) {
  const isExpected = error instanceof StrayDataError;
  const text = error instanceof Error ? (isExpected ? error.message : error.stack) : String(error);
  process.stderr.write(`${text}\n`);
  process.exitCode = 1;
}
