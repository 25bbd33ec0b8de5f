/** Revenue of this month by day against the last, over all customers. */

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { keyOf } from '../../api/resources.ts';
import { monthOf, monthText } from '../../format/time.ts';
import { countText } from '../../format/words.ts';
import { Section } from '../../parts/page.tsx';
import { readTwoMonths } from '../../parts/revenue.ts';
import { RevenueCharts } from '../../parts/revenue-chart.tsx';
import { Failure, Loading, Progress } from '../../parts/states.tsx';
import { useSession } from '../../session/session.ts';

/** Reading drafts of many customers takes a while, so the figures are cached for some minutes. */
const FRESH_MS = 5 * 60_000;

export function Revenue() {
  const { now } = useSession();
  const month = monthOf(now);
  const [read, setRead] = useState(0);
  const query = useQuery({
    queryKey: keyOf('GET /v1/revenue', month),
    staleTime: FRESH_MS,
    queryFn: ({ signal }) => readTwoMonths(month, { signal, onPage: setRead }),
  });
  return (
    <Section
      title={`Revenue of ${monthText(month)}, against the month before`}
      aside={
        <Link to="/month-end" search={{ month }}>
          All invoices of the month
        </Link>
      }
    >
      {query.isFetching ? (
        <Progress label={`${countText(read, 'customer')}; drafts are computed now`} done={read} />
      ) : null}
      {query.isError ? <Failure error={query.error} again={() => void query.refetch()} /> : null}
      {query.data === undefined ? (
        query.isError ? null : (
          <Loading what="revenue" />
        )
      ) : (
        <RevenueCharts month={month} months={query.data} />
      )}
    </Section>
  );
}
