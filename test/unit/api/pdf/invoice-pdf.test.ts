/** The PDF of an invoice, read with a viewer's library. */
import { createRequire } from 'node:module';
import { describe, expect, test } from 'vitest';
import { invoiceContent } from '../../../../src/api/pdf/invoice-content.ts';
import { createInvoicePdf } from '../../../../src/api/pdf/invoice-pdf.ts';
import { resultAtOnce } from '../../../../src/core/in-chunks.ts';
import { NO_SELLER } from '../../../../src/core/seller.ts';
import { countedBy } from '../../../../src/runtime/answer-memory.ts';
import { readPdf } from '../../../support/pdf.ts';
import { ISSUED_AT, printed, usageLine } from './printed-invoices.ts';

const SELLER = { ...NO_SELLER, name: 'Tally Ltd', note: ['IBAN GB00 0000'] };
const invoicePdf = createInvoicePdf(undefined);

type Printed = Parameters<typeof printed>;

async function write(...given: Printed): Promise<Uint8Array> {
  return invoicePdf.write(resultAtOnce(invoiceContent(printed(...given), SELLER)), ISSUED_AT);
}

function linesOf(count: number) {
  return Array.from({ length: count }, (_, index) =>
    usageLine(String(index), '1', {
      productId: `product ${Math.floor(index / 100)}`,
      name: `Product ${Math.floor(index / 100)}`,
      pricingGroupValues: { model: `model-${index}x` },
    }),
  );
}

describe('an invoice of 500 lines', () => {
  test('an invoice of 500 lines has all lines, subtotals and totals on numbered pages with the reference', async () => {
    const { pages, title } = await readPdf(await write(linesOf(500)));
    expect(pages.length).toBeGreaterThan(8);
    expect(title).toBe('Invoice INV-2026-000042');
    for (const [index, page] of pages.entries()) {
      expect(page).toContain(`Page ${index + 1} of ${pages.length}`);
      expect(page).toContain('Tally Ltd · Invoice INV-2026-000042');
      expect(page.includes('Invoice INV-2026-000042, continued')).toBe(index > 0);
    }
    const text = pages.join(' ');
    for (let index = 0; index < 500; index += 1) expect(text).toContain(`model: model-${index}x`);
    // 0 + 1 + … + 99 cents, and so on.
    for (const [product, subtotal] of ['49.50', '149.50', '249.50', '349.50', '449.50'].entries()) {
      expect(text).toContain(`Subtotal Product ${product}`);
      expect(text).toContain(subtotal);
    }
    expect(text).toMatch(/Amount due 1,247\.50 USD/);
    expect(text).toContain('IBAN GB00 0000');
  });

  test('an invoice of 500 lines lets other work run in between', async () => {
    await write([]);
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 1);
    await write(linesOf(500));
    clearInterval(timer);
    expect(turns).toBeGreaterThan(10);
  });
});

test('an invoice without lines has a total', async () => {
  const { pages } = await readPdf(await write([]));
  expect(pages).toHaveLength(1);
  expect(pages[0]).toContain('Amount due 0.00 USD');
});

test.each([
  ['DRAFT' as const, 'DRAFT'],
  ['VOID' as const, 'VOID'],
])('a %s one is marked on every page', async (status, mark) => {
  const { pages } = await readPdf(await write(linesOf(120), { status }));
  expect(pages.length).toBeGreaterThan(1);
  for (const page of pages) expect(page).toContain(mark);
});

test('an issued one is not marked', async () => {
  const { pages } = await readPdf(await write(linesOf(120)));
  expect(pages.join()).not.toMatch(/DRAFT|VOID/);
});

test('the same invoice has the same bytes', async () => {
  const first = await write(linesOf(30));
  // Times in a PDF have seconds.
  const second = () => Math.floor(Date.now() / 1_000);
  await expect.poll(second).toBeGreaterThan(second());
  expect(Buffer.compare(await write(linesOf(30)), first)).toBe(0);
});

