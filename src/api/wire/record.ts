/**
 * Wire objects, defined by their fields. One definition yields the schemas of requests, answers and patches,
 * and the mapping between wire and domain.
 *
 * Members have domain names; `names.ts` maps them to wire names. Written values are untyped (`unknown`), but
 * match the documented schema because both come from one definition.
 */
import { z } from 'zod';
import type { TermNames } from '../../billing/contracts/term-names.ts';
import { wireName } from '../base/names.ts';
import {
  type AnyField,
  called,
  each,
  type Field,
  field,
  type HasSide,
  type Inputs,
  isEmpty,
  type Kind,
  type Mode,
} from './description.ts';

const OBJECT_OF = { strict: z.strictObject, tolerant: z.object } as const;

/** A record in its wire form. */
interface Written {
  readonly [written]: true;
}
declare const written: unique symbol;

/** A member of requests that is accepted and ignored. */
interface Dropped {
  readonly side: 'dropped';
  readonly input: Inputs<unknown>;
}

/** Members of a nested domain object that are flattened into the record on the wire. */
interface Beside<Members extends Fields> {
  readonly side: 'beside';
  readonly members: Members;
  readonly prefix: string;
}

/** Members of the domain object that are in a nested object on the wire. */
interface Inside<Members extends Fields> extends AnyField {
  readonly side: 'inside';
  readonly members: Members;
}

interface Fields {
  readonly [name: string]: AnyField | Dropped | Beside<Fields> | Inside<Fields>;
}

/** The parsed value of a record with these fields. */
export type SentOf<F> = {
  readonly [Name in keyof F as F[Name] extends HasSide<'answered' | 'dropped' | 'inside'>
    ? never
    : Name]: F[Name] extends Beside<infer Members>
    ? SentOf<Members>
    : F[Name] extends { readonly input: Inputs<infer Sent> }
      ? Sent
      : never;
} & AllOf<{ [Name in keyof F]: F[Name] extends Inside<infer Members> ? SentOf<Members> : unknown }>;

/** The value that answers with these fields are written from. In a patch, undefined members may be absent. */
type StoredOf<F> = {
  readonly [Name in keyof F as IsStored<F[Name], false> extends true ? Name : never]: StoredIn<F[Name]>;
} & {
  readonly [Name in keyof F as IsStored<F[Name], true> extends true ? Name : never]?: StoredIn<F[Name]>;
} & AllOf<{ [Name in keyof F]: F[Name] extends Inside<infer Members> ? StoredOf<Members> : unknown }>;

type IsStored<Of, MayBeAbsent> =
  Of extends HasSide<'sent' | 'dropped' | 'inside'>
    ? false
    : (undefined extends StoredIn<Of> ? true : false) extends MayBeAbsent
      ? true
      : false;

type StoredIn<Of> =
  Of extends Beside<infer Members>
    ? StoredOf<Members>
    : Of extends { write(value: infer Stored, names: TermNames): unknown }
      ? Stored
      : never;

/** The intersection of the members' types. */
type AllOf<Of> = { [Name in keyof Of]: (one: Of[Name]) => void }[keyof Of] extends (all: infer All) => void
  ? All
  : never;

interface RecordKind<Sent, Stored> extends Field<Sent, Stored> {
  readonly output: z.ZodType<unknown, Written>;
  /** Objects that show no names of others need none. */
  write(value: Stored, names?: TermNames): Written;
}

const NO_NAMES: TermNames = {
  products: new Map(),
  creditTypes: new Map(),
  customFields: new Map(),
  invoiceIds: new Map(),
};

/** Requests may contain a value that `input` accepts; it is ignored. */
export function dropped(input: z.ZodType): Dropped {
  return { side: 'dropped', input: { strict: input, tolerant: input } };
}

/** Flattens these members into the record on the wire, each with `prefix` before its name. */
export function beside<Members extends Fields>(members: Members, prefix = ''): Beside<Members> {
  return { side: 'beside', members, prefix };
}

/** Puts these members into a nested object on the wire. */
export function inside<Members extends Fields>(members: Members, facts: RecordFacts = {}): Inside<Members> {
  return { ...record(members, facts), side: 'inside', members };
}

/** `inside` with an optional object, whose members must all be optional. */
export function insideIfAny<Members extends Fields>(members: Members): Inside<Members> {
  const of: AnyField = inside(members);
  const nothing = of.input.tolerant.parse({});
  return {
    ...of,
    side: 'inside',
    members,
    input: each(of.input, (input) => input.nullish().transform((value) => value ?? nothing)),
    output: of.output.optional(),
    write(value, names) {
      const wire = of.write(value, names);
      return isEmpty(wire) ? undefined : wire;
    },
  };
}

interface RecordFacts {
  /** The parent name by which names.ts looks up the wire names of members. */
  readonly place?: string;
  /** OpenAPI component: text `X` means `X` in answers and `XInput` in requests. */
  readonly id?: string | { readonly sent?: string; readonly answered?: string };
  /** Description of the component, in requests and in answers. */
  readonly description?: string;
  readonly note?: string;
}

