/**
 * Reads a trace of real LLM requests: CSV with the columns TIMESTAMP (UTC), ContextTokens and GeneratedTokens, one
 * request a line. A file is read twice, once for its extent and once for its events, so that it may be larger than the
 * memory. An invalid line stops the demo and is reported.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { parseUsageDecimal, ZERO } from '../core/decimal.ts';
import { messageOf } from '../core/failures.ts';
import { type Instant, parseRfc3339 } from '../core/time.ts';
import { DemoFailure } from './failure.ts';

export interface TraceRequest {
  readonly timestamp: Instant;
  /** Decimal text as in the file. */
  readonly contextTokens: string;
  readonly generatedTokens: string;
}

export interface TraceExtent {
  readonly requests: number;
  readonly first: Instant;
  readonly last: Instant;
}

const COLUMNS = ['TIMESTAMP', 'ContextTokens', 'GeneratedTokens'] as const;

export async function traceExtent(file: string): Promise<TraceExtent> {
  let requests = 0;
  let first = Number.POSITIVE_INFINITY;
  let last = Number.NEGATIVE_INFINITY;
  for await (const request of readTrace(file)) {
    requests++;
    first = Math.min(first, request.timestamp);
    last = Math.max(last, request.timestamp);
  }
  if (requests === 0) throw new DemoFailure(`${file} has a header but no requests`);
  return { requests, first, last };
}

export async function* readTrace(file: string): AsyncGenerator<TraceRequest> {
  const handle = await openFile(file);
  let lineNumber = 0;
  let positions: Positions | null = null;
  try {
    for await (const line of handle.readLines({ encoding: 'utf8' })) {
      lineNumber++;
      if (line.trim() === '') continue;
      if (positions === null) positions = readHeader(file, line);
      else yield readLine(line, positions, `${file}:${lineNumber}`);
    }
  } finally {
    await handle.close();
  }
  if (positions === null) throw new DemoFailure(`${file} is empty`);
}

async function openFile(file: string): Promise<FileHandle> {
  try {
    const handle = await open(file);
    if ((await handle.stat()).isFile()) return handle;
    await handle.close();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      throw new DemoFailure(`there is no file ${file}`);
    }
    throw new DemoFailure(`${file} cannot be read: ${messageOf(error)}`);
  }
  throw new DemoFailure(`${file} is not a file`);
}

interface Positions {
  readonly timestamp: number;
  readonly contextTokens: number;
  readonly generatedTokens: number;
}

function readHeader(file: string, line: string): Positions {
  const names = cells(line.replace(/^\uFEFF/, '')).map((name) => name.toLowerCase());
  const [timestamp = -1, contextTokens = -1, generatedTokens = -1] = COLUMNS.map((column) =>
    names.indexOf(column.toLowerCase()),
  );
  if (timestamp < 0 || contextTokens < 0 || generatedTokens < 0) {
    throw new DemoFailure(
      `${file}:1: the first line must name the columns ${COLUMNS.join(',')}, not "${line}"`,
    );
  }
  return { timestamp, contextTokens, generatedTokens };
}

function readLine(line: string, positions: Positions, place: string): TraceRequest {
  const values = cells(line);
  const timestampText = values[positions.timestamp] ?? '';
  const timestamp = parseTraceTimestamp(timestampText);
  if (timestamp === null) throw new DemoFailure(`${place}: TIMESTAMP is not a time: "${timestampText}"`);
  return {
    timestamp,
    contextTokens: readTokens(values[positions.contextTokens], 'ContextTokens', place),
    generatedTokens: readTokens(values[positions.generatedTokens], 'GeneratedTokens', place),
  };
}

function readTokens(text: string | undefined, column: string, place: string): string {
  const value = parseUsageDecimal(text ?? '');
  if (value?.gte(ZERO) === true) return value.toString();
  throw new DemoFailure(`${place}: ${column} is not a number of tokens: "${text ?? ''}"`);
}

function cells(line: string): string[] {
  return line.split(',').map((cell) => cell.trim().replace(/^"(.*)"$/, '$1'));
}

/** `2023-11-16 18:17:03.9799600`, with `T` and an offset as well. Without an offset it is UTC. */
export function parseTraceTimestamp(text: string): Instant | null {
  const withT = text.replace(' ', 'T');
  return parseRfc3339(/(?:[Zz]|[+-]\d{2}:\d{2})$/.test(withT.slice(10)) ? withT : `${withT}Z`);
}
