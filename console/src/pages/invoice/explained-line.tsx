/** A line recomputed step by step: its formula, and its input figures. */
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { type AnswerOf, call } from '../../api/client.ts';
import type { Exact } from '../../api/exact.ts';
import type { Schemas } from '../../api/operations.gen.d.ts';
import { keyOf } from '../../api/resources.ts';
import { quantityText } from '../../format/money.ts';
import { Price, Time } from '../../parts/figures.tsx';
import { Loaded } from '../../parts/states.tsx';
import styles from './invoice.module.css';
import type { Invoice, Line } from './line.ts';

type Explanation = Schemas['LineExplanation'];
type Answer = AnswerOf<'GET /v1/customers/{customer_id}/invoices/{invoice_id}/explain'>;

const PAGE_LINES = 100;

/** The explanation of the line with this number, from 0. Explanations are paged from the first line on. */
function useExplanation(invoice: Invoice, line: Line, number: number): UseQueryResult<Explanation | null> {
  const params = { customer_id: invoice.customer_id, invoice_id: invoice.id };
  return useQuery({
    queryKey: keyOf('GET /v1/customers/{customer_id}/invoices/{invoice_id}/explain', params, line.id),
    async queryFn({ signal }) {
      let cursor: string | undefined;
      for (let page = 0; page <= Math.floor(number / PAGE_LINES) + 1; page++) {
        const query = { limit: String(PAGE_LINES), next_page: cursor };
        const answer: Answer = await call(
          'GET /v1/customers/{customer_id}/invoices/{invoice_id}/explain',
          { params, query },
          signal,
        );
        const found = answer.data.find(({ line_item }) => line_item.id === line.id);
        if (found !== undefined) return found;
        if (answer.next_page === null) return null;
        cursor = answer.next_page;
      }
      return null;
    },
  });
}

export function ExplainedLine(props: {
  readonly invoice: Invoice;
  readonly line: Line;
  readonly number: number;
}) {
  const query = useExplanation(props.invoice, props.line, props.number);
  return (
    <div className={styles.explained}>
      <Loaded query={query} what="the explanation">
        {(found) =>
          found === null ? <p>There is no explanation of this line.</p> : <Explained explanation={found} />
        }
      </Loaded>
    </div>
  );
}

function Explained({ explanation }: { readonly explanation: Explanation }) {
  const { formula, usage, price, composite, share, part_of_period, is_reproduced } = explanation;
  return (
    <>
      <ol className={styles.formula}>
        {formula.map((step) => (
          <li key={step}>{step}</li>
        ))}
      </ol>
      <dl className={styles.pairs}>
        {usage === undefined ? null : <UsageFigures usage={usage} />}
        {composite === undefined ? null : <Pairs value={composite} />}
        {price === undefined ? null : <PriceFigures price={price} unit={explanation.line_item.credit_type} />}
        {part_of_period === undefined ? null : (
          <Pair name="Part of the period">
            <Time at={part_of_period.starting_at} /> until <Time at={part_of_period.ending_before} />
          </Pair>
        )}
        {share?.balance === undefined ? null : <BalanceFigures balance={share.balance} />}
      </dl>
      {is_reproduced === undefined ? null : (
        <p className={is_reproduced ? 'good' : 'bad'}>
          {is_reproduced
            ? '✓ Computed again from its events and terms, the line is the same.'
            : '✗ Computed again from its events and terms, the line is another. Reconcile says where.'}
        </p>
      )}
    </>
  );
}

function Pair({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

const number = (value: Exact) => quantityText(value);

function UsageFigures({ usage }: { readonly usage: NonNullable<Explanation['usage']> }) {
  return (
    <>
      {usage.metric === undefined ? null : <Pair name="Metric">{usage.metric.name}</Pair>}
      <Pair name="Events">{number(usage.event_count)}</Pair>
      <Pair name="Value">
        {number(usage.value_at_start)} at the start, {number(usage.value_at_end)} at the end
      </Pair>
      {usage.quantity_conversion === undefined ? null : (
        <Pair name="Conversion">
          {usage.quantity_conversion.operation.toLowerCase()} by{' '}
          {number(usage.quantity_conversion.conversion_factor)}
        </Pair>
      )}
      {usage.quantity_rounding === undefined ? null : (
        <Pair name="Rounding">
          {usage.quantity_rounding.rounding_method.toLowerCase().replaceAll('_', ' ')} to{' '}
          {usage.quantity_rounding.decimal_places} places
        </Pair>
      )}
      <Pair name="Quantity">
        {number(usage.quantity_at_start)} at the start, {number(usage.quantity_at_end)} at the end
      </Pair>
    </>
  );
}

type ExplainedPrice = NonNullable<Explanation['price']>;

function PriceFigures({
  price,
  unit,
}: {
  readonly price: ExplainedPrice;
  readonly unit: Line['credit_type'];
}) {
  const { list_price, override, tier } = price;
  return (
    <>
      {list_price === undefined ? null : (
        <Pair name="List price">
          <Price amount={list_price} unit={unit} />
        </Pair>
      )}
      {override === undefined ? null : <Pair name="Override">{override.rule}</Pair>}
      <Pair name="Tier">
        {tier.level}: above {number(tier.above)}
        {tier.up_to === undefined ? '' : ` up to ${number(tier.up_to)}`}
      </Pair>
    </>
  );
}

type Balance = NonNullable<NonNullable<Explanation['share']>['balance']>;

function BalanceFigures({ balance }: { readonly balance: Balance }) {
  return (
    <>
      <Pair name="Paid from">
        {balance.name}, {balance.type.toLowerCase()}, balance {balance.position} of {balance.balance_count}
      </Pair>
      <Pair name="It had">
        {number(balance.before_invoice)} before this invoice, {number(balance.after_invoice)} after it; other
        lines took {number(balance.other_lines)}
      </Pair>
    </>
  );
}

/** Figures of a rarer kind, by their names in the API. */
function Pairs({ value }: { readonly value: object }) {
  return (
    <>
      {Object.entries(value)
        .filter(([, each]) => typeof each === 'string')
        .map(([name, each]) => (
          <Pair key={name} name={name.replaceAll('_', ' ')}>
            {String(each)}
          </Pair>
        ))}
    </>
  );
}
