/**
 * Asks before an image is drawn whether the customer can pay for it, with nothing but `fetch`: a hold is reserved, the work
 * is done, and the hold is settled with the usage of the work.
 *
 *   TALLYHOUSE_URL=http://127.0.0.1:3000 TALLYHOUSE_TOKEN=… npx tsx examples/typescript/hold-fetch.ts
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { prepaidCustomer } from './support/prepaid-customer.ts';

const { TALLYHOUSE_URL, TALLYHOUSE_TOKEN } = process.env;
assert(TALLYHOUSE_URL && TALLYHOUSE_TOKEN, 'TALLYHOUSE_URL and TALLYHOUSE_TOKEN must be set');

interface Answer {
  readonly data: readonly {
    readonly granted?: boolean;
    readonly reason?: string;
    readonly remaining?: number;
    readonly amount?: number;
  }[];
}

async function post(path: string, body: unknown): Promise<Answer> {
  const response = await fetch(new URL(path, TALLYHOUSE_URL), {
    method: 'POST',
    headers: { authorization: `Bearer ${TALLYHOUSE_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Answer;
}

// An image costs 4 cents, and the customer has 34.
const customer_id = await prepaidCustomer({ eventType: 'image', property: 'images', price: 4, balance: 34 });

/** At most four images; how many come of it is known afterwards. */
async function makeImages(made: number): Promise<boolean> {
  const transaction_id = randomUUID();
  const event = { event_type: 'image', properties: { images: 4 } };
  const [hold] = (await post('/v1/holds/reserve', { holds: [{ customer_id, transaction_id, event }] })).data;
  if (hold?.granted !== true) {
    console.log(`refused: ${hold?.reason}, ${hold?.remaining} cents are left`);
    return false;
  }
  const settlements = [{ transaction_id, properties: { images: made } }];
  const [settled] = (await post('/v1/holds/settle', { settlements })).data;
  console.log(`held ${hold.amount} cents, billed ${settled?.amount}`);
  return true;
}

assert.equal(await makeImages(4), true);
assert.equal(await makeImages(1), true);
assert.equal(await makeImages(4), false);
