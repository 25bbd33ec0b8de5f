/** A receiver of webhooks: it hears of each issued invoice, and repeated messages are the same. */
import { expect } from 'vitest';
import { type BillingProcess, created } from '../billing-process.ts';
import { answered } from '../held-customer.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../webhook-receiver.ts';
import type { Actor, Life } from './actor.ts';

export class WebhookMessages implements Actor {
  readonly receiver: WebhookReceiver;
  #strike: () => void = () => {};

  private constructor(receiver: WebhookReceiver) {
    this.receiver = receiver;
    receiver.answerWith((response) => {
      this.#strike();
      response.end();
    });
  }

  static async start(): Promise<WebhookMessages> {
    return new WebhookMessages(await startWebhookReceiver());
  }

  async create(service: BillingProcess): Promise<void> {
    const { url } = this.receiver;
    await created(service, '/v1/webhooks/create', { name: 'receiver', url });
  }

  /** Only listens. */
  async act(life: Life): Promise<void> {
    this.#strike = () => life.strike('webhook sent');
  }

  async expectKept(): Promise<void> {
    this.#strike = () => {};
  }

  async repeat(): Promise<void> {}

  async expectExact({ service }: Life): Promise<void> {
    const issued = await issuedInvoices(service);
    await expect.poll(() => issued.filter((id) => !this.#reported().has(id))).toEqual([]);
    const bodies = new Map<string, string>();
    for (const { message, body } of this.receiver.received) {
      expect(body).toBe(bodies.get(message.id) ?? body);
      bodies.set(message.id, body);
    }
    const ids = [...bodies.values()].flatMap(invoicesOf);
    expect(ids.toSorted()).toEqual([...new Set(ids)].toSorted());
  }

  #reported(): Set<string> {
    return new Set(this.receiver.received.flatMap(({ body }) => invoicesOf(body)));
  }
}

/** The invoice of a message of its issue. */
function invoicesOf(body: string): string[] {
  const { type, properties } = JSON.parse(body) as { type: string; properties?: { invoice_id?: string } };
  return type === 'invoice.finalized' ? [properties?.invoice_id ?? ''] : [];
}

async function issuedInvoices(service: BillingProcess): Promise<string[]> {
  const invoices = await answered<{ id: string }[]>(service, '/v1/invoices?status=FINALIZED&limit=100');
  return invoices.map(({ id }) => id);
}
