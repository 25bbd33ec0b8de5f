/**
 * The guide as the service shows it: whole, by itself, under a strict policy, with its search, on every screen.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { DESKTOP, isBrowserMissing, launchBrowser, PHONE, seriousFaults } from '../support/browser.ts';
import { runCommand } from '../support/child-process.ts';
import { serviceForFile } from '../support/file-fixtures.ts';

const ROOT = join(import.meta.dirname, '../..');
/**
 * Faults of the generator's theme: its button of search shows a key beside its name, and its groups that fold have an
 * arrow.
 */
const FAULTS_OF_THE_THEME = /^(?:label-content-name-mismatch|nested-interactive):/;
const service = await serviceForFile();

beforeAll(async () => {
  const build = runCommand('node', [join(ROOT, 'scripts/guide.mjs'), '--if-needed'], {}, ROOT);
  expect([await build.ended, build.stderr()]).toEqual([0, '']);
});

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(service.url + path, { headers, redirect: 'manual' });

/** The addresses of all pages of docs/. */
async function pages(): Promise<string[]> {
  const entries = await readdir(join(ROOT, 'docs'), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
    .map((entry) => relative(join(ROOT, 'docs'), join(entry.parentPath, entry.name)).replace(/\.md$/, ''))
    .filter((page) => page !== 'index')
    .sort();
}

it('every page, file and heading that a page leads to is there', async () => {
  const texts = new Map<string, string>();
  for (const page of ['/guide', ...(await pages()).map((each) => `/guide/${each}`)]) {
    const answer = await get(page);
    expect([page, answer.status]).toEqual([page, 200]);
    texts.set(page, await answer.text());
  }
  const faults: string[] = [];
  const checked = new Map<string, number>();
  let links = 0;
  for (const [page, text] of texts) {
    for (const [, target = ''] of text.matchAll(/\s(?:href|src)="([^"]+)"/g)) {
      links += 1;
      if (/^https?:/.test(target)) continue;
      const [path = '', anchor] = new URL(target, `http://x${page}`).href.slice('http://x'.length).split('#');
      if (!checked.has(path)) checked.set(path, (await get(path)).status);
      if (checked.get(path) !== 200) faults.push(`${page}: ${path} answers ${checked.get(path)}`);
      const there = texts.get(path.replace(/\/$/, ''));
      if (anchor && there !== undefined && !there.includes(`id="${decodeURIComponent(anchor)}"`)) {
        faults.push(`${page}: ${path} has no heading #${anchor}`);
      }
    }
  }
  expect(links).toBeGreaterThan(2_000);
  expect(faults).toEqual([]);
});

it('pages have the policy of the console, no script or style in themselves, and files their types', async () => {
  const answer = await get('/guide/explanation/rating', { 'accept-encoding': 'gzip' });
  const policy = answer.headers.get('content-security-policy') ?? '';
  const ofConsole = (await get('/console')).headers.get('content-security-policy') ?? '';
  expect(policy).toBe(ofConsole.replace(/ 'nonce-[^']+'/, ''));
  expect(answer.headers.get('content-encoding')).toBe('gzip');
  const text = await answer.text();
  expect(text).not.toMatch(/<script(?![^>]*\ssrc=)|<style| style="|\son\w+="/);
  const files = [...text.matchAll(/="(\/guide\/[^"]+\.(?:js|css))"/g)].map(([, file = '']) => file);
  expect(files.length).toBeGreaterThan(3);
  for (const file of files) {
    const { headers } = await get(file);
    const type = file.endsWith('.js') ? 'text/javascript' : 'text/css';
    expect([file, headers.get('content-type')]).toEqual([file, `${type}; charset=utf-8`]);
    const keeps = file.startsWith('/guide/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache';
    expect([file, headers.get('cache-control')]).toEqual([file, keeps]);
  }
});

it('an address without a page answers 404 with a page that leads on', async () => {
  const answer = await get('/guide/no-such-page');
  expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
  expect(await answer.text()).toContain('/guide/assets/');
});

it('a refused request names the page that explains it', async () => {
  const refused = await get('/v1/customers/not-an-id');
  const [, page = ''] = /^<(\/guide[^>]*)>; rel="help"$/.exec(refused.headers.get('link') ?? '') ?? [];
  expect([refused.status, (await get(page)).status]).toEqual([401, 200]);
});

it('the files ask nobody else, and the index of search is one of them', async () => {
  const folder = join(ROOT, 'guide/site');
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  expect(files.some((file) => /localSearchIndex.*\.js$/.test(file))).toBe(true);
  for (const file of files.filter((each) => each.endsWith('.css'))) {
    expect([file, (await readFile(file, 'utf8')).match(/url\((?!["']?data:)[^)]*\)|@import/g)]).toEqual([
      file,
      null,
    ]);
  }
});

describe.skipIf(isBrowserMissing())('the guide in a browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  async function open(path: string, options: BrowserContextOptions) {
    const context = await browser.newContext(options);
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const errors: string[] = [];
    const asked: string[] = [];
    page.on('pageerror', ({ message }) => errors.push(message));
    page.on('console', (message) => {
      if (message.type() === 'error') errors.push(message.text());
    });
    page.on('request', (request) => asked.push(request.url()));
    await page.goto(service.url + path);
    await page.waitForLoadState('networkidle');
    return { page, errors, asked };
  }
  const elsewhere = (asked: readonly string[]) =>
    asked.filter((url) => !url.startsWith(service.url) && !url.startsWith('data:'));

  it.each([
    ['light', DESKTOP, '/guide'],
    ['dark', PHONE, '/guide'],
    ['dark', DESKTOP, '/guide/reference/configuration'],
    ['light', PHONE, '/guide/tutorials/first-invoice'],
  ] as const)(
    'the guide in a browser is shown without an error, a request to elsewhere or a fault of access (%s, %#)',
    async (scheme, size, path) => {
      const { page, errors, asked } = await open(path, { ...size, colorScheme: scheme });
      const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
      expect(await page.evaluate(overflow)).toBeLessThanOrEqual(0);
      expect(await page.evaluate('document.documentElement.classList.contains("dark")')).toBe(
        scheme === 'dark',
      );
      expect(elsewhere(asked)).toEqual([]);
      expect(errors).toEqual([]);
      const faults = await seriousFaults(page);
      expect(faults.filter((fault) => !FAULTS_OF_THE_THEME.test(fault))).toEqual([]);
    },
  );

  it('the guide in a browser finds a page by its words, with the keyboard alone', async () => {
    const { page, errors, asked } = await open('/guide', DESKTOP);
    await page.keyboard.press('/');
    await page.getByRole('searchbox').fill('true-up shortfall');
    await page.getByRole('option').first().waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/guide\/[a-z/-]+(?:#.*)?$/);
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(await page.getByRole('main').or(page.locator('.vp-doc')).first().textContent()).toMatch(
      /true-up/i,
    );
    expect([elsewhere(asked), errors]).toEqual([[], []]);
  });
});
