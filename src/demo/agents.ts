/**
 * Agents that share a prepaid credit: each holds the cost of its largest answer before it calls the model, settles the
 * actual cost, and all stop at the last cent.
 */
import { z } from 'zod';
import { formatCount } from '../app/commands/terminal/number-format.ts';
import type { Terminal } from '../app/commands/terminal/terminal.ts';
import { type Decimal, decimal, ZERO } from '../core/decimal.ts';
import { formatInstant, type Interval } from '../core/time.ts';
import * as billing from './billing-api.ts';
import { exactNumber, type HttpApi } from './http-api.ts';
import { formatDollarsExact } from './money-format.ts';

const NAME = 'Lumen Agents';
const EVENT_TYPE = 'agent_step';
const AGENTS = 8;
/** In cents: the prepaid amount, and the price of a token. */
const CREDIT = decimal('500');
const TOKEN_PRICE = decimal('0.05');
const LARGEST_ANSWER = 1_000;
/** Far more rounds than the credit lasts for. */
const ROUNDS_MAX = 100;

const created = z.object({ data: z.object({ id: z.string() }) });
const reserved = z.object({
  data: z.array(
    z.object({ granted: z.boolean(), amount: exactNumber.optional(), remaining: exactNumber.nullable() }),
  ),
});
const settled = z.object({ data: z.array(z.object({ amount: exactNumber })) });
const balances = z.object({ data: z.object({ credits: z.array(z.object({ balance: exactNumber })) }) });

export interface AgentStory {
  readonly period: Interval;
  readonly runId: string;
}

interface Told {
  granted: number;
  refused: number;
  /** In cents. */
  used: Decimal;
  heldAtOnce: Decimal;
}

/** Returns whether the agents used exactly the prepaid amount. */
export async function showAgents(api: HttpApi, terminal: Terminal, story: AgentStory): Promise<boolean> {
  const { customerId, contractId } = await createAgentCustomer(api, story);
  const told: Told = { granted: 0, refused: 0, used: ZERO, heldAtOnce: ZERO };
  terminal.heading(`Holds: ${NAME}, ${AGENTS} agents at once on ${formatDollarsExact(CREDIT)}`);
  terminal.line(
    `  a token costs ${formatDollarsExact(TOKEN_PRICE)}; each step holds ${formatCount(LARGEST_ANSWER)} tokens before it asks the model, and settles what came`,
  );
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    if (!(await takeSteps(api, customerId, `${story.runId}-${round}`, told))) break;
  }
  terminal.line(
    `  ${told.granted} steps were granted and ${told.refused} refused; at most ${formatDollarsExact(told.heldAtOnce)} was held at once; ${formatDollarsExact(told.used)} is used`,
  );
  const last = await takeLastStep(api, customerId, story.runId, told);
  for (const line of last) terminal.line(`  ${line}`);
  const { data } = await api.call('POST', '/v2/contracts/get', balances, {
    ...{ customer_id: customerId, contract_id: contractId, include_balance: true },
  });
  const isExact = told.used.eq(CREDIT) && data.credits.every(({ balance }) => balance.eq(ZERO));
  terminal.line(
    isExact
      ? terminal.green(`  ✓ ${formatDollarsExact(told.used)} used, $0.00 left: the last cent, and no further`)
      : terminal.red(`  ✗ ${formatDollarsExact(told.used)} used of ${formatDollarsExact(CREDIT)}`),
  );
  return isExact;
}

/** Runs all agents concurrently. Returns whether any of them was granted its step. */
async function takeSteps(api: HttpApi, customerId: string, name: string, told: Told): Promise<boolean> {
  const ids = Array.from({ length: AGENTS }, (_, agent) => `${name}-${agent}`);
  const answers = await Promise.all(
    ids.map(async (id) => ({ id, ...(await hold(api, customerId, id, LARGEST_ANSWER)) })),
  );
  const granted = answers.filter((one) => one.granted);
  const held = granted.reduce((total, { amount }) => total.plus(amount ?? ZERO), ZERO);
  told.granted += granted.length;
  told.refused += answers.length - granted.length;
  if (held.gt(told.heldAtOnce)) told.heldAtOnce = held;
  const used = await Promise.all(
    granted.map(({ id }, agent) => settle(api, id, answerOf(told.granted - granted.length + agent))),
  );
  for (const amount of used) told.used = told.used.plus(amount);
  return granted.length > 0;
}

