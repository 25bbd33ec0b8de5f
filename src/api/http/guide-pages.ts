/**
 * Serves the guide: the pages that `npm run guide` builds from docs/. They are files, and have the policy of the
 * console. If the guide is not built, the answer explains how; nothing else of the service needs it.
 */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Context, Hono } from 'hono';
import { type ConsoleFiles, mediaTypeOf, policyOfPages } from './console-files.ts';
import type { Answer, Exchange } from './exchange.ts';

const BASE = '/guide';
const POLICY = { 'content-security-policy': policyOfPages("'self'", "'none'") };
const NOT_BUILT = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>The guide is not built</title></head>
<body><main><h1>The guide is not built</h1>
<p>In a checkout <code>npm run guide</code> builds it from <code>docs/</code>; then start the service again.</p>
<p><a href="/docs">API reference</a> · <a href="/console">Console</a></p></main></body></html>
`;
/** Smaller files gain nothing by compression. */
const COMPRESSED_BYTES_MIN = 1_000;

type Bytes = Uint8Array<ArrayBuffer>;

/** Registers the guide on an app. `files`: the built files, by their names below `/guide`. */
export function registerGuide(app: Hono, exchange: Exchange, files: () => Promise<ConsoleFiles>): void {
  const compressed = new Map<string, Promise<Bytes>>();
  const serve = (context: Context) =>
    exchange(context, { path: BASE }, async () => answerTo(context, await files(), compressed));
  app.get(BASE, serve);
  app.get(`${BASE}/*`, serve);
}

async function answerTo(
  context: Context,
  files: ConsoleFiles,
  compressed: Map<string, Promise<Bytes>>,
): Promise<Answer> {
  const found = fileNameOf(context.req.path, files);
  const name = found ?? '404.html';
  const bytes = files.get(name);
  if (bytes === undefined) {
    return { status: 404, body: NOT_BUILT, mediaType: mediaTypeOf('.html'), headers: POLICY };
  }
  const isCompressed = takesGzip(context) && isText(name) && bytes.length >= COMPRESSED_BYTES_MIN;
  if (isCompressed && !compressed.has(name)) compressed.set(name, gzipped(bytes));
  return {
    status: found === null ? 404 : 200,
    body: (isCompressed ? await compressed.get(name) : bytes) ?? null,
    mediaType: mediaTypeOf(name),
    headers: {
      // Files with a hash in their names never change.
      'cache-control': name.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
      vary: 'accept-encoding',
      ...(isCompressed ? { 'content-encoding': 'gzip' } : {}),
      ...(name.endsWith('.html') ? POLICY : {}),
    },
  };
}

/** The file of an address: pages have no ending in theirs. Null where there is none. */
function fileNameOf(path: string, files: ConsoleFiles): string | null {
  const name = path.slice(BASE.length).replaceAll(/^\/+|\/+$/g, '');
  const candidates = name === '' ? ['index.html'] : [name, `${name}.html`];
  return candidates.find((each) => files.has(each)) ?? null;
}

function takesGzip(context: Context): boolean {
  return /\bgzip\b/.test(context.req.header('accept-encoding') ?? '');
}

function isText(name: string): boolean {
  return /\.(?:css|html|js|json|svg)$/.test(name);
}

async function gzipped(bytes: Bytes): Promise<Bytes> {
  return new Uint8Array(await promisify(gzip)(bytes));
}
