/** The measures and styles of the pages of an invoice. Lengths are in points. */
import { assert } from '../../core/errors.ts';
import type { Block } from './pages.ts';
import type { PdfDocument, TextStyle, Typesetter } from './typesetter.ts';

export const PAGE = { width: 595.28, height: 841.89 };
export const LEFT = 50;
export const RIGHT = PAGE.width - 50;

export const TEXT: TextStyle = { size: 8.5 };
export const SMALL: TextStyle = { size: 7.5, color: '#555555' };
export const BOLD: TextStyle = { size: 8.5, isBold: true };
export const GREY = '#bbbbbb';
export const LINE_HEIGHT = 11.5;
/** From the top of a line to its baseline. */
export const ASCENT = 8.5;

/** Something to draw at a height of a page. */
export interface Drawn extends Block {
  /** A row of the table, which needs the head of the table above it on every page. */
  readonly isRow?: boolean;
  draw(top: number): void;
}

/** The tools for measuring and drawing the parts of a document. */
export interface Pen {
  readonly document: PdfDocument;
  readonly type: Typesetter;
}

/** A line across the page. */
export function rule(document: PdfDocument, y: number, color: string): void {
  assert(y < PAGE.height, 'everything is drawn on the page');
  document.moveTo(LEFT, y).lineTo(RIGHT, y).lineWidth(0.5).stroke(color);
}