/** Tokens of an answer: usually fewer than the maximum. */
function answerOf(step: number): number {
  return 300 + ((step * 271) % (LARGEST_ANSWER - 299));
}

/** A step that fits the rest, and one more token. */
async function takeLastStep(
  api: HttpApi,
  customerId: string,
  runId: string,
  told: Told,
): Promise<readonly string[]> {
  const { remaining } = await hold(api, customerId, `${runId}-asked`, LARGEST_ANSWER);
  const left = remaining ?? ZERO;
  const tokens = Number(left.div(TOKEN_PRICE).toFixed());
  const id = `${runId}-last`;
  await hold(api, customerId, id, tokens);
  told.used = told.used.plus(await settle(api, id, tokens));
  const next = await hold(api, customerId, `${runId}-next`, 1);
  return [
    `the last step fits itself to the ${formatDollarsExact(left)} that are left: ${tokens} tokens, granted`,
    `one more token: ${next.granted ? 'granted' : `refused, ${formatDollarsExact(next.remaining ?? ZERO)} left`}`,
  ];
}

async function hold(api: HttpApi, customer_id: string, transaction_id: string, tokens: number) {
  const event = { event_type: EVENT_TYPE, properties: { tokens } };
  const { data } = await api.call('POST', '/v1/holds/reserve', reserved, {
    holds: [{ customer_id, transaction_id, event }],
  });
  const [answer] = data;
  if (answer === undefined) throw new Error('each hold has an answer');
  return answer;
}

async function settle(api: HttpApi, transaction_id: string, tokens: number): Promise<Decimal> {
  const { data } = await api.call('POST', '/v1/holds/settle', settled, {
    settlements: [{ transaction_id, properties: { tokens } }],
  });
  return data[0]?.amount ?? ZERO;
}

/** With a separate rate card. */
async function createAgentCustomer(api: HttpApi, { period, runId }: AgentStory) {
  const create = async (path: string, body: object) => (await api.call('POST', path, created, body)).data.id;
  const metricId = await billing.createMetric(api, {
    ...{ name: `Agent tokens (${runId})`, eventType: EVENT_TYPE, aggregation: 'SUM' },
    ...{ property: 'tokens', groupKey: [] },
  });
  const productId = await billing.createUsageProduct(api, {
    ...{ name: 'Agent tokens', metricId, pricingGroupKey: [] },
  });
  const prepaid = await create('/v1/contract-pricing/products/create', { name: 'Prepaid', type: 'FIXED' });
  const rateCardId = await billing.createRateCard(
    api,
    `Agent price list (${runId})`,
    `agent-prices-${runId}`,
  );
  const price = { groupValues: {}, tiers: [{ size: null, price: TOKEN_PRICE }] };
  await billing.addRates(api, rateCardId, period.start, [{ productId, price }]);
  const customerId = await billing.createCustomer(api, `${NAME} (${runId})`, [`lumen-agents-${runId}`]);
  const access = {
    ...{ amount: CREDIT, starting_at: formatInstant(period.start), ending_before: formatInstant(period.end) },
  };
  const contractId = await create('/v1/contracts/create', {
    ...{ customer_id: customerId, rate_card_id: rateCardId, starting_at: formatInstant(period.start) },
    usage_statement_schedule: { frequency: 'MONTHLY', day: 'CONTRACT_START' },
    credits: [
      {
        ...{ product_id: prepaid, name: 'Prepaid', priority: 1 },
        access_schedule: { schedule_items: [access] },
      },
    ],
  });
  return { customerId, contractId };
}
