/** The grammar of types in CAST and `::`. */
import { QueryProblem } from '../values/query-refusal.ts';
import type { CastTarget } from './query-syntax.ts';
import type { TokenReader } from './token-reader.ts';

const DECIMAL_TYPES = ['DECIMAL', 'NUMERIC', 'DEC'];
const INTEGER_TYPES = ['INTEGER', 'INT', 'BIGINT'];
const TEXT_TYPES = ['VARCHAR', 'TEXT', 'STRING', 'CHAR'];
const TIMESTAMP_TYPES = ['TIMESTAMP', 'TIMESTAMPTZ', 'DATETIME'];
const CAST_SCALE_MAX = 30;

export function parseCastTarget(reader: TokenReader): CastTarget {
  const { text, position, kind } = reader.take();
  const type = kind === 'word' ? text.toUpperCase() : '';
  if (INTEGER_TYPES.includes(type)) return { kind: 'integer' };
  if (TIMESTAMP_TYPES.includes(type)) return { kind: 'timestamp' };
  if (TEXT_TYPES.includes(type)) {
    parseTypeArguments(reader, 1);
    return { kind: 'text' };
  }
  if (DECIMAL_TYPES.includes(type)) {
    const [precision, scale = 0] = parseTypeArguments(reader, 2);
    if (scale > CAST_SCALE_MAX) {
      throw new QueryProblem(position, `a DECIMAL has at most ${CAST_SCALE_MAX} digits after the point`);
    }
    return { kind: 'decimal', scale: precision === undefined ? null : scale };
  }
  const hint = /^(?:FLOAT|DOUBLE|REAL)/.test(type)
    ? '; numbers are exact, so there are no floats: DECIMAL'
    : '';
  throw new QueryProblem(
    position,
    `CAST to ${text} is not available; available are DECIMAL, DECIMAL(p, s), INTEGER, VARCHAR and TIMESTAMP${hint}`,
  );
}

function parseTypeArguments(reader: TokenReader, most: number): number[] {
  const values: number[] = [];
  if (!reader.takeSymbol('(')) return values;
  do {
    const { kind, text } = reader.next;
    if (kind !== 'number' || !/^\d{1,3}$/.test(text) || values.length >= most) {
      throw reader.unexpected('the length of the type');
    }
    reader.take();
    values.push(Number(text));
  } while (reader.takeSymbol(','));
  reader.expectSymbol(')');
  return values;
}
