/** Objects at their limits for the operations that preview, change or end whole objects. */
import { created, inParallel, type LimitsClient } from './client.ts';
import { type Company, MONTH, PRODUCTS } from './parts.ts';

export interface LimitsOfChangingWorld {
  /** Names of one named schedule. */
  readonly names: number;
  /** That were used and have no price. */
  readonly models: number;
}

interface Services extends Company {
  readonly professional_service_id: string;
}

export interface ChangingWorld {
  /** With a scheduled invoice of as many lines as it may have. */
  readonly services: Services & { readonly invoice_id: string };
  /** An offset notification. */
  readonly notification: string;
}

/** Lines of one invoice of professional services. */
const SERVICE_LINES = 1_000;
const EVENTS_PER_REQUEST = 100;
const HOUR_MS = 3_600_000;

/** `named`: the contract with the named schedule. */
export async function createChangingWorld(
  client: LimitsClient,
  limits: LimitsOfChangingWorld,
  named: Company,
): Promise<ChangingWorld> {
  await manyNames(client, limits.names, named);
  await manyModels(client, limits.models);
  return {
    services: await scheduledServices(client),
    notification: await created(client, '/v2/notifications/create', {
      ...{ name: 'A week before a contract ends', policy: { type: 'contract.end', offset: '-P1W' } },
    }),
  };
}

/** As many lines as one call may have. */
export function servicesBody({ customer_id, contract_id, professional_service_id }: Services): object {
  return {
    ...{ customer_id, contract_id, issued_at: MONTH.end },
    line_items: Array.from({ length: SERVICE_LINES }, () => ({
      ...{ professional_service_id, unit_price: 1, quantity: 1 },
    })),
  };
}

async function scheduledServices(client: LimitsClient): Promise<ChangingWorld['services']> {
  const product_id = await created(client, `${PRODUCTS}/create`, { name: 'Advice', type: 'PRO_SERVICE' });
  const customer_id = await created(client, '/v1/customers', { name: 'services' });
  const contract_id = await created(client, '/v1/contracts/create', {
    ...{ customer_id, starting_at: MONTH.start },
    professional_services: [{ product_id, unit_price: 1, quantity: 1, max_amount: 1_000_000 }],
  });
  const contract = (await client.post('/v2/contracts/get', { customer_id, contract_id })) as {
    readonly data: { readonly professional_services: readonly [{ readonly id: string }] };
  };
  const professional_service_id = contract.data.professional_services[0].id;
  const services = { customer_id, contract_id, professional_service_id };
  const scheduled = (await client.post(
    '/v1/contracts/scheduleProServicesInvoice',
    servicesBody(services),
  )) as { readonly data: readonly [{ readonly id: string }] };
  return { ...services, invoice_id: scheduled.data[0].id };
}

/** The value of the hour at this place. */
export function namedScheduleValue(place: number): object {
  const start = Date.parse(MONTH.start) + place * HOUR_MS;
  return {
    ...{ starting_at: new Date(start).toISOString(), ending_before: new Date(start + HOUR_MS).toISOString() },
    value: { owner: `Owner ${place}` },
  };
}

async function manyNames(client: LimitsClient, count: number, named: Company): Promise<void> {
  await inParallel(count, (index) =>
    client.post('/v1/contracts/updateNamedSchedule', {
      ...{ ...named, schedule_name: 'team' },
      ...namedScheduleValue(index),
    }),
  );
}

async function manyModels(client: LimitsClient, count: number): Promise<void> {
  await inParallel(Math.ceil(count / EVENTS_PER_REQUEST), (request) =>
    client.post(
      '/v1/ingest',
      Array.from({ length: EVENTS_PER_REQUEST }, (_, index) => ({
        ...{
          transaction_id: `model ${request} ${index}`,
          customer_id: 'models',
          event_type: 'token-billing',
        },
        ...{ timestamp: MONTH.start },
        properties: { provider: 'acme', model: `model ${request} ${index}`, input_tokens: '1' },
      })),
    ),
  );
}