/** Defines an object with these members. */
export function record<Of extends Fields>(
  fields: Of,
  { place = '', id = {}, description, note }: RecordFacts = {},
): RecordKind<SentOf<Of>, StoredOf<Of>> {
  const members = membersOf(fields, place);
  const ids = typeof id === 'string' ? { sent: `${id}Input`, answered: id } : id;
  // The compiler cannot relate the names of the fields to those of the object, here and in `write`.
  const read = (wire: Values) => readMembers(members, wire) as SentOf<Of>;
  const input = (mode: Mode) =>
    OBJECT_OF[mode](inputShape(members, mode)).transform(read).meta(metaOf(ids.sent, description));
  const record: Kind<SentOf<Of>, StoredOf<Of>> = {
    input: { strict: input('strict'), tolerant: input('tolerant') },
    output: z.object(outputShape(members)).meta(metaOf(ids.answered, note)),
    write: (value, names = NO_NAMES) => writeMembers(members, value, names),
  };
  return field(record) as RecordKind<SentOf<Of>, StoredOf<Of>>;
}

function metaOf(id: string | undefined, description?: string) {
  return { ...(id === undefined ? {} : { id }), ...(description === undefined ? {} : { description }) };
}

type Values = Readonly<Record<string, unknown>>;

/** A member of the wire object. With a group it belongs to that nested domain object. */
interface Member {
  readonly group: string | null;
  readonly name: string;
  readonly field: AnyField | Dropped;
  readonly sentAs: string;
  readonly answeredAs: string;
}

function membersOf(fields: Fields, place: string, group: string | null = null, prefix = ''): Member[] {
  return Object.entries(fields).flatMap(([name, of]) => {
    if (of.side === 'beside') return membersOf(of.members, name, name, of.prefix);
    const word = wireName(name, place);
    const { sentAs = word, answeredAs = word } = of.side === 'dropped' ? {} : of;
    return [{ group, name, field: of, sentAs: prefix + sentAs, answeredAs: prefix + answeredAs }];
  });
}

function inputShape(members: readonly Member[], mode: Mode): Record<string, z.ZodType> {
  const read = members.filter(({ field: of }) => of.side !== 'answered');
  return Object.fromEntries(read.map(({ field: of, sentAs }) => [sentAs, of.input[mode]]));
}

function outputShape(members: readonly Member[]): Record<string, z.ZodType> {
  return Object.fromEntries(
    members.flatMap(({ field: of, answeredAs }) => (isAnswered(of) ? [[answeredAs, of.output]] : [])),
  );
}

function isAnswered(of: AnyField | Dropped): of is AnyField {
  return of.side !== 'sent' && of.side !== 'dropped';
}

function readMembers(members: readonly Member[], wire: Values): Values {
  const value: Record<string, unknown> = {};
  const groups: Record<string, Values> = {};
  for (const { group, name, field: of, sentAs } of members) {
    if (of.side === 'answered' || of.side === 'dropped') continue;
    if (of.side === 'inside') Object.assign(value, wire[sentAs]);
    else if (group === null) value[name] = wire[sentAs];
    else groups[group] = { ...groups[group], [name]: wire[sentAs] };
  }
  return { ...value, ...groups };
}

/** Undefined members are not written. */
function writeMembers(members: readonly Member[], value: object, names: TermNames): Values {
  const values = value as Values;
  const wire: Record<string, unknown> = {};
  for (const { group, name, field: of, answeredAs } of members) {
    if (!isAnswered(of)) continue;
    const from = group === null ? values : (values[group] as Values);
    const member = of.write(of.side === 'inside' ? from : from[name], names);
    if (member !== undefined) wire[answeredAs] = member;
  }
  return wire;
}

/** A record whose parsed value is converted. */
export function readAs<Sent, WireSent, Stored>(
  of: RecordKind<WireSent, Stored>,
  read: (sent: WireSent) => Sent,
): RecordKind<Sent, Stored> {
  return reshaped(of, read, (stored: Stored) => stored);
}

/** A record that is converted to and from another shape in the domain. */
export function reshaped<Sent, Stored, WireSent, WireStored>(
  of: RecordKind<WireSent, WireStored>,
  read: (sent: WireSent) => Sent,
  write: (stored: Stored) => WireStored,
): RecordKind<Sent, Stored> {
  const shaped: Kind<Sent, Stored> = {
    input: each(of.input, (input) => input.transform(read)),
    output: of.output,
    write: (value, names) => of.write(write(value), names),
  };
  return field(shaped) as RecordKind<Sent, Stored>;
}

/** A value that the wire wraps in an object: `{child_access: …}`. */
export function within<Sent, Stored>(
  name: string,
  of: Field<Sent, Stored>,
  facts: RecordFacts = {},
): RecordKind<Sent, Stored> {
  const value: AnyField = called(name, of);
  return reshaped(
    record({ value }, facts),
    (wrapped) => wrapped.value as Sent,
    (stored: Stored) => ({ value: stored }),
  );
}
