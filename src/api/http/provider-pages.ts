/**
 * Pages of the sign-in at an identity provider: the way there, the way back, what a refused person sees, and the
 * provider's message that somebody has signed out there.
 *
 * Does not own: attempts and sessions (`access/provider-sign-in.ts`).
 */
import type { Context, Hono } from 'hono';
import type { ConsoleSessions } from '../../access/console-sessions.ts';
import { NO_ROLE, newBrowserText, type ProviderSignIn } from '../../access/provider-sign-in.ts';
import type { SignInLog } from '../../access/sign-in-log.ts';
import type { Clock } from '../../core/clock.ts';
import { invalid, Refusal } from '../../core/errors.ts';
import { statusOf } from './errors.ts';
import { escapeHtml } from './escape-html.ts';
import type { Answer, Exchange } from './exchange.ts';
import { type BodyLimits, readBody } from './request-body.ts';
import type { RequestContext } from './route.ts';
import { providerBrowserText, providerCookie, sessionCookie, sessionText } from './session.ts';
import { siteOf, visitOf } from './visit.ts';

const BASE = '/console/oidc';
const HTML = 'text/html; charset=utf-8';
/** More administrators than somebody asks. */
const ADMINS_SHOWN_MAX = 5;

export interface ProviderPages {
  readonly signIn: ProviderSignIn;
  readonly sessions: ConsoleSessions;
  readonly signIns: SignInLog;
  readonly clock: Clock;
  readonly publicUrl: string | null;
}

interface Parts {
  readonly exchange: Exchange;
  readonly bodies: BodyLimits;
  /** Refuses changes while they are not allowed; returns the function that ends one. */
  enter(): () => void;
  readonly pages: ProviderPages;
}

/** Registers the pages on an app, before those of the console. */
export function registerProviderPages(app: Hono, parts: Parts): void {
  const { exchange, bodies, enter, pages } = parts;
  const serve = (path: string, work: (context: Context, request: RequestContext) => Promise<Answer>) => {
    return (context: Context) =>
      exchange(context, { path: BASE + path, scope: 'public' }, async (request) => {
        const leave = enter();
        try {
          return await work(context, request);
        } finally {
          leave();
        }
      });
  };
  app.get(
    `${BASE}/login`,
    serve('/login', (context) => orPage(pages, () => toProvider(pages, context))),
  );
  app.get(
    `${BASE}/callback`,
    serve('/callback', (context, request) => orPage(pages, () => fromProvider(pages, context, request))),
  );
  app.post(
    `${BASE}/logout`,
    serve('/logout', (context) => readMessage(pages, bodies, context)),
  );
}

async function toProvider({ signIn, publicUrl }: ProviderPages, context: Context): Promise<Answer> {
  const browser = providerBrowserText(context) ?? newBrowserText();
  const given = { browser, to: context.req.query('to') ?? '' };
  const location = await signIn.begin(given, siteOf(context, publicUrl));
  return movedTo(location, providerCookie(context, browser));
}

async function fromProvider(
  { signIn, sessions, signIns, clock, publicUrl }: ProviderPages,
  context: Context,
  request: RequestContext,
): Promise<Answer> {
  const visit = visitOf(context, request, publicUrl);
  const given = {
    browser: providerBrowserText(context),
    answer: new URL(context.req.url).searchParams,
  };
  const begun = await signIns.during('signIn', visit, () =>
    signIn.complete(given, siteOf(context, publicUrl), visit),
  );
  const former = sessionText(context);
  if (former !== null) await sessions.signOut(former);
  return movedTo(begun.to, sessionCookie(context, begun.text, begun.expiresAt - clock.now()));
}

function movedTo(location: string, cookie: string): Answer {
  return { status: 303, body: null, mediaType: HTML, headers: { location, 'set-cookie': cookie } };
}

const EMPTY: Answer = { body: null, mediaType: HTML };

/** Back-channel logout of OpenID Connect: a form with the signed message. */
async function readMessage({ signIn }: ProviderPages, bodies: BodyLimits, context: Context): Promise<Answer> {
  const { bytes, release } = await readBody(context, bodies);
  try {
    const message = new URLSearchParams(bytes.toString('utf8')).get('logout_token');
    if (message === null) throw invalid(['logout_token'], 'is required');
    await signIn.endByMessage(message);
    return EMPTY;
  } finally {
    release();
  }
}

/** A person sees why there is no session, and what to do. */
async function orPage({ signIn }: ProviderPages, work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const asks = error.message === NO_ROLE ? whomToAsk(signIn.admins) : '';
    return {
      status: error.message === NO_ROLE ? statusOf('forbidden') : statusOf(error.kind),
      mediaType: HTML,
      headers: {
        'content-security-policy': "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
      },
      body: [
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">',
        '<title>Not signed in · tallyhouse</title></head><body><main><h1>Not signed in</h1>',
        `<p>${escapeHtml(error.message)}.${asks}</p>`,
        '<p><a href="/console">Back to the sign-in</a></p></main></body></html>',
      ].join(''),
    };
  }
}

function whomToAsk(admins: readonly string[]): string {
  if (admins.length === 0) return ' Ask an administrator of tallyhouse in your company for one.';
  return ` Ask for one: ${escapeHtml(admins.slice(0, ADMINS_SHOWN_MAX).join(', '))}.`;
}
