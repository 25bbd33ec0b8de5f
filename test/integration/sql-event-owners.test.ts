/** The customer of an event in queries across customers, whatever its reference reads like. */
import { sql } from 'drizzle-orm';
import { beforeAll, describe, expect, it } from 'vitest';
import { queryRows } from '../../src/billing/sql/run-query.ts';
import { billingContext } from '../support/billing-context.ts';
import { clickhouseForFile, databaseForFile } from '../support/file-fixtures.ts';
import { storeEvents } from '../support/usage-events.ts';

const START = Date.UTC(2026, 10, 1);
const NOW = Date.parse('2026-11-20T00:00:00Z');
const idOf = (index: number) => `c1000000-0000-4000-8000-${index.toString(16).padStart(12, '0')}`;

/** Characters that tables of texts escape, and the escapes themselves. */
const SPECIAL = [
  '\t',
  '\n',
  '\r',
  '\b',
  '\f',
  '\v',
  '\\',
  '\\t',
  '\\n',
  '\\N',
  '\\\\',
  "'",
  '"',
  'ü',
  '😀',
  ' ',
];
/** Customer 0 is also known by the id of customer 1, and customer 2 by its own. */
const BY_ID = [
  { alias: idOf(1), owner: 0 },
  { alias: idOf(2), owner: 2 },
];
const ALIASES = [
  ...BY_ID,
  ...SPECIAL.flatMap((text, index) => [
    { alias: text, owner: 3 + index },
    { alias: `a${text}`, owner: 4 + index },
    { alias: `${text}${text}z`, owner: 5 + index },
  ]),
];
const CUSTOMERS = SPECIAL.length + 6;
/** Ids that nobody has as an alias. */
const OWN_IDS = Array.from({ length: CUSTOMERS }, (_, owner) => ({ alias: idOf(owner), owner })).filter(
  ({ alias }) => !BY_ID.some((each) => each.alias === alias),
);
const REFERENCES = [...ALIASES, ...OWN_IDS];

const clickhouse = await clickhouseForFile();
const { db } = await databaseForFile();

beforeAll(async () => {
  for (let index = 0; index < CUSTOMERS; index += 1) {
    await db.execute(sql`insert into customers (id, name, created_at, updated_at)
      values (${idOf(index)}, ${`Customer ${index}`}, now(), now())`);
  }
  for (const [position, { alias, owner }] of ALIASES.entries()) {
    await db.execute(sql`insert into ingest_aliases (alias, customer_id, position)
      values (${alias}, ${idOf(owner)}, ${position})`);
  }
  const references = [...REFERENCES.map(({ alias }) => alias), 'nobody'];
  await storeEvents(
    clickhouse,
    references.map((customerRef, event) => ({
      ...{ transactionId: `t-${event}`, customerRef, eventType: 'call', timestamp: START + event * 1_000 },
      ...{ properties: {}, ingestedAt: START * 1_000 + event },
    })) as never,
  );
});

async function ownersOfEvents(where: string): Promise<Map<unknown, unknown>> {
  const context = billingContext({ db, clickhouse, clock: { now: () => NOW } });
  const { rows } = await queryRows(context, {
    sql: `SELECT transaction_id, customer_id FROM events ${where}`,
  });
  const owners = new Map<unknown, unknown>();
  for await (const part of rows) for (const [transaction, owner] of part) owners.set(transaction, owner);
  return owners;
}

describe('the customer of an event in a query', () => {
  it('a query gives an event to whose alias its reference is, with any characters, and else to whose id', async () => {
    expect(await ownersOfEvents('')).toEqual(
      new Map(REFERENCES.map(({ owner }, event) => [`t-${event}`, idOf(owner)])),
    );
  });

  it('a query that names its customers gives events to the same ones', async () => {
    const named = Array.from({ length: CUSTOMERS }, (_, index) => index).filter((index) => index % 3 !== 1);
    const listed = named.map((index) => `'${idOf(index)}'`).join(', ');
    const events = [...REFERENCES.entries()].filter(([, { owner }]) => named.includes(owner));
    expect(await ownersOfEvents(`WHERE customer_id IN (${listed})`)).toEqual(
      new Map(events.map(([event, { owner }]) => [`t-${event}`, idOf(owner)])),
    );
  });
});
