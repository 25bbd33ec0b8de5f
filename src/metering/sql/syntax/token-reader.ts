/** Reads the tokens of a query in order and sums the weights of nodes, so that the size of a query is limited. */
import { QueryProblem } from '../values/query-refusal.ts';
import type { Expression, SelectQuery } from './query-syntax.ts';
import type { Token } from './tokens.ts';

/**
 * The maximum weight of all parts, in units that take ClickHouse two or three milliseconds to plan. ClickHouse has no
 * timeout for planning, so this limit is needed. It is far beyond a metric written by a person.
 */
const QUERY_WEIGHT_MAX = 300;
/** Maximum nesting depth of brackets. */
const NESTING_MAX = 50;

/** Words that end an expression or begin a clause, so they are not names unless quoted. */
const RESERVED = new Set(
  `ALL AND ANTI ANY ARRAY AS ASC ASOF BETWEEN BY CASE CAST CROSS DESC DISTINCT ELSE END EXCEPT EXISTS FETCH FILTER FINAL
  FORMAT FROM FULL GLOBAL GROUP GROUPING HAVING IN INNER INTERSECT INTO IS JOIN LATERAL LEFT LIKE ILIKE LIMIT
  NATURAL NOT NULL OFFSET ON OR ORDER OUTER OVER PASTE PREWHERE QUALIFY RECURSIVE RIGHT SAMPLE SELECT SEMI SETTINGS
  TABLE THEN UNION USING VALUES WHEN WHERE WINDOW WITH`.split(/\s+/),
);

/** Reserved words that begin no expression and end none: a column may have them as its name. */
const COLUMN_WORDS = new Set(
  'ANTI ANY ASOF CROSS FINAL FORMAT FULL GLOBAL INNER LEFT NATURAL OUTER PASTE RIGHT SAMPLE SEMI SETTINGS TABLE VALUES WINDOW'.split(
    ' ',
  ),
);

/** The grammar of the text between the brackets of a call: any expression, which may contain calls again. */
export type ParseOperand = (reader: TokenReader) => Expression;

export class TokenReader {
  private readonly tokens: readonly Token[];
  private index = 0;
  private weight = 0;
  private readonly identities = new Map<string, number>();
  private nesting = 0;
  /**
   * Whether the query may read the current time. A metric may not: its usage must be the same whenever it is counted.
   */
  hasClock = false;
  /** Parses a query in brackets inside an expression, which is written `times` times; null if none is allowed here. */
  parseSubquery: ((times: 1 | 2) => SelectQuery) | null = null;

  constructor(tokens: readonly Token[]) {
    this.tokens = tokens;
  }

  get next(): Token {
    return this.at(0);
  }

  get afterNext(): Token {
    return this.at(1);
  }

  take(): Token {
    const token = this.next;
    this.index += 1;
    return token;
  }

  isWord(...words: readonly string[]): boolean {
    return words.every((word, offset) => {
      const token = this.at(offset);
      return token.kind === 'word' && token.text.toUpperCase() === word;
    });
  }

  isSymbol(symbol: string): boolean {
    return this.next.kind === 'symbol' && this.next.text === symbol;
  }

  /** Consumes these words if they are next. */
  takeWords(...words: readonly string[]): boolean {
    if (!this.isWord(...words)) return false;
    this.index += words.length;
    return true;
  }

  takeSymbol(symbol: string): boolean {
    if (!this.isSymbol(symbol)) return false;
    this.index += 1;
    return true;
  }

  expectSymbol(symbol: string): void {
    if (!this.takeSymbol(symbol)) throw this.unexpected(`"${symbol}"`);
  }

  expectWord(word: string): void {
    if (!this.takeWords(word)) throw this.unexpected(word);
  }

  /** A quoted name, or a word that is not reserved. */
  isName(): boolean {
    const { kind, text } = this.next;
    return kind === 'name' || (kind === 'word' && !RESERVED.has(text.toUpperCase()));
  }

  expectName(what: string): Token {
    if (!this.isName()) throw this.unexpected(what);
    return this.take();
  }

  /** The name of a column: as `expectName`, or a word that is reserved for other places, such as `left`. */
  expectColumnName(what: string): Token {
    const { kind, text } = this.next;
    if (kind === 'word' && COLUMN_WORDS.has(text.toUpperCase())) return this.take();
    return this.expectName(what);
  }

  /** Whether `name.*` is next. */
  isQualifiedStar(): boolean {
    return (
      this.isName() && this.at(1).text === '.' && this.at(2).kind === 'symbol' && this.at(2).text === '*'
    );
  }

  /** A problem with the next token. */
  unexpected(expected: string): QueryProblem {
    const { kind, text, position } = this.next;
    const found = kind === 'end' ? 'the end of the query' : `"${text}"`;
    return new QueryProblem(position, `expected ${expected}, found ${found}`);
  }

  /** The weight so far. */
  get weighed(): number {
    return this.weight;
  }

  addWeight(position: number, weight: number): void {
    this.weight += weight;
    if (this.weight > QUERY_WEIGHT_MAX) throw new QueryProblem(position, 'the query is too long');
  }

  /** A number that identifies this text. */
  identify(text: string): number {
    const identity = this.identities.get(text) ?? this.identities.size;
    this.identities.set(text, identity);
    return identity;
  }

  /** Runs `read` one level deeper. */
  nested<Result>(read: () => Result): Result {
    if (this.nesting >= NESTING_MAX) {
      throw new QueryProblem(
        this.next.position,
        `nested too deeply: at most ${NESTING_MAX} levels are allowed`,
      );
    }
    this.nesting += 1;
    const result = read();
    this.nesting -= 1;
    return result;
  }

  private at(offset: number): Token {
    const token = this.tokens[Math.min(this.index + offset, this.tokens.length - 1)];
    if (token === undefined) throw new Error('a list of tokens has an end');
    return token;
  }
}
