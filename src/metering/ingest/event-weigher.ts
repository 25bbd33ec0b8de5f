/**
 * Adds up the quantities of new events by customer, for those who decide how soon usage is evaluated. Runs within each
 * request, over rows that are in memory: customers that nobody watches cost no more than reading their reference, and
 * nothing where nobody is watched.
 */
import {
  type NewUsage,
  type Quantities,
  type QuantityNames,
  UNKNOWN_QUANTITIES,
  type UsageWatch,
} from '../../core/event-quantities.ts';
import type { EventRows } from './event-rows.ts';
import { RowReader } from './row-binary.ts';

/** As the largest number that metrics add up, so that sums stay finite. */
const AMOUNT_MAX = 1e38;

const POINT = 0x2e;
const MINUS = 0x2d;
const ZERO = 0x30;
const DIGITS_MAX = 15;

/** A property that is looked at. */
interface Role {
  readonly isAmount: boolean;
  readonly isShape: boolean;
}

/** One call at a time uses its memory. */
export function createEventWeigher({ isWatching, isWatched, names }: Omit<UsageWatch, 'stored'>) {
  let known: QuantityNames | null = null;
  let roles = new Map<number, Role>();
  /** Amounts of the present event, and the hashes of their names. */
  const amounts: number[] = [];
  const amountNames: number[] = [];

  function learnNames(): void {
    const present = names();
    if (present === known) return;
    known = present;
    roles = rolesOf(present);
  }

  /** Adds what the reader finds behind the customer. */
  function addEvent(bytes: Buffer, reader: RowReader, sums: Map<number, number>): void {
    const typeLength = reader.length();
    let shape = hashBytes(bytes, reader.offset, reader.offset + typeLength);
    reader.offset += typeLength;
    amounts.length = 0;
    amountNames.length = 0;
    for (let left = reader.length(); left > 0; left -= 1) {
      const nameEnd = reader.length() + reader.offset;
      const name = hashBytes(bytes, reader.offset, nameEnd);
      reader.offset = nameEnd;
      const valueEnd = reader.length() + reader.offset;
      const role = roles.get(name);
      if (role?.isShape) {
        // Whatever the order of the properties.
        shape = (shape + mixed(name, hashBytes(bytes, reader.offset, valueEnd))) | 0;
      }
      if (role?.isAmount) {
        amounts.push(amountAt(bytes, reader.offset, valueEnd));
        amountNames.push(name);
      }
      reader.offset = valueEnd;
    }
    add(sums, shape, 1);
    for (let i = 0; i < amounts.length; i += 1) add(sums, mixed(shape, amountNames[i] ?? 0), amounts[i] ?? 0);
  }

  /** Of customers that are not watched the quantities are unknown. */
  return function weigh(rows: EventRows, indexes: readonly number[]): NewUsage {
    if (!isWatching()) return null;
    learnNames();
    const usage = new Map<string, Quantities>();
    const { bytes } = rows;
    const reader = new RowReader(bytes);
    let last = { start: 0, end: 0, sums: null as Map<number, number> | null };
    for (const index of indexes) {
      reader.offset = rows.startOf(index);
      reader.skipText();
      const start = reader.offset;
      reader.skipText();
      const end = reader.offset;
      // Most requests are of one customer, so that its text is read once.
      if (last.end === 0 || bytes.compare(bytes, last.start, last.end, start, end) !== 0) {
        last = { start, end, sums: sumsOf(usage, new RowReader(bytes, start).text(), isWatched) };
      }
      if (last.sums !== null) addEvent(bytes, reader, last.sums);
    }
    return usage;
  };
}

/** Null where nobody wants to know. */
function sumsOf(
  usage: Map<string, Quantities>,
  ref: string,
  isWatched: (ref: string) => boolean,
): Map<number, number> | null {
  if (!isWatched(ref)) {
    usage.set(ref, UNKNOWN_QUANTITIES);
    return null;
  }
  const sums = new Map(usage.get(ref));
  usage.set(ref, sums);
  return sums;
}

function add(sums: Map<number, number>, kind: number, amount: number): void {
  sums.set(kind, (sums.get(kind) ?? 0) + amount);
}

function rolesOf({ amounts, shapes }: QuantityNames): Map<number, Role> {
  const roles = new Map<number, Role>();
  const roleOf = (name: string) => {
    const bytes = Buffer.from(name, 'utf8');
    return hashBytes(bytes, 0, bytes.length);
  };
  for (const name of shapes) roles.set(roleOf(name), { isAmount: false, isShape: true });
  for (const name of amounts) {
    const isShape = roles.get(roleOf(name))?.isShape ?? false;
    roles.set(roleOf(name), { isAmount: true, isShape });
  }
  return roles;
}

/** Two names with one hash only share a quantity. */
function hashBytes(bytes: Buffer, start: number, end: number): number {
  let hash = 0;
  for (let at = start; at < end; at += 1) hash = (Math.imul(hash, 31) + (bytes[at] ?? 0)) | 0;
  return hash;
}

function mixed(one: number, other: number): number {
  const product = Math.imul(one ^ 0x5bd1e995, 0x85ebca6b) ^ Math.imul(other, 0xc2b2ae35);
  return (product ^ (product >>> 15)) | 0;
}

/** The absolute value of a number as it is stored, 0 of what is none. */
function amountAt(bytes: Buffer, start: number, end: number): number {
  let at = start;
  if (bytes[at] === MINUS) at += 1;
  let value = 0;
  let scale = 0;
  for (let digits = at; digits < end; digits += 1) {
    const byte = bytes[digits] ?? 0;
    if (byte === POINT && scale === 0) scale = 1;
    else if (byte >= ZERO && byte <= ZERO + 9 && digits - at < DIGITS_MAX) {
      value = value * 10 + (byte - ZERO);
      scale *= 10;
    } else return readAmount(bytes.toString('utf8', start, end));
  }
  return scale === 0 ? value : value / scale;
}

/** Long ones, and texts. */
function readAmount(text: string): number {
  const value = Math.abs(Number(text));
  return Number.isNaN(value) ? 0 : Math.min(value, AMOUNT_MAX);
}
