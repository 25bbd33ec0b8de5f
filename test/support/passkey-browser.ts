/** Persons in a real browser with a virtual authenticator: they open links and sign in with passkeys. */
import type { Browser, BrowserContext, Page } from 'playwright-core';

interface Answered {
  readonly status: number;
  readonly body: { readonly message?: string; readonly data?: Readonly<Record<string, unknown>> | null };
}

export interface PersonInBrowser {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Sends a request of a page of the service, with the cookies of the browser. */
  send(method: string, path: string, body?: object): Promise<Answered>;
  /** Sets a passkey with a link; null: in the session of the person. */
  register(link: string | null): Promise<Answered>;
  signIn(): Promise<Answered>;
}

/** Runs in the page: the options of the service, the authenticator, the answer to the service. */
const SCRIPT = `
  globalThis.passkeys = {
    async send(method, path, body) {
      const init = { method, headers: { 'content-type': 'application/json' } };
      if (body !== undefined) init.body = JSON.stringify(body);
      const answer = await fetch(path, init);
      const text = await answer.text();
      return { status: answer.status, body: text === '' ? {} : JSON.parse(text) };
    },
    async register(link) {
      const named = link === null ? {} : { link };
      const begun = await this.send('POST', '/console/passkeys/begin', named);
      if (begun.status !== 200) return begun;
      const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(begun.body.data);
      const passkey = (await navigator.credentials.create({ publicKey })).toJSON();
      return await this.send('POST', '/console/passkeys/register', { ...named, passkey: this.cut(passkey) });
    },
    async signIn() {
      const begun = await this.send('POST', '/console/passkeys/challenge', {});
      const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(begun.body.data);
      const passkey = (await navigator.credentials.get({ publicKey })).toJSON();
      this.last = this.cut(passkey);
      return await this.send('POST', '/console/session', { passkey: this.last });
    },
    cut({ id, rawId, type, response, clientExtensionResults }) {
      return { id, rawId, type, response, clientExtensionResults };
    },
  };`;

/** A browser at \`origin\`, with an authenticator that confirms everything. */
export async function personInBrowser(browser: Browser, origin: string): Promise<PersonInBrowser> {
  const context = await browser.newContext();
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true },
      ...{ isUserVerified: true, automaticPresenceSimulation: true },
    },
  });
  await page.goto(`${origin}/healthz`);
  await page.evaluate(SCRIPT);
  const call = (code: string) => page.evaluate(code) as Promise<Answered>;
  return {
    page,
    context,
    send: (method, path, body) =>
      call(`passkeys.send(${[method, path, body].map((one) => JSON.stringify(one)).join()})`),
    register: (link) => call(`passkeys.register(${JSON.stringify(link)})`),
    signIn: () => call('passkeys.signIn()'),
  };
}
