/** Prices: a rate card as a grid at any instant with history, drafts that are simulated, and prices of contracts. */
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { callAll } from '../../api/client.ts';
import { Field, Filters, Page, Tabs } from '../../parts/page.tsx';
import { Empty, Failure, Loaded, Loading, Progress } from '../../parts/states.tsx';
import { useSession } from '../../session/session.ts';
import { ContractPrices } from './contract-prices.tsx';
import { draftIn, keyOfSegment } from './price-draft.ts';
import { RateGrid } from './rate-grid.tsx';
import { RateHistory } from './rate-history.tsx';
import { Simulate } from './simulate.tsx';

const route = getRouteApi('/prices');

const VIEWS = [
  ['card', 'Rate card'],
  ['contract', 'Contract'],
] as const;

export function Prices() {
  const { now } = useSession();
  const { view = 'card', at: asked } = route.useSearch();
  const at = instantOf(asked) ?? now;
  return (
    <Page title="Prices" actions={<Instant at={at} />}>
      <Tabs label="Views of prices" views={VIEWS} current={view} />
      {view === 'contract' ? <ContractPrices at={at} /> : <Cards at={at} />}
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
    queryKey: ['rate cards'],
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
            <Empty>
              There is no rate card yet. <code>POST /v1/contract-pricing/rate-cards/create</code> makes one,
              or the <code>npm run catalogue</code> command from a file.
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
            </Filters>
            <Card key={card.id} cardId={card.id} at={at} />
          </>
        );
      }}
    </Loaded>
  );
}

function Card({ cardId, at }: { readonly cardId: string; readonly at: string }) {
  const { rate, draft: text } = route.useSearch();
  const [read, setRead] = useState(0);
  const query = useQuery({
    queryKey: ['rates', cardId, at],
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
  const draft = draftIn(text);
  const chosen = query.data.find((segment) => keyOfSegment(segment) === rate);
  if (query.data.length === 0) return <Empty>The card has no rate at this instant.</Empty>;
  return (
    <>
      {draft.size === 0 ? (
        <p className="soft small">
          Press a price to see its history, to change it in a draft and to simulate the draft on a month that
          was.
        </p>
      ) : (
        <Simulate cardId={cardId} draft={draft} />
      )}
      {chosen === undefined ? null : <RateHistory cardId={cardId} segment={chosen} />}
      <RateGrid segments={query.data} draft={draft} chosen={rate} />
    </>
  );
}
