/** Floors below the API use domain names, not wire names, in the paths of refusals. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const SOURCE = path.resolve(import.meta.dirname, '../../../src');
const FLOORS = ['core', 'rating', 'metering', 'store', 'billing', 'jobs'];

/**
 * The ways in which a path is written: after `invalid(` and its like, after a spread, and within the words of a
 * problem.
 */
const PATHS = /(?:\b(?:invalid|namesNothing)\(\s*\[|\[\.\.\.\w*(?:[pP]ath|At|field)\b|\$\{\[)[^\]]*\]/g;
const LITERAL = /'([^']*)'/g;

const files = FLOORS.flatMap((floor) =>
  readdirSync(path.join(SOURCE, floor), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => path.join(floor, name)),
);

function namesInPaths(file: string): string[] {
  const text = readFileSync(path.join(SOURCE, file), 'utf8');
  return [...text.matchAll(PATHS)].flatMap(([written]) =>
    [...written.matchAll(LITERAL)].map(([, name]) => name ?? ''),
  );
}

test('every name in the path of a refusal is in camelCase', () => {
  const names = files.flatMap(namesInPaths);
  expect(names.length).toBeGreaterThan(200);
  expect(names.filter((name) => !/^[a-z][A-Za-z]*$/.test(name))).toEqual([]);
});
