/** The objects that a draft of prices refers to: products, and the units of prices. */
import { useQuery } from '@tanstack/react-query';
import { callAll } from '../../api/client.ts';
import type { Schemas } from '../../api/operations.gen.d.ts';
import { keyOf } from '../../api/resources.ts';

type Unit = Schemas['CreditType'];

export interface Catalogue {
  readonly products: readonly Schemas['Product'][];
  readonly units: readonly Unit[];
  unit(id: string): Unit | undefined;
  /** The currency of the card. */
  readonly fiat: Unit;
}

export type RateCard = Schemas['RateCard'];

/** The products, and the units that a price on the card can have: its currency, and the units it converts. */
export function useCatalogue(card: RateCard) {
  return useQuery({
    queryKey: keyOf('POST /v1/contract-pricing/products/list', card),
    async queryFn({ signal }): Promise<Catalogue> {
      const products = await callAll(
        'POST /v1/contract-pricing/products/list',
        { body: { archive_filter: 'ALL' }, query: { limit: '100' } },
        { signal },
      );
      const fiat = card.fiat_credit_type;
      const units = [fiat, ...card.credit_type_conversions.map((each) => each.custom_credit_type)];
      return { products, units, fiat, unit: (id) => units.find((unit) => unit.id === id) };
    },
  });
}
