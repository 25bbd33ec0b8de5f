/**
 * Fonts of optional packages, for characters that DejaVu Sans lacks: `@fontsource/noto-sans-sc` and similar ones, which
 * the operator installs beside the service. They are split into pieces of some hundred characters each, and a document
 * reads the few that it needs.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { unpackWoff } from './woff.ts';

/**
 * The order in which installed packages are asked: if several have a character, the first one's is printed. Each is an
 * optional peer in package.json, which states the versions that fit and is not installed by itself. Emoji have one
 * colour: documents have no pictures of characters.
 */
export const FONT_PACKAGES: readonly string[] = [
  ...['sc', 'jp', 'kr', 'tc', 'hk', 'thai', 'devanagari', 'bengali', 'tamil', 'telugu', 'khmer'],
]
  .map((script) => `@fontsource/noto-sans-${script}`)
  .concat('@fontsource/noto-emoji');

/** A piece of a font. */
export interface FontPiece {
  readonly name: string;
  read(): Buffer;
}

export interface FontPackages {
  /** The pieces that may have this character, in the order of the packages. */
  piecesFor(codePoint: number): readonly FontPiece[];
}

const ranges = z.record(z.string(), z.string());
const { resolve } = createRequire(import.meta.url);

/** The packages that are installed, by name or as the path of a folder. */
export function findFontPackages(packages: readonly string[] = FONT_PACKAGES): FontPackages {
  const pieces = packages.flatMap(piecesOf);
  return {
    piecesFor: (codePoint) => pieces.flatMap(({ has, piece }) => (has(codePoint) ? [piece] : [])),
  };
}

function piecesOf(name: string) {
  const list = unicodeRanges(name);
  if (list === null) return [];
  const short = basename(name);
  return Object.entries(list.ranges).map(([subset, text]) => {
    const parts = text.split(',').map(rangeOf);
    const file = join(list.folder, 'files', `${short}-${subset.replace(/[[\]]/g, '')}-400-normal.woff`);
    return {
      has: (codePoint: number) => parts.some(([from, to]) => codePoint >= from && codePoint <= to),
      piece: { name: `${short} ${subset}`, read: () => unpackWoff(readFileSync(file)) },
    };
  });
}

function unicodeRanges(
  name: string,
): { readonly folder: string; readonly ranges: Record<string, string> } | null {
  try {
    const path = resolve(`${name}/unicode.json`);
    return { folder: dirname(path), ranges: ranges.parse(JSON.parse(readFileSync(path, 'utf8'))) };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND') return null;
    throw error;
  }
}

/** `U+4e00-4eff`, `U+20` */
function rangeOf(text: string): readonly [number, number] {
  const [from = '', to = from] = text.trim().replace(/^U\+/i, '').split('-');
  return [Number.parseInt(from, 16), Number.parseInt(to, 16)];
}
