/**
 * Runs customers with commits and credits through one quarter on one service, all on one clock, and reads their invoices
 * and ledgers at the end.
 */
import type { ApiAnswer, ApiClient } from '../support/api-client.ts';
import { ADD_RATES, CONTRACTS, createdId, METRICS, PRODUCTS, RATE_CARDS } from '../support/catalogue-api.ts';
import type { TestService } from '../support/service.ts';

/** `03-05`: noon of 5 March 2026. Work unless points are meant. */
type Use = readonly [day: string, amount: number, product?: 'points'];

/**
 * The catalogue of all customers: Work at 2 cents, 1 at the commit rate; points at 3 of a unit that is worth 2.5 cents.
 */
export interface Shop {
  readonly cardId: string;
  readonly workId: string;
  readonly feeId: string;
  readonly unitId: string;
}

export interface Buyer extends Shop {
  readonly api: ApiClient;
  readonly customerId: string;
  readonly contractId: string;
}

export interface BalanceScenario {
  readonly name: string;
  /** The terms of the contract, which starts with the year. */
  readonly terms?: (shop: Shop) => object;
  readonly uses: readonly Use[];
  /** By day: what is done at its start. */
  readonly changes?: Readonly<Record<string, (buyer: Buyer) => Promise<unknown>>>;
  /**
   * Issued ones by the start of their period or their date, without lines of 0 and applied lines: `01 6: 5 × 2 by Trial,
   * 3 × 2` is the usage of January, of which 6 are due. S is a scheduled one.
   */
  readonly invoices: readonly string[];
  /** By name. */
  readonly ledgers: readonly string[];
}

export interface BalanceOutcome {
  readonly customerId: string;
  readonly invoices: readonly string[];
  readonly ledgers: readonly string[];
}

export const day = (text: string) => `2026-${text}T00:00:00Z`;

async function openShop(api: ApiClient): Promise<Shop> {
  const metric = (name: string) =>
    createdId(api, METRICS, {
      ...{
        name,
        event_type_filter: { in_values: [name] },
        aggregation_type: 'SUM',
        aggregation_key: 'amount',
      },
      property_filters: [{ name: 'amount', exists: true }],
    });
  const product = async (name: string) =>
    createdId(api, PRODUCTS, { name, type: 'USAGE', billable_metric_id: await metric(name) });
  const [workId, pointsId] = [await product('work'), await product('points')];
  const feeId = await createdId(api, PRODUCTS, { name: 'Fee', type: 'FIXED' });
  const unitId = await createdId(api, '/v1/credit-types/create', { name: 'Points' });
  const cardId = await createdId(api, RATE_CARDS, {
    name: 'Card',
    credit_type_conversions: [{ custom_credit_type_id: unitId, fiat_per_custom_credit: 2.5 }],
  });
  const rate = { starting_at: day('01-01'), entitled: true, rate_type: 'FLAT' };
  await api.post(ADD_RATES, {
    rate_card_id: cardId,
    rates: [
      { ...rate, product_id: workId, price: 2, commit_rate: { rate_type: 'FLAT', price: 1 } },
      { ...rate, product_id: pointsId, price: 3, credit_type_id: unitId },
    ],
  });
  return { cardId, workId, feeId, unitId };
}

async function begin(api: ApiClient, shop: Shop, { name, terms }: BalanceScenario): Promise<Buyer> {
  const customerId = await createdId(api, '/v1/customers', { name, ingest_aliases: [name] });
  const contractId = await createdId(api, CONTRACTS, {
    ...{ customer_id: customerId, rate_card_id: shop.cardId, starting_at: day('01-01') },
    ...terms?.(shop),
  });
  return { ...shop, api, customerId, contractId };
}

function eventsOf({ name, uses }: BalanceScenario, from: string, to: string): object[] {
  return uses
    .filter(([at]) => at >= from && at < to)
    .map(([at, amount, product = 'work']) => ({
      ...{ transaction_id: `${name} ${at} ${product}`, customer_id: name, event_type: product },
      ...{ timestamp: `2026-${at}T12:00:00Z`, properties: { amount } },
    }));
}

/** By scenario. The clock ends after the finalization of March. */
export async function runBalances(
  service: TestService,
  scenarios: readonly BalanceScenario[],
): Promise<Map<string, BalanceOutcome>> {
  const { api } = service;
  const shop = await openShop(api);
  const buyers = new Map<BalanceScenario, Buyer>();
  await Promise.all(scenarios.map(async (one) => buyers.set(one, await begin(api, shop, one))));
  const stops = [
    '02-01',
    '03-01',
    '04-01',
    ...scenarios.flatMap(({ changes }) => Object.keys(changes ?? {})),
  ];
  let from = '01-01';
  for (const to of [...new Set(stops)].sort()) {
    await service.moveClock(day(to));
    const events = scenarios.flatMap((one) => eventsOf(one, from, to));
    if (events.length > 0) await api.post('/v1/ingest', events);
    await Promise.all([...buyers].map(([one, buyer]) => one.changes?.[to]?.(buyer)));
    from = to;
  }
  await service.moveClock(day('04-03'));
  const outcomes = [...buyers].map(async ([{ name }, buyer]) => [name, await outcomeOf(buyer)] as const);
  return new Map(await Promise.all(outcomes));
}

