/** Real traffic: the requests of a trace file, moved by whole days into the billing period, as usage of one customer. */
import { basename } from 'node:path';
import { decimal } from '../core/decimal.ts';
import { DAY_MS, floorToDay, type Instant, type Interval } from '../core/time.ts';
import { billingWindow } from './billing-window.ts';
import { DemoFailure } from './failure.ts';
import type { DemoEvent, MeteredProduct } from './scenario.ts';
import { daysAround, newRunId, type Story } from './story.ts';
import type { TokenRequest } from './token-margin.ts';
import { readTrace, type TraceExtent, traceExtent } from './trace-file.ts';

const TRACE_PRODUCTS: readonly MeteredProduct[] = [
  {
    name: 'Requests',
    unit: 'requests',
    aggregation: 'COUNT',
    property: null,
    pricingGroupKey: [],
    prices: [
      {
        groupValues: {},
        tiers: [
          { size: decimal('5000'), price: decimal('0.02') },
          { size: null, price: decimal('0.0125') },
        ],
      },
    ],
  },
  tokenProduct('Context tokens', 'context_tokens', '0.00025'),
  tokenProduct('Generated tokens', 'generated_tokens', '0.001'),
];

function tokenProduct(name: string, property: string, centsPerToken: string): MeteredProduct {
  return {
    name,
    unit: name.toLowerCase(),
    aggregation: 'SUM',
    property,
    pricingGroupKey: [],
    prices: [{ groupValues: {}, tiers: [{ size: null, price: decimal(centsPerToken) }] }],
  };
}

/** A trace file that has been read once, so that an invalid file is found before anything is started. */
export interface Trace {
  readonly file: string;
  readonly extent: TraceExtent;
}

/** Throws `DemoFailure` for a file that is missing or wrong, naming the line. */
export async function checkTrace(file: string): Promise<Trace> {
  return { file, extent: await traceExtent(file) };
}

/** Throws `DemoFailure` for a trace that spans more days than a billing period. */
export function traceStory({ file, extent }: Trace, now: Instant): Story {
  const runId = newRunId();
  const period = billingWindow(now);
  const shiftMs = shiftIntoPeriod(file, extent, period, now);
  const name = basename(file);
  return {
    scenario: {
      rateCardName: 'LLM price list',
      eventType: 'llm_request',
      products: TRACE_PRODUCTS,
      customers: [{ name, alias: `trace-${runId}` }],
    },
    runId,
    period,
    events: traceEvents(file, shiftMs),
    eventCount: extent.requests,
    chartPeriod: daysAround(extent.first + shiftMs, extent.last + shiftMs),
    ownBooks: 'sum over the file',
    lateAlias: null,
    negotiatedAt: null,
    tokenRequests: tokenRequests(file, shiftMs),
  };
}

/** Milliseconds to add, a multiple of whole days, so that the last request is just past and the time of day is kept. */
export function shiftIntoPeriod(file: string, extent: TraceExtent, period: Interval, now: Instant): number {
  const days = Math.floor((now - extent.last) / DAY_MS);
  const shiftMs = days * DAY_MS;
  if (extent.first + shiftMs >= period.start) return shiftMs;
  const spanDays = Math.ceil((extent.last - extent.first) / DAY_MS);
  const roomDays = Math.floor((floorToDay(now) - period.start) / DAY_MS);
  throw new DemoFailure(
    `${file} spans ${spanDays} days; the billing period has room for ${roomDays}: cut the file into parts`,
  );
}

async function* tokenRequests(file: string, shiftMs: number): AsyncGenerator<TokenRequest> {
  for await (const { timestamp, contextTokens, generatedTokens } of readTrace(file)) {
    yield {
      timestamp: timestamp + shiftMs,
      inputTokens: contextTokens,
      outputTokens: generatedTokens,
    };
  }
}

async function* traceEvents(file: string, shiftMs: number): AsyncGenerator<DemoEvent> {
  for await (const request of readTrace(file)) {
    yield {
      customer: 0,
      timestamp: request.timestamp + shiftMs,
      properties: {
        context_tokens: request.contextTokens,
        generated_tokens: request.generatedTokens,
      },
    };
  }
}
