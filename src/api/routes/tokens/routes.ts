/** API tokens. All of it needs scope `write`: managing tokens amounts to all rights. */
import { z } from 'zod';
import {
  issueToken,
  listTokens,
  revokeToken,
  rotateToken,
  type Token,
} from '../../../access/manage-tokens.ts';
import { formatInstant, type Instant } from '../../../core/time.ts';
import { TOKEN_NAME_LENGTH_MAX, TOKEN_SCOPES } from '../../../core/token-scopes.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { endTimestamp, timestamp, uuid } from '../../wire/fields.ts';
import { keysetPosition, pageOf, pageQuery, pageRequest, pageToWire } from '../../wire/paging.ts';
import type { RouteContext } from '../route-context.ts';

const expiresAt = endTimestamp.nullish().meta({ description: 'The token works before this instant.' });

const tokenShape = {
  id: uuid,
  name: z.string(),
  scope: z.enum(TOKEN_SCOPES),
  origin: z.enum(['issued', 'api_token']).meta({
    description:
      '`api_token`: the token of the variable API_TOKEN, which is valid while the variable is set.',
  }),
  created_at: timestamp,
  expires_at: endTimestamp.nullable(),
  revoked_at: timestamp.nullable(),
  last_used_at: timestamp.nullable().meta({ description: 'A few seconds late; null: never.' }),
};

const tokenAnswer = z.object(tokenShape).meta({ id: 'Token' });

const issuedAnswer = z.object({
  data: z
    .object({ ...tokenShape, token: z.string().meta({ description: 'Shown only this once.' }) })
    .meta({ id: 'IssuedToken' }),
});

const tags = ['Tokens'];

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a list of routes, one after the other.
export function tokenRoutes(deps: RouteContext): RouteDefinition[] {
  return [
    route({
      method: 'get',
      path: '/v1/tokens',
      operationId: 'listTokens',
      summary: 'List API tokens',
      description: 'Includes revoked and expired tokens, in the order of creation, without their secrets.',
      tags,
      scope: 'write',
      query: pageQuery(keysetPosition),
      response: pageOf(tokenAnswer),
      async handler({ query }) {
        await deps.flushTokenUses();
        return pageToWire(await listTokens(deps, pageRequest(query)), toWire);
      },
    }),
    route({
      method: 'post',
      path: '/v1/tokens/create',
      operationId: 'createToken',
      summary: 'Create an API token',
      description:
        'Scopes: `ingest` sends usage events, `read` covers every operation that only reads, `write` covers everything.',
      tags,
      scope: 'write',
      answersSecret: true,
      body: z
        .strictObject({
          name: z.string().min(1).max(TOKEN_NAME_LENGTH_MAX),
          scope: z.enum(TOKEN_SCOPES),
          expires_at: expiresAt,
        })
        .meta({ id: 'CreateToken' }),
      response: issuedAnswer,
      async handler({ body: { name, scope, expires_at } }) {
        const { token, text } = await issueToken(deps, { name, scope, expiresAt: expires_at ?? null });
        return { data: { ...toWire(token), token: text } };
      },
    }),
    route({
      method: 'post',
      path: '/v1/tokens/revoke',
      operationId: 'revokeToken',
      summary: 'Revoke an API token',
      description:
        'The token stops working immediately in every process. Revoking is idempotent. For the token of API_TOKEN the request fails with 409: change the variable instead.',
      tags,
      scope: 'write',
      body: z.strictObject({ id: uuid }).meta({ id: 'RevokeToken' }),
      response: z.object({ data: tokenAnswer }),
      errors: [404, 409],
      handler: async ({ body }) => ({ data: toWire(await revokeToken(deps, body.id)) }),
    }),
    route({
      method: 'post',
      path: '/v1/tokens/rotate',
      operationId: 'rotateToken',
      summary: 'Replace an API token',
      description:
        'Creates a token with the same name and scope; the old token stops working immediately. `expires_at` applies to the new token. Default: the expiry of the old token.',
      tags,
      scope: 'write',
      answersSecret: true,
      body: z.strictObject({ id: uuid, expires_at: expiresAt }).meta({ id: 'RotateToken' }),
      response: issuedAnswer,
      errors: [404, 409],
      async handler({ body }) {
        const { token, text } = await rotateToken(deps, body.id, { expiresAt: body.expires_at });
        return { data: { ...toWire(token), token: text } };
      },
    }),
  ];
}

function toWire(token: Token) {
  const { id, name, scope, origin } = token;
  const text = (at: Instant | null) => (at === null ? null : formatInstant(at));
  return {
    id,
    name,
    scope,
    origin,
    created_at: formatInstant(token.createdAt),
    expires_at: text(token.expiresAt),
    revoked_at: text(token.revokedAt),
    last_used_at: text(token.lastUsedAt),
  };
}
