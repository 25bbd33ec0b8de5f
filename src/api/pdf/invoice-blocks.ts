/** The parts of a printed invoice, each with its height and a way to draw it. */
import type { InvoiceContent, PrintedLine, Section } from './invoice-content.ts';
import {
  ASCENT,
  BOLD,
  type Drawn,
  GREY,
  LEFT,
  LINE_HEIGHT,
  type Pen,
  RIGHT,
  rule,
  SMALL,
  TEXT,
} from './page-style.ts';
import type { TextStyle, Typesetter } from './typesetter.ts';

/** The columns of the table: right ends of those of numbers, and the widths of all. */
export interface Columns {
  readonly description: number;
  readonly quantity: NumberColumn;
  readonly unitPrice: NumberColumn;
  readonly amount: NumberColumn;
}

interface NumberColumn {
  readonly right: number;
  readonly width: number;
}

const GAP = 12;
const DESCRIPTION_WIDTH_MIN = 130;
const WIDTHS_MIN = { quantity: 62, unitPrice: 86, amount: 80 };
/** Beyond this number of lines the widths are those of the first lines: measuring a line takes time. */
const MEASURED_MAX = 1_000;

/**
 * As wide as the numbers of this invoice need; the description has the rest, but at least a quarter of the page. Yields
 * after each line.
 */
export function* columnsFor(
  { type }: Pen,
  { sections }: InvoiceContent,
): Generator<void, Columns, undefined> {
  const lines = sections.flatMap((section) => section.lines).slice(0, MEASURED_MAX);
  const wanted = { ...WIDTHS_MIN };
  const widen = (column: keyof typeof wanted, text: string) => {
    wanted[column] = Math.max(wanted[column], type.width(text, TEXT));
  };
  for (const { quantity, unitPrice, amount } of lines) {
    widen('quantity', quantity);
    widen('unitPrice', unitPrice);
    widen('amount', amount);
    yield;
  }
  const room = RIGHT - LEFT - DESCRIPTION_WIDTH_MIN - 3 * GAP;
  const sum = wanted.quantity + wanted.unitPrice + wanted.amount;
  const share = Math.min(1, room / sum);
  const amount = { right: RIGHT, width: wanted.amount * share };
  const unitPrice = { right: amount.right - amount.width - GAP, width: wanted.unitPrice * share };
  const quantity = { right: unitPrice.right - unitPrice.width - GAP, width: wanted.quantity * share };
  return { description: quantity.right - quantity.width - GAP - LEFT, quantity, unitPrice, amount };
}

const TITLE: TextStyle = { size: 20, isBold: true };
const MAIN: TextStyle = { size: 11, isBold: true };
/** A group value may be long; the CSV has all of it. */
const DETAIL_LINES_MAX = 12;

/** Lines of a name, a line of an address or a fact. */
const PARTY_LINES_MAX = 3;

/** Title, seller, buyer and facts. */
export function headBlock({ type }: Pen, content: InvoiceContent): Drawn {
  const half = (RIGHT - LEFT) / 2;
  const seller = content.seller.flatMap((line) => type.wrap(line, half - 20, TEXT, PARTY_LINES_MAX));
  const buyer = content.buyer.flatMap((line) => type.wrap(line, half - 20, TEXT, PARTY_LINES_MAX));
  const facts = content.facts.map(({ label, value }) => ({
    label,
    lines: type.wrap(value, RIGHT - LEFT - 95, TEXT, PARTY_LINES_MAX),
  }));
  const partiesTop = 40;
  const partiesHeight = (Math.max(seller.length, buyer.length) + 1) * LINE_HEIGHT;
  const factsTop = partiesTop + partiesHeight + 16;
  const factsHeight = facts.reduce((sum, { lines }) => sum + lines.length * LINE_HEIGHT, 0);
  return {
    height: factsTop + factsHeight + 24,
    draw(top) {
      type.draw(content.title, { x: LEFT, baseline: top + 18 }, TITLE);
      drawParty(type, 'From', seller, LEFT, top + partiesTop);
      drawParty(type, 'Bill to', buyer, LEFT + half, top + partiesTop);
      let baseline = top + factsTop + ASCENT;
      for (const { label, lines } of facts) {
        type.draw(label, { x: LEFT, baseline }, SMALL);
        for (const line of lines) {
          type.draw(line, { x: LEFT + 95, baseline }, TEXT);
          baseline += LINE_HEIGHT;
        }
      }
    },
  };
}

function drawParty(type: Typesetter, label: string, lines: readonly string[], x: number, top: number): void {
  if (lines.length === 0) return;
  type.draw(label, { x, baseline: top + ASCENT }, SMALL);
  for (const [index, line] of lines.entries()) {
    const baseline = top + ASCENT + (index + 1) * LINE_HEIGHT;
    type.draw(line, { x, baseline }, index === 0 ? BOLD : TEXT);
  }
}

export function tableHead(
  { document, type }: Pen,
  { currency }: InvoiceContent,
  { quantity, unitPrice, amount }: Columns,
): Drawn {
  return {
    height: 20,
    staysWithNext: true,
    draw(top) {
      const baseline = top + ASCENT;
      type.draw('Description', { x: LEFT, baseline }, SMALL);
      type.draw('Quantity', { x: quantity.right, baseline }, SMALL, 'right');
      type.draw(`Unit price (${currency})`, { x: unitPrice.right, baseline }, SMALL, 'right');
      type.draw(`Amount (${currency})`, { x: amount.right, baseline }, SMALL, 'right');
      rule(document, top + 13, '#000000');
    },
  };
}

