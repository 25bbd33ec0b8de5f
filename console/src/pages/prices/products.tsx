/** Products: the things that have prices, or name charges and balances on invoices. */
import { useQuery } from '@tanstack/react-query';
import { callAll } from '../../api/client.ts';
import type { Schemas } from '../../api/operations.gen.d.ts';
import { useChange } from '../../api/queries.ts';
import { keyOf } from '../../api/resources.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { CreateLink } from '../../parts/create-link.tsx';
import { CopyId, Status } from '../../parts/figures.tsx';
import { Section } from '../../parts/page.tsx';
import { Empty, Loaded } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';

type Product = Schemas['Product'];

const LIST = 'POST /v1/contract-pricing/products/list';

const COLUMNS: readonly Column<Product>[] = [
  {
    title: 'Name',
    cell: ({ current, archived_at }) => (
      <>
        {current.name} {archived_at === null ? null : <Status state="archived" />}
      </>
    ),
  },
  { title: 'Type', cell: ({ type }) => type.replaceAll('_', ' ').toLowerCase() },
  { title: 'Priced by', cell: ({ current }) => current.pricing_group_key?.join(', ') ?? '' },
  { title: 'Tags', cell: ({ current }) => current.tags?.join(', ') ?? '' },
  { title: 'Id', cell: ({ id }) => <CopyId id={id} /> },
  {
    title: '',
    cell: (product) =>
      product.archived_at === null ? (
        <span className="nowrap">
          <CreateLink form="change-product" known={{ product_id: product.id }} />{' '}
          <Archive product={product} />
        </span>
      ) : null,
  },
];

export function Products() {
  const query = useQuery({
    queryKey: keyOf(LIST, 'all'),
    queryFn: ({ signal }) =>
      callAll(LIST, { body: { archive_filter: 'ALL' }, query: { limit: '100' } }, { signal }),
  });
  return (
    <Section title="Products" aside={<CreateLink form="product" />}>
      <Loaded query={query} what="products">
        {(products) =>
          products.length === 0 ? (
            <Empty action={<CreateLink form="product" />}>
              There is no product yet. A product has a price on a rate card, or names a charge.
            </Empty>
          ) : (
            <Table label="Products" columns={COLUMNS} rows={products} keyOf={({ id }) => id} />
          )
        }
      </Loaded>
    </Section>
  );
}

function Archive({ product: { id, current } }: { readonly product: Product }) {
  const archive = useChange('POST /v1/contract-pricing/products/archive');
  return (
    <Confirm
      action="Archive"
      kind="danger"
      title={`Archive ${current.name}?`}
      run={() => archive.mutateAsync({ body: { product_id: id } })}
    >
      <p>It gets no new prices and charges. What has it today stays as it is.</p>
    </Confirm>
  );
}
