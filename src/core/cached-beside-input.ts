/**
 * Senders of spans whose input tokens exclude cached tokens, contrary to the conventions. If such spans were read by
 * the conventions, their cached tokens would be subtracted from an input that never included them.
 *
 * Owns: the known behaviour of each library, and the setting with which the operator names further ones
 * (`OTLP_CACHED_BESIDE_INPUT`).
 */

/** The attributes that are read from a span. Texts are empty if it has none. */
export interface SpanSender {
  readonly provider: string;
  readonly model: string;
  readonly scopeName: string;
  readonly scopeVersion: string;
  resource(name: string): string | undefined;
}

/** A sender named by the operator, and whether its input excludes cached tokens. */
export interface NamedSender {
  readonly isBeside: boolean;
  readonly by: 'provider' | 'scope' | 'resource';
  readonly name: string;
  /** The value of the resource's attribute. */
  readonly value?: string;
}

interface KnownSender {
  readonly scope: string;
  /** The last version known to do so; absent if its spans have no version. */
  readonly upTo?: readonly number[];
  /** Models whose providers count this way, if the library passes on the provider's counts. */
  readonly models?: RegExp;
}

/** The table with its sources is in docs/explanation/token-billing.md. */
const KNOWN_SENDERS: readonly KnownSender[] = [
  // Passes on the counts of Bedrock's Converse, whose input excludes cached tokens.
  { scope: 'opentelemetry.instrumentation.bedrock', upTo: [0, 62, 3] },
  // Passes on the counts of Bedrock's models, and of Anthropic's own API; its spans have no version.
  { scope: 'strands.telemetry.tracer', models: /^claude|(?:^|\.)(?:anthropic|amazon)\./ },
];

/** Whether the input of this sender excludes cached tokens. The first matching sender named by the operator decides. */
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

/** Whether this version is not later. A version that is not a series of numbers counts as later than any. */
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

/** Parses one entry of the setting: `provider:NAME`, `scope:NAME` or `resource:NAME=VALUE`; null if it is invalid. */
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
