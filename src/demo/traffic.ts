/**
 * Simulated traffic of an AI API: quiet nights and weekends, a few customers that send most of it,
 * many small requests and some huge ones. The same seed and window give the same events.
 */
import { DAY_MS, floorToHour, HOUR_MS, type Instant } from '../core/time.ts';
import { MODELS, REGIONS } from './company.ts';
import type { DemoEvent } from './scenario.ts';
import { createSeededRandom, type SeededRandom, weightedPicker } from './seeded-random.ts';

export interface TrafficPlan {
  readonly seed: number;
  readonly events: number;
  readonly customers: number;
  readonly start: Instant;
  /** The last event lies before this instant. */
  readonly end: Instant;
}

/** How much heavier the first customer is than the tenth: weight = 1 / rank^exponent. */
const CUSTOMER_SKEW = 1.1;
const TOKENS_SIGMA = 0.9;
/** A busy customer has this many users for each event it is expected to send, a small one at least a handful. */
const USERS_PER_EVENT = 1 / 100;
const USERS_MIN = 5;
/** Part of the users who are there from the first day; the others come in the course of the month. */
const USERS_FROM_START = 0.4;

/** Events hour by hour, in no order inside an hour. */
export function* traffic(plan: TrafficPlan): Generator<DemoEvent> {
  const random = createSeededRandom(plan.seed);
  const customers = createCustomers(random, plan);
  const pickCustomer = weightedPicker(
    random,
    customers.map((customer) => customer.weight),
  );
  const hours = hourlyWeights(random, plan.start, plan.end);
  const totalWeight = hours.reduce((sum, hour) => sum + hour.weight, 0);
  let weightBefore = 0;
  let eventsBefore = 0;
  for (const [index, hour] of hours.entries()) {
    weightBefore += hour.weight;
    const progress = (hour.start - plan.start) / (plan.end - plan.start);
    const isLast = index === hours.length - 1;
    const eventsThrough = isLast ? plan.events : Math.round((plan.events * weightBefore) / totalWeight);
    for (; eventsBefore < eventsThrough; eventsBefore++) {
      const customer = pickCustomer();
      const timestamp = hour.start + random.integer(hour.end - hour.start);
      yield { customer, timestamp, properties: request(random, customers[customer], progress) };
    }
  }
}

interface SimulatedCustomer {
  readonly weight: number;
  readonly users: number;
  readonly pickModel: () => number;
  readonly pickRegion: () => number;
}

function createCustomers(random: SeededRandom, plan: TrafficPlan): SimulatedCustomer[] {
  const weights = Array.from(
    { length: plan.customers },
    (_, rank) => (1 / (rank + 1) ** CUSTOMER_SKEW) * random.lognormal(1, 0.25),
  );
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => ({
    weight,
    users: Math.max(USERS_MIN, Math.round(plan.events * (weight / total) * USERS_PER_EVENT)),
    // Each customer leans to its own models and regions.
    pickModel: weightedPicker(
      random,
      MODELS.map((model) => model.share * random.lognormal(1, 0.6)),
    ),
    pickRegion: weightedPicker(
      random,
      REGIONS.map((region) => region.share * random.lognormal(1, 1)),
    ),
  }));
}

/** `progress` is the part of the window that has passed. */
function request(
  random: SeededRandom,
  customer: SimulatedCustomer | undefined,
  progress: number,
): Record<string, string> {
  if (customer === undefined) throw new Error('an event was drawn for a customer that does not exist');
  const model = MODELS[customer.pickModel()] ?? MODELS[0];
  const region = REGIONS[customer.pickRegion()] ?? REGIONS[0];
  const tokens = Math.max(1, Math.round(random.lognormal(model.tokensMedian, TOKENS_SIGMA)));
  const users = customer.users * (USERS_FROM_START + (1 - USERS_FROM_START) * progress);
  // Squared: some users are far busier than others.
  const user = Math.floor(random.next() ** 2 * users);
  return { model: model.name, region: region.name, tokens: String(tokens), user_id: `user-${user}` };
}

interface WeightedHour {
  readonly start: Instant;
  readonly end: Instant;
  readonly weight: number;
}

function hourlyWeights(random: SeededRandom, start: Instant, end: Instant): WeightedHour[] {
  const hours: WeightedHour[] = [];
  for (let hour = floorToHour(start); hour < end; hour += HOUR_MS) {
    const from = Math.max(hour, start);
    const to = Math.min(hour + HOUR_MS, end);
    const fraction = (to - from) / HOUR_MS;
    hours.push({ start: from, end: to, weight: activity(hour) * fraction * random.lognormal(1, 0.08) });
  }
  return hours;
}

/** Relative load of the hour that starts at `hour` (UTC): a peak at 14:00, a low at 2:00, weekends at 40 %. */
export function activity(hour: Instant): number {
  const hourOfDay = (hour % DAY_MS) / HOUR_MS;
  const diurnal = 1 + 0.75 * Math.cos(((hourOfDay - 14) / 24) * 2 * Math.PI);
  const weekday = new Date(hour).getUTCDay();
  const weekend = weekday === 0 || weekday === 6;
  return diurnal * (weekend ? 0.4 : 1);
}
