/**
 * The scale of the console: spaces, sizes of text and corners are custom properties of its tokens.css, and no style
 * sheet or inline style has another length for them. `npm run floors` refuses what is not on the scale.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const SOURCES = 'console/src';
const TOKENS = 'styles/tokens.css';

/** The names of the scale; a further one needs a reason that the existing ones do not serve. */
const SCALE: Readonly<Record<string, readonly string[]>> = {
  space: [
    '--space-2',
    '--space-4',
    '--space-6',
    '--space-8',
    '--space-12',
    '--space-16',
    '--space-24',
    '--space-32',
  ],
  text: ['--small', '--text', '--title', '--large'],
  corner: ['--radius-small', '--radius'],
};

/** A property of the scale with a length that is written out, in CSS or as a member of an object of styles. */
const OFF_SCALE =
  /^[ \t]*['"]?(?:padding|margin|gap|row-gap|column-gap|font-size|font|border-radius|fontSize|borderRadius|(?:padding|margin)(?:-|[A-Z])[\w-]*|border-[\w-]*-radius)['"]?:[^;\n]*?(?<!\w)\d*\.?\d+(?:px|rem|em|pt)\b/gm;

/** The breaches of the scale in the text of a file. */
export function offScale(file: string, text: string): string[] {
  if (file.endsWith(TOKENS)) {
    const named = [...text.matchAll(/^\s*(--(?:space|radius|small|text|title|large)[\w-]*):/gm)].map(
      ([, name]) => name,
    );
    const expected = Object.values(SCALE).flat();
    return named.join() === expected.join() ? [] : [`${file}: the scale is ${expected.join(', ')}`];
  }
  return [...text.matchAll(OFF_SCALE)].map(
    ([found]) => `${file}: ${found.trim()} is not on the scale of ${TOKENS}`,
  );
}

/** The breaches of the scale in the sources of the console below `root`. */
export async function scaleProblems(root: string): Promise<string[]> {
  const names = await readdir(join(root, SOURCES), { recursive: true });
  const files = names.filter((name) => /\.(css|tsx?)$/.test(name) && !name.endsWith('.gen.d.ts'));
  const found = await Promise.all(
    files.map(async (name) => offScale(name, await readFile(join(root, SOURCES, name), 'utf8'))),
  );
  return found.flat();
}
