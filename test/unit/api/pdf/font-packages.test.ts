/** Characters that DejaVu Sans lacks, from packages of fonts that come in pieces. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FONT_PACKAGES, findFontPackages } from '../../../../src/api/pdf/font-packages.ts';
import { invoiceContent } from '../../../../src/api/pdf/invoice-content.ts';
import { createInvoicePdf } from '../../../../src/api/pdf/invoice-pdf.ts';
import { unpackWoff } from '../../../../src/api/pdf/woff.ts';
import { resultAtOnce } from '../../../../src/core/in-chunks.ts';
import { NO_SELLER } from '../../../../src/core/seller.ts';
import { readPdf } from '../../../support/pdf.ts';
import { ISSUED_AT, printed } from './printed-invoices.ts';

/** A letter that this font has and DejaVu Sans does not. */
const LETTER = '\u{1d400}';
const { resolve } = createRequire(import.meta.url);
let folder = '';
let sfnt: Buffer;

beforeAll(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'fonts-')), 'noto-test');
  sfnt = await readFile(resolve('dejavu-fonts-ttf/ttf/DejaVuMathTeXGyre.ttf'));
  await mkdir(join(folder, 'files'), { recursive: true });
  // The first piece says that it has the letter and does not, as some packages do.
  const ranges = { '[0]': 'U+4e00-4eff, U+1d400', latin: 'U+1d3ff-1d401', '[7]': 'U+ac00-acff' };
  await writeFile(join(folder, 'unicode.json'), JSON.stringify(ranges));
  const plain = await readFile(resolve('dejavu-fonts-ttf/ttf/DejaVuSansMono.ttf'));
  await writeFile(join(folder, 'files', 'noto-test-0-400-normal.woff'), packed(plain));
  await writeFile(join(folder, 'files', 'noto-test-latin-400-normal.woff'), packed(sfnt));
});
afterAll(() => rm(join(folder, '..'), { recursive: true }));

/** The tables of a font, compressed, with the directory that WOFF has. */
function packed(font: Buffer): Buffer {
  const count = font.readUInt16BE(4);
  const head = Buffer.alloc(44 + count * 20);
  head.write('wOFF', 0, 'latin1');
  font.copy(head, 4, 0, 4);
  head.writeUInt16BE(count, 12);
  const parts: Buffer[] = [head];
  let offset = head.length;
  for (let index = 0; index < count; index += 1) {
    const [start, length] = [font.readUInt32BE(12 + index * 16 + 8), font.readUInt32BE(12 + index * 16 + 12)];
    const table = font.subarray(start, start + length);
    const deflated = deflateSync(table);
    const bytes = deflated.length < length ? deflated : table;
    const at = 44 + index * 20;
    font.copy(head, at, 12 + index * 16, 12 + index * 16 + 4);
    head.writeUInt32BE(offset, at + 4);
    head.writeUInt32BE(bytes.length, at + 8);
    head.writeUInt32BE(length, at + 12);
    font.copy(head, at + 16, 12 + index * 16 + 4, 12 + index * 16 + 8);
    parts.push(bytes);
    offset += bytes.length;
  }
  return Buffer.concat(parts);
}

async function write(customerName: string) {
  const told: string[] = [];
  const onMissing = (reference: string, characters: readonly string[]) => {
    told.push(`${reference}: ${characters.join('')}`);
  };
  const pdf = createInvoicePdf(undefined, {
    onMissing,
    packages: findFontPackages([folder, '@fontsource/nowhere']),
  });
  const bytes = await pdf.write(
    resultAtOnce(invoiceContent(printed([], {}, { customerName }), NO_SELLER)),
    ISSUED_AT,
  );
  const [page = ''] = (await readPdf(bytes)).pages;
  return { page, told, size: bytes.length };
}

test('characters that DejaVu Sans lacks are printed from the piece that has them, and only their glyphs are in the document', async () => {
  const { page, told, size } = await write(`${LETTER} Ltd`);
  expect(page.replaceAll(' ', '')).toContain(`${LETTER}Ltd`);
  expect(told).toEqual([]);
  expect(size).toBeLessThan(sfnt.length / 4);
});

test('characters are replaced where no font has them, and reported with the invoice', async () => {
  const { page, told } = await write(`A${LETTER}一\u200d丁一\ufe0f`);
  expect(page.replaceAll(' ', '')).toContain(`A${LETTER}\ufffd\ufffd\ufffd`);
  expect(told).toEqual(['INV-2026-000042: 一丁']);
  expect((await write('Łódź Ltd')).told).toEqual([]);
});

test('a file of WOFF that is damaged is refused', async () => {
  const woff = packed(sfnt);
  expect(unpackWoff(woff).length).toBeGreaterThan(woff.length);
  expect(() => unpackWoff(sfnt)).toThrow('a piece of a font is in WOFF');
  expect(() => unpackWoff(woff.subarray(0, woff.length / 2))).toThrow();
});

test('each package that is looked for is declared, and installed by nobody who does not want it', async () => {
  const file = new URL('../../../../package.json', import.meta.url);
  const { peerDependencies, peerDependenciesMeta } = JSON.parse(await readFile(file, 'utf8'));
  expect(Object.keys(peerDependencies)).toEqual([...FONT_PACKAGES].sort());
  for (const name of FONT_PACKAGES) expect(peerDependenciesMeta[name]).toEqual({ optional: true });
});
