/** The invoice regrouped by any property of its events. */
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import Big from 'big.js';
import type { FormEvent } from 'react';
import { callAll } from '../../api/client.ts';
import { exact, sum } from '../../api/exact.ts';
import type { Schemas } from '../../api/operations.gen.d.ts';
import { keyOf } from '../../api/resources.ts';
import { countsInTotal } from '../../parts/billed-lines.ts';
import { Money } from '../../parts/figures.tsx';
import { Field, Filters } from '../../parts/page.tsx';
import { Empty, Loaded } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import type { Invoice } from './line.ts';

interface Row {
  readonly key: string;
  readonly value: string;
  readonly total: Big;
}

export function ByProperty({
  invoice,
  property,
}: {
  readonly invoice: Invoice;
  readonly property: string | undefined;
}) {
  return (
    <>
      <PropertyForm invoice={invoice} property={property} />
      {property === undefined ? (
        <Empty>Enter a property of events. Invoices need not be grouped by it.</Empty>
      ) : (
        <Regrouped invoice={invoice} property={property} />
      )}
    </>
  );
}

function PropertyForm({
  invoice,
  property,
}: {
  readonly invoice: Invoice;
  readonly property: string | undefined;
}) {
  const navigate = useNavigate();
  const known = new Set(
    invoice.line_items.flatMap(({ pricing_group_values = {} }) => Object.keys(pricing_group_values)),
  );
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const value = String(new FormData(event.currentTarget).get('property') ?? '').trim();
    void navigate({ to: '.', search: ((before: object) => ({ ...before, property: value })) as never });
  };
  return (
    <form onSubmit={submit}>
      <Filters>
        <Field label="Property of events">
          <input
            name="property"
            defaultValue={property ?? ''}
            list="known-properties"
            required
            maxLength={200}
          />
        </Field>
        <datalist id="known-properties">
          {[...known].map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <button type="submit">Run</button>
      </Filters>
    </form>
  );
}

function Regrouped({ invoice, property }: { readonly invoice: Invoice; readonly property: string }) {
  const { start_timestamp: starting_on = '', end_timestamp: ending_before = '', customer_id } = invoice;
  const query = useQuery({
    queryKey: keyOf('POST /v1/customers/{customer_id}/invoices/spend-breakdowns', invoice.id, property),
    async queryFn({ signal }) {
      const found = await callAll(
        'POST /v1/customers/{customer_id}/invoices/spend-breakdowns',
        {
          params: { customer_id },
          query: { limit: '100' },
          body: { starting_on, ending_before, group_key: [property], window_size: 'NONE' },
        },
        { signal },
      );
      return found.filter(({ id }) => id === invoice.id);
    },
  });
  return (
    <Loaded query={query} what="the spend">
      {(found) => <SpendTable invoice={invoice} property={property} found={found} />}
    </Loaded>
  );
}

function SpendTable(props: {
  readonly invoice: Invoice;
  readonly property: string;
  readonly found: readonly Schemas['SpendBreakdown'][];
}) {
  const { invoice, property, found } = props;
  const unit = invoice.credit_type;
  const rows = rowsOf(found, property, unit.id);
  const all = sum(rows.map(({ total }) => total));
  const columns: Column<Row>[] = [
    { title: property, cell: ({ value }) => value, foot: 'Together' },
    {
      title: 'Amount',
      kind: 'number',
      cell: ({ total }) => <Money amount={total} unit={unit} />,
      foot: <Money amount={exact(all)} unit={unit} />,
    },
    { title: 'Share', kind: 'number', cell: ({ total }) => shareText(total, all) },
  ];
  return (
    <>
      <Table label={`Spend by ${property}`} columns={columns} rows={rows} keyOf={({ key }) => key} />
      <p className="soft small">Before commits and credits: amounts that balances pay are included.</p>
    </>
  );
}

const NO_VALUE = '(events without it)';
const NOT_USAGE = '(not from events)';

function rowsOf(found: readonly Schemas['SpendBreakdown'][], property: string, unitId: string): Row[] {
  const rows = new Map<string, Row>();
  // A value of events may equal the label for events without one, so it has another key.
  const add = (kind: 'value' | 'none', value: string, more: Big) => {
    const key = `${kind} ${value}`;
    const total = (rows.get(key)?.total ?? new Big(0)).plus(more);
    rows.set(key, { key, value, total });
  };
  for (const line of found.flatMap(({ line_items }) => line_items)) {
    if (line.credit_type.id !== unitId || !countsInTotal(line)) continue;
    const grouped = sum(line.groups.map(({ total }) => total));
    for (const { group, total } of line.groups) {
      const value = group?.[property] ?? null;
      if (value === null) add('none', group === undefined ? NOT_USAGE : NO_VALUE, new Big(total));
      else add('value', value, new Big(total));
    }
    const rest = new Big(line.total).minus(grouped);
    if (!rest.eq(0)) add('none', NOT_USAGE, rest);
  }
  return [...rows.values()].sort((a, b) => b.total.cmp(a.total));
}

function shareText(part: Big, all: Big): string {
  return all.eq(0) ? '' : `${part.times(100).div(all).round(1).toFixed(1)} %`;
}
