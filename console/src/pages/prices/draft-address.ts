/** The draft in the address: setting and removing one of its rates. */
import { getRouteApi } from '@tanstack/react-router';
import { type DraftRate, draftIn, draftText, rateKey } from './price-draft.ts';

const route = getRouteApi('/prices');

/** The draft of the rate with this key. */
export function useDraftRate(key: string) {
  const { draft: text } = route.useSearch();
  const navigate = route.useNavigate();
  const draft = draftIn(text);
  return {
    rate: draft.get(key),
    put(rate: DraftRate | null) {
      const next = new Map(draft);
      if (rate === null) next.delete(key);
      else next.set(rateKey(rate), rate);
      void navigate({
        search: (before) => ({
          ...before,
          draft: draftText(next),
          ...(rate === null ? {} : { rate: rateKey(rate) }),
        }),
        resetScroll: false,
      });
    },
  };
}
