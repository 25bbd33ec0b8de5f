/** The grammar of ORDER BY and of OVER. */

import { QueryProblem } from '../values/query-refusal.ts';
import { build } from './expression-weight.ts';
import type { AggregateCall, Expression, OrderItem, WindowFrame } from './query-syntax.ts';
import type { ParseOperand, TokenReader } from './token-reader.ts';

/** Maximum rows of a frame before or after the current one: each row reads all of them. */
const FRAME_ROWS_MAX = 100;

/** The text after ORDER BY. NULL is last unless specified otherwise. */
export function parseOrder(reader: TokenReader, parseOperand: ParseOperand): OrderItem[] {
  const items: OrderItem[] = [];
  do {
    const expression = parseOperand(reader);
    const isDescending = reader.takeWords('DESC');
    if (!isDescending) reader.takeWords('ASC');
    const hasNulls = reader.takeWords('NULLS');
    const areNullsFirst = hasNulls && reader.takeWords('FIRST');
    if (hasNulls && !areNullsFirst) reader.expectWord('LAST');
    items.push({ expression, isDescending, areNullsFirst });
  } while (reader.takeSymbol(','));
  return items;
}

/** `OVER ([PARTITION BY …] [ORDER BY …] [ROWS …])` */
export function parseOver(
  reader: TokenReader,
  position: number,
  call: AggregateCall,
  parseOperand: ParseOperand,
): Expression {
  reader.expectWord('OVER');
  if (!reader.takeSymbol('(')) throw reader.unexpected('a window in brackets: windows have no names');
  const partitionBy: Expression[] = [];
  if (reader.takeWords('PARTITION', 'BY')) {
    do partitionBy.push(parseOperand(reader));
    while (reader.takeSymbol(','));
  }
  const orderBy = reader.takeWords('ORDER', 'BY') ? parseOrder(reader, parseOperand) : [];
  const frame = parseFrame(reader);
  reader.expectSymbol(')');
  return build(reader, position, { kind: 'window', call, partitionBy, orderBy, frame });
}

function parseFrame(reader: TokenReader): WindowFrame | null {
  const { position } = reader.next;
  if (reader.takeWords('RANGE')) {
    const isDefault = reader.takeWords('BETWEEN')
      ? reader.takeWords('UNBOUNDED', 'PRECEDING', 'AND', 'CURRENT', 'ROW')
      : reader.takeWords('UNBOUNDED', 'PRECEDING');
    if (isDefault) return null;
    throw new QueryProblem(position, 'RANGE takes UNBOUNDED PRECEDING only: count ROWS');
  }
  if (!reader.takeWords('ROWS')) return null;
  const hasBoth = reader.takeWords('BETWEEN');
  const preceding = parseBound(reader, 'PRECEDING');
  if (!hasBoth) return { preceding, following: 0 };
  reader.expectWord('AND');
  const following = parseBound(reader, 'FOLLOWING');
  if (following === null && preceding !== null) {
    throw new QueryProblem(position, 'a frame up to the last row begins with UNBOUNDED PRECEDING');
  }
  if (preceding === null && following !== null && following > 0) {
    throw new QueryProblem(
      position,
      'a frame from the first row ends with CURRENT ROW or UNBOUNDED FOLLOWING',
    );
  }
  return { preceding, following };
}

function parseBound(reader: TokenReader, direction: 'PRECEDING' | 'FOLLOWING'): number | null {
  if (reader.takeWords('UNBOUNDED', direction)) return null;
  if (reader.takeWords('CURRENT', 'ROW')) return 0;
  const { kind, text } = reader.next;
  if (kind !== 'number' || !/^\d{1,3}$/.test(text) || Number(text) > FRAME_ROWS_MAX) {
    throw reader.unexpected(`UNBOUNDED, CURRENT ROW or a number of rows up to ${FRAME_ROWS_MAX}`);
  }
  reader.take();
  reader.expectWord(direction);
  return Number(text);
}
