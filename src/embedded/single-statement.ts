/**
 * The embedded engine runs every statement of a text that contains several; a server refuses such a text. This makes
 * the embedded engine refuse it too, so that no query text can contain a second statement.
 */

/** Characters that open a construct in which a semicolon may be ambiguous. */
const AMBIGUOUS = new Set(['"', '`', '$', '#', '‘', '’', '“', '”']);

/**
 * True if `sql` is certainly one statement. Recognizes string literals and comments, so that a semicolon in one is
 * allowed; after a quoted name or a heredoc any semicolon is refused.
 */
export function isSingleStatement(sql: string): boolean {
  if (!sql.includes(';')) return true;
  let at = 0;
  while (at < sql.length) {
    const character = sql.charAt(at);
    if (character === ';') return false;
    if (character === "'") {
      at = endOfString(sql, at + 1);
    } else if (sql.startsWith('--', at)) {
      at = endOf(sql, '\n', at);
    } else if (sql.startsWith('/*', at)) {
      at = endOf(sql, '*/', at + 2);
    } else if (AMBIGUOUS.has(character)) {
      return !sql.includes(';', at);
    } else {
      at += 1;
    }
  }
  return true;
}

/** Index after `end`, or the end of the text: an unclosed construct contains no further statement. */
function endOf(sql: string, end: string, start: number): number {
  const found = sql.indexOf(end, start);
  return found < 0 ? sql.length : found + end.length;
}

/** Index after the closing quote of a literal, or the end of the text. */
function endOfString(sql: string, start: number): number {
  for (let at = start; at < sql.length; at += 1) {
    if (sql[at] === '\\') at += 1;
    else if (sql[at] === "'") return at + 1;
  }
  return sql.length;
}
