/** `SHOW TABLES` and `DESCRIBE view`, which are queries over the views `tables` and `columns`. */
import { QueryProblem } from '../values/query-refusal.ts';
import { VIEW_NAMES } from '../values/views.ts';
import { suggestion } from './did-you-mean.ts';
import { TokenReader } from './token-reader.ts';
import { tokenize } from './tokens.ts';

/** The SELECT that the text stands for; null if it is neither of the two. Throws a `QueryProblem` for an unknown view. */
export function shownQuery(sql: string): string | null {
  const reader = new TokenReader(tokenize(sql));
  if (reader.takeWords('SHOW')) {
    reader.expectWord('TABLES');
    requireEnd(reader);
    return 'SELECT name, description FROM tables ORDER BY name';
  }
  if (!reader.takeWords('DESCRIBE') && !reader.takeWords('DESC')) return null;
  reader.takeWords('TABLE');
  const { text, position } = reader.expectName('a view');
  const view = VIEW_NAMES.find((name) => name === text.toLowerCase());
  if (view === undefined) {
    const near = suggestion(text, VIEW_NAMES) || `; the views are ${VIEW_NAMES.join(', ')}`;
    throw new QueryProblem(position, `the table ${text} is not available${near}`);
  }
  requireEnd(reader);
  return `SELECT name, type, description FROM columns WHERE table_name = '${view}' ORDER BY position`;
}

function requireEnd(reader: TokenReader): void {
  reader.takeSymbol(';');
  if (reader.next.kind !== 'end') throw reader.unexpected('the end of the query');
}
