/** The session of the console, as its pages see it. */
import { z } from 'zod';
import type { OpenSession } from '../../../access/console-sessions.ts';
import { PERMISSIONS } from '../../../core/permissions.ts';
import { TOKEN_SCOPES } from '../../../core/token-scopes.ts';
import { list, noted, nullable } from '../../wire/description.ts';
import { timestamp } from '../../wire/fields.ts';
import { anyText, instant, oneOf } from '../../wire/kinds.ts';
import { beside, record } from '../../wire/record.ts';

const session = record(
  {
    actor: beside({
      name: noted('The name of the person, or of the token that began the session.', anyText),
      email: noted('Null: a token.', nullable(anyText)),
      role: noted('The roles of the person; null: a token.', nullable(anyText)),
      scope: noted('Null: a person, or a token with a list of permissions.', nullable(oneOf(TOKEN_SCOPES))),
      permissions: noted('What the session may do.', list(oneOf(PERMISSIONS))),
    }),
    expiresAt: instant,
  },
  { id: { answered: 'ConsoleSession' } },
);

export const sessionAnswer = z.object({
  data: session.output.nullable().meta({ description: 'Null if there is no session.' }),
  now: timestamp.meta({ description: 'The clock of the service, in a sandbox the sandbox clock.' }),
  identity_provider: z.string().optional().meta({
    description: 'The host of the identity provider at which persons sign in; absent without one.',
  }),
  sign_out_url: z.string().optional().meta({
    description: 'After the end of a session: where the person signs out at the identity provider.',
  }),
});

/** The permissions of its actor as a list. */
export function shownSession({ actor, expiresAt }: OpenSession) {
  return session.write({ actor: { ...actor, permissions: [...actor.permissions] }, expiresAt });
}
