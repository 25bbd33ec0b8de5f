/** Rows of the audit log. */
import type { Schemas } from '../api/operations.gen.d.ts';
import { CopyId, Status, Time } from './figures.tsx';
import { type Column, Table } from './table.tsx';

type Entry = Schemas['AuditLog'];

const COLUMNS: readonly Column<Entry>[] = [
  { title: 'When', cell: ({ timestamp }) => <Time at={timestamp} /> },
  { title: 'Who', cell: ({ actor }) => actor.name },
  {
    title: 'What',
    cell: ({ action, description }) => (
      <>
        {description} <span className="soft small nowrap">{action}</span>
      </>
    ),
  },
  { title: 'Of', cell: ({ resource_type }) => resource_type.replaceAll('_', ' ') },
  { title: 'Id', cell: ({ resource_id }) => (resource_id === undefined ? '' : <CopyId id={resource_id} />) },
  { title: 'Outcome', cell: ({ status }) => <Status state={status} /> },
];

export function AuditTable({ entries }: { readonly entries: readonly Entry[] }) {
  return <Table label="Audit log" columns={COLUMNS} rows={entries} keyOf={({ id }) => id} />;
}
