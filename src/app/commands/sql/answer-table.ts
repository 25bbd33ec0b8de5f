/** The answer to a query as lines of a table. */
import { z } from 'zod';
import { JsonNumber, parseJson } from '../../../api/base/json.ts';

const cell = z.union([z.string(), z.number(), z.boolean(), z.instanceof(JsonNumber), z.null()]);
const answer = z.object({
  columns: z.array(z.object({ name: z.string(), type: z.string() })),
  data: z.array(z.record(z.string(), cell)),
});

/** Columns are aligned, numbers to the right. Numbers have all their digits. */
export function tableOf(text: string): string[] {
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
