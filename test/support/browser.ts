/** A real browser for tests: Debian's Chromium, driven by playwright-core. Where there is none, tests say so. */
import { existsSync } from 'node:fs';
import axe from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Nothing but the page itself: no updates, no sync, no first-run pages. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** The path of a Chromium; null where none is installed. */
function findChromium(): string | null {
  return PLACES.find((path) => existsSync(path)) ?? null;
}

/** For `describe.skipIf`: says once why nothing runs. */
export function isBrowserMissing(): boolean {
  const isMissing = findChromium() === null;
  if (isMissing) process.stderr.write('no Chromium is installed (apt-get install chromium): skipped\n');
  return isMissing;
}

/** `flags` are added to those of every browser of the tests. */
export async function launchBrowser(flags: readonly string[] = []): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === null) throw new Error('no Chromium is installed');
  return await chromium.launch({ executablePath, args: [...FLAGS, ...flags] });
}

export const DESKTOP: BrowserContextOptions = { viewport: { width: 1280, height: 860 } };
export const PHONE: BrowserContextOptions = {
  viewport: { width: 390, height: 844 },
  hasTouch: true,
  isMobile: true,
};

interface Violation {
  readonly id: string;
  readonly impact?: string | null;
  readonly nodes: readonly { readonly html: string }[];
}

/** The serious and critical findings of axe, a line each. The page's policy does not stop this script. */
export async function seriousFaults(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const violations = (await page.evaluate('axe.run().then((found) => found.violations)')) as Violation[];
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
}
