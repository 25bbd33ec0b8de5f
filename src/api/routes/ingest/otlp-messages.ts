/**
 * The answers of OTLP/HTTP in protobuf: `ExportTraceServiceResponse`, and `google.rpc.Status` for a refused request.
 * They are so small that they are written by hand.
 */

/** The spans of a request that were refused. */
export interface PartialSuccess {
  readonly rejectedSpans: number;
  readonly errorMessage: string;
}

const RESPONSE = { partialSuccess: 1 };
const PARTIAL_SUCCESS = { rejectedSpans: 1, errorMessage: 2 };
const STATUS = { message: 2 };

/** Without spans that were refused the message is empty, which is no bytes at all. */
export function exportResponse(partial: PartialSuccess | null): Uint8Array<ArrayBuffer> {
  if (partial === null) return new Uint8Array();
  const inner = [
    ...varint(PARTIAL_SUCCESS.rejectedSpans * 8),
    ...varint(partial.rejectedSpans),
    ...lengthPrefixed(PARTIAL_SUCCESS.errorMessage, Buffer.from(partial.errorMessage)),
  ];
  return Uint8Array.from(lengthPrefixed(RESPONSE.partialSuccess, inner));
}

export function statusMessage(message: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(lengthPrefixed(STATUS.message, Buffer.from(message)));
}

const LENGTH_PREFIXED = 2;

function lengthPrefixed(field: number, content: Iterable<number>): number[] {
  const bytes = [...content];
  return [...varint(field * 8 + LENGTH_PREFIXED), ...varint(bytes.length), ...bytes];
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  return [...bytes, rest];
}
