/**
 * The shape of the house: imports point downwards only. A layer may import itself and what stands in its
 * list; what it may know by type only (`import type`) stands in a list of its own.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const SOURCE = path.resolve(import.meta.dirname, '../../src');

const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  rating: ['core'],
  metering: ['core'],
  store: ['core'],
  billing: ['rating', 'metering', 'store', 'core'],
  access: ['store', 'core'],
  jobs: ['billing', 'store', 'core'],
  api: ['billing', 'access', 'jobs', 'rating', 'core'],
  // The embedded ClickHouse is reached through the same client code as a remote one.
  embedded: ['core', 'metering'],
};

const MAY_IMPORT_TYPES: Readonly<Record<string, readonly string[]>> = {
  api: ['store', 'metering'],
  embedded: ['store'],
};

/** Files directly in src/, and the folders of programs beside the service. They may import everything. */
const ON_TOP: readonly string[] = ['top', 'app', 'demo'];

/** Files directly in src/ stand on top and may import everything, these aside: they import core only. */
const LOW_FILES: readonly string[] = ['config.ts'];

interface Import {
  readonly file: string;
  readonly target: string;
  readonly typesOnly: boolean;
}

const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => name.split(path.sep).join('/'))
  .sort();

const textOf = (file: string): string => readFileSync(path.join(SOURCE, file), 'utf8');

/** Our own modules that a file names in an import, an export or a dynamic import, relative to src/. */
function importsOf(file: string): Import[] {
  const specifiers = textOf(file).matchAll(
    /(?:^(?:import|export)(?<type> type)?\b[^'"]*?\bfrom|\bimport\(?)\s*['"](?<specifier>\.[^'"]+)['"]/gm,
  );
  return [...specifiers].map(({ groups }) => ({
    file,
    target: path.posix.join(path.posix.dirname(file), groups?.specifier ?? ''),
    typesOnly: groups?.type !== undefined,
  }));
}

const layerOf = (file: string): string => (file.includes('/') ? String(file.split('/')[0]) : 'top');
const imports = files.flatMap(importsOf);

describe('imports', () => {
  it('are found at all', () => {
    expect(imports.length).toBeGreaterThan(20);
  });

  it('name files that exist, with their extension', () => {
    expect(imports.filter(({ target }) => !files.includes(target))).toEqual([]);
  });

  it('point downwards only', () => {
    const wrong = imports.filter(({ file, target, typesOnly }) => {
      const from = layerOf(file);
      const to = layerOf(target);
      if (LOW_FILES.includes(file)) return to !== 'core';
      if (ON_TOP.includes(from) || from === to) return false;
      const allowed = [...(MAY_IMPORT[from] ?? []), ...(typesOnly ? (MAY_IMPORT_TYPES[from] ?? []) : [])];
      return !allowed.includes(to);
    });
    expect(wrong).toEqual([]);
  });

  it('of the API come from the composition on top only', () => {
    const wrong = imports.filter(
      ({ file, target }) => layerOf(target) === 'api' && layerOf(file) !== 'api' && layerOf(file) !== 'app',
    );
    expect(wrong).toEqual([]);
  });
});

describe('the environment', () => {
  it('is read by config.ts only', () => {
    expect(files.filter((file) => file !== 'config.ts' && /process\.env\b/.test(textOf(file)))).toEqual([]);
  });
});

describe('a source file', () => {
  it('has at most 400 lines', () => {
    expect(files.filter((file) => textOf(file).split('\n').length > 401)).toEqual([]);
  });
});
