/** Prices that usage of drafts lacks, each with a link to the form of a new price with its fields filled in. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { call } from '../../api/client.ts';
import { keyOf } from '../../api/resources.ts';
import { countText } from '../../format/words.ts';
import { rateKey } from '../prices/price-draft.ts';
import type { Look } from './look.ts';
import { missingPrices } from './missing-prices.ts';
import { useWarnedDrafts } from './warned-drafts.ts';

const LISTED_MAX = 5;

/** The prices that the most drafts lack. */
export function useMissingPrices(): Look {
  const drafts = useWarnedDrafts();
  const missing = missingPrices(drafts.data ?? []).slice(0, LISTED_MAX);
  const customers = [...new Set(missing.flatMap(({ drafts: [first] }) => first?.customer_id ?? []))];
  const cards = useQuery({
    enabled: customers.length > 0,
    queryKey: keyOf('POST /v2/contracts/list', 'rate cards of', customers),
    staleTime: 60_000,
    queryFn: async ({ signal }) => {
      const lists = customers.map((customer_id) =>
        call('POST /v2/contracts/list', { body: { customer_id } }, signal),
      );
      const contracts = (await Promise.all(lists)).flatMap(({ data }) => data);
      return Object.fromEntries(contracts.map(({ id, rate_card_id }) => [id, rate_card_id]));
    },
  });
  const matters = missing.map(({ key, name, product, values, drafts: lacking }) => {
    const card = cards.data?.[lacking[0]?.contract_id ?? ''];
    const text = `Add a price for ${name}`;
    return {
      key: `price ${key}`,
      text: (
        <>
          {card === undefined ? (
            text
          ) : (
            <Link to="/prices" search={{ card, rate: rateKey({ product, values }) }}>
              {text}
            </Link>
          )}
          : usage on {countText(lacking.length, 'draft')} has none
        </>
      ),
    };
  });
  return { at: 'missing prices', query: cards.isError ? cards : drafts, matters };
}
