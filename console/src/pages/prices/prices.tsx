/** Prices: a rate card as a grid at any instant with history, drafts that are simulated, and prices of contracts. */
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { callAll } from '../../api/client.ts';
import type { Schemas } from '../../api/operations.gen.d.ts';
import { useChange } from '../../api/queries.ts';
import { keyOf } from '../../api/resources.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { CreateLink } from '../../parts/create-link.tsx';
import { Field, Filters, Page, Tabs } from '../../parts/page.tsx';
import { Empty, Failure, Loaded, Loading, Progress } from '../../parts/states.tsx';
import { useSession } from '../../session/session.ts';
import type { RateCard } from './catalogue.ts';
import { ContractPrices } from './contract-prices.tsx';
import { NEW_RATE, NewRate } from './new-rate.tsx';
import { Packages } from './packages.tsx';
import { type DraftRate, draftIn, keyOfSegment } from './price-draft.ts';
import { Products } from './products.tsx';
import { RateGrid } from './rate-grid.tsx';
import { RateHistory } from './rate-history.tsx';
import { Simulate } from './simulate.tsx';

const route = getRouteApi('/prices');

const VIEWS = [
  ['card', 'Rate card'],
  ['contract', 'Contract'],
  ['products', 'Products'],
  ['packages', 'Packages'],
] as const;

/** The views whose prices are those of an instant. */
const HAVE_INSTANT = new Set(['card', 'contract']);

export function Prices() {
  const { now } = useSession();
  const { view = 'card', at: asked } = route.useSearch();
  const at = instantOf(asked) ?? now;
  return (
    <Page title="Prices" actions={HAVE_INSTANT.has(view) ? <Instant at={at} /> : null}>
      <Tabs label="Views of prices" views={VIEWS} current={view} />
      {view === 'packages' ? (
        <Packages />
      ) : view === 'products' ? (
        <Products />
      ) : view === 'contract' ? (
        <ContractPrices at={at} />
      ) : (
        <Cards at={at} />
      )}
    </Page>
  );
}

/** The instant of an address, `2026-11-26T09:30`, in UTC. */
function instantOf(text: string | undefined): string | null {
  const at = text === undefined ? Number.NaN : Date.parse(`${text}Z`);
  return Number.isNaN(at) ? null : new Date(at).toISOString();
}

function Instant({ at }: { readonly at: string }) {
  const navigate = route.useNavigate();
  return (
    <Field label="At (UTC)">
      <input
        type="datetime-local"
        value={at.slice(0, 16)}
        onChange={({ target }) => {
          if (target.value !== '') void navigate({ search: (before) => ({ ...before, at: target.value }) });
        }}
      />
    </Field>
  );
}

function Cards({ at }: { readonly at: string }) {
  const query = useQuery({
    queryKey: keyOf('POST /v1/contract-pricing/rate-cards/list'),
    queryFn: ({ signal }) =>
      callAll('POST /v1/contract-pricing/rate-cards/list', { body: {}, query: { limit: '100' } }, { signal }),
  });
  const { card: asked } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <Loaded query={query} what="rate cards">
      {(cards) => {
        const card = cards.find(({ id }) => id === asked) ?? cards[0];
        if (card === undefined) {
          return (
            <Empty action={<CreateLink form="rate-card" />}>
              There is no rate card yet. It has the prices of all contracts on it.
            </Empty>
          );
        }
        return (
          <>
            <Filters>
              <Field label="Rate card">
                <select
                  value={card.id}
                  onChange={({ target }) =>
                    void navigate({
                      search: ({ at: instant }) => ({ at: instant, card: target.value }) as never,
                    })
                  }
                >
                  {cards.map(({ id, name }) => (
                    <option key={id} value={id}>
                      {name}
                    </option>
                  ))}
                </select>
              </Field>
              <CreateLink form="rate-card" />
              <ArchiveCard card={card} />
            </Filters>
            <Card key={card.id} card={card} at={at} />
          </>
        );
      }}
    </Loaded>
  );
}

function ArchiveCard({ card: { id, name } }: { readonly card: RateCard }) {
  const archive = useChange('POST /v1/contract-pricing/rate-cards/archive');
  return (
    <Confirm
      action="Archive"
      kind="danger"
      title={`Archive ${name}?`}
      run={() => archive.mutateAsync({ body: { id } })}
    >
      <p>No new contract can use it. Contracts on it keep its prices.</p>
    </Confirm>
  );
}

function Card({ card, at }: { readonly card: RateCard; readonly at: string }) {
  const cardId = card.id;
  const { rate, draft: text } = route.useSearch();
  const [read, setRead] = useState(0);
  const query = useQuery({
    queryKey: keyOf('POST /v1/contract-pricing/rate-cards/getRates', cardId, at),
    queryFn: ({ signal }) =>
      callAll(
        'POST /v1/contract-pricing/rate-cards/getRates',
        { body: { rate_card_id: cardId, at }, query: { limit: '100' } },
        { signal, onPage: setRead },
      ),
  });
  if (query.isError) return <Failure error={query.error} again={() => void query.refetch()} />;
  if (query.data === undefined) {
    return read === 0 ? <Loading what="rates" /> : <Progress label={`${read} rates read`} done={read} />;
  }
  return <Rates card={card} segments={query.data} draft={draftIn(text)} chosen={rate} />;
}

interface RatesProps {
  readonly card: RateCard;
  readonly segments: readonly Schemas['RateSegment'][];
  readonly draft: ReadonlyMap<string, DraftRate>;
  /** The key of the rate that is chosen. */
  readonly chosen: string | undefined;
}

function Rates({ card, segments, draft, chosen: rate }: RatesProps) {
  const chosen = segments.find((segment) => keyOfSegment(segment) === rate);
  const isNew = chosen === undefined && rate !== undefined;
  return (
    <>
      <div>
        <Link
          to="."
          className="button"
          search={
            ((before: object) => ({ ...before, rate: rate === NEW_RATE ? undefined : NEW_RATE })) as never
          }
          resetScroll={false}
        >
          New price
        </Link>
      </div>
      {draft.size === 0 ? (
        <p className="soft small">
          Press a price to see its history, to change it in a draft and to simulate the draft on a month that
          was. A new price can be put into the draft too.
        </p>
      ) : (
        <Simulate cardId={card.id} draft={draft} />
      )}
      {chosen === undefined ? null : <RateHistory card={card} segment={chosen} />}
      {isNew ? <NewRate card={card} rate={rate} /> : null}
      {segments.length === 0 && draft.size === 0 ? (
        <Empty>The card has no rate at this instant.</Empty>
      ) : (
        <RateGrid card={card} segments={segments} draft={draft} chosen={rate} />
      )}
    </>
  );
}
