/** Parsers for values of settings in the environment: how each kind is read, and what is refused. */
import { z } from 'zod';
import { type NamedSender, namedSender } from './cached-beside-input.ts';
import { networkService } from './network-services.ts';
import { CUSTOMER_PRESETS, customerAttributes } from './span-customers.ts';
import { type Instant, parseRfc3339 } from './time.ts';

/** Digits alone, within bounds. */
export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(min, `must be at least ${min}`).max(max, `must be at most ${max}`));

/** A URL with one of these schemes. */
export const url = (...schemes: readonly string[]) =>
  z
    .string()
    .refine((text) => schemes.some((scheme) => text.startsWith(`${scheme}://`)) && URL.canParse(text), {
      message: `must be a URL that starts with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`,
    });

/** RFC 3339. */
export const instant = z.string().transform((text, context): Instant => {
  const at = parseRfc3339(text);
  if (at !== null) return at;
  context.addIssue({ code: 'custom', message: 'must be an RFC 3339 timestamp such as 2026-11-20T00:00:00Z' });
  return z.NEVER;
});

/** One line of an invoice. */
export const sellerText = z
  .string()
  .trim()
  .max(200, 'must have at most 200 characters')
  .regex(/^[^\p{Cc}]*$/u, 'must be one line without control characters');

const TEXT_LINES_MAX = 20;

/** Lines separated by a line break, or by a backslash and an n, as environment files write it. */
export const sellerLines = z
  .string()
  .default('')
  .transform((text) => (text.trim() === '' ? [] : text.trim().split(/\r?\n|\\n/)))
  .pipe(z.array(sellerText).max(TEXT_LINES_MAX, `must have at most ${TEXT_LINES_MAX} lines`));

const SERVICES_MAX = 100;

/** A list of objects as JSON. */
export const networkServices = z
  .string()
  .default('[]')
  .transform((text, context): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      context.addIssue(
        'must be JSON, such as [{"name":"webhooks","usage":"makes_connections_from","ips":["203.0.113.7"]}]',
      );
      return z.NEVER;
    }
  })
  .pipe(z.array(networkService, { error: 'must be a list' }).max(SERVICES_MAX));

const ENTRIES_MAX = 100;

/** Texts separated by commas; none if the setting is empty. */
export const entries = z
  .string()
  .default('')
  .transform((text) =>
    text
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== ''),
  )
  .pipe(z.array(z.string()).max(ENTRIES_MAX, `must have at most ${ENTRIES_MAX} entries`));

/** Origins of web pages: `https://app.example`, without a path. */
export const origins = entries.superRefine((given, context) => {
  for (const [index, origin] of given.entries()) {
    if (URL.canParse(origin) && /^https?:/.test(origin) && new URL(origin).origin === origin) continue;
    context.addIssue({
      code: 'custom',
      path: [index],
      message: `${origin} must be an origin such as https://app.example, without a path and in lower case`,
    });
  }
});

/** Senders of spans, as `provider:NAME`, `scope:NAME` or `resource:NAME=VALUE`. */
export const namedSenders = entries.transform((texts, context): readonly NamedSender[] => {
  const senders = texts.map(namedSender);
  const wrong = texts.find((_, index) => senders[index] === null);
  if (wrong === undefined) return senders.filter((sender) => sender !== null);
  context.addIssue(`must be provider:NAME, scope:NAME or resource:NAME=VALUE, not "${wrong}"`);
  return z.NEVER;
});

/** Names of attributes and of presets, resolved to attribute names. */
export const spanCustomers = entries.transform((texts, context): readonly string[] => {
  const names = texts.map(customerAttributes);
  const wrong = texts.find((_, index) => names[index] === null);
  if (wrong === undefined) return [...new Set(names.flatMap((some) => some ?? []))];
  context.addIssue(`must be names of attributes or ${CUSTOMER_PRESETS.join(', ')}, not "${wrong}"`);
  return z.NEVER;
});
