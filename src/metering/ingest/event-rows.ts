/**
 * The parsed events of a request: times, hashes of the ids, and the texts in stored form. Kept in arrays that the next
 * request reuses, because an object for every event costs as much as reading it.
 *
 * The texts of an event are RowBinary: transaction id, customer, event type, and the map of properties.
 */
import type { Instant } from '../../core/time.ts';
import { EVENTS_PER_REQUEST_MAX } from './event-limits.ts';
import { withRoom } from './growing-buffer.ts';
import { RowReader, textBytesMax, writeLength, writeText } from './row-binary.ts';
import { HASH_WORDS } from './transaction-hash.ts';

const BYTES_MIN = 64 * 1024;
/** The memory of an unusually large request is released afterwards. */
const BYTES_KEPT_MAX = 4 * 1024 * 1024;

/** An event with its texts decoded. */
export interface ReadEvent {
  readonly transactionId: string;
  readonly customerRef: string;
  readonly eventType: string;
  readonly timestamp: Instant;
  /** Entries, because an object would lose a name such as `__proto__`. */
  readonly properties: readonly (readonly [name: string, text: string])[];
}

/** Written sequentially, event by event. */
export class EventRows {
  count = 0;
  /** The bytes of texts up to the end of the last event. */
  length = 0;
  bytes: Buffer = Buffer.allocUnsafeSlow(BYTES_MIN);
  readonly timestamps: Float64Array;
  /** `HASH_WORDS` for each event. */
  readonly hashes: Uint32Array;
  /** The end of each event's texts. */
  readonly ends: Uint32Array;

  /** `events`: the maximum number of events. */
  constructor(events = EVENTS_PER_REQUEST_MAX) {
    this.timestamps = new Float64Array(events);
    this.hashes = new Uint32Array(events * HASH_WORDS);
    this.ends = new Uint32Array(events);
  }

  clear(): void {
    this.count = 0;
    this.length = 0;
    if (this.bytes.length > BYTES_KEPT_MAX) this.bytes = Buffer.allocUnsafeSlow(BYTES_MIN);
  }

  startOf(index: number): number {
    return index === 0 ? 0 : (this.ends[index - 1] ?? 0);
  }

  endOf(index: number): number {
    return this.ends[index] ?? 0;
  }

  /** Reserves this many bytes after the last event. */
  makeRoom(bytes: number): void {
    this.bytes = withRoom(this.bytes, this.length, this.length + bytes);
  }

  /** Ends the event whose texts were written up to `end`; its hash must already be in place. */
  finish(timestamp: Instant, end: number): void {
    this.timestamps[this.count] = timestamp;
    this.ends[this.count] = end;
    this.length = end;
    this.count += 1;
  }

  /**
   * `ids` are the first three texts, `members` alternating names and texts of properties. The hash must already be in
   * place.
   */
  add(timestamp: Instant, ids: readonly string[], members: readonly string[]): void {
    let room = textBytesMax(0);
    for (const text of ids) room += textBytesMax(text.length);
    for (const text of members) room += textBytesMax(text.length);
    this.makeRoom(room);
    let end = this.length;
    for (const text of ids) end = writeText(this.bytes, end, text);
    end = writeLength(this.bytes, end, members.length / 2);
    for (const text of members) end = writeText(this.bytes, end, text);
    this.finish(timestamp, end);
  }

  /** Adds an event from other rows. */
  addFrom(rows: EventRows, index: number): void {
    const start = rows.startOf(index);
    const end = rows.endOf(index);
    this.makeRoom(end - start);
    rows.bytes.copy(this.bytes, this.length, start, end);
    const hash = rows.hashes.subarray(index * HASH_WORDS, (index + 1) * HASH_WORDS);
    this.hashes.set(hash, this.count * HASH_WORDS);
    this.finish(rows.timestamps[index] ?? 0, this.length + end - start);
  }

  transactionId(index: number): string {
    return new RowReader(this.bytes, this.startOf(index)).text();
  }

  /** The event at this index, for readers that need its texts one by one. */
  read(index: number): ReadEvent {
    const reader = new RowReader(this.bytes, this.startOf(index));
    const [transactionId, customerRef, eventType] = [reader.text(), reader.text(), reader.text()];
    const properties = Array.from({ length: reader.length() }, () => [reader.text(), reader.text()] as const);
    return { transactionId, customerRef, eventType, timestamp: this.timestamps[index] ?? 0, properties };
  }
}

/** Properties as a JSON object of texts; any name is supported. */
export function textsJson(properties: ReadEvent['properties']): string {
  const members = properties.map(([name, text]) => `${JSON.stringify(name)}:${JSON.stringify(text)}`);
  return `{${members.join(',')}}`;
}
