/** Entry of `npm run sql`: a query in, a table or a file out (docs/sql.md). */
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ask, CommandFailure, endWith, findService } from '../running-service.ts';
import { createTerminal } from '../terminal/terminal.ts';
import { tableOf } from './answer-table.ts';
import { HELP, type OutputFile, parseOptions } from './options.ts';

const EXIT = { answered: 0, failed: 2 } as const;

await endWith('sql', EXIT.failed, async () => {
  const options = parseOptions(process.argv.slice(2));
  if (options === 'help') {
    process.stdout.write(HELP);
    return EXIT.answered;
  }
  const { sql, output } = options;
  const answer = await ask(
    await findService(options),
    '/v1/sql',
    { sql },
    output === null ? {} : { accept: output.accept },
  );
  if (output !== null) await write(answer, output);
  else {
    const terminal = createTerminal(process.stdout);
    for (const line of tableOf(await answer.text())) terminal.line(line);
  }
  return EXIT.answered;
});

/** As it comes. A file that is there is replaced, once the answer is whole. */
async function write({ body }: Response, { path }: OutputFile): Promise<void> {
  if (body === null) throw new CommandFailure('the answer is empty');
  const part = `${path}.part`;
  try {
    await pipeline(Readable.fromWeb(body), createWriteStream(part));
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw new CommandFailure(`${path} cannot be written: ${error instanceof Error ? error.message : error}`);
  }
}
