/**
 * Serves the page of a signed dashboard address: a small page of the console's build, which other sites may show in
 * frames if the operator names them (docs/how-to/dashboards.md).
 */
import type { Context, Hono } from 'hono';
import type { DashboardLinks } from '../../access/dashboard-links.ts';
import { Refusal } from '../../core/errors.ts';
import { type ConsoleFiles, htmlAnswer } from './console-files.ts';
import { escapeHtml } from './escape-html.ts';
import type { Answer, Exchange } from './exchange.ts';

const PAGE = 'dashboard.html';

export interface DashboardPages {
  readonly links: DashboardLinks;
  /** Origins whose pages may show dashboards in frames. */
  readonly origins: readonly string[];
}

/** Registers the pages on an app, after its other routes. */
export function registerDashboards(
  app: Hono,
  exchange: Exchange,
  files: () => Promise<ConsoleFiles>,
  { links, origins }: DashboardPages,
): void {
  const framedBy = origins.length === 0 ? "'none'" : origins.join(' ');
  app.get('/dashboards/:text', (context) =>
    exchange(context, { path: '/dashboards/{text}' }, async () => {
      const answer = await pageOf(context, links, files, framedBy);
      return { ...answer, isFramed: origins.length > 0 };
    }),
  );
}

async function pageOf(
  context: Context,
  links: DashboardLinks,
  files: () => Promise<ConsoleFiles>,
  framedBy: string,
): Promise<Answer> {
  try {
    await links.open(context.req.param('text') ?? '');
  } catch (error) {
    if (error instanceof Refusal && error.kind === 'forbidden') return refusedPage(error.message, framedBy);
    throw error;
  }
  return htmlAnswer(await files(), PAGE, framedBy);
}

/** A person sees why there is nothing, also in a frame. */
function refusedPage(message: string, framedBy: string): Answer {
  return {
    status: 403,
    mediaType: 'text/html; charset=utf-8',
    headers: {
      'content-security-policy': `default-src 'none'; base-uri 'none'; frame-ancestors ${framedBy}`,
    },
    body: [
      '<!doctype html><html lang="en"><head><meta charset="utf-8">',
      '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light">',
      `<title>Dashboard</title></head><body><main><p>${escapeHtml(message)}.</p></main></body></html>`,
    ].join(''),
  };
}
