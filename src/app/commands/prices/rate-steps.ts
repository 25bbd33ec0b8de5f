/** The steps of a plan for the rates of one card: which are added, from when on. */
import { groupBy } from '../../../core/group-by.ts';
import { formatInstant, type Instant, parseRfc3339 } from '../../../core/time.ts';
import { effectiveRates } from '../../../rating/rates/rate-schedule.ts';
import { canonicalText } from './canonical.ts';
import type { FileCard, FileRate, Terms } from './catalogue-file.ts';
import { changeStart, type Planning } from './planning.ts';
import { type PriceSpan, type RateChange, rateChanges } from './rate-changes.ts';
import { Reference, type Step, step } from './step.ts';

/** A rate without its dates; `text` is equal for equal prices. */
interface Price {
  readonly rate: FileRate;
  readonly text: string;
}

/** `held` null: the card is new. */
export function rateSteps(planning: Planning, wanted: FileCard, held: FileCard | null): Step[] {
  const before = groupBy(held?.rates ?? [], identityOf);
  const after = groupBy(wanted.rates, identityOf);
  const priced = new Set(held?.rates.map(({ product }) => product));
  const steps = [...after].flatMap(([identity, rates]) => {
    const [first] = rates;
    if (first === undefined) return [];
    const old = spansOf(held ?? wanted, before.get(identity) ?? []);
    return changesOf(planning, wanted, spansOf(wanted, rates), old, !priced.has(first.product));
  });
  if (!planning.prune || held === null) return steps;
  const ended = [...before].filter(([identity]) => !after.has(identity));
  return [
    ...steps,
    ...ended.flatMap(([, rates]) => changesOf(planning, wanted, [], spansOf(held, rates), false)),
  ];
}

function identityOf({ product, pricing_group_values, billing_frequency }: FileRate): string {
  return canonicalText([product, pricing_group_values, billing_frequency ?? '']);
}

/** `isNew`: nothing of the product was priced on the card, so that no earlier price changes. */
function changesOf(
  planning: Planning,
  card: FileCard,
  wanted: readonly PriceSpan<Price>[],
  held: readonly PriceSpan<Price>[],
  isNew: boolean,
): Step[] {
  const [{ price } = { price: undefined }] = [...wanted, ...held];
  // An archived product takes no rates; those that it has stay.
  if (price === undefined || isArchived(planning, price.rate.product)) return [];
  const from = startOfChanges(planning, card, wanted, held, isNew);
  const changes = rateChanges<Price>({
    ...{ held, wanted, from },
    isSame: (a, b) => a.text === b.text,
    ended: ({ rate }) => (rate.entitled ? priceOf({ ...rate, entitled: false }, card.currency) : null),
  });
  return changes.map((change) => rateStep(card, change));
}

function isArchived({ objects, wanted }: Planning, product: string): boolean {
  return (
    objects.product.get(product)?.isArchived === true &&
    wanted.products.every(({ key, archived }) => key !== product || archived)
  );
}

function startOfChanges(
  planning: Planning,
  card: FileCard,
  wanted: readonly PriceSpan<Price>[],
  held: readonly PriceSpan<Price>[],
  isNew: boolean,
): Instant {
  const known = new Set(held.map(({ start }) => start));
  const news = wanted.filter(
    ({ start, price }) => !known.has(start) && priceAt(held, start)?.text !== price.text,
  );
  const [{ price } = { price: undefined }] = [...wanted, ...held];
  const starts = news.map(({ start }) => start);
  const what = `the rate of ${price === undefined ? '' : nameOf(price.rate)} on rate card ${card.key}`;
  if (held.length > 0 || starts.length === 0) return changeStart(planning, what, starts);
  // Without a price until now the first one begins where the files say, however late that is.
  changeStart(planning, what, starts, isNew);
  return Math.min(...starts);
}

function priceAt(spans: readonly PriceSpan<Price>[], at: Instant): Price | undefined {
  return spans.find(({ start, end }) => start <= at && (end === null || at < end))?.price;
}

/** When which price is in force. Rates without an end hold until the next one, as on cards. */
function spansOf(card: FileCard, rates: readonly FileRate[]): PriceSpan<Price>[] {
  const entries = rates.map((rate, sequence) => ({
    startingAt: parseRfc3339(rate.starting_at) ?? 0,
    endingBefore: rate.ending_before === undefined ? null : parseRfc3339(rate.ending_before),
    sequence,
    price: priceOf(rate, card.currency),
  }));
  return effectiveRates(entries).map(({ interval: { start, end }, entry: { price } }) => ({
    ...{ start, end, price },
  }));
}

function priceOf(rate: FileRate, currency: string): Price {
  return { rate, text: canonicalText(shownTerms(rate, currency)) };
}

function shownTerms(rate: FileRate, currency: string): Terms {
  const { product, pricing_group_values, billing_frequency, starting_at, ending_before, ...terms } = rate;
  const { entitled, unit, ...price } = terms;
  return {
    ...price,
    ...(entitled ? {} : { entitled }),
    ...(unit === undefined || unit === currency ? {} : { unit }),
  };
}

function rateStep(card: FileCard, { start, end, price, before }: RateChange<Price>): Step {
  const { rate } = price;
  const identity = {
    product: rate.product,
    ...(Object.keys(rate.pricing_group_values).length === 0
      ? {}
      : { pricing_group_values: rate.pricing_group_values }),
    ...(rate.billing_frequency === undefined ? {} : { billing_frequency: rate.billing_frequency }),
  };
  const dates = { from: formatInstant(start), to: end === null ? null : formatInstant(end) };
  return step({
    ...{ action: before === null ? 'create' : 'change', kind: 'rate', key: card.key, ...dates },
    before: before === null ? null : { ...identity, ...shownTerms(before.rate, card.currency) },
    after: { ...identity, ...shownTerms(rate, card.currency) },
    rate: inputOf(card, rate, dates),
  });
}

/** The rate as the API takes it. Percentages have the unit of what they count. */
function inputOf(
  { currency }: FileCard,
  { product, unit, starting_at, ending_before, ...terms }: FileRate,
  { from, to }: { readonly from: string; readonly to: string | null },
): Terms {
  const isPercentage = String(terms.rate_type).endsWith('PERCENTAGE');
  return {
    product_id: new Reference('product', product),
    ...terms,
    starting_at: from,
    ...(to === null ? {} : { ending_before: to }),
    ...(isPercentage ? {} : { credit_type_id: new Reference('pricing unit', unit ?? currency) }),
  };
}

/** `input-tokens, model large`. */
export function nameOf(rate: Terms): string {
  const { product, pricing_group_values: values, billing_frequency: frequency } = rate;
  const pairs = typeof values === 'object' && values !== null ? Object.entries(values) : [];
  return [
    String(product),
    ...pairs.map(([name, value]) => `${name} ${value}`),
    ...(typeof frequency === 'string' ? [frequency.toLowerCase()] : []),
  ].join(', ');
}
