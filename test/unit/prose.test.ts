/** `npm run prose`: the words of docs/reference/glossary.md in pages, comments, texts and names of tests. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { type Place, wordsInTree } from '../../scripts/prose/find-in-tree.ts';
import { countsOf, loweredCounts, risesOf } from '../../scripts/prose/old-places.ts';
import { PACKAGE_ROOT } from '../../src/core/package-root.ts';

const glossary = await readFile(join(PACKAGE_ROOT, 'docs/reference/glossary.md'), 'utf8');
const root = await mkdtemp(join(tmpdir(), 'prose-'));
afterAll(() => rm(root, { recursive: true, force: true }));

async function wordsIn(path: string, text: string): Promise<Place[]> {
  for (const [name, content] of [
    ['docs/reference/glossary.md', glossary],
    [path, text],
  ] as const) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), content);
  }
  return wordsInTree(root, [path]);
}

const linesOf = async (path: string, text: string): Promise<number[]> =>
  (await wordsIn(path, text)).map(({ line }) => line);

const PLANTED: [place: string, path: string, text: string, lines: number[]][] = [
  ['a page', 'docs/explanation/rating.md', '# Page\n\nThe customer is told of it.\n', [3]],
  [
    'a sentence of a page that begins with Of',
    'docs/explanation/rating.md',
    'One. Of the two the first counts.\n',
    [1],
  ],
  ['a text that begins with Whoever', 'src/api/x.ts', "const text = 'Whoever asks must wait';\n", [1]],
  ['a table of a page', 'docs/explanation/rating.md', '| a | b |\n|---|---|\n| x | goes on |\n', [3]],
  ['the README', 'README.md', 'It has a folder of its own.\n', [1]],
  ['the changelog', 'CHANGELOG.md', '## [Unreleased]\n- Rows are made once.\n', [2]],
  ['a line comment', 'src/billing/x.ts', 'const a = 1;\n// The row behind it.\nconst b = a;\n', [2]],
  ['a block comment', 'src/x.ts', '/**\n * First.\n *\n * The row that comes late.\n */\nexport {};\n', [4]],
  ['a phrase over two lines of a comment', 'src/x.ts', '// It has a folder of its\n// own.\n', [1]],
  ['a comment after code', 'console/src/x.tsx', 'const a = <b>x</b>; // made late\n', [1]],
  ['the text of an error', 'src/x.ts', "\nthrow new Error('The owner is told of it');\n", [2]],
  [
    'a part of a template',
    'src/x.ts',
    ['const t = (n: number) => `Row $', '{n} is made of rows`;\n'].join(''),
    [1],
  ],
  ['a text in JSX', 'console/src/x.tsx', '\nconst a = <p>The price sheet of now</p>;\n', [2]],
  ['the name of a test', 'test/unit/x.test.ts', "\nit('a late row comes again', () => {});\n", [2]],
  ['the name of a table of tests', 'test/x.test.ts', "it.each([1])('row %s is told', () => {});\n", [1]],
  ['the name of a group of tests', 'test/x.test.ts', "describe('rows made late', () => {});\n", [1]],
  ['a comment that begins with What', 'src/x.ts', '/** What is left of it. */\nexport {};\n', [1]],
  ['a comment that begins with Of', 'src/x.ts', '/** Of subscriptions. */\nexport {};\n', [1]],
  ['a later sentence that begins with Of', 'src/x.ts', '// A row. Of others none.\n', [1]],
  ['a later sentence of a comment', 'src/x.ts', '// A row. What is left stays.\n', [1]],
];

it.each(PLANTED)('a word that the glossary replaces is found in %s', async (_place, path, text, lines) => {
  expect(await linesOf(path, text)).toEqual(lines);
});

const WITHOUT_SUBJECT: [kind: string, content: string, lines: number[]][] = [
  ['begins with a verb', "describe('a row', () => {\n  it('is stored', () => {});\n});\n", [2]],
  [
    'begins with a conjunction',
    "describe('a row', () => {\n  test('that is late, is stored', () => {});\n});\n",
    [2],
  ],
  ['begins with a verb in a table', "\nit.each([1])('has %s', () => {});\n", [2]],
  ['begins with a verb in a template', 'const n = 1;\nit(`keeps rows`, () => n);\n', [2]],
];

it.each(WITHOUT_SUBJECT)('a name of a test that %s is refused', async (_kind, content, lines) => {
  expect(await linesOf('test/unit/x.test.ts', content)).toEqual(lines);
});

const ALLOWED: [text: string, path: string, content: string][] = [
  ['code in a page', 'docs/explanation/rating.md', 'The file `made.ts`.\n\n```sh\n# told\n```\n'],
  [
    'an exception of the list',
    'docs/explanation/rating.md',
    'The service stands behind a reverse proxy; the total comes from lines.\n',
  ],
  ['a part of a longer word', 'docs/explanation/rating.md', 'Its income, a made-up name, the hindbehind.\n'],
  ['a name of the code', 'src/x.ts', 'export const made = { told: 1, behind: 2 };\n'],
  ['a short text, which is a key', 'src/x.ts', "export const key = 'made';\n"],
  ['a question in a comment', 'src/x.ts', '// What does it cost?\n'],
  [
    'a name of a test that begins with its subject',
    'test/x.test.ts',
    "describe('is a row', () => it('a row is stored', () => {}));\n",
  ],
  [
    'a text of a test that is no name',
    'test/x.test.ts',
    "it('a row is stored', () => expect('it is made so').toBe(1));\n",
  ],
];

it.each(ALLOWED)('the prose check lets %s through', async (_text, path, content) => {
  expect(await wordsIn(path, content)).toEqual([]);
});

it('old places of a folder may become fewer and never more', async () => {
  const places = await wordsIn('src/billing/x.ts', '// made\n\n// told\n');
  const counts = countsOf([...places, ...(await wordsIn('docs/explanation/rating.md', 'told\n'))]);
  expect(counts).toEqual({ 'docs/explanation': 1, 'src/billing': 2 });
  expect(risesOf(counts, { 'docs/explanation': 1, 'src/billing': 2 })).toEqual([]);
  expect(risesOf(counts, { 'docs/explanation': 3, 'src/billing': 1 })).toEqual([
    { folder: 'src/billing', count: 2, allowed: 1 },
  ]);
  expect(risesOf(counts, { 'src/billing': 2 })).toEqual([
    { folder: 'docs/explanation', count: 1, allowed: 0 },
  ]);
  expect(loweredCounts(counts, { 'docs/explanation': 3, 'src/billing': 1, 'src/core': 4 })).toEqual({
    'docs/explanation': 1,
    'src/billing': 1,
  });
});

it('the glossary has at least 40 terms, each with a meaning and a link to its page of rules', () => {
  const terms = [...glossary.matchAll(/^\| (?!term |not |`|-)([^|]+) \| ([^|]+) \|/gm)];
  expect(terms.length).toBeGreaterThanOrEqual(40);
  for (const [, term, meaning] of terms)
    expect([term, meaning]).toEqual([term, expect.stringMatching(/\]\(.+\.md/)]);
});
