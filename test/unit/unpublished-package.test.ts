/** No text sends a reader to a registry for a package of this name: the owner of that name could run code there. */
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PACKAGE_ROOT } from '../../src/core/package-root.ts';

const PLACES = ['src', 'docs', 'console', 'examples', 'deploy', 'clients', 'scripts', 'bench'];
const PAGES = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'docker-compose.yml', 'Dockerfile'];
const TEXTS = new Set([
  '.md',
  '.ts',
  '.tsx',
  '.cts',
  '.mjs',
  '.yaml',
  '.yml',
  '.service',
  '.sh',
  '.html',
  '.py',
  '.go',
]);

/** Commands that fetch the package by its name. A packed file has a version and an ending. */
const BY_NAME =
  /\b(?:npx|bunx|pnpx|(?:npm|pnpm|yarn|bun) (?:exec|x|dlx|create|install|i|add))(?: -+[\w-]+)* tallyhouse(?![\w.-])/;

async function* texts(): AsyncGenerator<string> {
  for (const page of PAGES) yield join(PACKAGE_ROOT, page);
  for (const place of PLACES) {
    const entries = await readdir(join(PACKAGE_ROOT, place), { recursive: true, withFileTypes: true });
    for (const entry of entries) {
      const path = join(entry.parentPath, entry.name);
      if (entry.isFile() && TEXTS.has(extname(entry.name)) && !/node_modules|[/]dist[/]/.test(path))
        yield path;
    }
  }
}

describe('the name of a package that is not published', () => {
  it('the name of the package is in no command that would fetch it from a registry', async () => {
    const found: string[] = [];
    for await (const path of texts()) {
      const lines = (await readFile(path, 'utf8')).split('\n');
      for (const [index, line] of lines.entries()) {
        if (BY_NAME.test(line)) found.push(`${relative(PACKAGE_ROOT, path)}:${index + 1} ${line.trim()}`);
      }
    }
    expect(found).toEqual([]);
  });

  it.each([
    ['npx tallyhouse start', true],
    ['npx --yes tallyhouse doctor', true],
    ['npm install -g tallyhouse', true],
    ['npm install ./tallyhouse-0.2.0.tgz', false],
    ['npm install --global tallyhouse-0.2.0.tgz', false],
    ['tallyhouse start', false],
    ['npx tsx tour.ts', false],
  ])('the text %j is found as a command that fetches the package: %s', (text, isFound) => {
    expect(BY_NAME.test(text)).toBe(isFound);
  });
});
