/** Customers: found by name, alias, id or custom field. */
import { getRouteApi, Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { Schemas } from '../../api/operations.gen.d.ts';
import { useApi } from '../../api/queries.ts';
import { CreateLink } from '../../parts/create-link.tsx';
import { CopyId, Day, Status } from '../../parts/figures.tsx';
import { Field, Filters, Page, Section } from '../../parts/page.tsx';
import { Pager } from '../../parts/pager.tsx';
import { Empty, Loaded } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { CustomFields } from './custom-fields.tsx';

type Customer = Schemas['CustomerDetail'];

const route = getRouteApi('/customers');
const PAGE_ROWS = '50';
/** The debounce of the list while somebody types. */
const TYPING_MS = 200;

const COLUMNS: readonly Column<Customer>[] = [
  {
    title: 'Name',
    cell: ({ id, name, archived_at }) => (
      <>
        <Link to="/customers/$customerId" params={{ customerId: id }}>
          {name}
        </Link>{' '}
        {archived_at === null ? null : <Status state="archived" />}
      </>
    ),
  },
  { title: 'Ingest aliases', cell: ({ ingest_aliases }) => <Aliases aliases={ingest_aliases} /> },
  { title: 'Custom fields', cell: ({ custom_fields }) => <CustomFields fields={custom_fields} /> },
  { title: 'Since', cell: ({ created_at }) => <Day at={created_at} /> },
  { title: 'Id', cell: ({ id }) => <CopyId id={id} /> },
];

export function Customers() {
  const { search, archived, page, cursor } = route.useSearch();
  const query = useApi('GET /v1/customers', {
    query: {
      limit: PAGE_ROWS,
      search,
      next_page: cursor,
      only_archived: archived === 'only' ? 'true' : undefined,
    },
  });
  return (
    <Page title="Customers" actions={<CreateLink form="customer" />}>
      <Filters>
        <SearchField />
        <Archived />
      </Filters>
      <Section
        title={search === undefined ? 'All customers' : `Customers that fit “${search}”`}
        aside={
          <Pager
            list={`customers ${search} ${archived}`}
            search={{ page, cursor }}
            next={query.data?.next_page}
          />
        }
      >
        <Loaded query={query} what="customers">
          {({ data }) =>
            data.length === 0 ? (
              <Nobody search={search} />
            ) : (
              <Table label="Customers" columns={COLUMNS} rows={data} keyOf={({ id }) => id} />
            )
          }
        </Loaded>
      </Section>
    </Page>
  );
}

function SearchField() {
  const { search } = route.useSearch();
  const navigate = route.useNavigate();
  const [text, setText] = useState(search ?? '');
  useEffect(() => {
    setText(search ?? '');
  }, [search]);
  useEffect(() => {
    if (text === (search ?? '')) return;
    const timer = setTimeout(() => {
      void navigate({
        search: ({ archived }) => ({ ...(archived && { archived }), ...(text && { search: text }) }),
        replace: true,
      });
    }, TYPING_MS);
    return () => clearTimeout(timer);
  }, [text, search, navigate]);
  return (
    <Field label="Search: name, alias, id, custom field">
      <input
        type="search"
        size={36}
        maxLength={200}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
    </Field>
  );
}

function Archived() {
  const { archived } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <Field label="Show">
      <select
        value={archived ?? ''}
        onChange={({ target }) =>
          void navigate({ search: ({ search }) => ({ ...(search && { search }), archived: target.value }) })
        }
      >
        <option value="">active</option>
        <option value="only">archived</option>
      </select>
    </Field>
  );
}

function Nobody({ search }: { readonly search: string | undefined }) {
  return (
    <Empty action={search === undefined ? <CreateLink form="customer" /> : undefined}>
      {search === undefined ? (
        <>
          There is no customer yet. Create one, or try a month of traffic with <code>npm run demo</code>.
        </>
      ) : (
        <>No customer has this in its name, aliases, id or custom fields.</>
      )}
    </Empty>
  );
}

const ALIASES_SHOWN = 2;

function Aliases({ aliases }: { readonly aliases: readonly string[] }) {
  if (aliases.length === 0) return null;
  const more = aliases.length - ALIASES_SHOWN;
  return (
    <span className="mono" title={aliases.join(', ')}>
      {aliases.slice(0, ALIASES_SHOWN).join(', ')}
      {more > 0 ? ` and ${more} more` : ''}
    </span>
  );
}
