/** The invoice by hour or day: a stacked chart of its lines, and the same as a table. */
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import Big from 'big.js';
import { useMemo } from 'react';
import { callAll } from '../../api/client.ts';
import { sum } from '../../api/exact.ts';
import type { Schemas } from '../../api/operations.gen.d.ts';
import { keyOf } from '../../api/resources.ts';
import { moneyText, priceText } from '../../format/money.ts';
import { countsInTotal } from '../../parts/billed-lines.ts';
import { Chart } from '../../parts/chart.tsx';
import { Money } from '../../parts/figures.tsx';
import { Switch } from '../../parts/page.tsx';
import { type Series, seriesFrom } from '../../parts/series.ts';
import { Empty, Loaded } from '../../parts/states.tsx';
import type { Invoice, Line } from './line.ts';

type Windowed = Schemas['BreakdownInvoice'];
type Size = 'hour' | 'day';

const route = getRouteApi('/invoices/$customerId/$invoiceId');
const SIZES = [
  ['day', 'By day'],
  ['hour', 'By hour'],
] as const;

export function OverTime({ invoice, size }: { readonly invoice: Invoice; readonly size: Size }) {
  const navigate = route.useNavigate();
  const { start_timestamp: starting_on, end_timestamp: ending_before, customer_id } = invoice;
  const query = useQuery({
    enabled: starting_on !== undefined,
    queryKey: keyOf('GET /v1/customers/{customer_id}/invoices/breakdowns', invoice.id, size),
    async queryFn({ signal }) {
      const windows = await callAll(
        'GET /v1/customers/{customer_id}/invoices/breakdowns',
        {
          params: { customer_id },
          query: {
            starting_on,
            ending_before,
            window_size: size.toUpperCase(),
            limit: '100',
            status: invoice.status,
          },
        },
        { signal },
      );
      return windows.filter(({ id }) => id === invoice.id);
    },
  });
  if (starting_on === undefined)
    return <Empty>A scheduled invoice covers one day, so it has no breakdown over time.</Empty>;
  return (
    <>
      <Switch
        label="Windows of time"
        views={SIZES}
        current={size}
        onChoose={(each) =>
          void navigate({
            search: (before) => ({ ...before, window: each === 'day' ? '' : each }),
            resetScroll: false,
          })
        }
      />
      <Loaded query={query} what="the breakdown">
        {(windows) => <Breakdown invoice={invoice} windows={windows} size={size} />}
      </Loaded>
    </>
  );
}

function Breakdown(props: {
  readonly invoice: Invoice;
  readonly windows: readonly Windowed[];
  readonly size: Size;
}) {
  const { invoice, windows, size } = props;
  const unit = invoice.credit_type;
  const starts = useMemo(
    () => [...new Set(windows.map(({ breakdown_start_timestamp: start }) => start))].sort(),
    [windows],
  );
  const series = useMemo(() => seriesOf(windows, starts, unit.id), [windows, starts, unit.id]);
  if (series.length === 0) return <Empty>This invoice has no usage to break down over time.</Empty>;
  const total = sum(windows.map((each) => each.total));
  return (
    <>
      <Chart
        label={`Amounts by ${size}`}
        kind="bars"
        window={size}
        starts={starts}
        series={series}
        text={(value) => moneyText(value, unit)}
        axisText={(value) => priceText(value, unit)}
      />
      <p className="small">
        All {size === 'day' ? 'days' : 'hours'} together: <Money amount={total} unit={unit} />,{' '}
        {total.eq(new Big(invoice.total)) ? (
          <span className="good">✓ the total of the invoice</span>
        ) : (
          <span className="bad">
            ✗ the invoice has <Money amount={invoice.total} unit={unit} />
          </span>
        )}
      </p>
    </>
  );
}

function seriesOf(windows: readonly Windowed[], starts: readonly string[], unitId: string): Series[] {
  const points = windows.flatMap(({ breakdown_start_timestamp: start, line_items }) =>
    line_items
      .filter((line) => line.credit_type.id === unitId && countsInTotal(line))
      .map((line) => ({ key: seriesKey(line), label: seriesName(line), start, value: new Big(line.total) })),
  );
  return seriesFrom(starts, points);
}

function seriesKey({ name, product_id, pricing_group_values = {} }: Line): string {
  return JSON.stringify([product_id, name, Object.entries(pricing_group_values).sort()]);
}

function seriesName({ name, pricing_group_values = {} }: Line): string {
  return [name, ...Object.values(pricing_group_values)].join(' · ');
}
