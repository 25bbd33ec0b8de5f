/**
 * Reads overrides with their specifiers.
 *
 * A contract may have 10,000 of them, which take long to read. Such a contract's overrides are cached with a version
 * that changes with every state of its rows. If the version has changed, only rows that are not cached in their current
 * state are read. One statement reads version and rows, so they are consistent whatever other transactions and
 * processes do.
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

/** Fits a few contracts of the greatest size. */
const kept = keptValues<KeptOverrides>({
  weightMax: 50_000,
  weightOf: ({ inOrder }) => inOrder.length,
});
/** With fewer overrides, reading them is faster than reading their version. */
const KEPT_FROM = 500;

/**
 * The overrides of each contract, in the order of addition; immutable, because they may be shared. Contracts without
 * one are absent.
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
  /** The document of an override that is not cached; null in the rows of versions, which are first. */
  readonly document: string | null;
  readonly place: string | null;
  readonly contractId: string | null;
  readonly version: string | null;
  /** The places of all overrides of the contract, in their order. */
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

/** The overrides that are cached in their current state, for contracts whose places are all read. */
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

/** Merges the overrides that were read with the cached ones; caches those of contracts that have many. */
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
