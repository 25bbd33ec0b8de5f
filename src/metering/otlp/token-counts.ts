/**
 * How many tokens of each kind a span counts. Pure.
 *
 * A token is of one kind: those that a cache served or kept are taken out of the input, which includes them by the
 * conventions. Senders that leave them out of it are distinguished (`core/cached-beside-input.ts`).
 */
import type { TokenKind } from '../../core/token-billing.ts';
import type { Attributes } from './span.ts';
import { type CountKind, isUnknownCacheName, NAMED_COUNTS, PART_KINDS } from './token-names.ts';
import { Unbillable } from './unbillable.ts';

/** Those that there are any tokens of. */
export type TokenCounts = ReadonlyMap<CountKind, bigint>;

/** The counts of a span as it has them: null, where it has none of the wholes. */
export function sentCounts(attributes: Attributes): TokenCounts | null {
  const counts = new Map<CountKind, bigint>();
  for (const { kind, names } of NAMED_COUNTS) {
    const count = countOf(
      attributes,
      names.map(([name]) => name),
    );
    if (count !== null) counts.set(kind, count);
  }
  return [...counts.keys()].some((kind) => !PART_KINDS.includes(kind)) ? counts : null;
}

/** Each token under one kind, and the parts beside them. `isCachedBeside`: the input is without the cached ones. */
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

/** The doubts about the counts of a span that is billed all the same. */
export function countWarnings(attributes: Attributes, sent: TokenCounts): string[] {
  const warnings = [...attributes.keys()]
    .filter(isUnknownCacheName)
    .map(
      (name) => `${name.slice(0, SHOWN_NAME_LENGTH_MAX)} is not known, its tokens are billed as plain input`,
    );
  const reasoning = sent.get('reasoning_tokens') ?? 0n;
  const output = sent.get('output_tokens') ?? 0n;
  if (reasoning > output) {
    warnings.push(`has ${reasoning} reasoning tokens and ${output} output tokens, which should include them`);
  }
  return warnings;
}

/** Names that are sent can be as long as the body. */
const SHOWN_NAME_LENGTH_MAX = 128;

/** More than all tokens of the world in a year; bounds the texts of counts. */
const COUNT_MAX = 10n ** 18n;

/** The count that these names of one kind agree on; null where the span has none of them. */
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
