/**
 * Reads files of model prices (docs/token-billing.md, "The catalogue"): our own format, and the JSON that LiteLLM
 * publishes. Pure. Numbers keep every digit of the text.
 */
import { parse } from 'lossless-json';
import { z } from 'zod';
import { type Decimal, decimal, parseUsageDecimal, ZERO } from '../../core/decimal.ts';
import { Refusal } from '../../core/errors.ts';
import { type Instant, parseRfc3339 } from '../../core/time.ts';
import { type PricedModel, TOKEN_KINDS, type TokenKind, type TokenPrice } from '../../core/token-billing.ts';

/** USD per token of a price per million tokens. */
const MILLIONTH = decimal('0.000001');

const text = z.string().min(1).max(400);

const price = z.string().transform((sent, context) => {
  const value = parseUsageDecimal(sent);
  if (value?.gte(ZERO) === true) return value;
  context.addIssue('must be a decimal that is not negative');
  return z.NEVER;
});

const day = z.string().transform((sent, context) => {
  const at = parseRfc3339(/^\d{4}-\d{2}-\d{2}$/.test(sent) ? `${sent}T00:00:00Z` : sent);
  if (at !== null) return at;
  context.addIssue('must be a day such as 2026-11-01, or an RFC 3339 timestamp');
  return z.NEVER;
});

const ownFile = z.strictObject({
  format: z.literal('tallyhouse-token-prices-1'),
  models: z.array(
    z.strictObject({
      provider: text,
      model: text,
      aliases: z.array(text).default([]),
      prices: z
        .array(
          z.strictObject({
            valid_from: day,
            source: text,
            usd_per_million: z.partialRecord(z.enum(TOKEN_KINDS), price),
          }),
        )
        .min(1),
    }),
  ),
});

/** The entry of LiteLLM for a model, as far as it is read. Prices above a threshold of tokens are not. */
const liteLlmModel = z.object({
  litellm_provider: text,
  mode: z.string().optional(),
  input_cost_per_token: price.optional(),
  cache_read_input_token_cost: price.optional(),
  output_cost_per_token: price.optional(),
  cache_creation_input_token_cost: price.optional(),
});

const LITELLM_FIELDS: Readonly<Record<TokenKind, keyof z.output<typeof liteLlmModel>>> = {
  input_tokens: 'input_cost_per_token',
  cached_input_tokens: 'cache_read_input_token_cost',
  output_tokens: 'output_cost_per_token',
  cached_write_tokens: 'cache_creation_input_token_cost',
};

/** Models that charge for tokens, and not for images, seconds or characters. */
const LITELLM_MODES = ['chat', 'completion', 'responses', 'embedding'];
/** An entry that explains the others. */
const LITELLM_EXAMPLE = 'sample_spec';

export interface PriceFile {
  readonly models: readonly PricedModel[];
  /** Entries that are no models with prices per token. */
  readonly skipped: number;
  /** Entries that are left out because they say null where a price or a name should be, a line each. */
  readonly incomplete: readonly string[];
}

/**
 * The models of a file. LiteLLM's prices have no date: they are valid from `validFrom`. Refuses (`invalid`) a file of
 * neither format, naming the entry.
 */
export function readPriceFile(fileText: string, { validFrom }: { readonly validFrom: Instant }): PriceFile {
  const content = jsonOf(fileText);
  return 'format' in content ? ownModels(content) : liteLlmModels(content, validFrom);
}

function jsonOf(fileText: string): object {
  try {
    const content = parse(fileText, undefined, (number) => number);
    if (typeof content === 'object' && content !== null && !Array.isArray(content)) return content;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new Refusal('invalid', `the file is not valid JSON: ${error.message}`);
  }
  throw new Refusal('invalid', 'the file must be a JSON object');
}

