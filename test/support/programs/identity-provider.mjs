/**
 * A real identity provider (oidc-provider) for tests, on http://localhost. It prints its issuer when it is ready.
 *
 * `POST /control` changes it while it runs: a JSON object whose members replace those of `state`. `x-login` of a request
 * is the person who signs in, as its pages would ask. `POST /control/sign` signs claims with its key.
 */
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import { decodeJwt, importJWK, SignJWT } from 'jose';
import { Provider } from 'oidc-provider';

const CLIENT = { client_id: 'tallyhouse', client_secret: 'secret-of-the-tests-of-tallyhouse' };

const state = {
  /** Claims by login. */
  people: {},
  /** Where the service is. */
  origins: [],
  /** Receives messages of sign-outs; null: nobody. */
  logoutUri: null,
  /** Whether the ID token has the claims, or userinfo alone. */
  isThin: false,
  refreshes: true,
  /** The public key of the service, as JWK; null: it has a secret. */
  clientKey: null,
  /** Whether all connections are closed without an answer. */
  isAway: false,
  /** The number of the key that signs. */
  key: 0,
  /** Replaces claims and header of ID tokens; `alg: none` too. */
  mangled: null,
  /** How many requests there were, by path. */
  requests: {},
};

const keys = new Map();

function jwkOf(number) {
  if (!keys.has(number)) {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    keys.set(number, {
      ...privateKey.export({ format: 'jwk' }),
      kid: `key-${number}`,
      alg: 'RS256',
      use: 'sig',
    });
  }
  return keys.get(number);
}

async function signed(claims, { key = state.key, ...header } = {}) {
  const head = { alg: 'RS256', kid: `key-${key}`, ...header };
  if (head.alg === 'none') {
    const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
    return `${part(head)}.${part(claims)}.`;
  }
  return await new SignJWT(claims).setProtectedHeader(head).sign(await importJWK(jwkOf(key), 'RS256'));
}

function clientOf(key) {
  if (key === null) return CLIENT;
  const { client_id } = CLIENT;
  const signs = { token_endpoint_auth_method: 'private_key_jwt', token_endpoint_auth_signing_alg: key.alg };
  return { client_id, ...signs, jwks: { keys: [key] } };
}

function providerAt(issuer) {
  const provider = new Provider(issuer, {
    clients: [
      {
        ...clientOf(state.clientKey),
        grant_types: ['authorization_code', 'refresh_token'],
        redirect_uris: state.origins.map((origin) => `${origin}/console/oidc/callback`),
        post_logout_redirect_uris: state.origins.map((origin) => `${origin}/console`),
        ...(state.logoutUri === null
          ? {}
          : { backchannel_logout_uri: state.logoutUri, backchannel_logout_session_required: true }),
      },
    ],
    jwks: { keys: [jwkOf(state.key)] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
    conformIdTokenClaims: state.isThin,
    cookies: { keys: ['key-of-the-cookies'] },
    features: {
      devInteractions: { enabled: false },
      rpInitiatedLogout: { enabled: true },
      backchannelLogout: { enabled: true },
    },
    findAccount: (_context, id) =>
      state.people[id] && { accountId: id, claims: async () => ({ sub: id, ...state.people[id] }) },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    issueRefreshToken: async () => state.refreshes,
    rotateRefreshToken: true,
    pkce: { required: () => true },
    ttl: {
      AccessToken: 600,
      AuthorizationCode: 60,
      IdToken: 600,
      Grant: 86_400,
      Interaction: 600,
      Session: 86_400,
    },
    // Its own refuses addresses of this machine.
    fetch: (url, { dispatcher: _, ...options }) => globalThis.fetch(url, options),
  });
  provider.use(async (context, next) => {
    await next();
    if (state.mangled === null || !context.body?.id_token) return;
    const { claims = {}, header = {} } = state.mangled;
    context.body.id_token = await signed({ ...decodeJwt(context.body.id_token), ...claims }, header);
  });
  return provider;
}

async function answerInteraction(provider, request, response) {
  const { prompt, params, session } = await provider.interactionDetails(request, response);
  const login = request.headers['x-login'];
  const finish = (result) =>
    provider.interactionFinished(request, response, result, { mergeWithLastSubmission: true });
  if (prompt.name === 'login' && state.people[login] === undefined) {
    return await finish({ error: 'access_denied', error_description: 'nobody <b>knows</b> you' });
  }
  if (prompt.name === 'login') return await finish({ login: { accountId: login } });
  const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
  grant.addOIDCScope(params.scope);
  await finish({ consent: { grantId: await grant.save() } });
}

async function bodyOf(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return JSON.parse(Buffer.concat(parts).toString('utf8') || '{}');
}

function shapeOf({ origins, logoutUri, isThin, key, clientKey }) {
  return JSON.stringify([origins, logoutUri, isThin, key, clientKey]);
}

let provider;
let issuer;

async function answer(request, response) {
  const path = request.url.split('?')[0];
  if (path === '/control') {
    const before = shapeOf(state);
    Object.assign(state, await bodyOf(request));
    // A new one has forgotten its sessions.
    if (shapeOf(state) !== before) provider = providerAt(issuer);
    return response.end(JSON.stringify(state));
  }
  if (path === '/control/sign') {
    const { claims, header } = await bodyOf(request);
    return response.end(JSON.stringify({ signed: await signed(claims, header) }));
  }
  if (state.isAway) return request.socket.destroy();
  state.requests[path] = (state.requests[path] ?? 0) + 1;
  if (path.startsWith('/interaction/')) return await answerInteraction(provider, request, response);
  return await provider.callback()(request, response);
}

const server = createServer((request, response) => {
  answer(request, response).catch((error) => {
    response.statusCode = 500;
    response.end(String(error));
  });
});
server.listen(0, '127.0.0.1', () => {
  issuer = `http://localhost:${server.address().port}`;
  provider = providerAt(issuer);
  process.stdout.write(`issuer ${issuer} is ready\n`);
});
