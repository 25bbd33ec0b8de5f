/**
 * The guide: the pages of docs/ as a site, which the service shows at /guide. It asks nobody else for anything: system
 * fonts, a local index of search, and no inline script or style, so that its pages have the strict policy of the console
 * (`scripts/guide.mjs` moves the scripts of the generator into files).
 */
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { defineConfig } from 'vitepress';
import { anchorOf } from './anchors.ts';
import { bundledPackagesPlugin } from './bundled.ts';
import { classesForStyles } from './code-classes.ts';
import { linksOfCheckout } from './links.ts';
import { NAVIGATION, SIDEBAR } from './navigation.ts';

const BASE = '/guide/';
const codeClasses = classesForStyles();

/** Pages of reference that are tables of names and meanings. */
const FACTS = new Set(['operations', 'configuration', 'metrics', 'warnings', 'errors', 'webhooks']);

export default defineConfig({
  title: 'tallyhouse',
  titleTemplate: ':title · tallyhouse',
  description: 'Usage events in, exact invoices out.',
  lang: 'en',
  base: BASE,
  cleanUrls: true,
  outDir: process.env.GUIDE_OUT ?? '../guide/site',
  cacheDir: process.env.GUIDE_CACHE ?? '../node_modules/.cache/guide',
  metaChunk: true,
  // To switch without a transition it would add a style to the page.
  appearance: { disableTransition: false },
  head: [
    ['link', { rel: 'icon', href: '/console/icon.svg', type: 'image/svg+xml' }],
    ['link', { rel: 'stylesheet', href: `${BASE}code.css` }],
    ['meta', { name: 'color-scheme', content: 'light dark' }],
  ],
  markdown: {
    // The others are too pale on their ground for WCAG's 4.5:1.
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    anchor: { slugify: anchorOf },
    toc: { slugify: anchorOf },
    codeTransformers: [codeClasses.transformer],
    // Pages are for GitHub as well, where a table is a table and nothing of Vue is known.
    attrs: { disable: true },
    config: (md) => {
      linksOfCheckout(md);
      codeClasses.alignCells(md);
    },
  },
  vite: { plugins: [bundledPackagesPlugin()], build: { chunkSizeWarningLimit: 4_000 } },
  buildEnd: ({ outDir }) => writeFileSync(join(outDir, 'code.css'), codeClasses.css()),
  // Tables of names and meanings have the room of the outline. GitHub would show such settings in the page.
  transformPageData: ({ relativePath, frontmatter }) => {
    const name = basename(relativePath, '.md');
    if (!relativePath.startsWith('reference/') || !FACTS.has(name)) return;
    Object.assign(frontmatter, { aside: name === 'operations', pageClass: `facts ${name}` });
  },
  themeConfig: {
    nav: [...NAVIGATION, { text: process.env.GUIDE_VERSION ?? 'Changes', link: '/reference/changelog' }],
    sidebar: SIDEBAR,
    outline: { level: [2, 3], label: 'On this page' },
    search: { provider: 'local', options: { detailedView: true } },
    docFooter: { prev: 'Before', next: 'Next' },
    externalLinkIcon: true,
  },
});