function ownModels(content: object): PriceFile {
  const { complete, incomplete } = withoutNulls(content);
  const parsed = ownFile.safeParse(complete);
  if (!parsed.success) throw new Refusal('invalid', `the file is wrong: ${z.prettifyError(parsed.error)}`);
  const models = parsed.data.models.map(({ provider, model, aliases, prices }) => ({
    provider,
    model,
    aliases,
    prices: prices.flatMap((dated) =>
      TOKEN_KINDS.flatMap((kind) => {
        const usd = dated.usd_per_million[kind];
        return usd === undefined ? [] : [priceOf(kind, usd.times(MILLIONTH), dated.valid_from, dated.source)];
      }),
    ),
  }));
  return { models, skipped: 0, incomplete };
}

/** The file without the models that have a null, and a line for each of these. */
function withoutNulls(content: object): { complete: object; incomplete: string[] } {
  const models: unknown = 'models' in content ? content.models : undefined;
  if (!Array.isArray(models)) return { complete: content, incomplete: [] };
  const incomplete: string[] = [];
  const kept = models.filter((model: unknown, index) => {
    const place = nullIn(model, `models[${index}]`);
    if (place !== null) incomplete.push(leftOut(place));
    return place === null;
  });
  return { complete: { ...content, models: kept }, incomplete };
}

/** Where the first null is; null where there is none. A model has five levels at most. */
function nullIn(value: unknown, place: string, depth = 0): string | null {
  if (value === null) return place;
  if (typeof value !== 'object' || depth > 5) return null;
  for (const [name, member] of Object.entries(value)) {
    const found = nullIn(member, Array.isArray(value) ? `${place}[${name}]` : `${place}.${name}`, depth + 1);
    if (found !== null) return found;
  }
  return null;
}

function leftOut(place: string): string {
  return `${place} is null: the entry is left out`;
}

function liteLlmModels(content: object, validFrom: Instant): PriceFile {
  const models: PricedModel[] = [];
  const incomplete: string[] = [];
  let skipped = 0;
  for (const [name, entry] of Object.entries(content)) {
    if (name === LITELLM_EXAMPLE) continue;
    const place = liteLlmNull(name, entry);
    if (place !== null) {
      incomplete.push(leftOut(place));
      continue;
    }
    const parsed = liteLlmModel.safeParse(entry);
    if (!parsed.success) {
      throw new Refusal(
        'invalid',
        `entry ${JSON.stringify(name)} is wrong: ${z.prettifyError(parsed.error)}`,
      );
    }
    const model = liteLlmModelOf(name, parsed.data, validFrom);
    if (model === null) skipped += 1;
    else models.push(model);
  }
  return { models, skipped, incomplete };
}

/** Where the entry is null, or one of its members that are read. */
function liteLlmNull(name: string, entry: unknown): string | null {
  const place = JSON.stringify(name);
  if (entry === null) return place;
  if (typeof entry !== 'object') return null;
  const members = new Map<string, unknown>(Object.entries(entry));
  const member = Object.keys(liteLlmModel.shape).find((one) => members.get(one) === null);
  return member === undefined ? null : `${member} of ${place}`;
}

function liteLlmModelOf(
  name: string,
  entry: z.output<typeof liteLlmModel>,
  validFrom: Instant,
): PricedModel | null {
  if (entry.mode !== undefined && !LITELLM_MODES.includes(entry.mode)) return null;
  const isFree = isZero(entry.input_cost_per_token) && isZero(entry.output_cost_per_token ?? ZERO);
  const prices = TOKEN_KINDS.flatMap((kind) => {
    // Tokens that a free model reads from its cache are free too, although LiteLLM has no price for it.
    const usd = entry[LITELLM_FIELDS[kind]] ?? (isFree ? ZERO : undefined);
    return usd === undefined || typeof usd === 'string' ? [] : [priceOf(kind, usd, validFrom, 'LiteLLM')];
  });
  if (prices.length === 0) return null;
  const provider = entry.litellm_provider;
  const prefix = `${provider}/`;
  const short = name.startsWith(prefix) ? name.slice(prefix.length) : name;
  return { provider, model: `${prefix}${short}`, aliases: [short], prices };
}

function isZero(price: Decimal | undefined): boolean {
  return price?.eq(ZERO) === true;
}

function priceOf(kind: TokenKind, usdPerToken: Decimal, validFrom: Instant, source: string): TokenPrice {
  return { kind, usdPerToken, validFrom, source };
}
