/**
 * Reads files of model prices (docs/explanation/token-billing.md, "The catalogue"): our own format, and the JSON that
 * LiteLLM publishes. Pure. Numbers keep every digit of the text.
 */
import { parse } from 'lossless-json';
import { z } from 'zod';
import { type Decimal, decimal, parseUsageDecimal, ZERO } from '../../core/decimal.ts';
import { assert, Refusal } from '../../core/errors.ts';
import { groupBy } from '../../core/group-by.ts';
import { modelName, providerName } from '../../core/model-providers.ts';
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

/** Also negative prices, which LiteLLM and OpenRouter use for models without a price. */
const publishedPrice = z.string().transform((sent, context) => {
  const value = parseUsageDecimal(sent);
  if (value !== null) return value;
  context.addIssue('must be a decimal');
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
  input_cost_per_token: publishedPrice.optional(),
  cache_read_input_token_cost: publishedPrice.optional(),
  output_cost_per_token: publishedPrice.optional(),
  cache_creation_input_token_cost: publishedPrice.optional(),
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

/** A model as a catalogue may have it from a version that took the names of providers as files write them. */
type FormerModel = Pick<PricedModel, 'provider' | 'model' | 'aliases'>;

/** A model under its provider's name in the catalogue. */
export interface ModelOfFile extends PricedModel {
  readonly former: readonly FormerModel[];
}

export interface PriceFile {
  readonly models: readonly ModelOfFile[];
  /** Entries that are no models with prices per token. */
  readonly skipped: number;
  /** Entries that are left out, a line each with the reason. */
  readonly leftOut: readonly string[];
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
  const { complete, leftOut } = withoutNulls(content);
  const parsed = ownFile.safeParse(complete);
  if (!parsed.success) throw new Refusal('invalid', `the file is wrong: ${z.prettifyError(parsed.error)}`);
  const models = parsed.data.models.map(({ provider, model, aliases, prices }) => ({
    ...namedInCatalogue({ provider, model, aliases }),
    prices: prices.flatMap((dated) =>
      TOKEN_KINDS.flatMap((kind) => {
        const usd = dated.usd_per_million[kind];
        return usd === undefined ? [] : [priceOf(kind, usd.times(MILLIONTH), dated.valid_from, dated.source)];
      }),
    ),
  }));
  return { models, skipped: 0, leftOut };
}

/** A model of our own format under the catalogue's name of its provider. */
function namedInCatalogue(given: FormerModel): FormerModel & Pick<ModelOfFile, 'former'> {
  const provider = providerName(given.provider);
  if (provider === given.provider) return { ...given, former: [] };
  const prefix = `${given.provider}/`;
  const isPrefixed = given.model.startsWith(prefix);
  const model = isPrefixed ? `${provider}/${given.model.slice(prefix.length)}` : given.model;
  return { provider, model, aliases: given.aliases, former: [given] };
}

/** The file without the models that have a null, and a line for each of these. */
function withoutNulls(content: object): { complete: object; leftOut: string[] } {
  const models: unknown = 'models' in content ? content.models : undefined;
  if (!Array.isArray(models)) return { complete: content, leftOut: [] };
  const leftOut: string[] = [];
  const kept = models.filter((model: unknown, index) => {
    const place = nullIn(model, `models[${index}]`);
    if (place !== null) leftOut.push(leftOutLine(`${place} is null`));
    return place === null;
  });
  return { complete: { ...content, models: kept }, leftOut };
}

/** The place of the first null; null if there is none. A model has five levels at most. */
function nullIn(value: unknown, place: string, depth = 0): string | null {
  if (value === null) return place;
  if (typeof value !== 'object' || depth > 5) return null;
  for (const [name, member] of Object.entries(value)) {
    const found = nullIn(member, Array.isArray(value) ? `${place}[${name}]` : `${place}.${name}`, depth + 1);
    if (found !== null) return found;
  }
  return null;
}

function leftOutLine(reason: string): string {
  return `${reason}: the entry is left out`;
}

/** An entry of LiteLLM's file with its key, which it is named by in lines. */
interface KeyedModel extends ModelOfFile {
  readonly key: string;
}

function liteLlmModels(content: object, validFrom: Instant): PriceFile {
  const models: KeyedModel[] = [];
  const leftOut: string[] = [];
  let skipped = 0;
  for (const [key, entry] of Object.entries(content)) {
    if (key === LITELLM_EXAMPLE) continue;
    const absent = absentMember(key, entry);
    if (absent !== null) {
      leftOut.push(leftOutLine(absent));
      continue;
    }
    const parsed = liteLlmModel.safeParse(entry);
    if (!parsed.success) {
      throw new Refusal('invalid', `entry ${JSON.stringify(key)} is wrong: ${z.prettifyError(parsed.error)}`);
    }
    const negative = Object.values(LITELLM_FIELDS).find((field) => isNegative(parsed.data[field]));
    const model = negative === undefined ? liteLlmModelOf(key, parsed.data, validFrom) : null;
    if (negative !== undefined) {
      leftOut.push(leftOutLine(`${negative} of ${JSON.stringify(key)} is negative`));
    } else if (model === null) skipped += 1;
    else models.push(model);
  }
  const unique = uniqueModels(models);
  return { models: unique.models, skipped, leftOut: [...leftOut, ...unique.leftOut] };
}

/** The name of a required member that the entry lacks or has a null for; null if it has all of them. */
function absentMember(key: string, entry: unknown): string | null {
  const place = JSON.stringify(key);
  if (entry === null) return `${place} is null`;
  if (typeof entry !== 'object') return null;
  const members = new Map<string, unknown>(Object.entries(entry));
  const member = Object.keys(liteLlmModel.shape).find((one) => members.get(one) === null);
  if (member !== undefined) return `${member} of ${place} is null`;
  return members.has('litellm_provider') ? null : `${place} has no litellm_provider`;
}

function isNegative(value: Decimal | string | undefined): boolean {
  return value !== undefined && typeof value !== 'string' && value.lt(ZERO);
}

function liteLlmModelOf(
  key: string,
  entry: z.output<typeof liteLlmModel>,
  validFrom: Instant,
): KeyedModel | null {
  if (entry.mode !== undefined && !LITELLM_MODES.includes(entry.mode)) return null;
  const isFree = isZero(entry.input_cost_per_token) && isZero(entry.output_cost_per_token ?? ZERO);
  const prices = TOKEN_KINDS.flatMap((kind) => {
    // Tokens that a free model reads from its cache are free too, although LiteLLM has no price for it.
    const usd = entry[LITELLM_FIELDS[kind]] ?? (isFree ? ZERO : undefined);
    return usd === undefined || typeof usd === 'string' ? [] : [priceOf(kind, usd, validFrom, 'LiteLLM')];
  });
  if (prices.length === 0) return null;
  const provider = providerName(entry.litellm_provider);
  const named = liteLlmName(provider, modelName(withoutProvider(key, provider)));
  const formerPrefix = `${entry.litellm_provider}/`;
  const formerShort = key.startsWith(formerPrefix) ? key.slice(formerPrefix.length) : key;
  const former = liteLlmName(entry.litellm_provider, formerShort);
  return { ...named, prices, key, former: former.model === named.model ? [] : [former] };
}

function liteLlmName(provider: string, short: string): FormerModel {
  return { provider, model: `${provider}/${short}`, aliases: [short] };
}

/** The key of an entry without the name of its provider, as far as it starts with one. */
function withoutProvider(key: string, provider: string): string {
  const slash = key.indexOf('/');
  const isPrefixed = slash > 0 && providerName(key.slice(0, slash)) === provider;
  return isPrefixed ? key.slice(slash + 1) : key;
}

/**
 * Entries with the same model names. The entry that LiteLLM itself reads first gives the prices: its key starts with
 * the provider. The others are reported if they have other prices.
 */
function uniqueModels(models: readonly KeyedModel[]): Pick<PriceFile, 'models' | 'leftOut'> {
  const leftOut: string[] = [];
  const unique = [...groupBy(models, ({ model }) => model).values()].map((same): ModelOfFile => {
    const [first, ...others] = same.toSorted((a, b) => rankOf(a) - rankOf(b));
    assert(first !== undefined, 'a group has an entry');
    const { key, ...model } = first;
    for (const other of others) {
      if (pricesText(other) === pricesText(first)) continue;
      leftOut.push(
        leftOutLine(
          `${JSON.stringify(other.key)} has other prices than ${JSON.stringify(key)}, the same model`,
        ),
      );
    }
    return { ...model, former: same.flatMap(({ former }) => former) };
  });
  return { models: unique, leftOut };
}

/** First the key that is the model's id, then one without a provider, then one with another name of the provider. */
function rankOf({ key, model, aliases }: KeyedModel): number {
  if (key === model) return 0;
  return aliases.includes(key) ? 1 : 2;
}

function pricesText({ prices }: PricedModel): string {
  return prices.map(({ kind, usdPerToken }) => `${kind} ${usdPerToken.toFixed()}`).join();
}

function isZero(price: Decimal | undefined): boolean {
  return price?.eq(ZERO) === true;
}

function priceOf(kind: TokenKind, usdPerToken: Decimal, validFrom: Instant, source: string): TokenPrice {
  return { kind, usdPerToken, validFrom, source };
}
