/** The invoices of a contract before and after an edit that is not saved yet. */
import Big from 'big.js';
import { type BodyOf, call } from '../api/client.ts';
import type { Exact } from '../api/exact.ts';
import type { Schemas } from '../api/operations.gen.d.ts';
import { dayText, intervalOf, monthAfter, monthOf, periodText } from '../format/time.ts';
import { Difference, Money } from '../parts/figures.tsx';
import type { Line } from '../parts/line-names.ts';
import { Fact, Facts, Section } from '../parts/page.tsx';
import { Empty, Loading, Note } from '../parts/states.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { changedLines } from './changed-lines.ts';
import type { Said } from './use-said.ts';

const PREVIEW = 'POST /v1/invoices/preview';
const MONTHS_AHEAD = 12;

type Previewed = Schemas['InvoiceDifference'];

interface Cost {
  readonly previewed: Previewed;
  readonly lines: ReturnType<typeof changedLines>;
  /** Warnings that the invoice has only with the edit. */
  readonly warnings: readonly string[];
}

/** Usage of the last month and of the running one, and what is scheduled in the next twelve. Stores nothing. */
export async function costsOf(edit: unknown, now: string): Promise<readonly Cost[]> {
  const last = intervalOf(monthAfter(monthOf(now), -1));
  const ahead = intervalOf(monthAfter(monthOf(now), MONTHS_AHEAD));
  const { data } = await call(PREVIEW, {
    body: {
      edit: edit as BodyOf<'POST /v2/contracts/edit'>,
      starting_on: last.starting_on,
      ending_before: ahead.ending_before,
      include_invoices: true,
    },
    query: {},
  });
  const all = data.flatMap(({ customer_id: customer, invoices }) =>
    invoices.map((previewed) => ({ customer, previewed })),
  );
  const costs: Cost[] = [];
  for (const { customer, previewed } of all) {
    const before = await currentOf(customer, previewed);
    const known = new Set(before?.warnings.map(({ message }) => message));
    const after = previewed.invoice;
    costs.push({
      previewed,
      lines: changedLines(linesOf(before), linesOf(after)),
      warnings: (after?.warnings ?? []).flatMap(({ message }) => (known.has(message) ? [] : [message])),
    });
  }
  return costs.filter(({ previewed, lines }) => isUsage(previewed) || lines.length > 0);
}

function linesOf(invoice: Schemas['Invoice'] | undefined): readonly Line[] {
  return invoice?.line_items ?? [];
}

/** A draft is in the answer, as of the same moment; an issued invoice does not change and is read by its id. */
async function currentOf(customer: string, previewed: Previewed): Promise<Schemas['Invoice'] | undefined> {
  const { current_invoice: draft, current_invoice_id: id } = previewed;
  if (draft !== undefined || id === undefined) return draft;
  const params = { customer_id: customer, invoice_id: id };
  return (await call('GET /v1/customers/{customer_id}/invoices/{invoice_id}', { params })).data;
}

/** Scheduled invoices have a date in the place of a period. */
function isUsage({ start_timestamp, end_timestamp }: Previewed): boolean {
  return start_timestamp !== end_timestamp;
}

export function Costs({ said }: { readonly said: Said<readonly Cost[]> | null }) {
  if (said === null || said.state === 'refused') return null;
  return (
    <Section title="What it costs">
      {said.state === 'asking' ? <Loading what="the preview" /> : <Shown costs={said.answer} />}
    </Section>
  );
}

function Shown({ costs }: { readonly costs: readonly Cost[] }) {
  if (costs.length === 0) return <Empty>The contract has no draft, and no invoice of the last month.</Empty>;
  const warnings = [...new Set(costs.flatMap((cost) => cost.warnings))];
  return (
    <>
      <Facts>
        {costs.map(({ previewed }) => (
          <Fact
            key={keyOf(previewed)}
            label={titleOf(previewed)}
            note={
              <>
                <Difference amount={previewed.difference} unit={previewed.credit_type} /> against{' '}
                <Money amount={amountOf(previewed.current_total)} unit={previewed.credit_type} />
              </>
            }
          >
            <Money amount={amountOf(previewed.preview_total)} unit={previewed.credit_type} />
          </Fact>
        ))}
      </Facts>
      {warnings.length === 0 ? null : (
        <Note>
          {warnings.map((text) => (
            <p key={text}>{text}</p>
          ))}
        </Note>
      )}
      {costs.every(({ lines }) => lines.length === 0) ? (
        <p>No line of these invoices changes.</p>
      ) : (
        costs
          .filter(({ lines }) => lines.length > 0)
          .map((cost) => <Lines key={keyOf(cost.previewed)} cost={cost} />)
      )}
      <p className="soft small">
        Nothing is stored yet. An issued invoice stays as it is: its figure is what it would be if it were
        billed again today, with usage that came since.
      </p>
    </>
  );
}

function Lines({ cost: { previewed, lines } }: { readonly cost: Cost }) {
  const name = `Lines that differ: ${titleOf(previewed)}`;
  return (
    <>
      <h3>{name}</h3>
      <Table label={name} columns={COLUMNS} rows={lines} keyOf={({ key }) => key} />
    </>
  );
}

const COLUMNS: readonly Column<Cost['lines'][number]>[] = [
  { title: 'Line', cell: ({ name }) => name },
  { title: 'Now', kind: 'number', cell: ({ before, unit }) => <Money amount={before} unit={unit} /> },
  { title: 'Then', kind: 'number', cell: ({ after, unit }) => <Money amount={after} unit={unit} /> },
  {
    title: 'Change',
    kind: 'number',
    cell: ({ before, after, unit }) => <Difference amount={after.minus(before)} unit={unit} />,
  },
];

function keyOf({ contract_id, start_timestamp, current_invoice_id, invoice }: Previewed): string {
  return [contract_id, start_timestamp, current_invoice_id ?? invoice?.id].join(' ');
}

function titleOf({ current_status, start_timestamp, end_timestamp }: Previewed): string {
  if (start_timestamp === end_timestamp) return `Invoice of ${dayText(start_timestamp)}`;
  const period = periodText(start_timestamp, end_timestamp);
  return current_status === undefined || current_status === 'DRAFT'
    ? `Draft, ${period}`
    : `${period}, issued`;
}

function amountOf(total: Exact | undefined): Exact | Big {
  return total ?? new Big(0);
}
