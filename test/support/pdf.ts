/** Reads PDF documents as a viewer does. */
import { getDocument, VerbosityLevel } from 'pdfjs-dist/legacy/build/pdf.mjs';

export interface ReadPdf {
  /** The text of every page, in the order in which it was drawn; lines are separated by a space. */
  readonly pages: readonly string[];
  readonly title: string;
}

export async function readPdf(bytes: Uint8Array): Promise<ReadPdf> {
  // The reader takes the bytes over.
  const task = getDocument({ data: bytes.slice(), verbosity: VerbosityLevel.ERRORS });
  const document = await task.promise;
  const pages: string[] = [];
  for (let number = 1; number <= document.numPages; number += 1) {
    const { items } = await (await document.getPage(number)).getTextContent();
    const text = items.map((item) => ('str' in item ? item.str + (item.hasEOL ? ' ' : '') : ''));
    pages.push(text.join(' ').replaceAll(/\s+/g, ' '));
  }
  const { info } = await document.getMetadata();
  await task.destroy();
  return { pages, title: 'Title' in info ? String(info.Title) : '' };
}
