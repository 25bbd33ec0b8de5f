/** Roles: lists of permissions, for people. */
import { z } from 'zod';
import { archiveRole, createRole, listRoles } from '../../../access/roles.ts';
import { PERMISSIONS } from '../../../core/permissions.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { called, list, noted, nullable } from '../../wire/description.ts';
import { anyText, instant, oneOf, truth } from '../../wire/kinds.ts';
import { record } from '../../wire/record.ts';
import type { RouteContext } from '../route-context.ts';

const tags = ['People'];

/** Names stand in settings and on command lines, so they have no blanks, commas or equals signs. */
const roleName = z
  .string()
  .regex(/^[A-Za-z0-9][\w.-]{0,62}$/, 'must be 1 to 63 letters, digits, dots, dashes or underscores');

const permission = z.enum(PERMISSIONS);

const role = record(
  {
    name: anyText,
    permissions: list(oneOf(PERMISSIONS)),
    isBuiltIn: called('built_in', truth),
    createdAt: noted('Null: a built-in role.', nullable(instant)),
    archivedAt: noted('An archived role gives nothing.', nullable(instant)),
  },
  { id: { answered: 'Role' } },
);

const answer = z.object({ data: role.output });

export function roleRoutes(context: RouteContext): RouteDefinition[] {
  return [
    route({
      method: 'get',
      path: '/v1/roles',
      operationId: 'listRoles',
      summary: 'List roles with their permissions',
      description: 'The built-in roles first, then those that were created, archived ones too.',
      tags,
      scope: 'write',
      response: z.object({ data: z.array(role.output) }),
      handler: async () => ({ data: (await listRoles(context)).map((each) => role.write(each)) }),
    }),
    route({
      method: 'post',
      path: '/v1/roles/create',
      operationId: 'createRole',
      summary: 'Create a role',
      description:
        'A role is a list of permissions, each of which the caller needs too. A name is used once, also after the role is archived.',
      tags,
      scope: 'write',
      body: z
        .strictObject({ name: roleName, permissions: z.array(permission).min(1).max(PERMISSIONS.length) })
        .meta({ id: 'CreateRole' }),
      response: answer,
      errors: [409],
      handler: async ({ body, actor }) => ({
        data: role.write(await createRole(context, body, actor.permissions)),
      }),
    }),
    route({
      method: 'post',
      path: '/v1/roles/archive',
      operationId: 'archiveRole',
      summary: 'Archive a role',
      description: 'From then on the role gives nothing, also to those who have it. Archiving is idempotent.',
      tags,
      scope: 'write',
      body: z.strictObject({ name: z.string().min(1).max(63) }).meta({ id: 'ArchiveRole' }),
      response: answer,
      errors: [404, 409],
      handler: async ({ body }) => ({ data: role.write(await archiveRole(context, body.name)) }),
    }),
  ];
}
