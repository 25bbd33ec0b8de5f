/**
 * The tokens of a SQL metric. Comments and white space are dropped here, and quoted names and texts are tokens, so
 * later steps need not handle quotes. Outside of quotes only ASCII is allowed.
 */
import { QueryProblem } from '../values/query-refusal.ts';

export interface Token {
  /**
   * `word`: a bare name or keyword; `name`: a quoted name; `text`: a literal without its quotes;
   * `number`: digits as written; `symbol`: an operator or punctuation; `end`: after the last one.
   */
  readonly kind: 'word' | 'name' | 'text' | 'number' | 'symbol' | 'end';
  readonly text: string;
  /** Index of its first character. */
  readonly position: number;
}

/** Longer than any metric that a person can follow; limits everything that is built from it. */
const QUERY_CHARACTERS_MAX = 10_000;

const SPACE = /[ \t\r\n]+/y;
const LINE_COMMENT = /--[^\n]*/y;
const WORD = /[A-Za-z_][A-Za-z0-9_]*/y;
const NUMBER = /(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y;
const SYMBOL = /->>|->|<>|!=|<=|>=|::|\|\||[-+*/%=<>(),.;[\]]/y;

/** Characters that are not allowed even in quotes: unpaired surrogates, and NUL. */
const UNFIT_TEXT = /[\p{Surrogate}\0]/u;

/** Throws a `QueryProblem` at the first character that cannot begin a token. */
export function tokenize(sql: string): Token[] {
  if (sql.length > QUERY_CHARACTERS_MAX) {
    throw new QueryProblem(
      QUERY_CHARACTERS_MAX,
      `the query has ${sql.length} characters; at most ${QUERY_CHARACTERS_MAX} are allowed`,
    );
  }
  const tokens: Token[] = [];
  let position = 0;
  while (position < sql.length) {
    const skipped = matchAt(SPACE, sql, position) ?? matchAt(LINE_COMMENT, sql, position);
    if (skipped !== null) {
      position += skipped.length;
    } else if (sql.startsWith('/*', position)) {
      position = endOfComment(sql, position);
    } else {
      const { token, end } = readToken(sql, position);
      tokens.push(token);
      position = end;
    }
  }
  tokens.push({ kind: 'end', text: '', position: sql.length });
  return tokens;
}

function readToken(sql: string, position: number): { token: Token; end: number } {
  const character = sql.charAt(position);
  if (character === "'") return readQuoted(sql, position, 'text');
  if (character === '"' || character === '`') return readQuoted(sql, position, 'name');
  for (const [kind, pattern] of BARE) {
    const text = matchAt(pattern, sql, position);
    if (text === null) continue;
    const end = position + text.length;
    if (kind === 'number' && matchAt(WORD, sql, end) !== null) {
      throw new QueryProblem(position, `a number ends in letters: quote a name that begins with a digit`);
    }
    return { token: { kind, text, position }, end };
  }
  throw new QueryProblem(position, `unexpected character ${describeCharacter(sql, position)}`);
}

const BARE = [
  ['word', WORD],
  ['number', NUMBER],
  ['symbol', SYMBOL],
] as const;

/** A quote inside is doubled; a backslash has no special meaning. */
function readQuoted(sql: string, position: number, kind: 'text' | 'name'): { token: Token; end: number } {
  const quote = sql.charAt(position);
  let text = '';
  let start = position + 1;
  for (;;) {
    const close = sql.indexOf(quote, start);
    if (close < 0) throw new QueryProblem(position, `the quote ${quote} is never closed`);
    text += sql.slice(start, close);
    if (sql.charAt(close + 1) !== quote) {
      if (UNFIT_TEXT.test(text)) throw new QueryProblem(position, 'a broken character in quotes');
      if (kind === 'name' && text === '') throw new QueryProblem(position, 'a name must not be empty');
      return { token: { kind, text, position }, end: close + 1 };
    }
    text += quote;
    start = close + 2;
  }
}

function endOfComment(sql: string, position: number): number {
  const close = sql.indexOf('*/', position + 2);
  if (close < 0) throw new QueryProblem(position, 'the comment is never closed');
  return close + 2;
}

function matchAt(pattern: RegExp, sql: string, position: number): string | null {
  pattern.lastIndex = position;
  return pattern.exec(sql)?.[0] ?? null;
}

/** Look-alikes of ASCII characters are described by their code point. */
function describeCharacter(sql: string, position: number): string {
  const code = sql.codePointAt(position) ?? 0;
  const number = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
  return code > 0x20 && code < 0x7f ? `${String.fromCodePoint(code)} (${number})` : number;
}
