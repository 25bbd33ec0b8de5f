/**
 * Reads overrides with their specifiers.
 *
 * A contract may have 10,000 of them, which take long to read. Those of such a contract are kept, with a version that
 * tells every state of its rows from every other. When the version is another one, only the rows are read that are
 * not kept in their present state. One statement reads version and rows, so they belong together whatever other
 * transactions and processes do.
 */
import { type SQL, sql } from 'drizzle-orm';
import { assert } from '../../core/errors.ts';
import { groupBy } from '../../core/group-by.ts';
import { mapInChunks } from '../../core/in-chunks.ts';
import { keptValues } from '../../core/kept-values.ts';
import type { Override } from '../../core/terms/overrides.ts';
import type { Database, Transaction } from '../base/database.ts';
import { isServer, placeOfRow, serverOf, stateOfRows } from '../base/row-states.ts';
import { documentsOf, overrideOf } from './override-documents.ts';
import { overrides } from './overrides.tables.ts';

/** The overrides of one contract, as they were read. */
interface KeptOverrides {
  readonly version: string;
  readonly inOrder: readonly Override[];
  readonly byPlace: ReadonlyMap<string, Override>;
}

/** A few contracts of the greatest size. */
const kept = keptValues<KeptOverrides>({
  weightMax: 50_000,
  weightOf: ({ inOrder }) => inOrder.length,
});
/** Fewer are read faster than their version is asked for. */
const KEPT_FROM = 500;

/**
 * The overrides of each contract, in the order of addition; unchangeable, because they may be shared. Contracts
 * without one are absent.
 */
export async function loadOverrides(
  db: Database | Transaction,
  contractIds: readonly string[],
): Promise<Map<string, readonly Override[]>> {
  const loaded = new Map<string, readonly Override[]>();
  const known: KeptOverrides[] = [];
  for (const { contractId, version } of await versionsOfKept(db, contractIds)) {
    const same = kept.get(contractId, version);
    const own = kept.latest(contractId);
    if (same !== null) loaded.set(contractId, same.inOrder);
    else if (own !== null && serverOf(own.version) === serverOf(version)) known.push(own);
  }
  const missing = contractIds.filter((id) => !loaded.has(id));
  for (const [id, one] of await readOverrides(db, missing, known)) loaded.set(id, one);
  return loaded;
}

interface Version extends Record<string, unknown> {
  readonly contractId: string;
  readonly version: string;
}

async function versionsOfKept(
  db: Database | Transaction,
  contractIds: readonly string[],
): Promise<readonly Version[]> {
  const maybeKept = contractIds.filter((id) => kept.has(id));
  if (maybeKept.length === 0) return [];
  return await db.execute<Version>(versionsOf(maybeKept));
}

/** The versions of the overrides of contracts that have many. Specifiers never change. */
function versionsOf(contractIds: readonly string[], others: SQL = sql``): SQL {
  return sql`
    select o.contract_id as "contractId", ${stateOfRows(sql`o`, sql`o.sequence`)} as version${others}
    from ${overrides} o where ${ofContracts(contractIds)}
    group by o.contract_id having count(*) >= ${KEPT_FROM}`;
}

interface ReadRow extends Record<string, unknown> {
  /** Of an override that is not known; null in the rows of versions, which come first. */
  readonly document: string | null;
  readonly place: string | null;
  readonly contractId: string | null;
  readonly version: string | null;
  /** Of all overrides of the contract, in their order. */
  readonly places: string | null;
}

async function readOverrides(
  db: Database | Transaction,
  contractIds: readonly string[],
  known: readonly KeptOverrides[],
): Promise<Map<string, readonly Override[]>> {
  if (contractIds.length === 0) return new Map();
  const places = sql`, string_agg(${placeOfRow(sql`o`)}, ';' order by o.sequence) as places`;
  const rows = await db.execute<ReadRow>(sql`
    with versions as (${versionsOf(contractIds, places)}),
    read as (
      select o.*, ${placeOfRow(sql`o`)} as place from ${overrides} o
      where ${ofContracts(contractIds)} and not ${isKnown(known)}
    )
    select null as document, null as place, v."contractId", v.version, v.places, 0 as sequence from versions v
    union all
    select d.document, d.place, null, null, null, d.sequence from (${documentsOf(sql`read`)}) d
    order by sequence`);
  const read = await mapInChunks(rows, ({ document, place }) =>
    document === null || place === null ? [] : [{ place, override: overrideOf(document) }],
  );
  return joined(rows, read.flat(), known);
}

/** The overrides that are known in their present state, of contracts of which all places are read. */
function isKnown(known: readonly KeptOverrides[]): SQL {
  const [first] = known;
  if (first === undefined) return sql`false`;
  const places = known.flatMap(({ byPlace }) => [...byPlace.keys()]).join(';');
  return sql`(
    ${isServer(serverOf(first.version))} and o.contract_id in (select v."contractId" from versions v)
    and ${placeOfRow(sql`o`)} in (select unnest(string_to_array(${places}, ';')))
  )`;
}

interface PlacedOverride {
  readonly place: string;
  readonly override: Override;
}

/** The overrides that were read and those that were kept; keeps those of contracts that have many. */
function joined(
  rows: readonly ReadRow[],
  read: readonly PlacedOverride[],
  known: readonly KeptOverrides[],
): Map<string, readonly Override[]> {
  const byContract = new Map<string, readonly Override[]>(
    groupBy(
      read.map(({ override }) => override),
      ({ contractId }) => contractId,
    ),
  );
  const all = new Map(known.flatMap(({ byPlace }) => [...byPlace]));
  for (const { place, override } of read) all.set(place, override);
  for (const { contractId, version, places } of rows) {
    if (contractId === null || version === null || places === null) break;
    const byPlace = new Map(places.split(';').map((place) => [place, overrideAt(all, place)]));
    const inOrder = Object.freeze([...byPlace.values()]);
    kept.put(contractId, version, { version, inOrder, byPlace });
    byContract.set(contractId, inOrder);
  }
  return byContract;
}

function overrideAt(all: ReadonlyMap<string, Override>, place: string): Override {
  const override = all.get(place);
  assert(override !== undefined, 'a row of an override is known or was read');
  return override;
}

function ofContracts(ids: readonly string[]): SQL {
  return sql`o.contract_id in (${sql.join(
    ids.map((id) => sql`${id}::uuid`),
    sql`, `,
  )})`;
}
