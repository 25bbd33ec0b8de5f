/**
 * The number of tokens of each kind that a span counts. Pure.
 *
 * A token has one kind: cached tokens are subtracted from the input, which includes them by the conventions. Senders
 * that exclude them are distinguished (`core/cached-beside-input.ts`).
 */
import type { TokenKind } from '../../core/token-billing.ts';
import type { Attributes, Span } from './span.ts';
import {
  CACHE_INPUT,
  CACHE_INPUT_IS_TEXT,
  type CountKind,
  isUnknownCacheName,
  isUnknownUsageName,
  NAMED_COUNTS,
  PART_KINDS,
  PARTS_OF_WHOLES,
  TOTAL_NAMES,
} from './token-names.ts';
import { Unbillable } from './unbillable.ts';

/** Kinds with at least one token. */
export type TokenCounts = ReadonlyMap<CountKind, bigint>;

/** The counts of a span as sent: null if it has no count of a whole. */
export function sentCounts({ attributes, scope }: Span): TokenCounts | null {
  const counts = new Map<CountKind, bigint>();
  for (const { kind, names } of NAMED_COUNTS) {
    const count = countOf(
      attributes,
      names.map(([name]) => name),
    );
    if (count !== null) counts.set(kind, count);
  }
  if (![...counts.keys()].some((kind) => !PART_KINDS.includes(kind))) return null;
  if (!counts.has('cached_input_tokens') && scope.name !== CACHE_INPUT_IS_TEXT) {
    const cached = countOf(attributes, [CACHE_INPUT]);
    if (cached !== null) counts.set('cached_input_tokens', cached);
  }
  for (const whole of ['cached_input_tokens', 'cached_write_tokens'] as const) {
    // Without its parts their tokens would count as plain input.
    if (!counts.has(whole)) counts.set(whole, partsOf(whole, counts));
  }
  return counts;
}

/** Whether a span has counts, even invalid ones. */
export function hasCounts(span: Span): boolean {
  try {
    return sentCounts(span) !== null;
  } catch (error) {
    if (error instanceof Unbillable) return true;
    throw error;
  }
}

/** The sum of the parts of a whole that a span has. */
function partsOf(whole: TokenKind, counts: TokenCounts): bigint {
  const parts = PARTS_OF_WHOLES.filter(([kind]) => kind === whole).flatMap(([, kinds]) => kinds);
  return parts.reduce((sum, kind) => sum + (counts.get(kind) ?? 0n), 0n);
}

/** Each token under one kind, and the parts beside them. `isCachedBeside`: the input excludes cached tokens. */
export function billedCounts(sent: TokenCounts, isCachedBeside: boolean): TokenCounts {
  const of = (kind: CountKind) => sent.get(kind) ?? 0n;
  const cached = of('cached_input_tokens') + of('cached_write_tokens');
  const uncached = isCachedBeside ? of('input_tokens') : of('input_tokens') - cached;
  if (uncached < 0n) {
    throw new Unbillable(
      `gen_ai.usage.input_tokens is ${of('input_tokens')}, less than its ${cached} tokens that were read from or ` +
        'written to a cache: if this sender leaves them out of its input, name it in OTLP_CACHED_BESIDE_INPUT',
    );
  }
  const wholes: [TokenKind, bigint][] = [
    ['input_tokens', uncached],
    ['cached_input_tokens', of('cached_input_tokens')],
    ['output_tokens', of('output_tokens')],
    ['cached_write_tokens', of('cached_write_tokens')],
  ];
  const parts = PART_KINDS.map((kind): [CountKind, bigint] => [kind, of(kind)]);
  return new Map([...wholes, ...parts].filter(([, count]) => count > 0n));
}

