/**
 * The command that manages persons while the service runs (`tallyhouse user`): its text and its JSON.
 * `access/people.ts` does the work.
 */
import {
  disablePerson,
  type InvitedPerson,
  invitePerson,
  listPeople,
  type Person,
  resetPerson,
  setRole,
} from '../../access/people.ts';
import type { Clock } from '../../core/clock.ts';
import { Refusal } from '../../core/errors.ts';
import { isUuid } from '../../core/ids.ts';
import type { KeysetPosition } from '../../core/paging.ts';
import { formatInstant, type Instant } from '../../core/time.ts';
import { findPeopleByEmail } from '../../store/access/people.ts';
import { recordSystemChanges } from '../../store/access/system-changes.ts';
import { createDatabase, type Database } from '../../store/base/database.ts';
import { openUnit } from '../../store/base/request-unit.ts';
import type { PostgresConnection } from '../../store/postgres-driver/connect-postgres.ts';
import { CommandFailure } from '../failures/command-failure.ts';
import { reached, StoreFailure } from '../failures/store-failure.ts';

/** The operation, and its person. */
export type UserCall = { readonly json: boolean } & (
  | { readonly kind: 'list' }
  | {
      readonly kind: 'invite';
      readonly email: string;
      /** Null: the address. */
      readonly name: string | null;
      readonly role: string;
    }
  | { readonly kind: 'role'; readonly who: string; readonly role: string }
  | { readonly kind: 'disable'; readonly who: string; readonly isDisabled: boolean }
  | { readonly kind: 'reset'; readonly who: string }
);

interface Context {
  readonly db: Database;
  readonly clock: Clock;
}

const PAGE_PEOPLE = 100;

/** Runs a call and returns the text to print. Throws a `CommandFailure` if the call cannot run. */
export async function userCommand(
  call: UserCall,
  connection: PostgresConnection,
  { origin, clockOf }: { readonly origin: string; clockOf(db: Database): Promise<Clock> | Clock },
): Promise<string> {
  const pool = createDatabase(connection);
  try {
    if ('url' in connection) {
      const where = { store: 'PostgreSQL', variable: 'DATABASE_URL', url: connection.url } as const;
      await reached(where, () => pool.ping());
    }
    return await carriedOut(call, { db: pool.db, clock: await clockOf(pool.db) }, origin);
  } catch (error) {
    if (error instanceof Refusal || error instanceof StoreFailure) throw new CommandFailure(error.message);
    throw error;
  } finally {
    await pool.close();
  }
}

async function carriedOut(call: UserCall, context: Context, origin: string): Promise<string> {
  switch (call.kind) {
    case 'list':
      return await listing(context, call.json);
    case 'invite': {
      const done = await audited(context, 'invitePerson', () => invitePerson(context, call, null));
      return linkText(done, origin, call.json);
    }
    case 'reset': {
      const id = await idOf(context, call.who);
      const done = await audited(context, 'resetPerson', () => resetPerson(context, id, null));
      return linkText(done, origin, call.json);
    }
    case 'role': {
      const wanted = { id: await idOf(context, call.who), role: call.role };
      const { person } = await audited(context, 'setRoleOfPerson', async () => ({
        person: await setRole(context, wanted, null),
      }));
      return call.json ? jsonText(personJson(person)) : `${nameOf(person)} has the role ${call.role} now`;
    }
    case 'disable': {
      const wanted = { id: await idOf(context, call.who), isDisabled: call.isDisabled };
      const { person } = await audited(context, 'disablePerson', async () => ({
        person: await disablePerson(context, wanted, null),
      }));
      const state = call.isDisabled ? 'is disabled, and all sessions have ended' : 'may sign in again';
      return call.json ? jsonText(personJson(person)) : `${nameOf(person)} ${state}`;
    }
  }
}

/** The id of a person who is named by id or address. */
async function idOf({ db }: Context, who: string): Promise<string> {
  if (isUuid(who)) return who.toLowerCase();
  const [person, other] = await findPeopleByEmail(db, who);
  if (person === undefined) throw new CommandFailure(`There is no person with the address ${who}`);
  if (other !== undefined) throw new CommandFailure(`Several persons have the address ${who}: give the id`);
  return person.id;
}

const WHAT_WAS_DONE = {
  invitePerson: 'Invite a person',
  resetPerson: 'Remove the passkeys of a person, and invite again',
  setRoleOfPerson: 'Give a person another role',
  disablePerson: 'Disable a person, or undo it',
} as const;

/** Runs a change together with its row of the audit log, in one transaction. */
async function audited<Result extends { readonly person: Person }>(
  { db, clock }: Context,
  action: keyof typeof WHAT_WAS_DONE,
  work: () => Promise<Result>,
): Promise<Result> {
  const unit = openUnit(db);
  try {
    const result = await unit.run(work);
    const description = `${WHAT_WAS_DONE[action]}: ${result.person.roles.join(', ')}`;
    const change = { action, resourceType: 'person', resourceId: result.person.id, description };
    await unit.commit((tx) =>
      recordSystemChanges(tx, { kind: 'command', name: 'user' }, clock.now(), [change]),
    );
    return result;
  } catch (error) {
    await unit.rollBack();
    throw error;
  }
}

function linkText({ person, link, linkExpiresAt }: InvitedPerson, origin: string, json: boolean): string {
  const address = `${origin}/console/invite#${link}`;
  if (json) {
    return jsonText({ ...personJson(person), link: address, link_expires_at: formatInstant(linkExpiresAt) });
  }
  return `${nameOf(person)} sets a passkey with this link, once, until ${formatInstant(linkExpiresAt)}: ${address}`;
}

function nameOf({ name, email }: Person): string {
  return email === null || email === name ? name : `${name} (${email})`;
}

/** With the names of `GET /v1/people/list`. */
function personJson({ id, name, email, roles, issuer, ...times }: Person) {
  const at = (instant: Instant | null) => (instant === null ? null : formatInstant(instant));
  return {
    ...{ id, name, email, roles, issuer },
    created_at: formatInstant(times.createdAt),
    disabled_at: at(times.disabledAt),
    erased_at: at(times.erasedAt),
    last_seen_at: at(times.lastSeenAt),
  };
}

function jsonText(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

/** A line for each person: id, state, roles, last use, name. */
async function listing({ db }: Context, json: boolean): Promise<string> {
  const persons: Person[] = [];
  let after: KeysetPosition | null = null;
  do {
    const page: Awaited<ReturnType<typeof listPeople>> = await listPeople(
      { db },
      { after, limit: PAGE_PEOPLE },
    );
    persons.push(...page.rows);
    after = page.next;
  } while (after !== null);
  if (json) return jsonText({ data: persons.map(personJson) });
  if (persons.length === 0) return 'There are no persons: tallyhouse user invite ADDRESS --role admin';
  return persons
    .map((person) => {
      const seen =
        person.lastSeenAt === null ? 'never signed in' : `last seen ${formatInstant(person.lastSeenAt)}`;
      const state = person.erasedAt !== null ? 'erased' : person.disabledAt !== null ? 'disabled' : 'active';
      return `${person.id}  ${state.padEnd(8)}  ${person.roles.join(', ')}  ${seen}  ${nameOf(person)}`;
    })
    .join('\n');
}
