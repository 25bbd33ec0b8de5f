/** Links between the pages of the documentation, and from the sources to them. */
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, normalize, relative } from 'node:path';
import { expect, it } from 'vitest';
import { SIDEBAR } from '../../docs/.vitepress/navigation.ts';

const ROOT = join(import.meta.dirname, '../..');

async function filesBelow(folder: string, name: RegExp): Promise<string[]> {
  const entries = await readdir(join(ROOT, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && name.test(entry.name))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)));
}

const topPages = (await readdir(ROOT)).filter((name) => name.endsWith('.md'));
const pages = [
  ...topPages,
  ...(await filesBelow('docs', /\.md$/)),
  ...(await filesBelow('src', /\.md$/)),
  ...(await filesBelow('clients', /\.md$/)),
  ...(await filesBelow('deploy', /\.md$/)),
  ...(await filesBelow('examples', /\.md$/)),
];
const texts = new Map(
  await Promise.all(pages.map(async (page) => [page, await readFile(join(ROOT, page), 'utf8')] as const)),
);

/** Code has no links. */
const withoutCode = (text: string) =>
  text.replaceAll(/^```[\s\S]*?^```/gm, '').replaceAll(/`[^`\n]*`/g, 'code');

/** As GitHub names the anchor of a heading. */
function anchorOf(heading: string): string {
  const text = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/[`*]/g, '');
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');
}

function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of text.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/^#{1,6} (.+)$/gm)) {
    let anchor = anchorOf(heading);
    for (let count = 1; anchors.has(anchor); count += 1) anchor = `${anchorOf(heading)}-${count}`;
    anchors.add(anchor);
  }
  return anchors;
}

const everyFile = new Set(
  (
    await Promise.all(
      [
        'bench',
        'catalogue',
        'clients',
        'clickhouse',
        'console',
        'deploy',
        'docs',
        'drizzle',
        'examples',
        'scripts',
        'src',
        'test',
      ].map((folder) => filesBelow(folder, /./)),
    )
  )
    .flat()
    .concat(await readdir(ROOT)),
);
const exists = (path: string) =>
  everyFile.has(path) || path === '' || [...everyFile].some((file) => file.startsWith(`${path}/`));

/** The fault of a link to `target`, or null. */
function problemOf(page: string, target: string): string | null {
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? page : normalize(join(dirname(page), path)).replace(/\/$/, '');
  if (!exists(file)) return `${page}: there is no ${file}`;
  const text = texts.get(file);
  if (anchor === undefined || text === undefined || anchorsOf(text).has(anchor)) return null;
  return `${page}: ${file} has no heading #${anchor}`;
}

it('every link of a page leads to a file that is there, and to a heading that it has', () => {
  const problems: string[] = [];
  let links = 0;
  for (const [page, text] of texts) {
    for (const [, target = ''] of withoutCode(text).matchAll(/\]\(([^()\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue;
      links += 1;
      const problem = problemOf(page, target);
      if (problem !== null) problems.push(problem);
    }
  }
  expect(links).toBeGreaterThan(200);
  expect(problems).toEqual([]);
});

it('docs/index.md links every page once, and so does the navigation of the guide', () => {
  const listed = [...(texts.get('docs/index.md') ?? '').matchAll(/\]\(([^()\s]+)\)/g)].map(
    ([, to]) => `docs/${to}`,
  );
  const inDocs = pages.filter((page) => page.startsWith('docs/') && page !== 'docs/index.md');
  expect(listed.sort()).toEqual(inDocs.sort());
  const linksOf = (items: typeof SIDEBAR): string[] =>
    items.flatMap(({ link, items: below = [] }) => [
      ...(link === undefined ? [] : [link]),
      ...linksOf(below),
    ]);
  expect(
    linksOf(SIDEBAR)
      .map((link) => `docs${link}.md`)
      .sort(),
  ).toEqual(listed);
});

it('every page of docs/ but the index is in a folder of its kind', () => {
  const folders = pages.filter((page) => page.startsWith('docs/')).map((page) => dirname(page).split('/')[1]);
  expect([...new Set(folders)].sort()).toEqual([
    'explanation',
    'how-to',
    'notes',
    'reference',
    'tutorials',
    undefined,
  ]);
});

it('every file or folder of src/ that a page of docs/ names as code is there', () => {
  const layers = new Set(
    [...everyFile].flatMap((file) => (file.startsWith('src/') ? [file.split('/')[1]] : [])),
  );
  const missing: string[] = [];
  let named = 0;
  for (const [page, text] of texts) {
    if (!page.startsWith('docs/')) continue;
    for (const [, name = ''] of text.matchAll(/`(?:src\/)?((?:[\w-]+\/)+[\w.-]*)`/g)) {
      if (!layers.has(name.split('/')[0])) continue;
      named += 1;
      const path = `src/${name.replace(/\/$/, '')}`;
      if (!exists(path) && !exists(`${path}.ts`)) missing.push(`${page}: ${name}`);
    }
  }
  expect(named).toBeGreaterThan(100);
  expect(missing).toEqual([]);
});

it('every page that a source or a message names is there, with its heading', async () => {
  const problems: string[] = [];
  let named = 0;
  const sources = (
    await Promise.all(
      ['src', 'test', 'scripts', 'bench', 'deploy', 'drizzle', 'clickhouse'].map((folder) =>
        filesBelow(folder, /\.(?:ts|mjs|sql|yml|yaml|service)$/),
      ),
    )
  ).flat();
  for (const source of sources) {
    for (const [link] of (await readFile(join(ROOT, source), 'utf8')).matchAll(
      /\bdocs\/(?:[\w-]+\/)*[\w-]+\.md(?:#[\w-]+)?/g,
    )) {
      named += 1;
      const problem = problemOf('README.md', link);
      if (problem === null) continue;
      problems.push(problem.replace('README.md', source));
    }
  }
  expect(named).toBeGreaterThan(50);
  expect(problems).toEqual([]);
});
