/**
 * The fonts of documents. DejaVu Sans covers Latin, Greek, Cyrillic, Arabic, Hebrew and currency signs. A font of the
 * operator supplies what it lacks, such as Chinese, and then the packages that are installed (font-packages.ts).
 * Characters of none are shown as U+FFFD.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Font } from 'fontkit';
import { type FontPackages, type FontPiece, findFontPackages } from './font-packages.ts';

/** `regular`, `bold`, `extra`, or the name of a piece of a package. */
type FontName = string;

interface FontFile {
  readonly bytes: Buffer;
  /** The font of a collection. */
  readonly face: string | undefined;
}

/** Text in one font. */
export interface Run {
  readonly font: FontName;
  readonly text: string;
}

export interface Fonts {
  /** Throws for a name that no run has. */
  fileOf(name: FontName): FontFile;
  /** Splits a text by the fonts that have its characters. Characters of none are added to `missing`. */
  runs(text: string, base: 'regular' | 'bold', missing: Set<string>): Run[];
}

const FOLDER = 'dejavu-fonts-ttf/ttf';
const { resolve } = createRequire(import.meta.url);

/** Reads the fonts. Throws where the file of the operator is no font. */
export async function loadFonts(
  extraFile: string | undefined,
  packages: FontPackages = findFontPackages(),
): Promise<Fonts> {
  const regular = await open(resolve(`${FOLDER}/DejaVuSans.ttf`));
  const bold = await open(resolve(`${FOLDER}/DejaVuSans-Bold.ttf`));
  const extra = extraFile === undefined ? null : await open(extraFile);
  const files = new Map<FontName, FontFile>([
    ['regular', regular.file],
    ['bold', bold.file],
  ]);
  if (extra !== null) files.set('extra', extra.file);
  const bases = { regular: regular.font, bold: bold.font };
  const { create } = await import('fontkit');
  const pieces = new Map<FontName, Font>();
  const opened = (piece: FontPiece): Font => {
    const known = pieces.get(piece.name);
    if (known !== undefined) return known;
    const bytes = piece.read();
    const font = create(bytes);
    if ('fonts' in font) throw new Error(`${piece.name} is a collection of fonts`);
    pieces.set(piece.name, font);
    files.set(piece.name, { bytes, face: undefined });
    return font;
  };
  const furtherOf = (codePoint: number): FontName | null => {
    if (extra?.font.hasGlyphForCodePoint(codePoint) === true) return 'extra';
    return (
      packages.piecesFor(codePoint).find((piece) => opened(piece).hasGlyphForCodePoint(codePoint))?.name ??
      null
    );
  };
  return {
    fileOf: (name) => {
      const file = files.get(name);
      if (file === undefined) throw new Error(`there is no font ${name}`);
      return file;
    },
    runs: (text, base, missing) => runsOf(text, base, { font: bases[base], furtherOf, missing }),
  };
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

/** Characters that change the one before them, or join two, and are not seen themselves. */
const UNSEEN = /^[\p{Default_Ignorable_Code_Point}\p{Cf}]$/u;

interface Choice {
  readonly font: Font;
  /** The font besides it that has a character; null where there is none. */
  readonly furtherOf: (codePoint: number) => FontName | null;
  readonly missing: Set<string>;
}

function runsOf(text: string, base: 'regular' | 'bold', choice: Choice): Run[] {
  const runs: { font: FontName; text: string }[] = [];
  for (const character of text) {
    const shown = runOf(character, base, choice);
    const last = runs.at(-1);
    if (last?.font === shown.font) last.text += shown.text;
    else if (shown.text !== '') runs.push(shown);
  }
  return runs;
}

/** Without text for a character that is not seen anyway. */
function runOf(character: string, base: 'regular' | 'bold', { font, furtherOf, missing }: Choice): Run {
  const codePoint = character.codePointAt(0) ?? 0;
  const name = font.hasGlyphForCodePoint(codePoint) ? base : furtherOf(codePoint);
  if (name !== null) return { font: name, text: character };
  if (UNSEEN.test(character)) return { font: base, text: '' };
  if (character !== REPLACEMENT) missing.add(character);
  return { font: base, text: REPLACEMENT };
}
