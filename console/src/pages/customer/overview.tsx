/** The customer at a glance: the days of this month against the last, running drafts, balances. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useApi } from '../../api/queries.ts';
import { monthOf, monthText } from '../../format/time.ts';
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
  return (
    <>
      <Billed customerId={customerId} />
      <Section title="Running drafts">
        <Loaded query={drafts} what="drafts">
          {({ data }) =>
            data.length === 0 ? (
              <Empty>No contract of this customer bills anything at present.</Empty>
            ) : (
              <InvoiceTable label="Running drafts" invoices={data} />
            )
          }
        </Loaded>
      </Section>
      {balances.data === undefined || balances.data.data.length === 0 ? null : (
        <Section
          title="Balances"
          aside={
            <Link to="." search={{ view: 'balances' } as never}>
              Burn-down and ledger
            </Link>
          }
        >
          <Facts>
            {balances.data.data.map(({ id, name, product, balance, type, access_schedule }) => (
              <Fact key={id} label={name ?? product.name} note={type.toLowerCase()}>
                {balance === undefined || access_schedule?.credit_type === undefined ? (
                  '–'
                ) : (
                  <Money amount={balance} unit={access_schedule.credit_type} />
                )}
              </Fact>
            ))}
          </Facts>
        </Section>
      )}
    </>
  );
}

/** The billed amounts of this month by day against the last one. */
function Billed({ customerId }: { readonly customerId: string }) {
  const { now } = useSession();
  const month = monthOf(now);
  const query = useQuery({
    queryKey: ['revenue', month, customerId],
    queryFn: ({ signal }) => readTwoMonths(month, { customerId, signal }),
  });
  return (
    <Section title={`${monthText(month)} by day, against the month before`}>
      <Loaded query={query} what="what is billed">
        {(months) => <RevenueCharts month={month} months={months} size="small" />}
      </Loaded>
    </Section>
  );
}
