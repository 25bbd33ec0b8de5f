/** An app around routes that a test makes up, with one token of each scope. */
import { Writable } from 'node:stream';
import { pino } from 'pino';
import type { Authenticate } from '../../../src/access/tokens.ts';
import type { RouteDefinition } from '../../../src/api/http/route.ts';
import { type App, type AppParts, createApp } from '../../../src/app/http/http-app.ts';
import { SCOPE_PERMISSIONS } from '../../../src/core/permissions.ts';
import type { TokenScope } from '../../../src/core/token-scopes.ts';
import { type ApiClient, createApiClient } from '../../support/api-client.ts';

const SCOPES: Readonly<Record<string, TokenScope>> = { reader: 'read', writer: 'write', sender: 'ingest' };

const authenticate: Authenticate = async (token) => {
  const scope = SCOPES[token];
  if (scope === undefined) return null;
  const own = { id: token, name: token, email: null, role: null, sessionId: null };
  return { ...own, scope, permissions: SCOPE_PERMISSIONS[scope] };
};

export interface TestApp extends App {
  readonly client: ApiClient;
  /** The lines logged so far. */
  readonly logged: string[];
}

export function testApp(routes: readonly RouteDefinition[], overrides: Partial<AppParts> = {}): TestApp {
  const logged: string[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      logged.push(String(chunk));
      done();
    },
  });
  const app = createApp({
    version: '1.2.3',
    log: pino({ level: 'debug' }, stream),
    authenticate,
    routes,
    ingest: async () => ({ accepted: 0, duplicates: 0 }),
    ingestCloudEvents: async () => undefined,
    ingestSpans: async () => ({ accepted: 0, duplicates: 0, ignored: 0, refused: [], warned: [] }),
    readiness: async () => ({ ready: true, checks: { postgres: true } }),
    measures: () => [],
    ...overrides,
  });
  return { ...app, logged, client: createApiClient(app, 'writer') };
}
