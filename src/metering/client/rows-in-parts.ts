/**
 * Parses the rows of an answer in one JSON array. A long one is parsed in parts, between which the process serves other
 * requests: a million rows take seconds.
 */
import { z } from 'zod';
import { eachInChunks } from '../../core/in-chunks.ts';

/** The length of a part that is parsed in one go. */
const PART_BYTES = 65_536;

/**
 * ClickHouse writes a line for each row. Line breaks within JSON texts are escaped, so this occurs only between rows.
 */
const BETWEEN_ROWS = ',\n';

/** Throws if the answer is something else, such as the text of an error. */
export async function rowsOf<Row>(answer: Buffer, schema: z.ZodType<Row>): Promise<Row[]> {
  const rows = z.array(schema);
  if (answer.length <= PART_BYTES) return rows.parse(JSON.parse(answer.toString('utf8')));
  const all: Row[] = [];
  await eachInChunks(partsOf(answer), (part) => {
    for (const row of rows.parse(JSON.parse(part))) all.push(row);
  });
  return all;
}

/** Arrays of some of the rows each; together they are the answer. */
function* partsOf(answer: Buffer): Generator<string, void, undefined> {
  let from = 0;
  while (from < answer.length) {
    const cut = answer.indexOf(BETWEEN_ROWS, from + PART_BYTES);
    const to = cut === -1 ? answer.length : cut;
    const text = answer.toString('utf8', from, to);
    yield `${from === 0 ? '' : '['}${text}${cut === -1 ? '' : ']'}`;
    from = to + (cut === -1 ? 0 : BETWEEN_ROWS.length);
  }
}
