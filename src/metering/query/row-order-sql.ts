/** Conditions on the position of a row of usage groups, which are ordered by window, then by group values. */
import { SECOND_MS } from '../../core/time.ts';
import type { GroupRowKey, HashedRowKey } from './group-cursor.ts';
import type { Parameters } from './parameters.ts';

/** The requested rows of usage groups: all, those after a row, or the one whose values have a hash. */
export type RowPlace = { readonly behind: GroupRowKey } | { readonly only: HashedRowKey } | null;

/** Conditions on the rows. `window` is its start in unix seconds, `groups` the columns of the values. */
export function placeConditions(
  parameters: Parameters,
  window: string,
  groups: readonly string[],
  place: RowPlace,
): string[] {
  if (place === null) return [];
  return 'behind' in place
    ? [behindCondition(parameters, window, groups, place.behind)]
    : onlyConditions(parameters, window, groups, place.only);
}

/** Rows after this one: a null sorts after every text. */
function behindCondition(
  parameters: Parameters,
  window: string,
  groups: readonly string[],
  { windowStart, group }: GroupRowKey,
): string {
  const row = [window, ...groups.flatMap((column) => [`isNull(${column})`, `ifNull(${column}, '')`])];
  const last = [
    parameters.bind('after_window', 'Int64', windowStart / SECOND_MS),
    ...group.flatMap((value) => [
      parameters.bind('after_is_null', 'UInt8', value === null ? 1 : 0),
      textSql(parameters, value ?? ''),
    ]),
  ];
  return `tuple(${row.join(', ')}) > tuple(${last.join(', ')})`;
}

function onlyConditions(
  parameters: Parameters,
  window: string,
  groups: readonly string[],
  { windowStart, groupHash }: HashedRowKey,
): string[] {
  return [
    `${window} = ${parameters.bind('only_window', 'Int64', windowStart / SECOND_MS)}`,
    `${groupHashSql(groups)} = ${parameters.bind('only_hash', 'String', groupHash)}`,
  ];
}

/** The hash of a cursor (`group-cursor.ts`). A concatenation with NULL is NULL. */
function groupHashSql(groups: readonly string[]): string {
  const parts = groups.map((column) => `ifNull(concat(toString(length(${column})), ':', ${column}), '-')`);
  return `hex(SHA256(concat('', ${parts.join(', ')})))`;
}

/** A server accepts parameters of 128 KiB: longer texts are sent in pieces. A code unit has at most 3 bytes. */
const PIECE_LENGTH = 10_000;

function textSql(parameters: Parameters, text: string): string {
  if (text.length <= PIECE_LENGTH) return parameters.bind('after_group', 'String', text);
  const pieces: string[] = [];
  for (let from = 0; from < text.length; ) {
    const end = endOfPiece(text, from);
    pieces.push(text.slice(from, end));
    from = end;
  }
  return `arrayStringConcat(${parameters.bind('after_group', 'Array(String)', pieces)})`;
}

/** Does not split surrogate pairs, whose halves are not valid text. */
function endOfPiece(text: string, from: number): number {
  const end = from + PIECE_LENGTH;
  const last = text.charCodeAt(end - 1);
  return last >= 0xd800 && last <= 0xdbff ? end - 1 : end;
}
