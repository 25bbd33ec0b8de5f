/** One rate: its history, and its change as a draft. */
import { useQuery } from '@tanstack/react-query';
import { callAll } from '../../api/client.ts';
import type { Schemas } from '../../api/operations.gen.d.ts';
import { keyOf } from '../../api/resources.ts';
import { Time } from '../../parts/figures.tsx';
import { Section } from '../../parts/page.tsx';
import { Loaded } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { type Catalogue, type RateCard, useCatalogue } from './catalogue.ts';
import { useDraftRate } from './draft-address.ts';
import { draftOfSegment, keyOfSegment } from './price-draft.ts';
import styles from './prices.module.css';
import { RateEditor } from './rate-editor.tsx';
import { rateText, valuesText } from './rate-text.ts';

type Segment = Schemas['RateSegment'];

/** The earliest start of a rate on a card. */
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

export function RateHistory({ card, segment }: { readonly card: RateCard; readonly segment: Segment }) {
  const cardId = card.id;
  const { product_id, product_name, pricing_group_values, billing_frequency } = segment;
  const key = keyOfSegment(segment);
  const query = useQuery({
    queryKey: keyOf('POST /v1/contract-pricing/rate-cards/getRateSchedule', cardId, key),
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
          <ChangeRate key={key} card={card} segment={segment} />
        </div>
      </div>
    </Section>
  );
}

/** Changes the rate in the draft; nothing is sent. */
function ChangeRate({ card, segment }: { readonly card: RateCard; readonly segment: Segment }) {
  const { rate, put } = useDraftRate(keyOfSegment(segment));
  const query = useCatalogue(card);
  const start = draftOfSegment(segment);
  return (
    <Loaded query={query} what="units">
      {(catalogue) => (
        <RateEditor
          catalogue={catalogue}
          productType={productTypeOf(catalogue, segment)}
          place={start}
          start={rate ?? start}
          isInDraft={rate !== undefined}
          put={put}
        />
      )}
    </Loaded>
  );
}

function productTypeOf({ products }: Catalogue, { product_id }: Segment): Schemas['Product']['type'] {
  return products.find(({ id }) => id === product_id)?.type ?? 'USAGE';
}
