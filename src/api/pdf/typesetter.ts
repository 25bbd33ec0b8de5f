/** Measures, wraps and draws text in a PDF document. Lengths are in points, a 72nd of an inch. */
import type PDFDocument from 'pdfkit';
import type { Fonts, Run } from './fonts.ts';

export type PdfDocument = InstanceType<typeof PDFDocument>;

export interface TextStyle {
  readonly size: number;
  readonly isBold?: boolean;
  readonly color?: string;
}

export interface Typesetter {
  /** Measured characters that no font has. */
  readonly missing: ReadonlySet<string>;
  width(text: string, style: TextStyle): number;
  /** The lines of a text in a column; words that are wider than it are cut. At most `linesMax`, then an ellipsis. */
  wrap(text: string, columnWidth: number, style: TextStyle, linesMax?: number): string[];
  /** Draws one line. `x` is its left end, or the right one if it is aligned there; `baseline` is counted from the top. */
  draw(
    text: string,
    at: { readonly x: number; readonly baseline: number },
    style: TextStyle,
    align?: 'right',
  ): void;
}

/** More fit on no page; a value of an event may be much longer. */
const WRAPPED_CHARACTERS_MAX = 5_000;

export function createTypesetter(document: PdfDocument, fonts: Fonts): Typesetter {
  const registered = new Set<string>();
  const missing = new Set<string>();
  const inFont = (name: string) => {
    if (!registered.has(name)) {
      const { bytes, face } = fonts.fileOf(name);
      document.registerFont(name, bytes, face);
      registered.add(name);
    }
    return document.font(name);
  };
  const runsOf = (text: string, { isBold }: TextStyle) =>
    fonts.runs(text, isBold ? 'bold' : 'regular', missing);
  const runWidth = ({ font, text }: Run, { size }: TextStyle) =>
    inFont(font).fontSize(size).widthOfString(text);
  const width = (text: string, style: TextStyle) =>
    runsOf(text, style).reduce((sum, run) => sum + runWidth(run, style), 0);

  return {
    missing,
    width,
    wrap: (text, columnWidth, style, linesMax) =>
      wrap(text, { columnWidth, linesMax, width: (part) => width(part, style) }),
    draw(text, { x, baseline }, style, align) {
      const runs = runsOf(printable(text), style);
      let left = align === 'right' ? x - runs.reduce((sum, run) => sum + runWidth(run, style), 0) : x;
      for (const run of runs) {
        const drawn = inFont(run.font)
          .fontSize(style.size)
          .fillColor(style.color ?? '#000000');
        drawn.text(run.text, left, baseline, { lineBreak: false, baseline: 'alphabetic' });
        left += runWidth(run, style);
      }
    },
  };
}

/** Line breaks and other control characters have no place inside a line. */
function printable(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ');
}

interface Wrapping {
  readonly columnWidth: number;
  readonly linesMax: number | undefined;
  width(text: string): number;
}

/** Greedy. The last of `linesMax` lines ends with a mark that more text follows. */
function wrap(text: string, { columnWidth, linesMax = Number.POSITIVE_INFINITY, width }: Wrapping): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of printable(text.slice(0, WRAPPED_CHARACTERS_MAX)).split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (width(longer) <= columnWidth) {
      line = longer;
      continue;
    }
    if (line !== '') lines.push(line);
    const parts = cut(word, columnWidth, width);
    line = parts.pop() ?? '';
    lines.push(...parts);
    // A text may be much longer than its shown part.
    if (lines.length > linesMax) break;
  }
  lines.push(line);
  if (lines.length <= linesMax) return lines;
  const last = lines[linesMax - 1] ?? '';
  const [kept = ''] = cut(last, columnWidth - width(' …'), width);
  return [...lines.slice(0, linesMax - 1), `${kept} …`];
}

function cut(word: string, columnWidth: number, width: (text: string) => number): string[] {
  const parts: string[] = [];
  let part = '';
  for (const character of word) {
    if (part !== '' && width(part + character) > columnWidth) {
      parts.push(part);
      part = '';
    }
    part += character;
  }
  return [...parts, part];
}
