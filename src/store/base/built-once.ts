/**
 * Statements of the most frequent requests, whose text never changes: Drizzle builds it with the first call instead of
 * with each. Building takes up to half of the CPU time of a statement.
 *
 * A prepared statement of Drizzle belongs to the session that it was prepared on, and each transaction is a new
 * session. So the built statement is run with the client of the current session. Drizzle's public `execute` does not
 * allow that: it keeps the session, and encodes null as the JSON null. `memberOf` fails with the first statement if a
 * version of Drizzle has other members, and so does test/integration/built-once.test.ts.
 *
 * Without this file, with each statement built again, creating a customer took 1.24 times the CPU time of the process,
 * and creating a contract 1.16 times (medians of 8 turns of 100 requests each, ratios from 1.11 to 1.37 and from 0.87
 * to 1.56, November 2026, Drizzle 0.45.4, on a busy machine of two cores).
 */
import { getTableColumns, is, Param, Placeholder, sql } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import { assert } from '../../core/errors.ts';
import type { Database, Transaction } from './database.ts';

/** A statement that Drizzle has prepared. */
interface Prepared<Rows> {
  execute(): Promise<Rows>;
}

type Values = Readonly<Record<string, unknown>>;

/**
 * A statement that `build` prepares. It is run with a value for each of its placeholders (`sql.placeholder`). A value
 * that is compared with a column is given in the form that the driver takes.
 */
export function builtOnce<Rows, Given extends Values = Values>(
  build: (db: Database | Transaction) => Prepared<Rows>,
): (db: Database | Transaction, values: Given) => Promise<Rows> {
  let built: Prepared<Rows> | undefined;
  return async (db, values) => {
    built ??= build(db);
    const params = filled(memberOf(built, 'params'), values);
    const own: Prepared<Rows> = Object.create(built);
    return Object.assign(own, { client: memberOf(db._.session, 'client'), params }).execute();
  };
}

/** Adds a row that has exactly these members; other columns take their defaults. */
export function rowInsertion<
  Table extends PgTable,
  Member extends Extract<keyof Table['$inferInsert'], string>,
>(
  table: Table,
  members: readonly Member[],
): (
  db: Database | Transaction,
  row: Readonly<Required<Pick<Table['$inferInsert'], Member>>>,
) => Promise<unknown> {
  return builtOnce((db) => db.insert(table).values(placeholdersOf(table, members)).prepare(''));
}

/** Placeholders for the values of a row: of all columns, or of some. */
export function placeholdersOf<Table extends PgTable>(
  table: Table,
  members: readonly string[] = Object.keys(getTableColumns(table)),
): Table['$inferInsert'] {
  return Object.fromEntries(
    members.map((member) => [member, sql.placeholder(member)]),
  ) as Table['$inferInsert'];
}

function memberOf(of: object, name: string): unknown {
  const member: unknown = Reflect.get(of, name);
  assert(member !== undefined, `Drizzle's statements and sessions have a ${name}`);
  return member;
}

/** Drizzle itself would encode null as a value of the column, which for JSON is the JSON null. */
function filled(params: unknown, values: Values): unknown[] {
  assert(Array.isArray(params), 'the parameters of a statement are a list');
  return params.map((param: unknown) => {
    if (is(param, Placeholder)) return givenValue(values, param.name);
    if (!is(param, Param) || !is(param.value, Placeholder)) return param;
    const value = givenValue(values, param.value.name);
    return value === null ? null : param.encoder.mapToDriverValue(value);
  });
}

function givenValue(values: Values, name: string): unknown {
  const value = values[name];
  assert(value !== undefined, `a statement gets a value for ${name}`);
  return value;
}
