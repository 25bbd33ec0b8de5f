import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { packageRootAbove } from '../../../src/core/package-root.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'package-root-'));
  mkdirSync(join(folder, 'a/b'), { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true }));

test('the package is the nearest directory with a package.json', () => {
  writeFileSync(join(folder, 'a/package.json'), '{}');
  expect(packageRootAbove(join(folder, 'a/b'))).toBe(join(folder, 'a'));
  expect(packageRootAbove(join(folder, 'a'))).toBe(join(folder, 'a'));
});

test('without one, the search ends at the root of the file system and says so', () => {
  expect(() => packageRootAbove(join(folder, 'a/b'))).toThrow(`no package.json in ${join(folder, 'a/b')}`);
});
