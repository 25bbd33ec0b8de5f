/**
 * The API reference as a page: the viewer in vendor/api-reference shows the OpenAPI document, and tries operations out
 * with the session of the console.
 *
 * Everything of the viewer that would call out is switched off, and the policy of the page lets it speak to this service
 * alone. Its file is unpacked by the build and read when it is asked for first.
 */
import type { Context, Hono } from 'hono';
import { Refusal } from '../../core/errors.ts';
import { type ConsoleFiles, fileAnswer } from './console-files.ts';
import { escapeHtml } from './escape-html.ts';
import type { Exchange } from './exchange.ts';

/** As vendor/api-reference/vendored.json has it. */
export const VIEWER = {
  version: '1.76.0',
  integrity: 'sha384-oH1C0RwqcwbVXkC+r8A+4qRoyEUQdtxAzOwumkxZtQBBcsy61FOoPt7B50OVJYYQ',
} as const;

const ASSETS = '/docs/assets';
/** The name changes with the file, so that browsers keep it. */
const VIEWER_FILE = `standalone-${VIEWER.version}.js`;

/**
 * The policy of the page. The viewer writes styles into elements; scripts are files of this service, and it connects to
 * this service only.
 */
export const REFERENCE_HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
};

/** Deterministic: the same document gives the same bytes. */
export function referencePage({
  title,
  version,
}: {
  readonly title: string;
  readonly version: string;
}): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="/console/icon.svg" type="image/svg+xml">
<title>${escapeHtml(`${title} ${version}`)}: API reference</title>
</head>
<body>
<main id="reference" aria-label="API reference"></main>
<noscript>The reference needs JavaScript. The same as a document: <a href="/openapi.json">openapi.json</a>, as text: <a href="/llms.txt">llms.txt</a>.</noscript>
<script src="${ASSETS}/${VIEWER_FILE}" integrity="${VIEWER.integrity}"></script>
<script src="${ASSETS}/start.js"></script>
</body>
</html>
`;
}

/** The viewer's own colours of soft texts and of methods are too pale on their grounds for WCAG's 4.5:1. */
const CONTRAST = [
  '.light-mode { --scalar-color-3: #5b6068; --scalar-color-green: #17693c; --scalar-color-blue: #2b4fc7;',
  '--scalar-color-orange: #8a4b00; --scalar-color-red: #a3271c; --scalar-color-yellow: #7a4d00; }',
  '.dark-mode { --scalar-color-3: #a2a9b2; }',
].join(' ');

/** No fonts, no measurements, no agents, no proxy, no client elsewhere; tokens that are tried out are kept nowhere. */
const START = `Scalar.createApiReference('#reference', {
  url: '/openapi.json',
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  persistAuth: false,
  documentDownloadType: 'direct',
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  defaultOpenFirstTag: true,
  operationTitleSource: 'summary',
  orderSchemaPropertiesBy: 'preserve',
  theme: 'none',
  customCss: ${JSON.stringify(CONTRAST)},
});
`;

/** Registers the files of the page on an app. `files`: the unpacked files of the build. */
export function registerReference(app: Hono, exchange: Exchange, files: () => Promise<ConsoleFiles>): void {
  const answer = async (context: Context) => {
    const name = context.req.path.slice(ASSETS.length + 1);
    if (name === 'start.js') {
      return {
        body: START,
        mediaType: 'text/javascript; charset=utf-8',
        headers: { 'cache-control': 'no-cache' },
      };
    }
    const all = await files();
    const path = `assets/${name}`;
    if (!all.has(path)) throw new Refusal('not_found', `The reference has no file ${name}`);
    return fileAnswer(context, all, path);
  };
  app.get(`${ASSETS}/*`, (context) => exchange(context, { path: ASSETS }, () => answer(context)));
}
