/**
 * The navigation of the guide, read from docs/index.md: a heading for each kind of page (lessons, tasks, facts to look up,
 * explanations), headings below it for groups that fold, and a list of pages. A test finds pages that are not listed.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

interface Entry {
  text: string;
  link?: string;
  collapsed?: boolean;
  items?: Entry[];
}

const HEADING = /^(##|###) (.+)$/;
const LINK = /^- \[([^\]]+)\]\(([^()\s]+)\.md\)$/;

function readSidebar(page: string): Entry[] {
  const kinds: Entry[] = [];
  let list: Entry[] = [];
  for (const line of page.split('\n')) {
    const [, level, heading] = HEADING.exec(line) ?? [];
    const [, text, path] = LINK.exec(line) ?? [];
    if (heading !== undefined) {
      list = [];
      const isKind = level === '##';
      const entry = { text: heading, items: list, ...(isKind ? {} : { collapsed: true }) };
      (isKind ? kinds : (kinds.at(-1)?.items ?? [])).push(entry);
    } else if (text !== undefined) list.push({ text, link: `/${path}` });
  }
  return kinds;
}

export const SIDEBAR = readSidebar(
  readFileSync(fileURLToPath(new URL('../index.md', import.meta.url)), 'utf8'),
);

export const NAVIGATION = [
  { text: 'Tutorials', link: '/tutorials/first-invoice', activeMatch: '/tutorials/' },
  { text: 'How-to', link: '/how-to/engineers', activeMatch: '/how-to/' },
  { text: 'Reference', link: '/reference/operations', activeMatch: '/reference/' },
  { text: 'Explanation', link: '/explanation/rating', activeMatch: '/explanation/' },
];
