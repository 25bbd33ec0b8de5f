/** A price that the card does not have yet: the product, the group values, then the fields of any rate. */
import { getRouteApi } from '@tanstack/react-router';
import type { Schemas } from '../../api/operations.gen.d.ts';
import { CreateLink } from '../../parts/create-link.tsx';
import { Field, Filters, Section } from '../../parts/page.tsx';
import { Empty, Loaded } from '../../parts/states.tsx';
import { type Catalogue, type RateCard, useCatalogue } from './catalogue.ts';
import { useDraftRate } from './draft-address.ts';
import { type DraftRate, placeOfKey, rateKey } from './price-draft.ts';
import { TYPES } from './rate-edit.ts';
import { RateEditor } from './rate-editor.tsx';

type Product = Schemas['Product'];
type Place = NonNullable<ReturnType<typeof placeOfKey>>;

const route = getRouteApi('/prices');
const FREQUENCIES = ['WEEKLY', 'MONTHLY', 'QUARTERLY', 'ANNUAL'] as const;

/** The address while nothing is chosen. */
export const NEW_RATE = 'new';

export function NewRate({ card, rate }: { readonly card: RateCard; readonly rate: string }) {
  const query = useCatalogue(card);
  return (
    <Section title="New price">
      <Loaded query={query} what="products">
        {(catalogue) => <ChosenRate catalogue={catalogue} rate={rate} />}
      </Loaded>
    </Section>
  );
}

function ChosenRate({ catalogue, rate }: { readonly catalogue: Catalogue; readonly rate: string }) {
  const products = catalogue.products.filter(
    ({ archived_at, type }) => archived_at === null && TYPES[type].length > 0,
  );
  const place = placeOfKey(rate);
  const product = products.find(({ id }) => id === place?.product) ?? products[0];
  if (product === undefined) {
    return <Empty action={<CreateLink form="product" />}>No product can have a price on a card.</Empty>;
  }
  const chosen = placeFor(product, place);
  return (
    <>
      <PlaceFields products={products} product={product} place={chosen} />
      <NewPrice catalogue={catalogue} product={product} place={chosen} />
    </>
  );
}

/** The chosen values that the product has. */
function placeFor(product: Product, place: Place | null): Place {
  const own = place?.product === product.id ? place : null;
  const keys = product.current.pricing_group_key ?? [];
  const given = keys.flatMap((key): [string, string][] => {
    const value = own?.values[key];
    return value === undefined || value === '' ? [] : [[key, value]];
  });
  return {
    product: product.id,
    values: Object.fromEntries(given),
    ...(product.type === 'SUBSCRIPTION' ? { frequency: own?.frequency ?? 'MONTHLY' } : {}),
  };
}

function PlaceFields(props: {
  readonly products: readonly Product[];
  readonly product: Product;
  readonly place: Place;
}) {
  const { products, product, place } = props;
  const navigate = route.useNavigate();
  const choose = (next: Place) =>
    void navigate({
      search: (before) => ({ ...before, rate: rateKey(next) }),
      resetScroll: false,
      replace: true,
    });
  const keys = product.current.pricing_group_key ?? [];
  return (
    <>
      <Filters>
        <Field label="Product">
          <select value={product.id} onChange={({ target }) => choose({ product: target.value, values: {} })}>
            {products.map(({ id, current }) => (
              <option key={id} value={id}>
                {current.name}
              </option>
            ))}
          </select>
        </Field>
        {keys.map((key) => (
          <Field key={key} label={key}>
            <input
              value={place.values[key] ?? ''}
              onChange={({ target }) =>
                choose({ ...place, values: { ...place.values, [key]: target.value } })
              }
            />
          </Field>
        ))}
        {product.type === 'SUBSCRIPTION' ? (
          <Field label="Billed">
            <select
              value={place.frequency}
              onChange={({ target }) =>
                choose({ ...place, frequency: target.value as (typeof FREQUENCIES)[number] })
              }
            >
              {FREQUENCIES.map((each) => (
                <option key={each} value={each}>
                  {each.toLowerCase()}
                </option>
              ))}
            </select>
          </Field>
        ) : null}
      </Filters>
      {keys.length === 0 ? null : (
        <p className="soft small">
          A value for each of {keys.join(', ')}, or none at all: the price of everything without its own
          price.
        </p>
      )}
    </>
  );
}

function NewPrice(props: {
  readonly catalogue: Catalogue;
  readonly product: Product;
  readonly place: Place;
}) {
  const { catalogue, product, place } = props;
  const { rate, put } = useDraftRate(rateKey(place));
  const [type = 'FLAT'] = TYPES[product.type];
  const start: DraftRate = rate ?? { ...place, entitled: true, type, price: '0' };
  const keys = product.current.pricing_group_key ?? [];
  const given = Object.keys(place.values).length;
  return (
    <RateEditor
      // Typed text is kept while the values are chosen; a rate in the draft shows its own.
      key={rate === undefined ? product.id : rateKey(place)}
      catalogue={catalogue}
      productType={product.type}
      place={place}
      problem={
        given === 0 || given === keys.length
          ? null
          : `Give a value for each of ${keys.join(', ')}, or for none.`
      }
      start={start}
      isInDraft={rate !== undefined}
      put={put}
    />
  );
}
