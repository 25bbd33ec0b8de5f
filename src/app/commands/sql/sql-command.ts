/** The command that asks a running service one query: a table, JSON or a file out (docs/sql.md). */
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CommandFailure, EXIT } from '../command-failure.ts';
import { ask, findService } from '../running-service.ts';
import { createTerminal } from '../terminal/terminal.ts';
import { tableOf } from './answer-table.ts';
import type { SqlOptions } from './options.ts';

/** Returns the exit code. Throws a `CommandFailure` where there is no answer. */
export async function sqlCommand({ sql, output, json, ...given }: SqlOptions): Promise<number> {
  const form = output === null ? {} : { accept: output.accept };
  const answer = await ask(await findService(given), '/v1/sql', { sql }, form);
  if (output !== null) await write(answer, output.path);
  else if (json) process.stdout.write(`${(await answer.text()).trimEnd()}\n`);
  else {
    const terminal = createTerminal(process.stdout);
    for (const line of tableOf(await answer.text())) terminal.line(line);
  }
  return EXIT.done;
}

/** Writes the body as it arrives. An existing file is replaced once the answer is whole. */
async function write({ body }: Response, path: string): Promise<void> {
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
