/** The grammar of the columns of a SELECT. `*` stands for the columns of what the query reads. */
import { UNUSABLE_NAME } from '../../../core/own-value.ts';
import { QueryProblem } from '../values/query-refusal.ts';
import { viewColumns } from '../values/views.ts';
import { build } from './expression-weight.ts';
import { parseAlias } from './parse-alias.ts';
import { parseExpression } from './parse-expression.ts';
import type { Expression, Join, SelectItem, Source } from './query-syntax.ts';
import type { TokenReader } from './token-reader.ts';

const COLUMNS_MAX = 12;
/** For a query across customers. */
const REPORT_COLUMNS_MAX = 60;

/** `*`, or `qualifier.*`. */
interface Star {
  readonly kind: 'star';
  readonly qualifier: string | null;
  readonly position: number;
}

interface WrittenItem extends SelectItem {
  readonly kind: 'item';
  readonly position: number;
}

/** The columns as they are written: what `*` stands for is known after FROM. */
export type WrittenItems = ReadonlyArray<WrittenItem | Star>;

export function parseItems(reader: TokenReader, isAcross: boolean): WrittenItems {
  const items: Array<WrittenItem | Star> = [];
  const columnsMax = isAcross ? REPORT_COLUMNS_MAX : COLUMNS_MAX;
  do {
    const { position } = reader.next;
    items.push((isAcross ? parseStar(reader) : null) ?? parseItem(reader));
    if (items.length > columnsMax) throw tooMany(position, columnsMax);
  } while (reader.takeSymbol(','));
  refuseRepeatedNames(items.flatMap((item) => (item.kind === 'item' ? [item] : [])));
  return items;
}

function parseItem(reader: TokenReader): WrittenItem {
  const { position } = reader.next;
  const expression = parseExpression(reader);
  const name = parseAlias(reader) ?? nameOf(expression);
  if (name === UNUSABLE_NAME) {
    throw new QueryProblem(position, `a column must not be named ${UNUSABLE_NAME}: name it with AS`);
  }
  return { kind: 'item', expression, name, position };
}

function parseStar(reader: TokenReader): Star | null {
  const { position } = reader.next;
  if (reader.takeSymbol('*')) return { kind: 'star', qualifier: null, position };
  if (!reader.isQualifiedStar()) return null;
  const qualifier = reader.take().text.toLowerCase();
  reader.expectSymbol('.');
  reader.expectSymbol('*');
  return { kind: 'star', qualifier, position };
}

function refuseRepeatedNames(items: ReadonlyArray<Pick<WrittenItem, 'name' | 'position'>>): void {
  const names = new Set<string>();
  for (const { name, position } of items) {
    if (name === null) continue;
    if (names.has(name.toLowerCase())) throw new QueryProblem(position, `two columns are named ${name}`);
    names.add(name.toLowerCase());
  }
}

function tooMany(position: number, columnsMax: number): QueryProblem {
  return new QueryProblem(position, `a query has at most ${columnsMax} columns`);
}

/** The name of a column without an alias. */
function nameOf(expression: Expression): string | null {
  return expression.kind === 'column' || expression.kind === 'property' ? expression.name : null;
}

/** The columns with those that `*` stands for, in the order of FROM. A column of USING is there once. */
export function expandItems(
  reader: TokenReader,
  written: WrittenItems,
  { source, joins }: { readonly source: Source; readonly joins: readonly Join[] },
): SelectItem[] {
  if (written.every(({ kind }) => kind === 'item')) return written.flatMap(ownItem);
  const sides = [{ source, using: [] }, ...joins];
  const items = written.flatMap((item): WrittenItem[] =>
    item.kind === 'item' ? [item] : columnsOfStar(reader, item, sides),
  );
  const [first] = written;
  if (items.length > REPORT_COLUMNS_MAX) throw tooMany(first?.position ?? 0, REPORT_COLUMNS_MAX);
  refuseRepeatedNames(items);
  return items.map(({ expression, name }) => ({ expression, name }));
}

function ownItem(item: WrittenItem | Star): SelectItem[] {
  return item.kind === 'item' ? [{ expression: item.expression, name: item.name }] : [];
}

/** A side whose column has the name of an earlier one shows it as `side_column`. */
function columnsOfStar(
  reader: TokenReader,
  { qualifier, position }: Star,
  sides: ReadonlyArray<Pick<Join, 'source' | 'using'>>,
): WrittenItem[] {
  const wanted = sides.filter(({ source }) => qualifier === null || source.qualifier === qualifier);
  if (wanted.length === 0) {
    throw new QueryProblem(position, `${qualifier ?? '*'} is not what this query reads`);
  }
  const names = new Set<string>();
  return wanted.flatMap(({ source, using }) =>
    columnsOf(source, position).flatMap((column): WrittenItem[] => {
      if (qualifier === null && using.includes(column)) return [];
      const form = { kind: 'column', qualifier: source.qualifier, name: column } as const;
      const isTaken = names.has(column);
      names.add(column);
      const name = isTaken && source.qualifier !== null ? `${source.qualifier}_${column}` : column;
      return [{ kind: 'item', expression: build(reader, position, form), name, position }];
    }),
  );
}

/** The names of all columns of a source, in lower case. */
function columnsOf(source: Source, position: number): string[] {
  switch (source.kind) {
    case 'view':
      return viewColumns(source.view).map(({ name }) => name);
    case 'query':
      return source.query.items.map(({ name }, index) => {
        if (name !== null) return name.toLowerCase();
        throw new QueryProblem(position, `column ${index + 1} of the subquery has no name: name it with AS`);
      });
    case 'unnest':
      return [...columnsOf(source.source, position), source.name];
    default:
      throw new QueryProblem(position, '* stands for the columns after FROM');
  }
}
