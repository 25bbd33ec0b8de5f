/**
 * Descriptions of objects on the wire, made of fields. From one description come the schema of what is sent,
 * that of what is answered, and the functions between them and the values of the domain.
 *
 * Names are those of the domain; `names.ts` spells them for the wire. What answers hold is opaque to the
 * compiler: a record writes what it documents, because both come from one description.
 */
import { z } from 'zod';
import type { TermNames } from '../../billing/contracts/reads/contract-views.ts';
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
import { wireName } from './names.ts';

const OBJECT_OF = { strict: z.strictObject, tolerant: z.object } as const;

/** What a record has written. */
interface Written {
  readonly [written]: true;
}
declare const written: unique symbol;

/** A member of requests that means nothing. */
interface Dropped {
  readonly side: 'dropped';
  readonly input: Inputs<unknown>;
}

/** Members of an object of the domain that stand beside the record's own members on the wire. */
interface Beside<Members extends Fields> {
  readonly side: 'beside';
  readonly members: Members;
  readonly prefix: string;
}

/** Members of the domain's object that stand in an object of their own on the wire. */
interface Inside<Members extends Fields> extends AnyField {
  readonly side: 'inside';
  readonly members: Members;
}

interface Fields {
  readonly [name: string]: AnyField | Dropped | Beside<Fields> | Inside<Fields>;
}

/** What reading a record of these fields makes. */
export type SentOf<F> = {
  readonly [Name in keyof F as F[Name] extends HasSide<'answered' | 'dropped' | 'inside'>
    ? never
    : Name]: F[Name] extends Beside<infer Members>
    ? SentOf<Members>
    : F[Name] extends { readonly input: Inputs<infer Sent> }
      ? Sent
      : never;
} & AllOf<{ [Name in keyof F]: F[Name] extends Inside<infer Members> ? SentOf<Members> : unknown }>;

/** What an answer with these fields is written from; in a patch a member that is undefined may be absent. */
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
  write(value: Stored, names: TermNames): Written;
}

/** What `input` lets pass may stand in requests and is dropped. */
export function dropped(input: z.ZodType): Dropped {
  return { side: 'dropped', input: { strict: input, tolerant: input } };
}

/** On the wire these stand among the members of the record, each with `prefix` before its name. */
export function beside<Members extends Fields>(members: Members, prefix = ''): Beside<Members> {
  return { side: 'beside', members, prefix };
}

/** On the wire these stand in an object of their own. */
export function inside<Members extends Fields>(members: Members): Inside<Members> {
  return { ...record(members), side: 'inside', members };
}

/** The same, and the object may be left out: so may all its members. */
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
  /** What it stands in, where that decides the words of its members (names.ts). */
  readonly place?: string;
  /** Component of the documentation: `X` in answers and `XInput` in requests, or both. */
  readonly id?: string | { readonly sent?: string; readonly answered?: string };
  /** Of the component, in requests and in answers. */
  readonly description?: string;
  readonly note?: string;
}

/** An object with these members. */
export function record<Of extends Fields>(
  fields: Of,
  { place = '', id = {}, description, note }: RecordFacts = {},
): RecordKind<SentOf<Of>, StoredOf<Of>> {
  const members = membersOf(fields, place);
  const ids = typeof id === 'string' ? { sent: `${id}Input`, answered: id } : id;
  // The compiler cannot follow names from the fields into the object that is made of them, here and in `write`.
  const read = (wire: Values) => readMembers(members, wire) as SentOf<Of>;
  const input = (mode: Mode) =>
    OBJECT_OF[mode](inputShape(members, mode)).transform(read).meta(metaOf(ids.sent, description));
  const record: Kind<SentOf<Of>, StoredOf<Of>> = {
    input: { strict: input('strict'), tolerant: input('tolerant') },
    output: z.object(outputShape(members)).meta(metaOf(ids.answered, note)),
    write: (value, names) => writeMembers(members, value, names),
  };
  return field(record) as RecordKind<SentOf<Of>, StoredOf<Of>>;
}

function metaOf(id: string | undefined, description?: string) {
  return { ...(id === undefined ? {} : { id }), ...(description === undefined ? {} : { description }) };
}

type Values = Readonly<Record<string, unknown>>;

/** A member of the wire object. With a group it is a member of that object of the domain. */
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

/** A record that is read as something else. */
export function readAs<Sent, WireSent, Stored>(
  of: RecordKind<WireSent, Stored>,
  read: (sent: WireSent) => Sent,
): RecordKind<Sent, Stored> {
  return reshaped(of, read, (stored: Stored) => stored);
}

/** A record whose object of the domain has another shape. */
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

/** The wire has the value inside an object of its own: `{child_access: …}`. */
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