/** Warnings about the counts of a span that is billed nevertheless. `isCachedBeside` as for `billedCounts`. */
export function countWarnings(attributes: Attributes, sent: TokenCounts, isCachedBeside: boolean): string[] {
  return [
    ...[...attributes.keys()]
      .filter(isUnknownCacheName)
      .map(
        (name) =>
          `${shown(name)} is not known: its tokens are billed as plain input unless a known count includes them`,
      ),
    ...PARTS_OF_WHOLES.flatMap(([whole, parts]) => partsWarning(sent, isCachedBeside, whole, parts)),
    ...hourWarning(sent),
    ...totalWarning(attributes, sent, isCachedBeside),
  ];
}

function partsWarning(
  sent: TokenCounts,
  isCachedBeside: boolean,
  whole: TokenKind,
  parts: readonly CountKind[],
): string[] {
  const sum = parts.reduce((total, kind) => total + (sent.get(kind) ?? 0n), 0n);
  const included = whole === 'input_tokens' && isCachedBeside ? cachedOf(sent) : 0n;
  const all = (sent.get(whole) ?? 0n) + included;
  if (sum <= all) return [];
  const named = parts.filter((kind) => sent.has(kind)).map(inWords);
  return [`has ${sum} ${named.join(' and ')} and ${all} ${inWords(whole)}, which should include them`];
}

function hourWarning(sent: TokenCounts): string[] {
  const count = sent.get('cached_write_1h_tokens') ?? 0n;
  if (count === 0n) return [];
  return [
    `has ${count} tokens that a cache keeps for an hour: managed cards have one price for tokens that are written to a ` +
      'cache, at which these are billed too',
  ];
}

function totalWarning(attributes: Attributes, sent: TokenCounts, isCachedBeside: boolean): string[] {
  const total = countOf(attributes, TOTAL_NAMES);
  if (total === null) return [];
  const sum = (sent.get('input_tokens') ?? 0n) + (sent.get('output_tokens') ?? 0n);
  const cached = cachedOf(sent);
  if (total === sum || (isCachedBeside && total === sum + cached)) return [];
  const hint =
    total === sum + cached
      ? ': if this sender leaves cached tokens out of its input, name it in OTLP_CACHED_BESIDE_INPUT'
      : '';
  return [`has ${total} tokens in total, and ${sum} of input and output, by which it is billed${hint}`];
}

function cachedOf(sent: TokenCounts): bigint {
  return (sent.get('cached_input_tokens') ?? 0n) + (sent.get('cached_write_tokens') ?? 0n);
}

function inWords(kind: CountKind): string {
  return kind.replaceAll('_', ' ');
}

/** Attribute names of a span that may be counts but are unknown here and in the conventions; for a message. */
export function unknownCounts(attributes: Attributes): string {
  const names = [...attributes.keys()].filter(isUnknownUsageName).slice(0, SHOWN_NAMES_MAX).map(shown);
  if (names.length === 0) return '';
  return `; ${names.join(' and ')} ${names.length === 1 ? 'is' : 'are'} not known`;
}

function shown(name: string): string {
  return name.slice(0, SHOWN_NAME_LENGTH_MAX);
}

const SHOWN_NAMES_MAX = 3;
/** Names in a span can be as long as the body. */
const SHOWN_NAME_LENGTH_MAX = 128;

/** More than all tokens of the world in a year; limits the texts of counts. */
const COUNT_MAX = 10n ** 18n;

/** The count that these names of one kind agree on; null if the span has none of them. */
function countOf(attributes: Attributes, names: readonly string[]): bigint | null {
  let found: { name: string; count: bigint } | null = null;
  for (const name of names) {
    const value = attributes.get(name);
    if (value === undefined) continue;
    const count = value.kind === 'number' && /^\d+$/.test(value.text) ? BigInt(value.text) : null;
    if (count === null || count > COUNT_MAX) {
      throw new Unbillable(`${name} must be a whole number of tokens, 0 or more`);
    }
    if (found !== null && found.count !== count) {
      throw new Unbillable(
        `${found.name} is ${found.count} and ${name} is ${count}, which are the same tokens`,
      );
    }
    found ??= { name, count };
  }
  return found?.count ?? null;
}
