import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { type RowPiece, rowPieces } from '../../../../../src/app/commands/backup/copy-rows.ts';

/** Lines of different lengths, the same for the same number. */
const row = (number: number) => `${number}\t${createHash('sha512').update(String(number)).digest('hex')}\n`;
const numbers = Array.from({ length: 40_000 }, (_, index) => index);

async function piecesOf(text: string, chunkBytes: number): Promise<RowPiece[]> {
  async function* chunks() {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
  }
  const pieces: RowPiece[] = [];
  for await (const piece of rowPieces(chunks())) pieces.push(piece);
  return pieces;
}

const idsOf = (pieces: readonly RowPiece[]) =>
  pieces.map(({ bytes }) => createHash('sha256').update(bytes).digest('hex'));

test('the pieces have all rows, in their order and whole', async () => {
  const text = numbers.map(row).join('');
  for (const chunkBytes of [700, 65_536, text.length]) {
    const pieces = await piecesOf(text, chunkBytes);
    expect(Buffer.concat(pieces.map(({ bytes }) => bytes)).toString()).toBe(text);
    expect(pieces.reduce((sum, { rows }) => sum + rows, 0)).toBe(numbers.length);
    expect(pieces.every(({ bytes }) => bytes.at(-1) === 0x0a && bytes.length < 5_000_000)).toBe(true);
    expect(pieces.length).toBeGreaterThan(1);
  }
});

test('a row that is added, changed or removed leaves most pieces as they were', async () => {
  const text = numbers.map(row).join('');
  const before = new Set(idsOf(await piecesOf(text, 65_536)));
  const changes = [
    text + row(50_000),
    row(50_000) + text,
    text.replace(row(20_000), ''),
    text.replace(row(10_000), row(60_000)),
  ];
  for (const changed of changes) {
    const after = idsOf(await piecesOf(changed, 65_536));
    expect(after.filter((id) => !before.has(id)).length).toBeLessThanOrEqual(2);
  }
});

test('no rows are no piece', async () => {
  expect(await piecesOf('', 10)).toEqual([]);
});
