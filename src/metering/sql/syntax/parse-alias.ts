/** The grammar of names defined by a query. */
import { QueryProblem } from '../values/query-refusal.ts';
import type { TokenReader } from './token-reader.ts';

/** `AS name`, or a name alone. */
export function parseAlias(reader: TokenReader): string | null {
  const isExplicit = reader.takeWords('AS');
  if (!isExplicit && !reader.isName()) return null;
  const what = 'a name for the column';
  const { text, position } = isExplicit ? reader.expectColumnName(what) : reader.expectName(what);
  refuseReservedName(text, position);
  return text;
}

/** Names with a fixed meaning everywhere in a query. */
export function refuseReservedName(name: string, position: number): void {
  if (['events', 'properties'].includes(name.toLowerCase())) {
    throw new QueryProblem(position, `the name ${name} is taken: choose another`);
  }
}
