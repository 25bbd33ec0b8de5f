/**
 * Detects missing stored events: compares the current parts of ClickHouse with the recorded ones. Pure.
 *
 * A part is a directory with rows, named after its insert blocks: `202611_1_5_1` holds the blocks 1 to 5 of November
 * 2026. Merges and mutations create parts of more blocks, never of fewer. So a recorded part is still present if a
 * current part holds all of its blocks, however old the record is.
 */

/** A table whose rows are monitored: events, what corrections change of them, or the lines of final invoices. */
export const WATCHED_TABLES = ['usage_events', 'corrected_events', 'invoice_hourly_lines'] as const;

/** The insert blocks of a part. */
interface PartBlocks {
  readonly table: string;
  readonly partition: string;
  readonly minBlock: number;
  readonly maxBlock: number;
}

export interface StoredPart extends PartBlocks {
  readonly name: string;
  readonly rows: number;
  /** The id of the table: another id means that the table was created again, and blocks are counted from the start. */
  readonly tableId: string;
}

/** A part that ClickHouse could not read and has detached. */
export interface SetAsidePart extends PartBlocks {
  /** The name of the directory, such as `broken-on-start_202611_1_5_1`. */
  readonly name: string;
  readonly reason: string;
}

/** Represents the log in front of ClickHouse in place of a table. */
export const EVENT_LOG = 'event_log';

export type LossKind =
  | 'broken' // detached by ClickHouse
  | 'missing' // recorded, and no longer present
  | 'unreadable' // a query found damage in it
  | 'replicated' // lost by all replicas of a shard
  | 'log'; // acknowledged, and no longer in the log

export interface Loss {
  readonly table: string;
  /** Part, directory, partition or records of the log: the name by which the operator accepts the loss. */
  readonly part: string;
  readonly kind: LossKind;
  /** The number of lost rows; null if unknown. */
  readonly rows: number | null;
}

/** The losses, given the recorded parts, the current ones, and the detached ones. */
export function lossesOf(
  recorded: readonly StoredPart[],
  active: readonly StoredPart[],
  setAside: readonly SetAsidePart[],
): Loss[] {
  const tableIds = new Map(active.map(({ table, tableId }) => [table, tableId]));
  const isSameTable = ({ table, tableId }: StoredPart) => (tableIds.get(table) ?? tableId) === tableId;
  const missing = recorded.filter((part) => isSameTable(part) && !active.some((one) => holds(one, part)));
  const broken = setAside.map((aside): Loss => {
    const lost = missing.filter((part) => holds(aside, part));
    const rows = lost.length === 0 ? null : sumOf(lost);
    return { table: aside.table, part: aside.name, kind: 'broken', rows };
  });
  const gone = missing
    .filter((part) => !setAside.some((aside) => holds(aside, part)))
    .map(({ table, name, rows }): Loss => ({ table, part: name, kind: 'missing', rows }));
  const replaced = recorded.filter((part) => !isSameTable(part));
  return [...broken, ...gone, ...missingPartitions(replaced, active)];
}

/** A table that was created again, for example by a restore, must have as many rows in every partition as before. */
function missingPartitions(recorded: readonly StoredPart[], active: readonly StoredPart[]): Loss[] {
  const partitions = new Map(
    recorded.map(({ table, partition }) => [`${table} ${partition}`, { table, partition }]),
  );
  return [...partitions.values()].flatMap(({ table, partition }): Loss[] => {
    const isOf = (part: PartBlocks) => part.table === table && part.partition === partition;
    const rows = sumOf(recorded.filter(isOf)) - sumOf(active.filter(isOf));
    return rows > 0 ? [{ table, part: partition, kind: 'missing', rows }] : [];
  });
}

function holds(outer: PartBlocks, inner: PartBlocks): boolean {
  const isSamePartition = outer.table === inner.table && outer.partition === inner.partition;
  return isSamePartition && outer.minBlock <= inner.minBlock && outer.maxBlock >= inner.maxBlock;
}

function sumOf(parts: readonly StoredPart[]): number {
  return parts.reduce((total, { rows }) => total + rows, 0);
}

/** The name used by operators. */
export function lossName({ table, part }: Pick<Loss, 'table' | 'part'>): string {
  return `${table}/${part}`;
}

const WHAT_HAPPENED: Readonly<Record<LossKind, string>> = {
  broken: 'is damaged, and ClickHouse has set it aside',
  missing: 'was there and is missing',
  unreadable: 'is damaged and cannot be read',
  replicated: 'were lost by all replicas of their shard',
  log: 'was acknowledged and is missing from the log of events',
};

/** One sentence for the operator, with the remedy. */
export function describeLoss(loss: Loss): string {
  const { table, kind, rows } = loss;
  const what = table.startsWith('usage_events') || table === EVENT_LOG ? 'events' : 'rows';
  const size = rows === null ? `an unknown number of ${what}` : `${rows} ${what}`;
  const name = lossName(loss);
  const restore =
    kind === 'log'
      ? 'Put the files of DATA_DIR/event-log and event-log.position back and start again'
      : 'Restore ClickHouse from a backup';
  return (
    `${name} ${WHAT_HAPPENED[kind]} (${size}). ` +
    `${restore}, or accept the loss: npm run accept-loss -- ${name}`
  );
}
