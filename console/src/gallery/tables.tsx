/** Tables: empty, short, with sums and details, long, and as lists on a phone. */
import { Money, Status } from '../parts/figures.tsx';
import { Section } from '../parts/page.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { exact, USD } from './samples.ts';

interface Line {
  readonly name: string;
  readonly state: string;
  readonly cents: string;
}

const LONG_NAME = 'Fjord & Søn Advokatselskab with a name that does not fit into one line of a narrow column';
const LINES: readonly Line[] = [
  { name: 'Alder Labs', state: 'DRAFT', cents: '120000' },
  { name: LONG_NAME, state: 'FINALIZED', cents: '-4550' },
  { name: 'Vantage', state: 'VOID', cents: '98765432.1' },
];
const MANY: readonly Line[] = Array.from({ length: 1_000 }, (_, index) => ({
  ...{ name: `Customer ${index + 1}`, state: 'DRAFT', cents: String(index * 100) },
}));

const COLUMNS: readonly Column<Line>[] = [
  { title: 'Customer', cell: ({ name }) => name, foot: 'Sum' },
  { title: 'State', cell: ({ state }) => <Status state={state} /> },
  { title: 'Note', cell: () => '' },
  {
    title: 'Amount',
    kind: 'number',
    cell: ({ cents }) => <Money amount={exact(cents)} unit={USD} />,
    foot: <Money amount={exact('98880882.1')} unit={USD} />,
  },
];

export function Tables() {
  return (
    <>
      <Section title="A table with sums">
        <Table
          label="A table with sums"
          columns={COLUMNS}
          rows={LINES}
          keyOf={({ name }) => name}
          below={({ state }) => (state === 'VOID' ? 'Details of this row' : null)}
        />
      </Section>
      <Section title="An empty table">
        <Table label="An empty table" columns={COLUMNS.slice(0, 2)} rows={[]} keyOf={() => ''} />
      </Section>
      <Section title="A long table">
        <Table label="A long table" columns={COLUMNS} rows={MANY} keyOf={({ name }) => name} stacks={false} />
      </Section>
    </>
  );
}
