/**
 * Runs the lives of many customers through one simulated year on one service: sends their events in time, makes their
 * changes on their days, and reads their invoices at the end.
 */
import type { ApiAnswer, ApiClient } from '../support/api-client.ts';
import { ADD_RATES, CONTRACTS, createdId, METRICS, PRODUCTS, RATE_CARDS } from '../support/catalogue-api.ts';
import type { TestService } from '../support/service.ts';

/** `03-05`: noon of 5 March 2026. The model is `m` unless given. */
type Use = readonly [day: string, amount: number, model?: string];

/** A customer with what was created for it. */
interface Living {
  readonly api: ApiClient;
  readonly customerId: string;
  readonly cardId: string;
  contractId: string;
  /** By name. */
  readonly products: ReadonlyMap<string, string>;
  readonly metrics: ReadonlyMap<string, string>;
  /** Sends events now, whatever day they are of. */
  send(...uses: readonly Use[]): Promise<void>;
  /** The id of the usage invoice whose period starts on this day. */
  invoiceId(day: string): Promise<string>;
}

interface SoldProduct {
  /** Default: `sum` of the amounts. */
  readonly metric?: string;
  readonly product?: object;
  /** Each with the fields that differ from a flat price without an end. None: it has no price. */
  readonly rates: readonly object[];
}

export interface Life {
  readonly name: string;
  readonly products: Readonly<Record<string, SoldProduct>>;
  /** Fields of the contract, which starts with the year unless they say otherwise. */
  readonly contract?: object | ((products: ReadonlyMap<string, string>) => object);
  readonly card?: (api: ApiClient) => Promise<object>;
  readonly uses: readonly Use[];
  /** By day: what is done at its start. */
  readonly changes?: Readonly<Record<string, (living: Living) => Promise<unknown>>>;
  /** Whether its invoices are asked for usage that came late. */
  readonly tellsLate?: boolean;
  /** Invoices with lines that are not zero: `03 34: 10 × 3, 4 × 1`. Finalized ones before voided ones. */
  readonly invoices: readonly string[];
}

export const day = (text: string) => `2026-${text}T00:00:00Z`;
const noon = (text: string) => `2026-${text}T12:00:00Z`;
export const FOR_EVER = { starting_at: '2025-01-01T00:00:00Z', entitled: true, rate_type: 'FLAT' };

async function sharedMetrics(api: ApiClient): Promise<Map<string, string>> {
  const matching = {
    event_type_filter: { in_values: ['use'] },
    property_filters: [
      { name: 'amount', exists: true },
      { name: 'model', exists: true },
    ],
    group_keys: [['model']],
  };
  const ids = new Map<string, string>();
  for (const name of ['sum', 'max', 'unique', 'latest', 'count']) {
    const key = name === 'count' ? {} : { aggregation_key: 'amount' };
    ids.set(name, await createdId(api, METRICS, { name, ...matching, aggregation_type: name, ...key }));
  }
  const sql = 'SELECT max(properties.amount) AS value FROM events';
  ids.set('query', await createdId(api, METRICS, { name: 'query', sql }));
  return ids;
}

let sent = 0;

async function begin(api: ApiClient, life: Life, metrics: ReadonlyMap<string, string>): Promise<Living> {
  const alias = life.name;
  const customerId = await createdId(api, '/v1/customers', { name: alias, ingest_aliases: [alias] });
  const cardId = await createdId(api, RATE_CARDS, { name: alias, ...(await life.card?.(api)) });
  const products = new Map<string, string>();
  for (const [name, { metric = 'sum', product, rates }] of Object.entries(life.products)) {
    const usage = { type: 'USAGE', billable_metric_id: metrics.get(metric) };
    const product_id = await createdId(api, PRODUCTS, {
      name,
      ...usage,
      ...withIds(product ?? {}, products),
    });
    products.set(name, product_id);
    const all = rates.map((rate) => ({ product_id, ...FOR_EVER, ...rate }));
    if (all.length > 0) await api.post(ADD_RATES, { rate_card_id: cardId, rates: all });
  }
  const terms = typeof life.contract === 'function' ? life.contract(products) : life.contract;
  const contractId = await createdId(api, CONTRACTS, {
    ...{ customer_id: customerId, rate_card_id: cardId, starting_at: day('01-01') },
    ...terms,
  });
  return {
    ...{ api, customerId, cardId, contractId, products, metrics },
    async send(...uses) {
      const events = uses.map(([at, amount, model = 'm']) => {
        sent += 1;
        return {
          ...{ transaction_id: `event-${sent}`, customer_id: alias, event_type: 'use' },
          ...{ timestamp: noon(at), properties: { amount, model } },
        };
      });
      if (events.length > 0) await api.post('/v1/ingest', events);
    },
    async invoiceId(start) {
      const query = { type: 'USAGE', starting_on: day(start), limit: 1 };
      return (await api.get(`/v1/customers/${customerId}/invoices`, { query })).text('data[0].id');
    },
  };
}

