/**
 * Iterates over the fields of a protobuf message. A field with an unknown number, or another wire type than expected,
 * is skipped by its length without reading its contents.
 *
 * Refuses (`invalid`) an invalid message. Never recurses, and every step moves forward.
 */
import { Refusal } from '../../core/errors.ts';

/** Wire types. */
export const WIRE = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

/** A varint has seven bits per byte, and 64 at most. */
const VARINT_BYTES_MAX = 10;
/** A tag and a length have 32 bits. */
const SHORT_VARINT_MAX = 2 ** 32;

/** The fields of one message in sequence: `next()`, then the value of the current one. */
export class ProtobufFields {
  #at = 0;
  #start = 0;
  readonly #bytes: Buffer;
  #number = 0;
  #wire = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Moves to the next field; false at the end of the message. */
  next(): boolean {
    if (this.#at >= this.#bytes.length) return false;
    const tag = this.#shortVarint();
    this.#number = Math.floor(tag / 8);
    this.#wire = tag % 8;
    if (this.#number === 0) throw malformed('has a field without a number');
    this.#passOver();
    return true;
  }

  /** Whether the current field has this number and wire type. */
  is(number: number, wire: number): boolean {
    return this.#number === number && this.#wire === wire;
  }

  /** The value of a field of bytes: a text, or a message inside the message. */
  bytes(): Buffer {
    return this.#bytes.subarray(this.#start, this.#at);
  }

  /** The value of a varint as a signed number of 64 bits. */
  int64(): bigint {
    let value = 0n;
    let shift = 0n;
    for (let i = this.#start; i < this.#at; i += 1) {
      value |= BigInt((this.#bytes[i] ?? 0) & 0x7f) << shift;
      shift += 7n;
    }
    return BigInt.asIntN(64, value);
  }

  /** The value of eight bytes as an unsigned number. */
  fixed64(): bigint {
    return this.#bytes.readBigUInt64LE(this.#start);
  }

  /** The value of eight bytes as a double. */
  double(): number {
    return this.#bytes.readDoubleLE(this.#start);
  }

  #passOver(): void {
    this.#start = this.#at;
    if (this.#wire === WIRE.varint) this.#at = this.#endOfVarint();
    else if (this.#wire === WIRE.fixed64) this.#forward(8);
    else if (this.#wire === WIRE.fixed32) this.#forward(4);
    else if (this.#wire === WIRE.bytes) {
      const length = this.#shortVarint();
      this.#start = this.#at;
      this.#forward(length);
    } else throw malformed(`has a field of wire type ${this.#wire}`);
  }

  #forward(length: number): void {
    if (length > this.#bytes.length - this.#at) throw malformed('ends inside a field');
    this.#at += length;
  }

  #endOfVarint(): number {
    for (let i = this.#at; i < this.#at + VARINT_BYTES_MAX; i += 1) {
      const byte = this.#bytes[i];
      if (byte === undefined) throw malformed('ends inside a number');
      if (byte < 0x80) return i + 1;
    }
    throw malformed(`has a number of more than ${VARINT_BYTES_MAX} bytes`);
  }

  #shortVarint(): number {
    const end = this.#endOfVarint();
    let value = 0;
    for (let i = end - 1; i >= this.#at; i -= 1) value = value * 128 + ((this.#bytes[i] ?? 0) & 0x7f);
    if (value >= SHORT_VARINT_MAX) throw malformed('has a tag or a length that is too large');
    this.#at = end;
    return value;
  }
}

function malformed(problem: string): Refusal {
  return new Refusal('invalid', `body is not a protobuf ExportTraceServiceRequest: it ${problem}`);
}
