/** Packages: the terms that many contracts begin with. */
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

type Package = Schemas['Package'];

const LIST = 'POST /v1/packages/list';

const COLUMNS: readonly Column<Package>[] = [
  {
    title: 'Name',
    cell: ({ name, archived_at }) => (
      <>
        {name} {archived_at === undefined ? null : <Status state="archived" />}
      </>
    ),
  },
  { title: 'Aliases', cell: ({ aliases }) => aliases.map(({ name }) => name).join(', ') },
  {
    title: 'Runs for',
    cell: ({ duration }) =>
      duration === undefined ? 'no end' : `${duration.value} ${duration.unit.toLowerCase()}`,
  },
  { title: 'Id', cell: ({ id }) => <CopyId id={id} /> },
  { title: '', cell: (shown) => <Archive shown={shown} /> },
];

export function Packages() {
  const query = useQuery({
    queryKey: keyOf(LIST, 'all'),
    queryFn: ({ signal }) =>
      callAll(LIST, { body: { archive_filter: 'ALL' }, query: { limit: '100' } }, { signal }),
  });
  return (
    <Section title="Packages" aside={<CreateLink form="package" />}>
      <Loaded query={query} what="packages">
        {(packages) =>
          packages.length === 0 ? (
            <Empty action={<CreateLink form="package" />}>
              There is no package yet. Contracts that begin with a package have all its terms.
            </Empty>
          ) : (
            <Table label="Packages" columns={COLUMNS} rows={packages} keyOf={({ id }) => id} />
          )
        }
      </Loaded>
    </Section>
  );
}

function Archive({ shown: { id, name, archived_at } }: { readonly shown: Package }) {
  const archive = useChange('POST /v1/packages/archive');
  if (archived_at !== undefined) return null;
  return (
    <Confirm
      action="Archive"
      kind="danger"
      title={`Archive the package ${name}?`}
      run={() => archive.mutateAsync({ body: { package_id: id } })}
    >
      <p>No new contract can begin with it. Its contracts stay as they are.</p>
    </Confirm>
  );
}
