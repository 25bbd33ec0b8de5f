/** A system of somebody's own that takes invoices: it makes one of each message id, and misbehaves on order. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

interface TakenInvoice {
  readonly externalId: string;
  /** How often it was sent. */
  times: number;
}

interface TakenMessage {
  readonly id: string;
  readonly type: string;
  /** Absent in messages of credit notes. */
  readonly invoice?: Record<string, unknown>;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** `lost`: done, and no answer. `cut`: not done, and no answer. A number: not done, and answered with this status. */
export type ReceiverFault = 'lost' | 'cut' | number;

export interface InvoiceReceiver {
  readonly url: string;
  readonly messages: TakenMessage[];
  /** By message id. */
  readonly invoices: Map<string, TakenInvoice>;
  /** Asked before each request. */
  misbehave: () => ReceiverFault | null;
  /** Members of its answers beside the id. */
  answers: Record<string, unknown>;
  /** Called when it has created an invoice, before it answers. */
  onTaken: (message: TakenMessage) => Promise<void>;
  close(): Promise<void>;
}

export async function startInvoiceReceiver(): Promise<InvoiceReceiver> {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const fault = receiver.misbehave();
    if (fault === 'cut') return void request.socket.destroy();
    if (typeof fault === 'number') return void response.writeHead(fault).end('no');
    const parsed = JSON.parse(body) as Pick<TakenMessage, 'id' | 'type' | 'invoice'>;
    const message = { ...parsed, headers: request.headers, body };
    receiver.messages.push(message);
    const known = receiver.invoices.get(message.id);
    const taken = known ?? { externalId: `ext-${receiver.invoices.size + 1}`, times: 0 };
    taken.times += 1;
    receiver.invoices.set(message.id, taken);
    await receiver.onTaken(message);
    if (fault === 'lost') return void request.socket.destroy();
    response.end(JSON.stringify({ external_id: taken.externalId, ...receiver.answers }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const receiver: InvoiceReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/invoices`,
    messages: [],
    invoices: new Map(),
    misbehave: () => null,
    answers: {},
    onTaken: async () => {},
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}
