/**
 * Parses a plain request body in one pass over its bytes, straight into rows: ASCII without escapes, known members,
 * properties that are texts, integers or decimals of at most 15 digits, true or false.
 *
 * Every other body, and every invalid one, is left to the general reader (`validate-events.ts`), which gives the same
 * rows (held by a property test) and reports errors.
 */
import { isAscii } from 'node:buffer';
import type { Instant } from '../../core/time.ts';
import {
  CUSTOMER_ID_LENGTH_MAX,
  EVENT_TYPE_LENGTH_MAX,
  PROPERTIES_LENGTH_MAX,
  PROPERTY_NAME_LENGTH_MAX,
  TRANSACTION_ID_CHARACTERS_MAX,
} from './event-limits.ts';
import type { EventRows } from './event-rows.ts';
import type { TimestampBytesParser } from './event-timestamp.ts';
import {
  CUSTOMER_ID,
  EVENT_TYPE,
  MEMBERS,
  PLAIN_EVENTS,
  type PlainForm,
  PROPERTIES,
  SOURCE,
  TIMESTAMP,
  TRANSACTION_ID,
} from './plain-form.ts';
import { lengthBytes, writeLength } from './row-binary.ts';
import { HASH_WORDS, hashCodeUnits } from './transaction-hash.ts';

const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const OPENING_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSING_BRACKET = 0x5d;
const LETTER_F = 0x66;
const LETTER_T = 0x74;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
const SLASH = 0x2f;

/** A double holds this many digits exactly. */
const DIGITS_MAX = 15;
/** More properties than this take longer to compare with each other than the general reader takes. */
const MEMBERS_MAX = 64;
/** Longer values are copied as a whole instead of byte by byte. */
const SHORT_BYTES_MAX = 24;

interface PlainReaderContext {
  readonly now: Instant;
  readonly earliest: Instant;
  readonly latest: Instant;
  readonly parseTimestamp: TimestampBytesParser;
}

/** Reads the events of a plain body into `rows`. False if the body is not plain: then the rows must not be used. */
export type PlainEventReader = (body: Buffer, rows: EventRows, context: PlainReaderContext) => boolean;

/** A reader with separate memory. Not reentrant. */
export function createPlainEventReader(form: PlainForm = PLAIN_EVENTS): PlainEventReader {
  const scan = new Scan(form);
  return (body, rows, context) => isAscii(body) && scan.read(body, rows, context);
}

const TEXT_LENGTHS_MAX = [TRANSACTION_ID_CHARACTERS_MAX, CUSTOMER_ID_LENGTH_MAX, EVENT_TYPE_LENGTH_MAX];

/** Text that is not plain ends the pass: every step returns whether to continue. */
class Scan {
  #body: Buffer = Buffer.alloc(0);
  #at = 0;
  readonly #form: PlainForm;
  /** Start and end of the text of each member; entries of omitted members are those of the previous event. */
  readonly #spans = new Uint32Array(2 * MEMBERS);
  #hasTimestamp = false;
  /** Names and texts of properties in the body: start and end of each. */
  readonly #members = new Uint32Array(4 * MEMBERS_MAX);
  readonly #nameMarks = new Uint32Array(MEMBERS_MAX);
  #count = 0;
  /** The bytes of the property texts in the row, and those that count towards the limit. */
  #memberBytes = 0;
  readonly #codeUnits = new Uint16Array(TRANSACTION_ID_CHARACTERS_MAX);

  constructor(form: PlainForm) {
    this.#form = form;
  }

  read(body: Buffer, rows: EventRows, context: PlainReaderContext): boolean {
    this.#body = body;
    this.#at = 0;
    rows.clear();
    const isPlain = this.#events(rows, context);
    this.#body = NOTHING;
    return isPlain;
  }

  #events(rows: EventRows, context: PlainReaderContext): boolean {
    const first = this.#next();
    if (first === OPENING_BRACE && this.#form.mayBeSingle) {
      this.#at -= 1;
      return this.#event() && this.#write(rows, context) && this.#next() === -1;
    }
    if (first !== OPENING_BRACKET) return false;
    for (;;) {
      if (rows.count === this.#form.eventsMax || !this.#event() || !this.#write(rows, context)) return false;
      const after = this.#next();
      if (after === CLOSING_BRACKET) return this.#next() === -1;
      if (after !== COMMA) return false;
    }
  }

