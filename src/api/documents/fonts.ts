/**
 * The fonts of documents. DejaVu Sans covers Latin, Greek, Cyrillic, Arabic, Hebrew and currency signs. A font of the
 * operator supplies what it lacks, such as Chinese; characters of neither are shown as U+FFFD.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Font } from 'fontkit';

type FontName = 'regular' | 'bold' | 'extra';

interface FontFile {
  readonly bytes: Buffer;
  /** Of a collection: the font to take. */
  readonly face: string | undefined;
}

/** Text in one font. */
export interface Run {
  readonly font: FontName;
  readonly text: string;
}

export interface Fonts {
  readonly files: ReadonlyMap<FontName, FontFile>;
  /** Splits a text by the fonts that have its characters. */
  runs(text: string, base: 'regular' | 'bold'): Run[];
}

const FOLDER = 'dejavu-fonts-ttf/ttf';
const { resolve } = createRequire(import.meta.url);

/** Reads the fonts. Throws where the file of the operator is no font. */
export async function loadFonts(extraFile: string | undefined): Promise<Fonts> {
  const regular = await open(resolve(`${FOLDER}/DejaVuSans.ttf`));
  const bold = await open(resolve(`${FOLDER}/DejaVuSans-Bold.ttf`));
  const extra = extraFile === undefined ? null : await open(extraFile);
  const files = new Map<FontName, FontFile>([
    ['regular', regular.file],
    ['bold', bold.file],
  ]);
  if (extra !== null) files.set('extra', extra.file);
  const bases = { regular: regular.font, bold: bold.font };
  return { files, runs: (text, base) => runsOf(text, base, bases[base], extra?.font ?? null) };
}

async function open(path: string): Promise<{ readonly file: FontFile; readonly font: Font }> {
  // With the first font, because a start would take a tenth of a second longer.
  const { create } = await import('fontkit');
  const bytes = await readFile(path);
  const opened = create(bytes);
  if (!('fonts' in opened)) return { file: { bytes, face: undefined }, font: opened };
  const [font] = opened.fonts;
  if (font === undefined) throw new Error(`${path} has no font`);
  return { file: { bytes, face: font.postscriptName }, font };
}

const REPLACEMENT = '\ufffd';

function runsOf(text: string, base: 'regular' | 'bold', baseFont: Font, extra: Font | null): Run[] {
  const runs: { font: FontName; text: string }[] = [];
  for (const character of text) {
    const codePoint = character.codePointAt(0) ?? 0;
    const isBase = baseFont.hasGlyphForCodePoint(codePoint);
    const isExtra = !isBase && extra?.hasGlyphForCodePoint(codePoint) === true;
    const font = isExtra ? 'extra' : base;
    const shown = isBase || isExtra ? character : REPLACEMENT;
    const last = runs.at(-1);
    if (last?.font === font) last.text += shown;
    else runs.push({ font, text: shown });
  }
  return runs;
}
