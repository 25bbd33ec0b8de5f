/**
 * A trace of LLM requests (TIMESTAMP,ContextTokens,GeneratedTokens) on a managed rate card, and the same computed from its
 * lines directly: in whole millionths of a cent, without any code of the service.
 */
import { expect } from 'vitest';
import { decimal } from '../../src/core/decimal.ts';
import type { ApiClient } from './api-client.ts';
import { createdId, RATE_CARDS } from './catalogue-api.ts';
import type { TestService } from './service.ts';
import { importModels, LARGE, SMALL } from './token-prices.ts';

export interface TraceLine {
  /** Milliseconds since the start of its day. */
  readonly timeOfDayMs: number;
  readonly input: bigint;
  readonly output: bigint;
}

/** The requests of a file, in its order. */
export function traceLines(csv: string): TraceLine[] {
  const [, ...lines] = csv.split(/\r?\n/).filter((line) => line !== '');
  return lines.map((line) => {
    const [at = '', input = '', output = ''] = line.split(',');
    const [hours = 0, minutes = 0, seconds = 0] = at.slice(11, 23).split(':').map(Number);
    const timeOfDayMs = Math.floor((hours * 60 + minutes) * 60_000 + seconds * 1_000);
    return { timeOfDayMs, input: BigInt(input), output: BigInt(output) };
  });
}

/** The day that the requests are moved to. */
const DAY = Date.UTC(2026, 10, 5);
/** The names that requests have in turn: ids and aliases of two models. */
const NAMES = ['acme/large', 'large', 'large-2026-01-01', 'acme/small', 'small'] as const;
const LARGE_NAMES = 3;
/** Cents for a million tokens at the provider; the card charges a fifth more, which is a whole number too. */
const COSTS = { large: { input: 250n, output: 1_000n }, small: { input: 15n, output: 60n } } as const;
const chargeOf = (cost: bigint) => (cost * 6n) / 5n;

function modelAt(index: number): 'large' | 'small' {
  return index % NAMES.length < LARGE_NAMES ? 'large' : 'small';
}

/** Tokens, and millionths of cents at the provider and on the invoice, by model. */
function direct(lines: readonly TraceLine[]) {
  const sums = {
    large: { input: 0n, output: 0n, cost: 0n, charge: 0n },
    small: { input: 0n, output: 0n, cost: 0n, charge: 0n },
  };
  for (const [index, { input, output }] of lines.entries()) {
    const model = modelAt(index);
    const [own, cost] = [sums[model], COSTS[model]];
    own.input += input;
    own.output += output;
    own.cost += input * cost.input + output * cost.output;
    own.charge += input * chargeOf(cost.input) + output * chargeOf(cost.output);
  }
  return sums;
}

/** A number of an answer in millionths. */
const millionths = (digits: string) => BigInt(decimal(digits).times(decimal('1000000')).toFixed());

/** Sends the lines and expects every figure of the service to be that of the direct calculation. */
export async function expectBilledTrace(service: TestService, lines: readonly TraceLine[]): Promise<void> {
  const { api } = service;
  await importModels({ db: service.db, now: Date.UTC(2026, 10, 1) }, [LARGE, SMALL]);
  const rate_card_id = await createdId(api, RATE_CARDS, {
    name: 'Models',
    managed_pricing: { models: [{ model: 'large' }, { model: 'small' }], default_markup: 0.2 },
  });
  const customerId = await createdId(api, '/v1/customers', { name: 'ada', ingest_aliases: ['ada'] });
  const starting_at = '2026-11-01T00:00:00Z';
  await api.post('/v1/contracts/create', { customer_id: customerId, rate_card_id, starting_at });
  await sendLines(service.inProcess, lines);
  const sums = direct(lines);
  await expectInvoice(api, customerId, 'DRAFT', sums);
  await expectBreakdowns(api, customerId, sums.large.charge + sums.small.charge);
  await expectMargin(api, customerId, sums);
  await service.moveClock('2026-12-05T00:00:00Z');
  await expectInvoice(api, customerId, 'FINALIZED', sums);
  await expectMargin(api, customerId, sums);
}

async function sendLines(api: ApiClient, lines: readonly TraceLine[]): Promise<void> {
  const events = lines.map(({ timeOfDayMs, input, output }, index) => ({
    transaction_id: `request-${index}`,
    customer_id: 'ada',
    event_type: 'token-billing',
    timestamp: new Date(DAY + timeOfDayMs).toISOString(),
    properties: {
      provider: 'acme',
      model: NAMES[index % NAMES.length],
      input_tokens: String(input),
      output_tokens: String(output),
    },
  }));
  for (let from = 0; from < events.length; from += 100) {
    await api.post('/v1/ingest', events.slice(from, from + 100));
  }
}

type Sums = ReturnType<typeof direct>;

async function expectInvoice(
  api: ApiClient,
  customerId: string,
  status: string,
  { large, small }: Sums,
): Promise<void> {
  const answer = await api.get(`/v1/customers/${customerId}/invoices`, { query: { status, limit: 1 } });
  const quantities = new Map<string, bigint>();
  for (const index of answer.list('data[0].line_items').keys()) {
    const name = answer.text(`data[0].line_items[${index}].name`);
    const quantity = millionths(answer.digits(`data[0].line_items[${index}].quantity`));
    quantities.set(name, (quantities.get(name) ?? 0n) + quantity);
  }
  expect(Object.fromEntries(quantities)).toEqual({
    'acme/large input tokens': large.input,
    'acme/large output tokens': large.output,
    'acme/small input tokens': small.input,
    'acme/small output tokens': small.output,
  });
  expect(millionths(answer.digits('data[0].total'))).toBe(large.charge + small.charge);
  expect(answer.at('data[0].warnings')).toEqual([]);
}

async function expectBreakdowns(api: ApiClient, customerId: string, charge: bigint): Promise<void> {
  for (const window_size of ['HOUR', 'DAY']) {
    const answer = await api.get(`/v1/customers/${customerId}/invoices/breakdowns`, {
      query: {
        window_size,
        starting_on: '2026-11-05T00:00:00Z',
        ending_before: '2026-11-06T00:00:00Z',
        limit: 100,
      },
    });
    const totals = answer
      .list('data')
      .map((_, index) => millionths(answer.digits(`data[${index}].total`)))
      .reduce((sum, one) => sum + one, 0n);
    expect([window_size, totals]).toEqual([window_size, charge]);
  }
}

async function expectMargin(api: ApiClient, customerId: string, sums: Sums): Promise<void> {
  const answer = await api.get('/v1/token-billing/margin', {
    query: {
      customer_id: customerId,
      starting_on: '2026-11-05T00:00:00Z',
      ending_before: '2026-11-06T00:00:00Z',
    },
  });
  const rows = answer.list('data').map((_, index) => {
    const of = (name: string) => millionths(answer.digits(`data[${index}].${name}`));
    return [
      answer.text(`data[${index}].model`),
      of('tokens'),
      of('revenue'),
      of('provider_cost'),
      of('margin'),
    ];
  });
  const expected = (['large', 'small'] as const).map((model) => {
    const { input, output, charge, cost } = sums[model];
    return [`acme/${model}`, (input + output) * 1_000_000n, charge, cost, charge - cost];
  });
  expect(rows).toEqual(expected);
}
