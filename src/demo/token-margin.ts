/**
 * The same requests on a managed rate card: the service has the prices of the AI models and a markup, and reports the
 * margin of each model over its provider's price.
 */
import { z } from 'zod';
import type { Terminal } from '../app/commands/terminal/terminal.ts';
import { tableLines } from '../app/commands/terminal/text-table.ts';
import { type Decimal, decimal, sum, ZERO } from '../core/decimal.ts';
import { groupBy } from '../core/group-by.ts';
import { formatInstant, type Instant, type Interval } from '../core/time.ts';
import * as billing from './billing-api.ts';
import { exactNumber, type HttpApi } from './http-api.ts';
import { formatDollarsExact } from './money-format.ts';

/** Requests with at least this many tokens go to the large model. */
const LARGE_FROM = decimal('1000');
const PROVIDER = 'openai';
const [LARGE, SMALL] = ['gpt-4o', 'gpt-4o-mini'] as const;
const MARKUP = '0.2';
const EVENTS_PER_REQUEST = 100;

/** A request to a model. Tokens as decimal text. */
export interface TokenRequest {
  readonly timestamp: Instant;
  readonly inputTokens: string;
  readonly outputTokens: string;
}

export interface TokenMarginStory {
  readonly name: string;
  readonly period: Interval;
  readonly runId: string;
  readonly requests: AsyncIterable<TokenRequest>;
}

const created = z.object({ data: z.object({ id: z.string() }) });
const marginPage = z.object({
  data: z.array(
    z.object({
      model: z.string(),
      tokens: exactNumber,
      revenue: exactNumber,
      provider_cost: exactNumber.nullable(),
      margin: exactNumber.nullable(),
    }),
  ),
  next_page: z.string().nullable(),
});

type MarginRow = z.output<typeof marginPage>['data'][number];

/** Shows the margin per model, and returns whether it agrees with the requests and with the invoice. */
export async function showTokenMargin(
  api: HttpApi,
  terminal: Terminal,
  story: TokenMarginStory,
): Promise<boolean> {
  const { customerId, contractId } = await createOnManagedCard(api, story);
  const sent = await sendRequests(api, story);
  const invoice = await billing.invoiceOfPeriod(api, customerId, contractId, story.period.start);
  const byModel = groupBy(await readMargin(api, customerId, story.period), ({ model }) => model);
  const rows = [...byModel].map(([model, days]) => ({
    model,
    tokens: sum(days.map((day) => day.tokens)),
    revenue: sum(days.map((day) => day.revenue)),
    cost: sum(days.map((day) => day.provider_cost ?? ZERO)),
    margin: sum(days.map((day) => day.margin ?? ZERO)),
  }));
  const revenue = sum(rows.map((row) => row.revenue));
  terminal.heading(`Margin per model: a managed rate card with a markup of 20 %`);
  terminal.line(
    `  requests of ${LARGE_FROM.toFixed()} tokens and more go to ${LARGE}, the others to ${SMALL}`,
  );
  for (const line of marginLines(rows)) terminal.line(line);
  const agrees =
    rows.every(({ model, tokens }) => tokens.eq(sent.get(model) ?? ZERO)) &&
    rows.length === sent.size &&
    revenue.eq(invoice.total) &&
    rows.every((row) => row.margin.eq(row.revenue.minus(row.cost)));
  const sums = 'the tokens of the file, the total of the invoice, and revenue less cost';
  terminal.line(
    agrees ? terminal.green(`  ✓ agrees with ${sums}`) : terminal.red(`  ✗ does not agree with ${sums}`),
  );
  return agrees;
}

function marginLines(
  rows: readonly { model: string; tokens: Decimal; revenue: Decimal; cost: Decimal; margin: Decimal }[],
): string[] {
  const cells = (name: string, of: typeof rows) => [
    name,
    Number(sum(of.map((row) => row.tokens)).toFixed()).toLocaleString('en-US'),
    ...(['revenue', 'cost', 'margin'] as const).map((figure) =>
      formatDollarsExact(sum(of.map((row) => row[figure]))),
    ),
  ];
  return tableLines(
    [
      { title: 'Model', align: 'left' },
      { title: 'Tokens', align: 'right' },
      { title: 'Revenue', align: 'right' },
      { title: 'Provider cost', align: 'right' },
      { title: 'Margin', align: 'right' },
    ],
    rows.map((row) => cells(row.model, [row])),
    [cells('Total', rows)],
  );
}

async function createOnManagedCard(api: HttpApi, { name, period, runId }: TokenMarginStory) {
  const create = async (path: string, body: object) => (await api.call('POST', path, created, body)).data.id;
  const rate_card_id = await create('/v1/contract-pricing/rate-cards/create', {
    name: `AI models (${runId})`,
    managed_pricing: {
      models: [LARGE, SMALL].map((model) => ({ model: `${PROVIDER}/${model}` })),
      default_markup: decimal(MARKUP),
    },
  });
  const customerId = await billing.createCustomer(api, `${name}, by token (${runId})`, [aliasOf(runId)]);
  const contractId = await create('/v1/contracts/create', {
    ...{ customer_id: customerId, rate_card_id, starting_at: formatInstant(period.start) },
    usage_statement_schedule: { frequency: 'MONTHLY', day: 'CONTRACT_START' },
  });
  return { customerId, contractId };
}

function aliasOf(runId: string): string {
  return `tokens-${runId}`;
}

/** Sends the requests, and returns the tokens by model, by its id in the catalogue. */
async function sendRequests(
  api: HttpApi,
  { requests, runId }: TokenMarginStory,
): Promise<ReadonlyMap<string, Decimal>> {
  const sent = new Map<string, Decimal>();
  let batch: object[] = [];
  let sequence = 0;
  const flush = async () => {
    if (batch.length > 0) await api.call('POST', '/v1/ingest', z.unknown(), batch);
    batch = [];
  };
  for await (const { timestamp, inputTokens, outputTokens } of requests) {
    sequence++;
    const tokens = decimal(inputTokens).plus(decimal(outputTokens));
    const model = tokens.gte(LARGE_FROM) ? LARGE : SMALL;
    if (tokens.gt(ZERO)) {
      const id = `${PROVIDER}/${model}`;
      sent.set(id, (sent.get(id) ?? ZERO).plus(tokens));
    }
    batch.push({
      transaction_id: `${runId}-tokens-${sequence}`,
      customer_id: aliasOf(runId),
      event_type: 'token-billing',
      timestamp: formatInstant(timestamp),
      properties: { provider: PROVIDER, model, input_tokens: inputTokens, output_tokens: outputTokens },
    });
    if (batch.length === EVENTS_PER_REQUEST) await flush();
  }
  await flush();
  return sent;
}

async function readMargin(api: HttpApi, customerId: string, period: Interval): Promise<MarginRow[]> {
  const rows: MarginRow[] = [];
  let cursor: string | null = null;
  do {
    const parameters = new URLSearchParams({
      customer_id: customerId,
      starting_on: formatInstant(period.start),
      ending_before: formatInstant(period.end),
      ...(cursor === null ? {} : { next_page: cursor }),
    });
    const page: z.output<typeof marginPage> = await api.call(
      'GET',
      `/v1/token-billing/margin?${parameters.toString()}`,
      marginPage,
    );
    rows.push(...page.data);
    cursor = page.next_page;
  } while (cursor !== null);
  return rows;
}
