/**
 * Checks the words of pages, comments, texts and names of tests against docs/reference/glossary.md.
 *
 *     npm run prose              fails when a folder has more of the words than scripts/prose/old-places.json allows
 *     npm run prose -- PATH …    lists every place in these files and folders
 *     npm run prose -- --write   lowers the counts of old-places.json to what is left
 */
import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Place, wordsInTree } from './prose/find-in-tree.ts';
import { type Counts, countsOf, folderOf, loweredCounts, risesOf } from './prose/old-places.ts';

const root = join(import.meta.dirname, '..');
const oldPlaces = join(root, 'scripts/prose/old-places.json');

const { values, positionals } = parseArgs({
  options: { write: { type: 'boolean', default: false } },
  allowPositionals: true,
});

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const list = (places: readonly Place[]): void => {
  for (const { path, line, message } of places) say(`${path}:${line} ${message}`);
};

const tracked = execFileSync(
  'git',
  ['ls-files', '-co', '--exclude-standard', '--deduplicate', '--', ...positionals],
  {
    cwd: root,
    encoding: 'utf8',
  },
);
const places = await wordsInTree(root, tracked.split('\n').filter(Boolean));

if (positionals.length > 0) list(places);
else {
  const allowed: Counts = JSON.parse(await readFile(oldPlaces, 'utf8'));
  const counts = countsOf(places);
  if (values.write) {
    await writeFile(oldPlaces, `${JSON.stringify(loweredCounts(counts, allowed), null, 2)}\n`);
  }
  const rises = risesOf(counts, allowed);
  for (const { folder, count, allowed: most } of rises) {
    list(places.filter(({ path }) => folderOf(path) === folder));
    say(
      `${folder}: ${count} places with words that docs/reference/glossary.md replaces; ${most} are allowed.`,
    );
  }
  process.exitCode = rises.length > 0 ? 1 : 0;
}
