/** Two months of what is billed by day, one over the other. */
import Big from 'big.js';
import { useMemo } from 'react';
import { sum } from '../api/exact.ts';
import { type CreditType, changeText, moneyText, unitText } from '../format/money.ts';
import { monthAfter, monthText, shortDayText } from '../format/time.ts';
import { useSession } from '../session/session.ts';
import { Chart } from './chart.tsx';
import { Money } from './figures.tsx';
import { Fact, Facts } from './page.tsx';
import { runningDay, seriesOf, type TwoMonths, unitsOf } from './revenue.ts';
import { Empty } from './states.tsx';

interface RevenueProps {
  readonly month: string;
  readonly months: TwoMonths;
  readonly size?: 'small' | 'large';
}

/** A chart for each currency. */
export function RevenueCharts(props: RevenueProps) {
  const units = unitsOf(props.months);
  if (units.length === 0) return <Empty>Nothing is billed in these two months.</Empty>;
  return (
    <>
      {units.map((unit) => (
        <Currency key={unit.id} {...props} unit={unit} />
      ))}
    </>
  );
}

const NO_DAYS: ReadonlyMap<string, Big> = new Map();

function Currency({ month, months, unit, size = 'large' }: RevenueProps & { readonly unit: CreditType }) {
  const { now: clock } = useSession();
  const now = months.present.get(unit.id)?.days ?? NO_DAYS;
  const before = months.former.get(unit.id)?.days ?? NO_DAYS;
  const { starts, series } = useMemo(() => seriesOf(month, now, before, clock), [month, now, before, clock]);
  const [total, formerTotal] = [sum(now.values()), sum(before.values())];
  const [former, change] = [monthAfter(month, -1), changeText(total, formerTotal)];
  const running = runningDay(month, clock);
  return (
    <>
      <Facts>
        <Fact
          label={`${monthText(month)}, with what is due by its end`}
          note={change === null ? undefined : `${change} against all of ${monthText(former)}`}
        >
          <Money amount={total} unit={unit} />
        </Fact>
        <Fact label={monthText(former)}>
          <Money amount={formerTotal} unit={unit} />
        </Fact>
      </Facts>
      <Chart
        label={`Revenue by day, ${unitText(unit)}`}
        kind="lines"
        window="day"
        size={size}
        starts={starts}
        series={series}
        text={(value) => moneyText(value, unit)}
      />
      {running === undefined ? null : (
        <p className="soft small">
          {shortDayText(running)} is still running and not in the line:{' '}
          <Money amount={now.get(running) ?? new Big(0)} unit={unit} /> until now.
        </p>
      )}
    </>
  );
}
