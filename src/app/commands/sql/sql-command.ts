/** The command that sends a query to a running service: output as a table, JSON or a file (docs/reference/sql.md). */
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { JsonNumber, parseJson } from '../../../api/base/json.ts';
import { messageOf } from '../../../core/failures.ts';
import { CommandFailure, EXIT } from '../../failures/command-failure.ts';
import { ask, findService } from '../running-service.ts';
import { createTerminal } from '../terminal/terminal.ts';
import type { SqlOptions } from './options.ts';

/** Returns the exit code. Throws a `CommandFailure` if there is no answer. */
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

/** Writes the body as it arrives. An existing file is replaced when the answer is complete. */
async function write({ body }: Response, path: string): Promise<void> {
  if (body === null) throw new CommandFailure('the answer is empty');
  const part = `${path}.part`;
  try {
    await pipeline(Readable.fromWeb(body), createWriteStream(part));
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw new CommandFailure(`${path} cannot be written: ${messageOf(error)}`);
  }
}

const cell = z.union([z.string(), z.number(), z.boolean(), z.instanceof(JsonNumber), z.null()]);
const answer = z.object({
  columns: z.array(z.object({ name: z.string(), type: z.string() })),
  data: z.array(z.record(z.string(), cell)),
});

/** Columns are aligned, numbers to the right. Numbers keep all digits. */
function tableOf(text: string): string[] {
  const { columns, data } = answer.parse(parseJson(text));
  const rows = data.map((row) => columns.map(({ name }) => shown(row[name] ?? null)));
  const header = columns.map(({ name }) => name);
  const widths = header.map((name, index) =>
    [name, ...rows.map((row) => row[index] ?? '')].reduce((width, one) => Math.max(width, one.length), 0),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((text, index) =>
        columns[index]?.type === 'number'
          ? text.padStart(widths[index] ?? 0)
          : text.padEnd(widths[index] ?? 0),
      )
      .join('  ')
      .trimEnd();
  return [line(header), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)];
}

function shown(value: z.output<typeof cell>): string {
  return value === null ? 'NULL' : String(value).replaceAll(/\s/g, ' ');
}
