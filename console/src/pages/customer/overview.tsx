/** The customer at a glance: the days of this month against the last, running drafts, balances. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Schemas } from '../../api/operations.gen.d.ts';
import { useApi } from '../../api/queries.ts';
import { keyOf } from '../../api/resources.ts';
import { lastDayText, monthOf, monthText } from '../../format/time.ts';
import { Money } from '../../parts/figures.tsx';
import { Fact, Facts, Section } from '../../parts/page.tsx';
import { readTwoMonths } from '../../parts/revenue.ts';
import { RevenueCharts } from '../../parts/revenue-chart.tsx';
import { Empty, Loaded } from '../../parts/states.tsx';
import { useSession } from '../../session/session.ts';
import { InvoiceTable } from './invoice-list.tsx';

export function Overview({ customerId }: { readonly customerId: string }) {
  const params = { customer_id: customerId };
  const drafts = useApi('GET /v1/customers/{customer_id}/invoices', {
    params,
    query: { status: 'DRAFT', limit: '25' },
  });
  const balances = useApi('POST /v1/contracts/customerBalances/list', {
    body: { customer_id: customerId, include_balance: true, include_contract_balances: true },
  });
  const grants = balances.data?.data ?? [];
  return (
    <>
      <Billed customerId={customerId} />
      <Section title="Running drafts">
        <Loaded query={drafts} what="drafts">
          {({ data }) =>
            data.length === 0 ? (
              <Empty>This customer has no running drafts.</Empty>
            ) : (
              <InvoiceTable label="Running drafts" invoices={data} />
            )
          }
        </Loaded>
      </Section>
      <Grants title="Balances" grants={grants.filter(({ type }) => type !== 'POSTPAID')} />
      <Grants title="Minimums still to be spent" grants={grants.filter(({ type }) => type === 'POSTPAID')} />
    </>
  );
}

/** Commits and credits of one kind. The rest of a postpaid minimum is owed: it is not the customer's money. */
function Grants({
  title,
  grants,
}: {
  readonly title: string;
  readonly grants: readonly (Schemas['Commit'] | Schemas['Credit'])[];
}) {
  if (grants.length === 0) return null;
  return (
    <Section
      title={title}
      aside={
        <Link to="." search={{ view: 'balances' } as never}>
          Burn-down and ledger
        </Link>
      }
    >
      <Facts>
        {grants.map(
          ({ id, name, product, balance, type, access_schedule: { credit_type, schedule_items } }) => {
            const end = schedule_items.at(-1)?.ending_before;
            const isOwed = type === 'POSTPAID' && end !== undefined;
            return (
              <Fact
                key={id}
                label={name ?? product.name}
                note={isOwed ? `until ${lastDayText(end)}; the shortfall is billed` : type.toLowerCase()}
              >
                {balance === undefined ? '–' : <Money amount={balance} unit={credit_type} />}
              </Fact>
            );
          },
        )}
      </Facts>
    </Section>
  );
}

/** The billed amounts of this month by day against the last one. */
function Billed({ customerId }: { readonly customerId: string }) {
  const { now } = useSession();
  const month = monthOf(now);
  const query = useQuery({
    queryKey: keyOf('GET /v1/revenue', month, customerId),
    queryFn: ({ signal }) => readTwoMonths(month, { customerId, signal }),
  });
  return (
    <Section title={`${monthText(month)}, against the month before`}>
      <Loaded query={query} what="what is billed">
        {(months) => <RevenueCharts month={month} months={months} size="small" />}
      </Loaded>
    </Section>
  );
}