describe('names', () => {
  const named = (customerName: string): Printed => [[], {}, { customerName }];

  test.each(['Łódź Zażółć', 'Société Générale', 'Жук и Ко', 'Ελλάδα', 'Đặng Văn', '€ £ ₹ ₺', 'Ünlü İş'])(
    'names on a PDF of Europe and beyond are readable: %s',
    async (name) => {
      const { pages } = await readPdf(await write(...named(name)));
      expect(pages[0]?.normalize('NFC')).toContain(name);
    },
  );

  test('names on a PDF with characters that the font lacks show replacements in their places', async () => {
    const { pages } = await readPdf(await write(...named('中文 Ltd')));
    expect(pages[0]).toContain('\ufffd\ufffd Ltd');
  });

  test('names on a PDF with such characters are readable with a font of the operator', async () => {
    const { resolve } = createRequire(import.meta.url);
    const pdf = createInvoicePdf(resolve('dejavu-fonts-ttf/ttf/DejaVuMathTeXGyre.ttf'));
    // A letter that this font has and DejaVu Sans does not.
    const name = `\u{1d400} Ltd`;
    const bytes = await pdf.write(resultAtOnce(invoiceContent(printed(...named(name)), SELLER)), ISSUED_AT);
    expect((await readPdf(bytes)).pages[0]?.replace('\u{1d400} ', '\u{1d400}')).toContain('\u{1d400}Ltd');
  });

  test('names on a PDF with control characters and of any length stay on the page', async () => {
    const name = `a\n\t${'x'.repeat(5_000)}`;
    const group = { model: 'y'.repeat(20_000) };
    const bytes = await write(
      [usageLine('1', '1', { pricingGroupValues: group })],
      {},
      { customerName: name },
    );
    const { pages } = await readPdf(bytes);
    expect(pages.join(' ')).toContain('…');
    expect(pages.at(-1)).toContain('Amount due 0.01 USD');
  });
});

describe('the table', () => {
  test('the table of a PDF has each number in one line, and subtotals with the name of their product', async () => {
    const name = 'A product with a long name that goes on over more than one line of the page and has lines';
    const long = usageLine('123456789012.123456789', '0.000003', { productId: 'p', name });
    const { pages } = await readPdf(
      await write([long, usageLine('128955', '0.0003', { productId: 'p', name })]),
    );
    const [page = ''] = pages;
    expect(page).toContain('123,456,789,012.1235');
    expect(page).toContain('0.00000003');
    expect(page).toContain('Subtotal A product with a long name');
    expect(page).not.toContain('…');
  });
});

test('more than 20,000 lines are refused', async () => {
  await expect(write(linesOf(20_001))).rejects.toThrow('more than 20000 lines');
});

test('the memory that a document needs is counted by its lines', async () => {
  const pdf = createInvoicePdf(undefined);
  const countedFor = async (lines: number) => {
    let bytes = 0;
    const content = resultAtOnce(
      invoiceContent(printed(Array.from({ length: lines }, () => usageLine('1', '2'))), SELLER),
    );
    await countedBy(
      {
        add: (more) => {
          bytes += more;
        },
      },
      () => pdf.write(content, ISSUED_AT),
    );
    return bytes;
  };
  const one = await countedFor(1);
  expect(one).toBeGreaterThan(0);
  expect(await countedFor(50)).toBe(50 * one);
});

test('no more than 50 documents wait, and a failed one delays no other', async () => {
  const pdf = createInvoicePdf(undefined);
  const content = resultAtOnce(invoiceContent(printed([]), SELLER));
  const bad = { ...content, sections: [{ heading: 'x', lines: [], subtotal: null }], facts: [null as never] };
  const results = await Promise.allSettled(
    Array.from({ length: 51 }, (_, index) => pdf.write(index === 0 ? bad : content, ISSUED_AT)),
  );
  expect(results.map(({ status }) => status)).toEqual([
    'rejected',
    ...Array.from({ length: 49 }, () => 'fulfilled'),
    'rejected',
  ]);
  expect(results.at(-1)).toMatchObject({ reason: { kind: 'overloaded' } });
  expect((await pdf.write(content, ISSUED_AT)).length).toBeGreaterThan(1_000);
});

test('a file that is no font is refused', async () => {
  await expect(createInvoicePdf(import.meta.filename).loadFonts()).rejects.toThrow();
  await expect(createInvoicePdf('/nowhere.ttf').loadFonts()).rejects.toThrow();
});
