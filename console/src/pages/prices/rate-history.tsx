/** One rate: its history, and its change as a draft. */
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { callAll } from '../../api/client.ts';
import type { Exact } from '../../api/exact.ts';
import type { Schemas } from '../../api/operations.gen.d.ts';
import { Time } from '../../parts/figures.tsx';
import { Field, Filters, Section } from '../../parts/page.tsx';
import { Loaded, Problem } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { type DraftRate, draftIn, draftOfSegment, draftText, keyOfSegment, rateKey } from './price-draft.ts';
import styles from './prices.module.css';
import { isPercentage, rateText, sentAmount, shownAmount, valuesText, writtenUnit } from './rate-text.ts';

type Segment = Schemas['RateSegment'];
const route = getRouteApi('/prices');

/** The first instant that a card may have a rate from. */
const BEGINNING = '1970-01-01T00:00:00Z';

const COLUMNS: readonly Column<Segment>[] = [
  { title: 'From', cell: ({ starting_at }) => <Time at={starting_at} /> },
  {
    title: 'Before',
    cell: ({ ending_before }) => (ending_before === undefined ? 'open' : <Time at={ending_before} />),
  },
  { title: 'Price', cell: ({ rate }) => rateText(rate) },
  { title: 'Entitled', cell: ({ entitled }) => (entitled ? 'yes' : 'no') },
];

export function RateHistory({ cardId, segment }: { readonly cardId: string; readonly segment: Segment }) {
  const { product_id, product_name, pricing_group_values, billing_frequency } = segment;
  const key = keyOfSegment(segment);
  const query = useQuery({
    queryKey: ['rate history', cardId, key],
    queryFn: ({ signal }) =>
      callAll(
        'POST /v1/contract-pricing/rate-cards/getRateSchedule',
        {
          body: {
            rate_card_id: cardId,
            starting_at: BEGINNING,
            selectors: [
              {
                product_id,
                ...(pricing_group_values === undefined ? {} : { pricing_group_values }),
                ...(billing_frequency === undefined ? {} : { billing_frequency }),
              },
            ],
          },
          query: { limit: '100' },
        },
        { signal },
      ),
  });
  const of = valuesText(pricing_group_values);
  return (
    <Section title={`${product_name}${of === '' ? '' : `, ${of}`}`}>
      <div className={styles.rate}>
        <div>
          <h3 className={styles.heading}>History</h3>
          <Loaded query={query} what="the history">
            {(segments) => (
              <Table
                label="History of the price"
                columns={COLUMNS}
                rows={segments.filter((each) => keyOfSegment(each) === key)}
                keyOf={({ starting_at }) => starting_at}
              />
            )}
          </Loaded>
        </div>
        <div>
          <h3 className={styles.heading}>Another price</h3>
          <ChangeRate key={key} segment={segment} />
        </div>
      </div>
    </Section>
  );
}

/** The draft of the address, and how its rate for a segment is put there or taken out. */
function useDraftRate(segment: Segment) {
  const { draft: text } = route.useSearch();
  const navigate = route.useNavigate();
  const draft = draftIn(text);
  const key = keyOfSegment(segment);
  const put = (rate: DraftRate | null) => {
    const next = new Map(draft);
    if (rate === null) next.delete(key);
    else next.set(rateKey(rate), rate);
    void navigate({ search: (before) => ({ ...before, draft: draftText(next) }), resetScroll: false });
  };
  return { start: draft.get(key) ?? draftOfSegment(segment), isChanged: draft.has(key), put };
}

/** Changes the rate in the draft; nothing is sent. */
function ChangeRate({ segment }: { readonly segment: Segment }) {
  const { start, isChanged, put } = useDraftRate(segment);
  const unit = isPercentage(segment.rate) ? undefined : segment.rate.credit_type;
  const [prices, setPrices] = useState(() =>
    pricesOf(start).map((price) => shownAmount(price as Exact, unit)),
  );
  const [entitled, setEntitled] = useState(start.entitled);
  const [problem, setProblem] = useState<string | null>(null);
  const change = () => {
    const amounts = prices.map((price) => sentAmount(price, unit)?.toFixed() ?? null);
    const isWrong = amounts.some((amount) => amount === null);
    setProblem(isWrong ? 'A price is a number that is not negative, such as 0.03.' : null);
    if (!isWrong) put({ ...withPrices(start, amounts.map(String)), entitled });
  };
  return (
    <>
      <Filters>
        {prices.map((price, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a tier is known by its place.
          <Field key={index} label={priceLabel(start.tiers?.[index], index, prices.length, unit)}>
            <input
              inputMode="decimal"
              size={12}
              value={price}
              onChange={({ target }) =>
                setPrices(prices.map((each, at) => (at === index ? target.value : each)))
              }
            />
          </Field>
        ))}
        <label className={styles.check}>
          <input type="checkbox" checked={entitled} onChange={({ target }) => setEntitled(target.checked)} />
          entitled
        </label>
        <button type="button" onClick={change}>
          Put into the draft
        </button>
        {isChanged ? (
          <button type="button" data-kind="plain" onClick={() => put(null)}>
            Take out of the draft
          </button>
        ) : null}
      </Filters>
      <Problem text={problem} />
    </>
  );
}

function pricesOf({ price, tiers }: DraftRate): string[] {
  return tiers === undefined ? [price ?? '0'] : tiers.map((tier) => tier.price);
}

function withPrices(rate: DraftRate, prices: readonly string[]): DraftRate {
  if (rate.tiers === undefined) return { ...rate, price: prices[0] ?? '0' };
  return {
    ...rate,
    tiers: rate.tiers.map((tier, index) => ({ ...tier, price: prices[index] ?? tier.price })),
  };
}

function priceLabel(
  tier: { readonly size?: string } | undefined,
  index: number,
  count: number,
  unit: Schemas['CreditType'] | undefined,
): string {
  const of = unit === undefined ? 'share' : writtenUnit(unit);
  if (tier === undefined) return `Price, ${of}`;
  return tier.size === undefined || index === count - 1
    ? `Tier ${index + 1}, the rest, ${of}`
    : `Tier ${index + 1}, ${tier.size} units, ${of}`;
}