  /** The next byte that is not white space, or -1 at the end. */
  #next(): number {
    const body = this.#body;
    for (;;) {
      if (this.#at >= body.length) return -1;
      const byte = body[this.#at] ?? 0;
      this.#at += 1;
      if (byte > SPACE) return byte;
      if (byte !== SPACE && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return 0;
    }
  }

  // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: a call for each byte or id would cost more than the work itself.
  #event(): boolean {
    if (this.#next() !== OPENING_BRACE) return false;
    this.#count = 0;
    this.#memberBytes = 0;
    let seen = 0;
    for (;;) {
      if (this.#next() !== QUOTE) return false;
      const member = this.#memberName();
      if (member < 0 || (seen & (1 << member)) !== 0 || this.#next() !== COLON) return false;
      seen |= 1 << member;
      if (!(member === PROPERTIES ? this.#properties() : this.#text(member))) return false;
      const after = this.#next();
      if (after === CLOSING_BRACE) {
        this.#hasTimestamp = (seen & (1 << TIMESTAMP)) !== 0;
        return (seen & this.#form.required) === this.#form.required;
      }
      if (after !== COMMA) return false;
    }
  }

  /** The member with this name, or -1; the opening quote was read. */
  #memberName(): number {
    const body = this.#body;
    for (const [name, member] of this.#form.names) {
      let length = 0;
      while (length < name.length && body[this.#at + length] === name[length]) length += 1;
      if (length < name.length) continue;
      this.#at += length;
      return member;
    }
    return -1;
  }

  #text(member: number): boolean {
    if (this.#next() !== QUOTE) return false;
    const start = this.#at;
    if (!this.#skipText()) return false;
    const end = this.#at - 1;
    this.#spans[2 * member] = start;
    this.#spans[2 * member + 1] = end;
    if (member === TIMESTAMP) return true;
    if (member > PROPERTIES) return end > start && this.#isFixed(member, start, end);
    return end > start && end - start <= (TEXT_LENGTHS_MAX[member] ?? 0);
  }

  /** Whether the member has its fixed value, if it has one. */
  #isFixed(member: number, start: number, end: number): boolean {
    const fixed = this.#form.fixed.get(member);
    if (fixed === undefined) return true;
    if (end - start !== fixed.length) return false;
    for (let i = 0; i < fixed.length; i += 1) if (this.#body[start + i] !== fixed[i]) return false;
    return true;
  }

  /** Skips to after the closing quote. */
  #skipText(): boolean {
    const body = this.#body;
    for (let at = this.#at; at < body.length; at += 1) {
      const byte = body[at] ?? 0;
      if (byte === QUOTE) {
        this.#at = at + 1;
        return true;
      }
      if (byte < SPACE || byte === BACKSLASH) return false;
    }
    return false;
  }

  // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: a call for each byte or id would cost more than the work itself.
  #properties(): boolean {
    if (this.#next() !== OPENING_BRACE) return false;
    let length = 0;
    let first = this.#next();
    if (first === CLOSING_BRACE) return true;
    for (;;) {
      if (first !== QUOTE || this.#count === MEMBERS_MAX || !this.#propertyName()) return false;
      if (this.#next() !== COLON || !this.#value()) return false;
      const at = 4 * this.#count;
      const members = this.#members;
      const nameBytes = (members[at + 1] ?? 0) - (members[at] ?? 0);
      const valueBytes = (members[at + 3] ?? 0) - (members[at + 2] ?? 0);
      length += nameBytes + valueBytes;
      if (length > PROPERTIES_LENGTH_MAX) return false;
      this.#memberBytes += nameBytes + lengthBytes(nameBytes) + valueBytes + lengthBytes(valueBytes);
      this.#count += 1;
      const after = this.#next();
      if (after === CLOSING_BRACE) return true;
      if (after !== COMMA) return false;
      first = this.#next();
    }
  }

  /** JSON.parse keeps the last of several members with one name, and orders index-like names first. */
  #propertyName(): boolean {
    const body = this.#body;
    const start = this.#at;
    const first = body[start] ?? 0;
    if (first >= ZERO && first <= NINE) return false;
    let mark = 0;
    let at = start;
    for (; ; at += 1) {
      const byte = body[at];
      if (byte === QUOTE) break;
      if (byte === undefined || byte < SPACE || byte === BACKSLASH) return false;
      mark = (Math.imul(mark, 31) + byte) | 0;
    }
    if (at - start > PROPERTY_NAME_LENGTH_MAX) return false;
    mark >>>= 0;
    for (let other = 0; other < this.#count; other += 1) if (this.#nameMarks[other] === mark) return false;
    this.#nameMarks[this.#count] = mark;
    this.#members[4 * this.#count] = start;
    this.#members[4 * this.#count + 1] = at;
    this.#at = at + 1;
    return true;
  }

  #value(): boolean {
    const first = this.#next();
    const start = this.#at;
    if (first === QUOTE) return this.#skipText() && this.#keepValue(start, this.#at - 1);
    if (first === MINUS || (first >= ZERO && first <= NINE)) return this.#number(start - 1, first);
    if (first === LETTER_T) return this.#word('rue') && this.#keepValue(start - 1, this.#at);
    if (first === LETTER_F) return this.#word('alse') && this.#keepValue(start - 1, this.#at);
    return false;
  }

  #keepValue(start: number, end: number): boolean {
    this.#members[4 * this.#count + 2] = start;
    this.#members[4 * this.#count + 3] = end;
    return true;
  }

  #word(rest: string): boolean {
    for (let i = 0; i < rest.length; i += 1)
      if (this.#body[this.#at + i] !== rest.charCodeAt(i)) return false;
    this.#at += rest.length;
    return true;
  }

  /** Trailing zeros of a fraction are dropped, and the point with them; a negative zero is not plain. */
  // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: a call for each byte or id would cost more than the work itself.
  #number(start: number, first: number): boolean {
    const body = this.#body;
    let at = first === MINUS ? start + 1 : start;
    const integer = at;
    while (isDigit(body[at])) at += 1;
    const integerDigits = at - integer;
    if (integerDigits === 0 || (integerDigits > 1 && body[integer] === ZERO)) return false;
    let end = at;
    if (body[at] === POINT) {
      const fraction = at + 1;
      at = fraction;
      while (isDigit(body[at])) {
        at += 1;
        if (body[at - 1] !== ZERO) end = at;
      }
      if (at === fraction || integerDigits + at - fraction > DIGITS_MAX) return false;
    }
    if (integerDigits > DIGITS_MAX) return false;
    if (first === MINUS && body[integer] === ZERO && end === integer + 1) return false;
    const after = body[at];
    // An exponent, or an invalid number.
    if (after !== COMMA && after !== CLOSING_BRACE && (after === undefined || after > SPACE)) return false;
    this.#at = at;
    return this.#keepValue(start, end);
  }

  /** Adds the parsed event. */
  // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: a call for each byte or id would cost more than the work itself.
  #write(rows: EventRows, { now, earliest, latest, parseTimestamp }: PlainReaderContext): boolean {
    const spans = this.#spans;
    const timestamp = this.#hasTimestamp
      ? parseTimestamp(this.#body, spans[2 * TIMESTAMP] ?? 0, spans[2 * TIMESTAMP + 1] ?? 0)
      : now;
    // False for NaN, too.
    if (!(timestamp >= earliest && timestamp <= latest)) return false;
    const idLength = this.#readId();
    if (idLength === 0) return false;
    hashCodeUnits(this.#codeUnits, idLength, rows.hashes, rows.count * HASH_WORDS);
    const idBytes = idLength + (spans[3] ?? 0) - (spans[2] ?? 0) + (spans[5] ?? 0) - (spans[4] ?? 0);
    // Three lengths of ids and the number of properties take at most two bytes each.
    rows.makeRoom(idBytes + this.#memberBytes + 8);
    let end = rows.length;
    end = this.#writeId(rows.bytes, end, idLength);
    for (let text = CUSTOMER_ID; text <= EVENT_TYPE; text += 1) {
      end = this.#copy(rows.bytes, end, spans[2 * text] ?? 0, spans[2 * text + 1] ?? 0);
      if (text === CUSTOMER_ID) lowerUuid(rows.bytes, end - UUID_BYTES, (spans[3] ?? 0) - (spans[2] ?? 0));
    }
    end = writeLength(rows.bytes, end, this.#count);
    const members = this.#members;
    for (let at = 0; at < 4 * this.#count; at += 2) {
      end = this.#copy(rows.bytes, end, members[at] ?? 0, members[at + 1] ?? 0);
    }
    rows.finish(timestamp, end);
    return true;
  }

  /**
   * Reads the characters of the id; returns their number, or 0 if it is not plain: too long, or with slashes to escape.
   */
  #readId(): number {
    let length = 0;
    if (this.#form.hasSourceInId) {
      if (this.#hasSlash(TRANSACTION_ID)) return 0;
      length = this.#readUnits(SOURCE, 0);
      if (length >= TRANSACTION_ID_CHARACTERS_MAX) return 0;
      this.#codeUnits[length] = SLASH;
      length += 1;
    }
    length = this.#readUnits(TRANSACTION_ID, length);
    return length > TRANSACTION_ID_CHARACTERS_MAX ? 0 : length;
  }

  #hasSlash(member: number): boolean {
    const end = this.#spans[2 * member + 1] ?? 0;
    for (let at = this.#spans[2 * member] ?? 0; at < end; at += 1) if (this.#body[at] === SLASH) return true;
    return false;
  }

  /** Reads the text of a member after `before` characters; returns the total length, and reads no more than fit. */
  #readUnits(member: number, before: number): number {
    const body = this.#body;
    const start = this.#spans[2 * member] ?? 0;
    const length = before + (this.#spans[2 * member + 1] ?? 0) - start;
    const units = this.#codeUnits;
    const last = Math.min(length, TRANSACTION_ID_CHARACTERS_MAX);
    for (let i = before; i < last; i += 1) units[i] = body[start + i - before] ?? 0;
    return length;
  }

  #writeId(into: Buffer, offset: number, length: number): number {
    const from = writeLength(into, offset, length);
    for (let i = 0; i < length; i += 1) into[from + i] = this.#codeUnits[i] ?? 0;
    return from + length;
  }

  #copy(into: Buffer, offset: number, start: number, end: number): number {
    const body = this.#body;
    const length = end - start;
    const from = writeLength(into, offset, length);
    if (length > SHORT_BYTES_MAX) into.set(body.subarray(start, end), from);
    else for (let i = 0; i < length; i += 1) into[from + i] = body[start + i] ?? 0;
    return from + length;
  }
}

const NOTHING = Buffer.alloc(0);

const UUID_BYTES = 36;
const LETTER_A = 0x41;
const LETTER_F_UPPER = 0x46;
const CASE_BIT = 0x20;

/** Converts a UUID of `length` bytes at `start` to lower case, like `withoutUuidCase`; any other text is unchanged. */
// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: a call for each byte or id would cost more than the work itself.
function lowerUuid(bytes: Buffer, start: number, length: number): void {
  if (length !== UUID_BYTES) return;
  let hasUpper = false;
  for (let i = 0; i < UUID_BYTES; i += 1) {
    const byte = bytes[start + i] ?? 0;
    if (i === 8 || i === 13 || i === 18 || i === 23) {
      if (byte !== MINUS) return;
    } else if (byte >= LETTER_A && byte <= LETTER_F_UPPER) hasUpper = true;
    else if (!(isDigit(byte) || (byte >= (LETTER_A | CASE_BIT) && byte <= LETTER_F))) return;
  }
  if (!hasUpper) return;
  for (let i = 0; i < UUID_BYTES; i += 1) {
    const byte = bytes[start + i] ?? 0;
    if (byte >= LETTER_A && byte <= LETTER_F_UPPER) bytes[start + i] = byte | CASE_BIT;
  }
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte <= NINE;
}
