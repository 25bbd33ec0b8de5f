/**
 * Senders of spans whose input tokens do not include those that a cache served or kept, against the conventions.
 * Taken for the others, their cached tokens would be subtracted from an input that never had them.
 *
 * Owns: what is known of each library, and how the operator names further ones (`OTLP_CACHED_BESIDE_INPUT`).
 */

/** The attributes that are read from a span. Texts are empty where it has none. */
export interface SpanSender {
  readonly provider: string;
  readonly model: string;
  readonly scopeName: string;
  readonly scopeVersion: string;
  resource(name: string): string | undefined;
}

/** One sender that the operator named, and whether its cached tokens are beside its input. */
export interface NamedSender {
  readonly isBeside: boolean;
  readonly by: 'provider' | 'scope' | 'resource';
  readonly name: string;
  /** Of the attribute of the resource. */
  readonly value?: string;
}

interface KnownSender {
  readonly scope: string;
  /** The last version that is known to do so; absent where its spans have none. */
  readonly upTo?: readonly number[];
  /** Models whose providers count so, where the library passes on what they say. */
  readonly models?: RegExp;
}

/** docs/explanation/token-billing.md has the table with its sources. */
const KNOWN_SENDERS: readonly KnownSender[] = [
  // Passes on the counts of Bedrock's Converse, whose input is what no cache had.
  { scope: 'opentelemetry.instrumentation.bedrock', upTo: [0, 62, 3] },
  // The same with models of Bedrock, and with Anthropic's own API; its spans do not say which version sent them.
  { scope: 'strands.telemetry.tracer', models: /^claude|(?:^|\.)(?:anthropic|amazon)\./ },
];

/** Whether the cached tokens of this sender are beside its input. The first sender that the operator named decides. */
export function isCachedBesideInput(sender: SpanSender, named: readonly NamedSender[]): boolean {
  const first = named.find((one) => isNamed(sender, one));
  return first?.isBeside ?? KNOWN_SENDERS.some((known) => isKnown(sender, known));
}

function isNamed(sender: SpanSender, { by, name, value }: NamedSender): boolean {
  if (by === 'provider') return sender.provider.toLowerCase() === name.toLowerCase();
  if (by === 'scope') return sender.scopeName === name;
  return sender.resource(name) === value;
}

function isKnown(sender: SpanSender, { scope, upTo, models }: KnownSender): boolean {
  if (sender.scopeName !== scope || models?.test(sender.model) === false) return false;
  return upTo === undefined || isUpTo(sender.scopeVersion, upTo);
}

/** Whether this version is not later. One that is no row of numbers is later than any. */
function isUpTo(version: string, last: readonly number[]): boolean {
  if (!/^\d{1,9}(?:\.\d{1,9}){0,3}$/.test(version)) return false;
  const parts = version.split('.').map(Number);
  for (const [index, number] of last.entries()) {
    const part = parts[index] ?? 0;
    if (part !== number) return part < number;
  }
  return true;
}

const ENTRY = /^(-?)(?:(provider|scope):([^=]+)|resource:([^=]+)=(.+))$/;

/** Reads one entry of the setting: `provider:NAME`, `scope:NAME` or `resource:NAME=VALUE`; null where it is none. */
export function namedSender(entry: string): NamedSender | null {
  const match = ENTRY.exec(entry);
  if (match === null) return null;
  const [, minus, by, name, attribute, value] = match;
  const isBeside = minus !== '-';
  if (attribute !== undefined && value !== undefined)
    return { isBeside, by: 'resource', name: attribute, value };
  if (name === undefined) return null;
  return { isBeside, by: by === 'provider' ? 'provider' : 'scope', name };
}
