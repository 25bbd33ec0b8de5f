/** The cost of commits: a draft with many of them, an invoice run with two per customer, and lists with ledgers. */
import { invoiceRunSeconds, START as RUN_START } from './finalize.ts';
import { type InProcessService, startInProcessService } from './in-process-service.ts';
import { createMonthlyCard, currentMonth, fill, type Month, PRODUCTS } from './monthly-usage.ts';
import { table, timedBeside } from './report.ts';

const EVENTS = 1_000_000;
const COMMITS = 50;
/** Together they pay for a part of the invoice, so all of them are drawn to their end but the last. */
const COMMIT_AMOUNT = 2_000_000;
const LISTED = 1_000;
const RUN_CUSTOMERS = 500;
/** The first is drawn to its end, the second in part. */
const RUN_AMOUNTS = [100_000, 500_000];
const RUNS = 9;

export async function benchBalances(): Promise<string> {
  const draft = await benchDraft();
  return table(['what', 'target', 'without', 'with', 'ratio'], [...draft, await benchInvoiceRun()]);
}

async function benchDraft(): Promise<string[][]> {
  const service = await startInProcessService();
  try {
    const month = currentMonth();
    const card = await createMonthlyCard(service);
    const fee = await service.create('/v1/contract-pricing/products/create', { name: 'Fee', type: 'FIXED' });
    const plain = await customerWith(service, month, { card, alias: 'plain', terms: {} });
    const commits = Array.from({ length: COMMITS }, (_, index) => commit(fee, { index }, month));
    const covered = await customerWith(service, month, { card, alias: 'covered', terms: { commits } });
    const ratio = await alternated(
      service,
      () => service.call('GET', `/v1/customers/${plain}/invoices`),
      () => service.call('GET', `/v1/customers/${covered}/invoices`),
    );
    return [
      [`draft, ${EVENTS.toLocaleString('en')} events, ${COMMITS} commits`, '1.3 ×', ...ratio],
      await benchList(service, { card, fee, month }),
    ];
  } finally {
    await service.close();
  }
}

function commit(
  product_id: string,
  { index, amount = COMMIT_AMOUNT }: { readonly index: number; readonly amount?: number },
  { start, end }: Month,
) {
  const item = { amount, starting_at: start.toISOString(), ending_before: end.toISOString() };
  return {
    type: 'PREPAID',
    product_id,
    priority: index + 1,
    access_schedule: { schedule_items: [item] },
  };
}

async function customerWith(
  service: InProcessService,
  month: Month,
  { card, alias, terms }: { readonly card: string; readonly alias: string; readonly terms: object },
): Promise<string> {
  await fill(service, alias, EVENTS, PRODUCTS, month);
  const customer_id = await service.create('/v1/customers', { name: alias, ingest_aliases: [alias] });
  await service.create('/v1/contracts/create', {
    customer_id,
    rate_card_id: card,
    starting_at: month.start.toISOString(),
    ...terms,
  });
  return customer_id;
}

/** Median milliseconds of both calls, which take turns, and their ratio. */
async function alternated(
  service: InProcessService,
  without: () => Promise<unknown>,
  withCommits: () => Promise<unknown>,
): Promise<string[]> {
  const { measured, beside, ratio } = await timedBeside(RUNS, withCommits, without, async () => {
    for (const alias of ['plain', 'covered']) await service.newEvent(alias);
  });
  return [`${beside.toFixed(0)} ms`, `${measured.toFixed(0)} ms`, ratio.toFixed(2)];
}

/** Commits of a customer without usage: what is listed is theirs alone. */
async function benchList(
  service: InProcessService,
  { card, fee, month }: { readonly card: string; readonly fee: string; readonly month: Month },
): Promise<string[]> {
  const customer_id = await service.create('/v1/customers', { name: 'Listed' });
  await service.create('/v1/contracts/create', {
    customer_id,
    rate_card_id: card,
    starting_at: month.start.toISOString(),
  });
  for (let index = 0; index < LISTED; index += 1) {
    const body = { customer_id, ...commit(fee, { index }, month) };
    await service.create('/v1/contracts/customerCommits/create', body);
  }
  const list = async (options: object) => {
    let next_page: string | null = null;
    let count = 0;
    do {
      const page = (await service.call('POST', '/v1/contracts/customerCommits/list', {
        customer_id,
        ...options,
        ...(next_page === null ? {} : { next_page }),
      })) as { data: unknown[]; next_page: string | null };
      count += page.data.length;
      next_page = page.next_page;
    } while (next_page !== null);
    if (count !== LISTED) throw new Error(`${count} commits were listed`);
  };
  const ratio = await alternated(
    service,
    () => list({}),
    () => list({ include_ledgers: true, include_balance: true }),
  );
  return [
    `list of ${LISTED.toLocaleString('en')} commits, all pages, with ledgers and balances`,
    '–',
    ...ratio,
  ];
}

async function benchInvoiceRun(): Promise<string[]> {
  const plain = await invoiceRunSeconds(RUN_CUSTOMERS);
  const end = new Date(Date.parse(RUN_START) + 60 * 86_400_000);
  const month = { start: new Date(RUN_START), end };
  const covered = await invoiceRunSeconds(RUN_CUSTOMERS, (fee) => ({
    commits: RUN_AMOUNTS.map((amount, index) => commit(fee, { index, amount }, month)),
  }));
  return [
    `invoice run of ${RUN_CUSTOMERS} customers, two commits each`,
    '1.5 ×',
    `${plain.toFixed(1)} s`,
    `${covered.toFixed(1)} s`,
    (covered / plain).toFixed(2),
  ];
}