async function outcomeOf({ api, customerId }: Buyer): Promise<BalanceOutcome> {
  const balances = await api.post('/v1/contracts/customerBalances/list', {
    ...{ customer_id: customerId, include_contract_balances: true, include_archived: true },
    include_ledgers: true,
  });
  const names = new Map(
    balances
      .list('data')
      .map((_, index) => [balances.text(`data[${index}].id`), balances.text(`data[${index}].name`)]),
  );
  const ledgers = balances.list('data').map((_, index) => ledgerText(balances, `data[${index}]`));
  const invoices: string[] = [];
  for (const status of ['FINALIZED', 'VOID']) {
    const page = await api.get(`/v1/customers/${customerId}/invoices`, { query: { limit: 100, status } });
    invoices.push(...page.list('data').flatMap((_, index) => invoiceText(page, `data[${index}]`, names)));
  }
  return { customerId, invoices: invoices.sort(byDate), ledgers: ledgers.sort() };
}

/** `01` is a usage invoice, which comes before what is scheduled on the first day. */
const dateOf = (text: string) => (/\d\d(?:-\d\d)?/.exec(text)?.[0] ?? '').padEnd(5);
const byDate = (a: string, b: string) => (dateOf(a) + a < dateOf(b) + b ? -1 : 1);

function invoiceText(answer: ApiAnswer, path: string, names: ReadonlyMap<string, string>): string[] {
  const lines = answer
    .list(`${path}.line_items`)
    .flatMap((_, index) => lineText(answer, `${path}.line_items[${index}]`, names));
  if (lines.length === 0) return [];
  const isScheduled = answer.text(`${path}.type`) === 'SCHEDULED';
  const start = answer.text(`${path}.${isScheduled ? 'issued_at' : 'start_timestamp'}`).slice(5, 10);
  const head = isScheduled ? `S ${start}` : start.replace(/-01$/, '');
  const isVoid = answer.text(`${path}.status`) === 'VOID' ? ' VOID' : '';
  return [`${head}${isVoid} ${answer.digits(`${path}.total`)}: ${lines.join(', ')}`];
}

function lineText(answer: ApiAnswer, path: string, names: ReadonlyMap<string, string>): string[] {
  const type = answer.text(`${path}.type`);
  const commit = answer.at(`${path}.commit_id`);
  if (type === 'applied_commit_or_credit' || answer.digits(`${path}.quantity`) === '0') return [];
  if (type !== 'usage' && type !== 'cpu_conversion') {
    return [`${answer.digits(`${path}.total`)} ${answer.text(`${path}.name`)}`];
  }
  const by = typeof commit === 'string' ? ` by ${names.get(commit)}` : '';
  return [`${answer.digits(`${path}.quantity`)} × ${answer.digits(`${path}.unit_price`)}${by}`];
}

const KINDS: Readonly<Record<string, string>> = {
  SEGMENT_START: 'start',
  INITIAL_BALANCE: 'start',
  MANUAL: 'manual',
  AUTOMATED_INVOICE_DEDUCTION: 'used',
  CREDITED: 'credited',
  ROLLOVER: 'rolled',
  TRUEUP: 'trueup',
  CANCELED: 'canceled',
  EXPIRATION: 'expired',
};

/** `Trial start 20 01-01, used -16 02-01`. Entries of one kind and time by amount. */
function ledgerText(answer: ApiAnswer, path: string): string {
  const entries = answer.list(`${path}.ledger`).map((_, index) => {
    const at = `${path}.ledger[${index}]`;
    const kind = KINDS[answer.text(`${at}.type`).replace(/^(?:PREPAID_COMMIT|POSTPAID_COMMIT|CREDIT)_/, '')];
    const amount = answer.digits(`${at}.amount`);
    return { kind, amount, date: answer.text(`${at}.timestamp`).slice(5, 10) };
  });
  const rank = (kind: string | undefined) => Object.values(KINDS).indexOf(kind ?? '');
  entries.sort(
    (a, b) =>
      a.date.localeCompare(b.date) || rank(a.kind) - rank(b.kind) || Number(a.amount) - Number(b.amount),
  );
  const texts = entries.map(({ kind, amount, date }) => `${kind} ${amount} ${date}`);
  return `${answer.text(`${path}.name`)} ${texts.join(', ')}`;
}
