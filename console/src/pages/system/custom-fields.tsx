/** The keys of custom fields, by the kind of object that has them. */
import { useQuery } from '@tanstack/react-query';
import { callAll } from '../../api/client.ts';
import type { Schemas } from '../../api/operations.gen.d.ts';
import { useChange } from '../../api/queries.ts';
import { keyOf } from '../../api/resources.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { CreateLink } from '../../parts/create-link.tsx';
import { Section } from '../../parts/page.tsx';
import { Empty, Loaded } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';

type Key = Schemas['CustomFieldKey'];

const LIST = 'POST /v1/customFields/listKeys';

const COLUMNS: readonly Column<Key>[] = [
  { title: 'Of', cell: ({ entity }) => entity.replaceAll('_', ' ') },
  { title: 'Name', cell: ({ key }) => <span className="mono">{key}</span> },
  {
    title: 'Values',
    cell: ({ enforce_uniqueness: isUnique }) => (isUnique ? 'each of one object only' : 'any'),
  },
  { title: '', cell: (field) => <Remove field={field} /> },
];

export function CustomFields() {
  const query = useQuery({
    queryKey: keyOf(LIST),
    queryFn: ({ signal }) => callAll(LIST, { body: {}, query: { limit: '100' } }, { signal }),
  });
  return (
    <Section title="Custom fields" aside={<CreateLink form="custom-field" />}>
      <Loaded query={query} what="custom fields">
        {(fields) =>
          fields.length === 0 ? (
            <Empty action={<CreateLink form="custom-field" />}>
              No object has custom fields yet: an account manager of customers, a purchase order of contracts.
            </Empty>
          ) : (
            <Table
              label="Custom fields"
              columns={COLUMNS}
              rows={fields}
              keyOf={({ entity, key }) => `${entity} ${key}`}
            />
          )
        }
      </Loaded>
    </Section>
  );
}

function Remove({ field: { entity, key } }: { readonly field: Key }) {
  const remove = useChange('POST /v1/customFields/removeKey');
  return (
    <Confirm
      action="Remove"
      kind="danger"
      title={`Remove the custom field ${key}?`}
      run={() => remove.mutateAsync({ body: { entity, key } })}
    >
      <p>Its values go with it. It cannot be undone.</p>
    </Confirm>
  );
}