/** A composite names the products before it as `parts`. A product of another type has no metric. */
function withIds(product: object, products: ReadonlyMap<string, string>): object {
  if (!('parts' in product) || !Array.isArray(product.parts)) return product;
  const { parts, ...rest } = product;
  const composite_product_ids = parts.map((name) => products.get(String(name)));
  return { ...rest, type: 'COMPOSITE', billable_metric_id: undefined, composite_product_ids };
}

/** The invoices of every life, in its order. The clock ends after the finalization of the year. */
export async function runLives(
  service: TestService,
  lives: readonly Life[],
): Promise<Map<string, readonly string[]>> {
  const { api } = service;
  const metrics = await sharedMetrics(api);
  const living = new Map<Life, Living>();
  for (const life of lives) living.set(life, await begin(api, life, metrics));
  const months = Array.from({ length: 11 }, (_, index) => `${String(index + 2).padStart(2, '0')}-01`);
  const ends = lives.flatMap(({ contract }) =>
    contract !== undefined && 'ending_before' in contract
      ? [String(contract.ending_before).slice(5, 10)]
      : [],
  );
  const changes = lives.flatMap((life) => Object.keys(life.changes ?? {}));
  let from = '01-01';
  for (const to of [...new Set([...months, ...ends, ...changes])].sort()) {
    await service.moveClock(day(to));
    for (const [life, one] of living) {
      await one.send(...life.uses.filter(([at]) => at >= from && at < to));
      await life.changes?.[to]?.(one);
    }
    from = to;
  }
  await service.moveClock('2027-01-01T00:00:00Z');
  for (const [life, one] of living) await one.send(...life.uses.filter(([at]) => at >= from));
  await service.moveClock('2027-01-02T00:00:00Z');
  const found = new Map<string, readonly string[]>();
  for (const [life, one] of living) found.set(life.name, await invoicesOf(one, life));
  return found;
}

/** Issued invoices by issue date, without those that have only zero lines. */
async function invoicesOf({ api, customerId }: Living, { tellsLate = false }: Life): Promise<string[]> {
  const path = `/v1/customers/${customerId}/invoices`;
  const texts: string[] = [];
  for (const status of ['FINALIZED', 'VOID']) {
    const page = await api.get(path, { query: { limit: 100, status } });
    for (const index of page.list('data').keys()) {
      const one = `data[${index}]`;
      const lines = linesText(page, one);
      if (lines === '') continue;
      const late = tellsLate ? lateText(await api.get(`${path}/${page.text(`${one}.id`)}`)) : '';
      const start = page.at(`${one}.start_timestamp`) ?? page.text(`${one}.issued_at`);
      const isVoid = status === 'VOID' ? ' VOID' : '';
      texts.push(`${periodText(String(start))}${isVoid} ${page.digits(`${one}.total`)}: ${lines}${late}`);
    }
  }
  return texts;
}

function linesText(answer: ApiAnswer, path: string): string {
  const lines = answer.list(`${path}.line_items`).flatMap((_, index) => {
    const line = `${path}.line_items[${index}]`;
    // A line that a balance has paid has a total only.
    if (answer.at(`${line}.quantity`) === undefined) return [answer.digits(`${line}.total`)];
    const [quantity, price] = ['quantity', 'unit_price'].map((name) => answer.digits(`${line}.${name}`));
    return quantity === '0' ? [] : [`${quantity} × ${price}`];
  });
  return lines.join(', ');
}

/** Only an invoice that is read alone tells of late usage. */
function lateText(answer: ApiAnswer): string {
  return answer
    .list('data.unbilled_late_usage')
    .map((_, index) => {
      const [quantity, total] = ['quantity', 'total'].map((name) =>
        answer.digits(`data.unbilled_late_usage[${index}].${name}`),
      );
      return `; late ${quantity} = ${total}`;
    })
    .join('');
}

/** `03` for a whole month, `03-05` for another day. */
function periodText(start: string): string {
  const text = start.slice(5, 10);
  return text.endsWith('-01') ? text.slice(0, 2) : text;
}