export function* sectionBlocks(
  pen: Pen,
  { heading, lines, subtotal }: Section,
  columns: Columns,
): Generator<Drawn, void, undefined> {
  const [only, ...others] = lines;
  if (only !== undefined && others.length === 0) {
    yield lineBlock(pen, only, heading, columns);
  } else {
    yield {
      ...lineBlock(pen, HEADING_ONLY, heading, columns),
      staysWithNext: true,
    };
    for (const line of lines) yield lineBlock(pen, line, null, columns);
  }
  if (subtotal !== null) yield subtotalBlock(pen, heading, subtotal, columns);
  yield gap(pen);
}

const HEADING_ONLY: PrintedLine = { details: [], quantity: '', unitPrice: '', amount: '' };

/** The width for the description of a line, which has that of the columns that are empty in it too. */
function roomOf({ quantity, unitPrice, amount }: PrintedLine, of: Columns): number {
  if (quantity !== '') return of.description;
  if (unitPrice !== '') return of.unitPrice.right - of.unitPrice.width - GAP - LEFT;
  return (amount === '' ? of.amount.right : of.amount.right - of.amount.width - GAP) - LEFT;
}

/** A row of the table: on the left the heading, if any, and the details below it. */
function lineBlock({ type }: Pen, line: PrintedLine, heading: string | null, of: Columns): Drawn {
  const room = roomOf(line, of);
  const headings = heading === null ? [] : type.wrap(heading, room, BOLD, DETAIL_LINES_MAX);
  const indent = heading === null ? 8 : 0;
  const details =
    line.details.length === 0
      ? []
      : type.wrap(line.details.join(' · '), room - indent, TEXT, DETAIL_LINES_MAX);
  const columns = [
    { ...of.quantity, lines: type.wrap(line.quantity, of.quantity.width, TEXT) },
    { ...of.unitPrice, lines: type.wrap(line.unitPrice, of.unitPrice.width, TEXT) },
    { ...of.amount, lines: type.wrap(line.amount, of.amount.width, TEXT) },
  ];
  const rows = Math.max(headings.length + details.length, ...columns.map(({ lines }) => lines.length));
  return {
    height: rows * LINE_HEIGHT + 2,
    isRow: true,
    draw(top) {
      const baselineOf = (row: number) => top + ASCENT + row * LINE_HEIGHT;
      for (const [row, text] of headings.entries()) {
        type.draw(text, { x: LEFT, baseline: baselineOf(row) }, BOLD);
      }
      for (const [row, text] of details.entries()) {
        type.draw(text, { x: LEFT + indent, baseline: baselineOf(headings.length + row) }, TEXT);
      }
      for (const { right, lines } of columns) {
        for (const [row, text] of lines.entries()) {
          type.draw(text, { x: right, baseline: baselineOf(row) }, TEXT, 'right');
        }
      }
    },
  };
}

function subtotalBlock(
  { document, type }: Pen,
  heading: string,
  subtotal: string,
  { unitPrice, amount }: Columns,
): Drawn {
  // An exact sum may have more digits than any line: it has the room of the unit price too.
  const sumWidth = amount.width + GAP + unitPrice.width;
  const sumLeft = RIGHT - Math.min(sumWidth, Math.max(amount.width, type.width(subtotal, BOLD)));
  const labels = type.wrap(`Subtotal ${heading}`, sumLeft - LEFT - 20, BOLD, PARTY_LINES_MAX);
  const lines = type.wrap(subtotal, sumWidth, BOLD);
  return {
    height: Math.max(labels.length, lines.length) * LINE_HEIGHT + 6,
    isRow: true,
    draw(top) {
      document
        .moveTo(sumLeft, top + 1)
        .lineTo(RIGHT, top + 1)
        .lineWidth(0.4)
        .stroke(GREY);
      const baselineOf = (row: number) => top + 4 + ASCENT + row * LINE_HEIGHT;
      for (const [row, text] of labels.entries()) {
        type.draw(text, { x: LEFT + 8, baseline: baselineOf(row) }, BOLD);
      }
      for (const [row, text] of lines.entries()) {
        type.draw(text, { x: amount.right, baseline: baselineOf(row) }, BOLD, 'right');
      }
    },
  };
}

function gap({ document }: Pen): Drawn {
  return { height: 8, draw: (top) => rule(document, top + 3, GREY) };
}

export function totalsBlock({ type }: Pen, { totals }: InvoiceContent): Drawn {
  const rows = totals.map((total) => {
    const style = total.isMain ? MAIN : TEXT;
    return { ...total, style, lines: type.wrap(total.amount, 260, style) };
  });
  const rowHeight = 17;
  return {
    height: 8 + rows.reduce((sum, { lines }) => sum + lines.length * rowHeight, 0),
    draw(top) {
      let baseline = top + 8 + ASCENT + 2;
      for (const { label, lines, style } of rows) {
        type.draw(label, { x: 200, baseline }, style);
        for (const text of lines) {
          type.draw(text, { x: RIGHT, baseline }, style, 'right');
          baseline += rowHeight;
        }
      }
    },
  };
}

export function noteBlocks({ type }: Pen, { notes }: InvoiceContent): Drawn[] {
  return notes.map((note, index) => {
    const lines = type.wrap(note, RIGHT - LEFT, SMALL);
    const above = index < 2 ? 10 : 0;
    return {
      height: above + lines.length * LINE_HEIGHT,
      draw(top) {
        for (const [row, text] of lines.entries()) {
          type.draw(text, { x: LEFT, baseline: top + above + ASCENT + row * LINE_HEIGHT }, SMALL);
        }
      },
    };
  });
}
