/** Persons who may sign in, and their links to set a passkey. */
import { z } from 'zod';
import {
  disablePerson,
  erasePerson,
  type InvitedPerson,
  invitePerson,
  listPeople,
  resetPerson,
  setRole,
} from '../../../access/people.ts';
import { checkBody } from '../../http/long-lists.ts';
import { type RouteDefinition, type RouteFacts, route } from '../../http/route.ts';
import { siteOf } from '../../http/visit.ts';
import { list, noted, nullable } from '../../wire/description.ts';
import { uuid } from '../../wire/fields.ts';
import { anyText, id, instant } from '../../wire/kinds.ts';
import { keysetPosition, pageOf, pageQuery, pageRequest, pageToWire } from '../../wire/paging.ts';
import { record } from '../../wire/record.ts';
import type { RouteContext } from '../route-context.ts';

const tags = ['People'];

const personFields = {
  id,
  name: anyText,
  email: nullable(anyText),
  roles: noted('Together they give their permissions.', list(anyText)),
  issuer: noted(
    'The identity provider that the person signs in at; null: a person with passkeys.',
    nullable(anyText),
  ),
  createdAt: instant,
  disabledAt: nullable(instant),
  erasedAt: nullable(instant),
  lastSeenAt: noted('Up to a minute late; null: never.', nullable(instant)),
};

const person = record(personFields, { id: { answered: 'Person' } });
const invited = record(
  {
    ...personFields,
    link: noted('Opens once, to set a passkey. Shown only this once.', anyText),
    linkExpiresAt: instant,
  },
  { id: { answered: 'InvitedPerson' } },
);

const answer = z.object({ data: person.output });
const invitedAnswer = z.object({ data: invited.output });

const inviteBody = z
  .strictObject({
    email: z.email().max(320),
    name: z.string().min(1).max(200).optional().meta({ description: 'Default: the address.' }),
    role: z.string().min(1).max(63),
  })
  .meta({ id: 'InvitePerson' });
const resetBody = z.strictObject({ id: uuid }).meta({ id: 'ResetPerson' });

export function peopleRoutes(context: RouteContext): RouteDefinition[] {
  return [listRoute(context), inviteRoute(context), resetRoute(context), ...changeRoutes(context)];
}

function listRoute(context: RouteContext): RouteDefinition {
  return route({
    method: 'get',
    path: '/v1/people/list',
    operationId: 'listPeople',
    summary: 'List persons who may sign in',
    description: 'Disabled and erased persons included, in the order of creation.',
    tags,
    scope: 'write',
    query: pageQuery(keysetPosition),
    response: pageOf(person.output),
    handler: async ({ query }) =>
      pageToWire(await listPeople(context, pageRequest(query)), (each) => person.write(each)),
  });
}

type Run = RouteDefinition['run'];

/** Its link has the address of the service in the browser, so it sees the HTTP request. */
function linkRoute(
  facts: Pick<RouteFacts, 'path' | 'operationId' | 'summary' | 'description'>,
  body: z.ZodType,
  run: Run,
): RouteDefinition {
  return {
    ...{ method: 'post', tags, scope: 'write', answersSecret: true, ...facts },
    ...{ params: undefined, query: undefined, body, response: invitedAnswer },
    errors: [404, 409],
    run,
  };
}

function inviteRoute(context: RouteContext): RouteDefinition {
  const facts = {
    path: '/v1/people/invite',
    operationId: 'invitePerson',
    summary: 'Invite a person',
    description:
      'Answers a link with which the person sets a passkey, once, within seven days. The caller needs each permission of the role.',
  } as const;
  return linkRoute(facts, inviteBody, async ({ http, body, actor }) => {
    const { email, name = null, role } = await checkBody(inviteBody, body);
    const made = await invitePerson(context, { email, name, role }, actor.permissions);
    return { data: invited.write(shown(made, siteOf(http, context.publicUrl).origin)) };
  });
}

function resetRoute(context: RouteContext): RouteDefinition {
  const facts = {
    path: '/v1/people/reset',
    operationId: 'resetPerson',
    summary: 'Remove the passkeys of a person, and invite again',
    description:
      'Ends all sessions of the person and answers a new link; links that were not opened no longer work.',
  } as const;
  return linkRoute(facts, resetBody, async ({ http, body, actor }) => {
    const made = await resetPerson(context, (await checkBody(resetBody, body)).id, actor.permissions);
    return { data: invited.write(shown(made, siteOf(http, context.publicUrl).origin)) };
  });
}

/** The secret follows `#`, which browsers do not send. */
function shown({ person: invitee, link, linkExpiresAt }: InvitedPerson, origin: string) {
  return { ...invitee, link: `${origin}/console/invite#${link}`, linkExpiresAt };
}

function changeRoutes(context: RouteContext): RouteDefinition[] {
  const facts = { method: 'post', tags, scope: 'write', response: answer, errors: [404, 409] } as const;
  return [
    route({
      ...facts,
      path: '/v1/people/role',
      operationId: 'setRoleOfPerson',
      summary: 'Give a person another role',
      description:
        'It counts from the next request of the person. Roles of persons who sign in at an identity provider are stated there (409).',
      body: z.strictObject({ id: uuid, role: z.string().min(1).max(63) }).meta({ id: 'SetRoleOfPerson' }),
      handler: async ({ body, actor }) => ({
        data: person.write(await setRole(context, body, actor.permissions)),
      }),
    }),
    route({
      ...facts,
      path: '/v1/people/disable',
      operationId: 'disablePerson',
      summary: 'Disable a person',
      description:
        'All sessions of the person end at once, in every process. `disabled: false` lets the person sign in again.',
      body: z.strictObject({ id: uuid, disabled: z.boolean().default(true) }).meta({ id: 'DisablePerson' }),
      async handler({ body, actor }) {
        const wanted = { id: body.id, isDisabled: body.disabled };
        return { data: person.write(await disablePerson(context, wanted, actor.permissions)) };
      },
    }),
    route({
      ...facts,
      path: '/v1/people/erase',
      operationId: 'erasePerson',
      summary: 'Remove what identifies a person who left',
      description:
        'Name, address and passkeys are removed; rows of the audit log stay under the id of the person.',
      body: z.strictObject({ id: uuid }).meta({ id: 'ErasePerson' }),
      handler: async ({ body, actor }) => ({
        data: person.write(await erasePerson(context, body.id, actor.permissions)),
      }),
    }),
  ];
}
