/**
 * Serves the built console: the files of `dist/console`, read into memory when the first page is asked for.
 *
 * Files with a hash in their name are kept by browsers without a limit. Everything else below `/console` that is no
 * file answers with the page itself, so that every address of the console can be opened and sent.
 */
import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import type { Context, Hono } from 'hono';
import { Refusal } from '../../core/errors.ts';
import type { Answer, Exchange } from './exchange.ts';

const BASE = '/console';
/** The placeholder of the build for the nonce of an answer. */
const NONCE_PLACE = '__CSP_NONCE__';

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  jpg: 'image/jpeg',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
  png: 'image/png',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
};

/** Pre-compressed forms that lie beside a file, the better one first. */
const ENCODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

type Bytes = Uint8Array<ArrayBuffer>;
/** By their names below the directory. */
export type ConsoleFiles = ReadonlyMap<string, Bytes>;

/** The built files of a directory, read once. */
export function consoleFiles(directory: string): () => Promise<ConsoleFiles> {
  let read: Promise<ConsoleFiles> | undefined;
  return () => {
    read ??= readFiles(directory);
    return read;
  };
}

/** Registers the console on an app, after its other routes. */
export function registerConsole(app: Hono, exchange: Exchange, files: () => Promise<ConsoleFiles>): void {
  const serve = (context: Context) =>
    exchange(context, { path: BASE }, async () => answerTo(context, await files()));
  app.get(`${BASE}/*`, serve);
}

async function readFiles(directory: string): Promise<ConsoleFiles> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => []);
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const read = paths.map(
    async (path) =>
      [
        relative(directory, path).replaceAll(sep, '/'),
        new Uint8Array(await readFile(path)) as Bytes,
      ] as const,
  );
  return new Map(await Promise.all(read));
}

function answerTo(context: Context, files: ConsoleFiles): Answer {
  const name = context.req.path.slice(BASE.length).replace(/^\/+/, '');
  if (files.has(name) && !name.endsWith('.html')) return fileAnswer(context, files, name);
  if (/\.\w+$/.test(name)) throw new Refusal('not_found', `The console has no file ${name}`);
  return htmlAnswer(files, 'index.html', "'none'");
}

/** A page of the build, with the nonce of this answer. `framedBy`: the sources that may show it in a frame. */
export function htmlAnswer(files: ConsoleFiles, name: string, framedBy: string): Answer {
  const page = files.get(name);
  if (page === undefined) throw new Refusal('not_found', 'The console is not built: npm run build');
  const nonce = randomBytes(16).toString('base64');
  return {
    body: new TextDecoder().decode(page).replaceAll(NONCE_PLACE, nonce),
    mediaType: mediaTypeOf(name),
    headers: { 'content-security-policy': policyOfPages(`'self' 'nonce-${nonce}'`, framedBy) },
  };
}

/** Scripts are files of the service. A nonce is for style sheets that an editor makes. */
export function policyOfPages(styles: string, framedBy: string): string {
  return [
    "default-src 'self'",
    "script-src 'self'",
    `style-src ${styles}`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    `frame-ancestors ${framedBy}`,
  ].join('; ');
}

/** A file as it was built, in the best form that the browser takes. */
export function fileAnswer(context: Context, files: ConsoleFiles, name: string): Answer {
  const accepted = context.req.header('accept-encoding') ?? '';
  const encoding = ENCODINGS.find(
    ([coding, suffix]) => new RegExp(`\\b${coding}\\b`).test(accepted) && files.has(name + suffix),
  );
  const bytes = files.get(encoding === undefined ? name : name + encoding[1]);
  return {
    body: bytes ?? null,
    mediaType: mediaTypeOf(name),
    headers: {
      'cache-control': name.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
      vary: 'accept-encoding',
      ...(encoding === undefined ? {} : { 'content-encoding': encoding[0] }),
    },
  };
}

export function mediaTypeOf(name: string): string {
  return MEDIA_TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
}
