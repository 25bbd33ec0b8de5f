/**
 * An invoice as a PDF document, A4. The same content and issue date give the same bytes.
 *
 * Everything is measured first, so that the number of pages is known and every page is drawn once. The work of a long
 * invoice is cut into slices, between which requests are answered.
 */

import { Refusal } from '../../core/errors.ts';
import { afterOtherWork, resultInChunks } from '../../core/in-chunks.ts';
import type { Instant } from '../../core/time.ts';
import { countMemory } from '../../runtime/answer-memory.ts';
import { createSerialQueue } from '../../runtime/serial-queue.ts';
import type { FontPackages } from './font-packages.ts';
import { type Fonts, loadFonts } from './fonts.ts';
import {
  type Columns,
  columnsFor,
  headBlock,
  noteBlocks,
  sectionBlocks,
  tableHead,
  totalsBlock,
} from './invoice-blocks.ts';
import type { InvoiceContent } from './invoice-content.ts';
import { ASCENT, BOLD, type Drawn, GREY, LEFT, PAGE, type Pen, RIGHT, rule, SMALL } from './page-style.ts';
import { paginate } from './pages.ts';
import { createTypesetter, type PdfDocument, type TextStyle, type Typesetter } from './typesetter.ts';

export interface InvoicePdf {
  /** Reads the fonts now instead of with the first document. Throws where one cannot be read. */
  loadFonts(): Promise<void>;
  /**
   * Documents are written one after another. Refuses an invoice with more than 20,000 lines (`invalid`), and any while
   * too many wait (`overloaded`).
   */
  write(content: InvoiceContent, issuedAt: Instant): Promise<Uint8Array<ArrayBuffer>>;
}

/** Some 500 pages and 13 seconds of work. The document is held in memory. */
const LINES_MAX = 20_000;
/** Memory of a line: its printed text, measured, and drawn. */
const LINE_BYTES = 12_288;
const LINES_PER_SLICE = 25;
/** Each waits for those before it, about half a second for 500 lines. */
const WAITING_MAX = 50;

const TOP = 56;
const BOTTOM = 780;
const FOOTER_BASELINE = 808;
const RUNNING_HEAD = 22;
const MARK: TextStyle = { size: 130, isBold: true, color: '#d22222' };

export interface InvoicePdfOptions {
  /** Called for every document with characters that no font has, which are printed as U+FFFD. */
  readonly onMissing?: (reference: string, characters: readonly string[]) => void;
  /** Instead of those that are installed. */
  readonly packages?: FontPackages;
}

/** `fontFile` supplies characters that DejaVu Sans lacks. The fonts are read with the first document. */
export function createInvoicePdf(
  fontFile: string | undefined,
  { onMissing, packages }: InvoicePdfOptions = {},
): InvoicePdf {
  let loading: Promise<Fonts> | undefined;
  const writing = createSerialQueue('PDFs');
  const load = () => {
    loading ??= loadFonts(fontFile, packages).catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
  return {
    async loadFonts() {
      await load();
    },
    async write(content, issuedAt) {
      const lineCount = content.sections.reduce((sum, { lines }) => sum + lines.length, 0);
      if (lineCount > LINES_MAX) {
        throw new Refusal(
          'invalid',
          `An invoice of more than ${LINES_MAX} lines has no PDF: read it with Accept: text/csv`,
        );
      }
      countMemory(lineCount * LINE_BYTES);
      if (writing.figures().waiting >= WAITING_MAX)
        throw new Refusal('overloaded', 'Too many PDFs are being written: try again later');
      return await writing.run(async () => {
        const { bytes, missing } = await writePdf(content, issuedAt, await load());
        if (missing.size > 0) onMissing?.(content.reference, [...missing]);
        return bytes;
      });
    },
  };
}

interface WrittenPdf {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly missing: ReadonlySet<string>;
}

async function writePdf(content: InvoiceContent, issuedAt: Instant, fonts: Fonts): Promise<WrittenPdf> {
  // Loaded with the first document, because it takes longer than everything else at the start of the service.
  const { default: PDFDocument } = await import('pdfkit');
  const document = new PDFDocument({
    size: 'A4',
    margin: 0,
    autoFirstPage: false,
    lang: 'en',
    displayTitle: true,
    info: {
      Title: `${content.title} ${content.reference}`,
      Author: content.seller[0] ?? '',
      Creator: 'tallyhouse',
      CreationDate: new Date(issuedAt),
      ModDate: new Date(issuedAt),
    },
  });
  const chunks: Buffer[] = [];
  const written = new Promise<void>((resolve, reject) => {
    document.on('data', (chunk: Buffer) => chunks.push(chunk));
    document.on('end', resolve);
    document.on('error', reject);
  });
  const type = createTypesetter(document, fonts);
  await drawInvoice(document, type, content);
  document.end();
  await written;
  return { bytes: new Uint8Array(Buffer.concat(chunks)), missing: type.missing };
}

async function drawInvoice(document: PdfDocument, type: Typesetter, content: InvoiceContent): Promise<void> {
  const pen = { document, type };
  const columns = await resultInChunks(columnsFor(pen, content));
  const blocks = await blocksOf(pen, content, columns);
  const head = tableHead(pen, content, columns);
  const pages = paginate(blocks, {
    first: BOTTOM - TOP,
    others: BOTTOM - TOP - RUNNING_HEAD - head.height,
  });
  for (const [index, page] of pages.entries()) {
    document.addPage();
    if (content.mark !== null) drawMark(pen, content.mark);
    let top = index === 0 ? TOP : TOP + RUNNING_HEAD + head.height;
    if (index > 0) {
      const title = `${content.title} ${content.reference}, continued`;
      type.draw(title, { x: LEFT, baseline: TOP + ASCENT }, BOLD);
      if (page.some(({ isRow }) => isRow)) head.draw(TOP + RUNNING_HEAD);
    }
    for (const block of page) {
      block.draw(top);
      top += block.height;
    }
    drawFooter(pen, content, `Page ${index + 1} of ${pages.length}`);
    await afterOtherWork();
  }
}

async function blocksOf(pen: Pen, content: InvoiceContent, columns: Columns): Promise<Drawn[]> {
  const blocks = [headBlock(pen, content), tableHead(pen, content, columns)];
  let measured = 0;
  for (const section of content.sections) {
    for (const block of sectionBlocks(pen, section, columns)) {
      blocks.push(block);
      measured += 1;
      if (measured % LINES_PER_SLICE === 0) await afterOtherWork();
    }
  }
  return [...blocks, totalsBlock(pen, content), ...noteBlocks(pen, content)];
}

function drawFooter({ document, type }: Pen, content: InvoiceContent, page: string): void {
  rule(document, FOOTER_BASELINE - 14, GREY);
  const name = `${content.title} ${content.reference}`;
  const left = [content.seller[0], name].filter(Boolean).join(' · ');
  const [line] = type.wrap(left, RIGHT - LEFT - 90, SMALL, 1);
  type.draw(line ?? '', { x: LEFT, baseline: FOOTER_BASELINE }, SMALL);
  type.draw(page, { x: RIGHT, baseline: FOOTER_BASELINE }, SMALL, 'right');
}

/** Across the page, under everything else. */
function drawMark({ document, type }: Pen, mark: NonNullable<InvoiceContent['mark']>): void {
  const center = { x: PAGE.width / 2, y: PAGE.height / 2 };
  document.save();
  document.rotate(-50, { origin: [center.x, center.y] }).fillOpacity(0.12);
  const x = center.x - type.width(mark, MARK) / 2;
  type.draw(mark, { x, baseline: center.y + 40 }, MARK);
  document.restore();
}
