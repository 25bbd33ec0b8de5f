/**
 * The demo's own sums: exact, over the events it sent, independent of the service. Everything the service reports
 * is compared with them.
 */
import { Decimal, decimal, ONE, sum, ZERO } from '../core/decimal.ts';
import type { DemoEvent, MeteredProduct } from './scenario.ts';
import { groupText } from './scenario.ts';

export interface Tally {
  /** Counts an event once; call it once for each event, however often the event is sent. */
  add(event: DemoEvent): void;
  /** Quantity of one customer and product by group text. */
  groups(customer: number, product: number): ReadonlyMap<string, Decimal>;
  /** The same over all groups. */
  quantity(customer: number, product: number): Decimal;
}

interface Cell {
  total: Decimal;
  readonly seen: Set<string>;
}

export function createTally(products: readonly MeteredProduct[]): Tally {
  const cells = new Map<string, Map<string, Cell>>();
  const cellKey = (customer: number, product: number) => `${customer}:${product}`;

  const cellOf = (event: DemoEvent, index: number, product: MeteredProduct): Cell => {
    const key = cellKey(event.customer, index);
    const groups = cells.get(key) ?? new Map<string, Cell>();
    if (groups.size === 0) cells.set(key, groups);
    const group = groupText(product.pricingGroupKey, event.properties);
    const cell = groups.get(group) ?? { total: ZERO, seen: new Set<string>() };
    groups.set(group, cell);
    return cell;
  };
  const groups = (customer: number, product: number) =>
    new Map([...(cells.get(cellKey(customer, product)) ?? [])].map(([group, cell]) => [group, cell.total]));
  return {
    add: (event) => {
      products.forEach((product, index) => {
        count(cellOf(event, index, product), product, event);
      });
    },
    groups,
    quantity: (customer, product) => sum(groups(customer, product).values()),
  };
}

function count(cell: Cell, product: MeteredProduct, event: DemoEvent): void {
  if (product.aggregation === 'COUNT') {
    cell.total = cell.total.plus(ONE);
    return;
  }
  const value = product.property === null ? undefined : event.properties[product.property];
  if (value === undefined) return;
  if (product.aggregation === 'SUM') {
    cell.total = cell.total.plus(decimal(value));
    return;
  }
  cell.seen.add(value);
  cell.total = new Decimal(String(cell.seen.size));
}
