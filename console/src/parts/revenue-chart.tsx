/** Two months of billed amounts by day, overlaid. */
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import Big from 'big.js';
import { useMemo } from 'react';
import { sum } from '../api/exact.ts';
import { type CreditType, growthText, moneyText, priceText, unitText } from '../format/money.ts';
import { monthAfter, monthText, shortDayText } from '../format/time.ts';
import { useSession } from '../session/session.ts';
import { Chart } from './chart.tsx';
import { Money } from './figures.tsx';
import { Fact, Facts, Switch } from './page.tsx';
import { cumulative, runningDay, sameDays, seriesOf, type TwoMonths, unitsOf } from './revenue.ts';
import type { Series } from './series.ts';
import { Empty } from './states.tsx';

interface RevenueProps {
  readonly month: string;
  readonly months: TwoMonths;
  readonly size?: 'small' | 'large';
}

/** One chart per currency. */
export function RevenueCharts(props: RevenueProps) {
  const units = unitsOf(props.months);
  if (units.length === 0) return <Empty>Nothing is billed in these two months.</Empty>;
  return (
    <>
      {units.map((unit) => (
        <Currency key={unit.id} {...props} unit={unit} />
      ))}
      <p className="soft small">
        Amounts stand on the day of their use, also those of invoices by week or quarter.{' '}
        <Link to="/month-end" search={{ month: props.month }}>
          Month end
        </Link>{' '}
        has each invoice as a whole, in the month in which its period ends.
      </p>
    </>
  );
}

const NO_DAYS: ReadonlyMap<string, Big> = new Map();

function Currency({ month, months, unit, size = 'large' }: RevenueProps & { readonly unit: CreditType }) {
  const { now: clock } = useSession();
  const now = months.present.get(unit.id)?.days ?? NO_DAYS;
  const before = months.former.get(unit.id)?.days ?? NO_DAYS;
  const { chart } = useSearch({ strict: false }) as { readonly chart?: string };
  const { starts, series } = useMemo(() => seriesOf(month, now, before, clock), [month, now, before, clock]);
  const isCumulative = chart === 'cumulative';
  const drawn = useMemo(() => (isCumulative ? cumulative(series) : series), [series, isCumulative]);
  const running = runningDay(month, clock);
  return (
    <>
      <RevenueFacts
        month={month}
        unit={unit}
        totals={[sum(now.values()), sum(before.values())]}
        series={series}
      />
      <ChartSwitch isCumulative={isCumulative} />
      <Chart
        label={`Revenue ${isCumulative ? 'until each day' : 'by day'}, ${unitText(unit)}`}
        kind={isCumulative ? 'steps' : 'beside'}
        window="day"
        size={size}
        starts={starts}
        series={drawn}
        text={(value) => moneyText(value, unit)}
        axisText={(value) => priceText(value, unit)}
      />
      {running === undefined ? null : (
        <p className="soft small">
          {shortDayText(running)} is still running and not in the chart:{' '}
          <Money amount={now.get(running) ?? new Big(0)} unit={unit} /> until now.
        </p>
      )}
    </>
  );
}

const CHARTS = [
  ['', 'By day'],
  ['cumulative', 'Cumulative'],
] as const;

function ChartSwitch({ isCumulative }: { readonly isCumulative: boolean }) {
  const navigate = useNavigate();
  return (
    <Switch
      label="Days"
      views={CHARTS}
      current={isCumulative ? 'cumulative' : ''}
      onChoose={(chart) =>
        void navigate({
          to: '.',
          search: ((before: object) => ({ ...before, chart: chart === '' ? undefined : chart })) as never,
          resetScroll: false,
        })
      }
    />
  );
}

/** The sums. A running month is compared with the same days of the previous month. */
function RevenueFacts(props: {
  readonly month: string;
  readonly unit: CreditType;
  readonly totals: readonly [now: Big, before: Big];
  readonly series: readonly Series[];
}) {
  const { month, unit, totals, series } = props;
  const [present, former] = [monthText(month), monthText(monthAfter(month, -1))];
  const days = sameDays(series);
  const count = series[0]?.values.filter((value) => value !== null).length ?? 0;
  const isOver = count === series[0]?.values.length;
  const against = days ?? { now: totals[0], before: totals[1] };
  const growth = growthText(against.now, against.before);
  return (
    <Facts>
      {days === null ? null : (
        <Fact
          label={`${present}, ${count === 1 ? 'the first day' : `the first ${count} days`}`}
          note={
            <>
              {growth === null ? null : `${growth} against the same days of ${former}: `}
              {growth === null ? `${former}: ` : null}
              <Money amount={days.before} unit={unit} />
            </>
          }
        >
          <Money amount={days.now} unit={unit} />
        </Fact>
      )}
      <Fact
        label={isOver ? present : `${present}, including amounts due by its end`}
        note={isOver && growth !== null ? `${growth} against ${former}` : undefined}
      >
        <Money amount={totals[0]} unit={unit} />
      </Fact>
      <Fact label={former}>
        <Money amount={totals[1]} unit={unit} />
      </Fact>
    </Facts>
  );
}
