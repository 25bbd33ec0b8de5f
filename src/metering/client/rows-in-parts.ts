/**
 * Reads the rows of an answer as one JSON array. A long one is read in parts, between which the process answers other
 * requests: a million rows take seconds.
 */
import { z } from 'zod';
import { eachInChunks } from '../../core/in-chunks.ts';

/** The length of a part that is parsed in one go. */
const PART_BYTES = 65_536;

/**
 * ClickHouse writes a line for each row. Within texts of JSON the end of a line is escaped, so this stands only between
 * rows.
 */
const BETWEEN_ROWS = ',\n';

/** Throws where the answer is something else, such as the text of an error. */
export async function rowsOf<Row>(answer: Buffer, schema: z.ZodType<Row>): Promise<Row[]> {
  const rows = z.array(schema);
  if (answer.length <= PART_BYTES) return rows.parse(JSON.parse(answer.toString('utf8')));
  const all: Row[] = [];
  await eachInChunks(partsOf(answer), (part) => {
    for (const row of rows.parse(JSON.parse(part))) all.push(row);
  });
  return all;
}

/** Each an array of some of the rows; together they are the answer. */
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
