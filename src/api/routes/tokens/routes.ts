/** API tokens. All of it needs scope `write`: managing tokens amounts to all rights. */
import { z } from 'zod';
import { issueToken, listTokens, revokeToken, rotateToken } from '../../../access/manage-tokens.ts';
import { TOKEN_NAME_LENGTH_MAX, TOKEN_SCOPES } from '../../../core/token-scopes.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { byHand, noted, nullable } from '../../wire/description.ts';
import { endTimestamp, uuid } from '../../wire/fields.ts';
import { anyText, id, instant, oneOf } from '../../wire/kinds.ts';
import { keysetPosition, pageOf, pageQuery, pageRequest, pageToWire } from '../../wire/paging.ts';
import { record } from '../../wire/record.ts';
import type { RouteContext } from '../route-context.ts';

const expiresAt = endTimestamp.nullish().meta({ description: 'The token works before this instant.' });

const tokenFields = {
  id,
  name: anyText,
  scope: oneOf(TOKEN_SCOPES),
  origin: noted(
    '`api_token`: the token of the variable API_TOKEN, which is valid while the variable is set.',
    byHand(z.enum(['issued', 'api_token'])),
  ),
  createdAt: instant,
  expiresAt: nullable(instant),
  revokedAt: nullable(instant),
  lastUsedAt: noted('A few seconds late; null: never.', nullable(instant)),
};

const token = record(tokenFields, { id: { answered: 'Token' } });

const issuedToken = record(
  { ...tokenFields, token: noted('Shown only this once.', anyText) },
  { id: { answered: 'IssuedToken' } },
);

const issuedAnswer = z.object({ data: issuedToken.output });

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
      response: pageOf(token.output),
      async handler({ query }) {
        await deps.flushTokenUses();
        return pageToWire(await listTokens(deps, pageRequest(query)), token.write);
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
        const issued = await issueToken(deps, { name, scope, expiresAt: expires_at ?? null });
        return { data: issuedToken.write({ ...issued.token, token: issued.text }) };
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
      response: z.object({ data: token.output }),
      errors: [404, 409],
      handler: async ({ body }) => ({ data: token.write(await revokeToken(deps, body.id)) }),
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
        const issued = await rotateToken(deps, body.id, { expiresAt: body.expires_at });
        return { data: issuedToken.write({ ...issued.token, token: issued.text }) };
      },
    }),
  ];
}
