/**
 * The words of the glossary in a tree of files: pages, and the prose of source files. Names of tests have a subject.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Found, WordFinder } from './find-words.ts';
import { testsWithoutSubject } from './test-names.ts';
import { proseOf } from './texts.ts';
import { termsOfGlossary } from './words.ts';

export interface Place extends Found {
  path: string;
}

const PAGE = /^(README|CONTRIBUTING|SECURITY|CHANGELOG)\.md$|^(docs|examples|console|src|deploy)\/.*\.md$/;
const SOURCE = /^(src|test|console|scripts|bench|examples)\/.*\.(ts|tsx|mts|cts|mjs)$|^[^/]+\.(ts|mjs)$/;
const GENERATED = /\.gen\.d\.ts$|^test\/frozen\//;

const isTest = (path: string): boolean => path.startsWith('test/');

const namesIn = (path: string, text: string): Found[] =>
  testsWithoutSubject(path, text).map(({ line, name }) => ({
    line,
    message: `The name of a test begins with its subject, also in a describe: “${name}”`,
  }));

async function wordsIn(path: string, text: string, finder: WordFinder): Promise<Found[]> {
  if (!finder.mayHaveWords(text)) return [];
  if (PAGE.test(path)) return finder.find(text, false);
  const { comments, texts } = proseOf(path, text, isTest(path));
  return [...(await finder.find(comments, true)), ...(await finder.find(texts, false))];
}

async function foundIn(path: string, text: string, finder: WordFinder): Promise<Found[]> {
  const words = await wordsIn(path, text, finder);
  return isTest(path) ? [...words, ...namesIn(path, text)] : words;
}

/** `paths` are relative to `root`, whose glossary has the words. Files that have no prose are passed over. */
export async function wordsInTree(root: string, paths: readonly string[]): Promise<Place[]> {
  const terms = termsOfGlossary(await readFile(join(root, 'docs/reference/glossary.md'), 'utf8'));
  if (terms.length === 0) throw new Error('docs/reference/glossary.md has no words');
  const finder = new WordFinder(terms);
  const places: Place[] = [];
  for (const path of paths) {
    if (GENERATED.test(path) || (!PAGE.test(path) && !SOURCE.test(path))) continue;
    const found = await foundIn(path, await readFile(join(root, path), 'utf8'), finder);
    places.push(...found.map((place) => ({ path, ...place })));
  }
  return places;
}
