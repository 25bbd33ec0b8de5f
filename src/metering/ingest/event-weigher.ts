/**
 * Sums the quantities of new events by customer, to decide how soon usage is evaluated. Runs within each request, over
 * rows in memory: unwatched customers cost no more than reading their reference, and nothing if no customer is watched.
 * Consecutive events are summed, as most requests have one customer.
 */
import { hashBytes, hashText, mixHashes } from '../../core/byte-hash.ts';
import type { NewUsage, QuantityNames, UsageWatch } from '../../core/event-quantities.ts';
import type { EventRows } from './event-rows.ts';
import { RowReader } from './row-binary.ts';

/** The largest number that metrics sum, so that sums stay finite. */
const AMOUNT_MAX = 1e38;
/** A kind is searched among this many of its customer, the latest ones. If it is not found, it is listed again. */
const KINDS_SEARCHED = 16;

const POINT = 0x2e;
const MINUS = 0x2d;
const ZERO = 0x30;
const DIGITS_MAX = 15;

/** How a property is used. */
interface Role {
  readonly isAmount: boolean;
  readonly isShape: boolean;
}

/** `WeighedUsage` under construction; the last entries belong to the customer whose events are being read. */
class UsageLists {
  readonly owners: number[] = [];
  readonly ends: number[] = [];
  readonly kinds: number[] = [];
  readonly amounts: number[] = [];

  /** Entries added from now on belong to this customer. */
  begin(owner: number): void {
    this.owners.push(owner);
    this.ends.push(this.kinds.length);
  }

  add(kind: number, amount: number): void {
    const { kinds, amounts, ends } = this;
    const first = ends.length < 2 ? 0 : (ends[ends.length - 2] ?? 0);
    const searched = Math.max(first, kinds.length - KINDS_SEARCHED);
    for (let at = kinds.length - 1; at >= searched; at -= 1) {
      if (kinds[at] !== kind) continue;
      amounts[at] = (amounts[at] ?? 0) + amount;
      return;
    }
    kinds.push(kind);
    amounts.push(amount);
    ends[ends.length - 1] = kinds.length;
  }
}

/** Not reentrant: calls share memory. */
export function createEventWeigher({ isWatching, isWatched, names }: Omit<UsageWatch, 'stored'>) {
  const { learnNames, addEvent } = createEventQuantities(names);

  /** The quantities of unwatched customers are unknown. */
  return function weigh(rows: EventRows, indexes: readonly number[]): NewUsage {
    if (!isWatching()) return null;
    learnNames();
    const usage = new UsageLists();
    const { bytes } = rows;
    const reader = new RowReader(bytes);
    const last = { start: 0, end: 0, isWatched: false };
    for (const index of indexes) {
      reader.offset = rows.startOf(index);
      reader.skipText();
      const length = reader.length();
      const start = reader.offset;
      const end = start + length;
      reader.offset = end;
      if (last.end === 0 || !areEqual(bytes, last.start, last.end, start, length)) {
        const owner = hashBytes(bytes, start, end);
        usage.begin(owner);
        last.isWatched = isWatched(owner);
      }
      last.start = start;
      last.end = end;
      if (last.isWatched) addEvent(bytes, reader, usage);
    }
    return usage;
  };
}

/** The quantities of consecutive events, with shared buffers. */
function createEventQuantities(names: UsageWatch['names']) {
  let known: QuantityNames | null = null;
  let roles = new Map<number, Role>();
  /** Amounts of the current event, and the hashes of their names. */
  const amounts: number[] = [];
  const amountNames: number[] = [];

  function learnNames(): void {
    const present = names();
    if (present === known) return;
    known = present;
    roles = rolesOf(present);
  }

  /** Adds the properties that follow the customer in the reader. */
  function addEvent(bytes: Buffer, reader: RowReader, usage: UsageLists): void {
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
        // Independent of the order of the properties.
        shape = (shape + mixHashes(name, hashBytes(bytes, reader.offset, valueEnd))) | 0;
      }
      if (role?.isAmount) {
        amounts.push(amountAt(bytes, reader.offset, valueEnd));
        amountNames.push(name);
      }
      reader.offset = valueEnd;
    }
    usage.add(shape, 1);
    for (let i = 0; i < amounts.length; i += 1)
      usage.add(mixHashes(shape, amountNames[i] ?? 0), amounts[i] ?? 0);
  }

  return { learnNames, addEvent };
}

/** Texts of one request mostly differ in their last characters. */
function areEqual(bytes: Buffer, start: number, end: number, other: number, otherLength: number): boolean {
  if (end - start !== otherLength) return false;
  for (let back = otherLength - 1; back >= 0; back -= 1) {
    if (bytes[start + back] !== bytes[other + back]) return false;
  }
  return true;
}

function rolesOf({ amounts, shapes }: QuantityNames): Map<number, Role> {
  const roles = new Map<number, Role>();
  // Two names with one hash merely share a quantity.
  for (const name of shapes) roles.set(hashText(name), { isAmount: false, isShape: true });
  for (const name of amounts) {
    const isShape = roles.get(hashText(name))?.isShape ?? false;
    roles.set(hashText(name), { isAmount: true, isShape });
  }
  return roles;
}

/** The absolute value of a number in stored form, 0 if it is not a number. */
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

/** Parses long numbers, and texts. */
function readAmount(text: string): number {
  const value = Math.abs(Number(text));
  return Number.isNaN(value) ? 0 : Math.min(value, AMOUNT_MAX);
}
