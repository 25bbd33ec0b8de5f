/** API tokens. Nobody gives out a permission by a token that he does not have. */
import { z } from 'zod';
import {
  issueToken,
  listTokens,
  revokeToken,
  rotateToken,
  type Token,
} from '../../../access/manage-tokens.ts';
import { actorOfToken } from '../../../access/tokens.ts';
import { PERMISSIONS } from '../../../core/permissions.ts';
import { TOKEN_NAME_LENGTH_MAX, TOKEN_SCOPES } from '../../../core/token-scopes.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { byHand, list, noted, nullable } from '../../wire/description.ts';
import { endTimestamp, uuid } from '../../wire/fields.ts';
import { anyText, id, instant, oneOf } from '../../wire/kinds.ts';
import { keysetPosition, pageOf, pageQuery, pageRequest, pageToWire } from '../../wire/paging.ts';
import { record } from '../../wire/record.ts';
import type { RouteContext } from '../route-context.ts';

const expiresAt = endTimestamp.nullish().meta({ description: 'The token works before this instant.' });

const tokenFields = {
  id,
  name: anyText,
  scope: noted('Null: a token with a list of permissions.', nullable(oneOf(TOKEN_SCOPES))),
  permissions: noted('Those of its scope, or of its list.', list(oneOf(PERMISSIONS))),
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

/** With the permissions that its scope or its list gives. */
function shown(stored: Token) {
  const { scope, permissions } = actorOfToken(stored);
  return { ...stored, scope, permissions: [...permissions] };
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a list of routes, one after the other.
export function tokenRoutes(access: RouteContext): RouteDefinition[] {
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
        await access.flushTokenUses();
        return pageToWire(await listTokens(access, pageRequest(query)), (each: Token) =>
          token.write(shown(each)),
        );
      },
    }),
    route({
      method: 'post',
      path: '/v1/tokens/create',
      operationId: 'createToken',
      summary: 'Create an API token',
      description:
        'Scopes: `ingest` sends usage events, `read` covers every operation that only reads, `write` covers everything. A list of permissions instead covers their operations; the caller needs each of them too.',
      tags,
      scope: 'write',
      answersSecret: true,
      body: z
        .strictObject({
          name: z.string().min(1).max(TOKEN_NAME_LENGTH_MAX),
          scope: z.enum(TOKEN_SCOPES).optional(),
          permissions: z.array(z.enum(PERMISSIONS)).min(1).max(PERMISSIONS.length).optional(),
          expires_at: expiresAt,
        })
        .superRefine(({ scope, permissions }, context) => {
          if ((scope === undefined) !== (permissions === undefined)) return;
          const message =
            scope === undefined ? 'is required, or permissions' : 'must not be combined with permissions';
          context.addIssue({ code: 'custom', path: ['scope'], message });
        })
        .meta({ id: 'CreateToken' }),
      response: issuedAnswer,
      async handler({ body: { name, scope, permissions = [], expires_at }, actor }) {
        const wanted = { name, scope: scope ?? permissions, expiresAt: expires_at ?? null };
        const issued = await issueToken(access, wanted, actor.permissions);
        return { data: issuedToken.write({ ...shown(issued.token), token: issued.text }) };
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
      handler: async ({ body }) => ({ data: token.write(shown(await revokeToken(access, body.id))) }),
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
      async handler({ body, actor }) {
        const { permissions: giver } = actor;
        const issued = await rotateToken(access, body.id, { expiresAt: body.expires_at, giver });
        return { data: issuedToken.write({ ...shown(issued.token), token: issued.text }) };
      },
    }),
  ];
}
