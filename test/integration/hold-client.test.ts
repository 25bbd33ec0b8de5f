/** The helper of clients/ beside a service that answers, refuses, or is away: what is done and what is billed. */
import { randomUUID } from 'node:crypto';
import { generateText, streamText, wrapLanguageModel } from 'ai';
import { expect, test } from 'vitest';
import { holdsFor } from '../../clients/typescript/ai-sdk.ts';
import {
  Holds,
  HoldsAway,
  NotGranted,
  type PlannedEvent,
  type WhenAway,
} from '../../clients/typescript/holds.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { createHolder } from '../support/holds.ts';
import { until } from '../support/thresholds.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-10T12:30:00Z' });
const { api } = service;
const TIMESTAMP = '2026-11-10T12:10:00Z';
const USD_CENTS = '2714e483-4ff1-48e4-9e25-ac732e8f24f2';

interface Network {
  isCut: boolean;
  /** Checks that were sent. */
  checks: number;
  /** So many of the next requests arrive, and their answers do not. */
  unseen: number;
  /** Requests that are given up before they arrive; null: none is. */
  late: (() => Promise<Response>)[] | null;
}

/** A customer of a hundred cents at a cent a token, and a client whose way to the service can be cut. */
async function start(whenAway: WhenAway, waitingMax?: number) {
  const holder = await createHolder(api, 100);
  const network: Network = { isCut: false, checks: 0, unseen: 0, late: null };
  const refused: PlannedEvent[] = [];
  const holds = new Holds({
    url: service.url,
    token: service.token,
    whenAway,
    timeoutMs: 60_000,
    onRefused: (one) => refused.push(one),
    ...(waitingMax === undefined ? {} : { waitingMax }),
    fetch: async (...args) => {
      if (String(args[0]).endsWith('/check')) network.checks += 1;
      if (network.isCut) throw new TypeError('fetch failed');
      const { signal: _, ...unlimited } = args[1] ?? {};
      const send = () => fetch(args[0], unlimited);
      network.late?.push(send);
      if (network.unseen > 0) await send();
      if (network.late !== null || network.unseen > 0) {
        network.unseen = Math.max(network.unseen - 1, 0);
        throw new DOMException('The operation was aborted due to timeout', 'TimeoutError');
      }
      return await fetch(...args);
    },
  });
  const event = (tokens: number) => ({
    customer_id: holder.customerId,
    transaction_id: randomUUID(),
    event_type: 'use',
    properties: { tokens },
    timestamp: TIMESTAMP,
  });
  /** Work that is planned with `planned` tokens and takes `used`. */
  const work = (planned: number, used = planned) =>
    holds.hold(event(planned), async () => ({ result: 'done', properties: { tokens: used } }));
  return { ...holder, holds, network, refused, event, work };
}

test('work is billed by its actual usage, and refused where the balance does not suffice', async () => {
  const { holds, work, left } = await start({ policy: 'closed' });
  expect(await work(80, 30)).toBe('done');
  expect(await left()).toBe(70);
  const refused = await work(71).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(NotGranted);
  expect(refused).toMatchObject({ reason: 'balance', required: 71, remaining: 70 });
  expect(holds.waiting).toBe(0);
});

test('work that fails is not billed, and what it held is free again', async () => {
  const { holds, event, work, left } = await start({ policy: 'closed' });
  const failing = holds.hold(event(100), () => Promise.reject(new Error('the model is overloaded')));
  await expect(failing).rejects.toThrow('the model is overloaded');
  expect(await work(100)).toBe('done');
  expect(await left()).toBe(0);
});

test('a hold whose answer was lost is asked for again under its transaction id, and is the same hold', async () => {
  const { network, customerId, work, left } = await start({ policy: 'closed' });
  network.unseen = 1;
  expect(await work(60, 50)).toBe('done');
  expect(await left()).toBe(50);
  const holds = await api.get('/v1/holds', { query: { customer_id: customerId } });
  expect(holds.list('data')).toMatchObject([{ status: 'settled', amount: 60 }]);
});

test('a hold that was granted unseen is released when the service answers, and refuses nothing that follows', async () => {
  const { network, holds, customerId, event, work, left } = await start({ policy: 'closed' });
  const active = async () =>
    (await api.get('/v1/holds', { query: { customer_id: customerId, status: 'active' } })).list('data');
  network.unseen = 2;
  await expect(work(100)).rejects.toThrow('a hold that it has granted all the same is released');
  expect(await active()).toHaveLength(1);
  expect(await work(100, 10)).toBe('done');
  network.unseen = 2;
  await expect(work(90)).rejects.toThrow(HoldsAway);
  await holds.flush();
  expect(await active()).toEqual([]);
  // A program that asks for nothing else: its timer.
  network.unseen = 2;
  await expect(work(90)).rejects.toThrow(HoldsAway);
  await until(active, (list) => list.length === 0);
  // A release that is not answered.
  const permission = await holds.reserve(event(90));
  network.isCut = true;
  await permission.release();
  network.isCut = false;
  await until(active, (list) => list.length === 0);
  expect(await left()).toBe(90);
});

test('a hold that was granted unseen is taken up by the same transaction id, and by the event of work that is done without it', async () => {
  const closed = await start({ policy: 'closed' });
  const planned = closed.event(100);
  const run = async () => ({ result: 'done', properties: { tokens: 30 } });
  closed.network.unseen = 2;
  await expect(closed.holds.hold(planned, run)).rejects.toThrow(HoldsAway);
  expect(await closed.holds.hold(planned, run)).toBe('done');
  expect(await closed.left()).toBe(70);
  const open = await start({ policy: 'open' });
  open.network.unseen = 2;
  expect(await open.work(100, 20)).toBe('done');
  expect(await open.work(80)).toBe('done');
  expect(open.holds.waiting).toBe(0);
  expect(await open.left()).toBe(0);
});

test('a hold whose request arrives after its release is released again', async () => {
  const { network, holds, customerId, work } = await start({ policy: 'closed' });
  const active = async () =>
    (await api.get('/v1/holds', { query: { customer_id: customerId, status: 'active' } })).list('data');
  network.late = [];
  await expect(work(100)).rejects.toThrow(HoldsAway);
  const [sendLate] = network.late;
  network.late = null;
  await holds.flush();
  await sendLate?.();
  expect(await active()).toHaveLength(1);
  await until(active, (list) => list.length === 0);
});

test('closed: nothing is done while the service is away', async () => {
  const { network, holds, event, left } = await start({ policy: 'closed' });
  network.isCut = true;
  let ran = false;
  const run = async () => {
    ran = true;
    return { result: null };
  };
  await expect(holds.hold(event(10), run)).rejects.toThrow(HoldsAway);
  expect(ran).toBe(false);
  expect(await left()).toBe(100);
});

test('open: what was done while the service was away is billed once when it is back, up to a limit', async () => {
  const { network, holds, work, left } = await start({ policy: 'open' }, 2);
  network.isCut = true;
  await work(20, 15);
  await work(20);
  await expect(work(20)).rejects.toThrow('too many events wait');
  expect(holds.waiting).toBe(2);
  network.isCut = false;
  await holds.flush();
  await holds.flush();
  expect(holds.waiting).toBe(0);
  expect(await left()).toBe(65);
});

test('work whose settlement is not answered is billed once', async () => {
  const { network, holds, event, left } = await start({ policy: 'closed' });
  const permission = await holds.reserve(event(40));
  network.isCut = true;
  await permission.settle({ tokens: 25 });
  expect(holds.waiting).toBe(1);
  network.isCut = false;
  await holds.flush();
  expect(await left()).toBe(75);
});

test('an event that the service refuses holds up no other', async () => {
  const { network, holds, event, work, left, refused } = await start({ policy: 'open' });
  network.isCut = true;
  await work(5);
  await holds.hold({ ...event(1), timestamp: 'yesterday' }, async () => ({ result: null }));
  await work(7);
  network.isCut = false;
  await holds.flush();
  expect(holds.waiting).toBe(0);
  expect(refused).toMatchObject([{ timestamp: 'yesterday' }]);
  expect(await left()).toBe(88);
});

test('a slice is held once and with all its digits, whatever works at the same time', async () => {
  const slice = '10.123456789012345678';
  const { work, customerId } = await start({
    ...{ policy: 'slice', slice, credit_type_id: USD_CENTS },
    costOf: () => '1',
  });
  await Promise.all([work(1), work(2), work(3), work(4)]);
  const query = { customer_id: customerId, status: 'active' };
  const held = await api.get('/v1/holds', { query });
  expect(held.list('data')).toHaveLength(1);
  expect(held.digits('data[0].amount')).toBe(slice);
});

test('a slice is held in advance: work continues within it, and nobody else can spend it in the meantime', async () => {
  const slice = await start({
    policy: 'slice',
    slice: '50',
    credit_type_id: USD_CENTS,
    costOf: ({ properties }) => String(properties.tokens),
  });
  const { network, holds, work, left } = slice;
  await work(10);
  network.isCut = true;
  await work(30, 20);
  await expect(work(30)).rejects.toThrow('what is held here does not suffice');
  const others = await api.post('/v1/holds/reserve', { holds: [slice.hold(randomUUID(), 41)] });
  expect(others.list('data')).toMatchObject([{ granted: false, reason: 'balance', remaining: 40 }]);
  network.isCut = false;
  // The next request sends the usage that waited, and then holds another slice.
  await work(5);
  expect(holds.waiting).toBe(0);
  expect(await left()).toBe(65);
  const after = await api.post('/v1/holds/reserve', { holds: [slice.hold(randomUUID(), 15)] });
  expect(after.list('data')).toMatchObject([{ granted: true, remaining: 0 }]);
});

test('a check is answered from what the service said a second ago at most, and asked once by many at once', async () => {
  const { holds, customerId: customer_id, network, use } = await start({ policy: 'closed' });
  const question = { customer_id, event_type: 'use', quantity: 80 };
  const begun = performance.now();
  await Promise.all([holds.check(question), holds.check(question), holds.check(question)]);
  for (let asked = 0; asked < 50; asked += 1) await holds.check(question);
  expect(network.checks).toBeLessThanOrEqual(1 + Math.ceil((performance.now() - begun) / 1000));
  expect(await holds.check(question)).toMatchObject({ allowed: true, reason: null, remaining: 100, held: 0 });
  await use(30, TIMESTAMP);
  const after = await until(
    () => holds.check(question),
    ({ allowed }) => !allowed,
  );
  expect(after).toMatchObject({ reason: 'balance', remaining: 70 });
  expect(await holds.check({ ...question, quantity: 70 })).toMatchObject({ allowed: true });
  const wrong = holds.check({ customer_id, product_id: randomUUID() });
  await expect(wrong).rejects.toThrow('404');
});

test('a check while the service is away answers as work would be treated', async () => {
  const closed = await start({ policy: 'closed' });
  const open = await start({ policy: 'open' }, 1);
  const slice = await start({
    ...{ policy: 'slice', slice: '50', credit_type_id: USD_CENTS },
    costOf: ({ properties }) => String(properties.tokens),
  });
  await slice.work(10);
  const ask = ({ holds, customerId: customer_id }: typeof closed, tokens: number) =>
    holds.check({ customer_id, event_type: 'use', properties: { tokens } });
  for (const { network } of [closed, open, slice]) network.isCut = true;
  expect(await ask(closed, 1)).toMatchObject({ allowed: false, reason: 'away' });
  expect(await ask(open, 1_000)).toMatchObject({ allowed: true, reason: null, remaining: null });
  await open.work(20);
  expect(await ask(open, 1)).toMatchObject({ allowed: false, reason: 'away' });
  expect(await ask(slice, 50)).toMatchObject({ allowed: true });
  expect(await ask(slice, 51)).toMatchObject({ allowed: false, reason: 'away' });
  const { holds, customerId: customer_id } = slice;
  expect(await holds.check({ customer_id, product_id: slice.catalogue.tokens })).toMatchObject({
    reason: 'away',
  });
  // Waiting events are sent first: the answer knows of them.
  open.network.isCut = false;
  expect(await ask(open, 1)).toMatchObject({ allowed: true, remaining: 80 });
  expect(open.holds.waiting).toBe(0);
});

/** A model that answers with `tokens` output tokens, in one answer or as a stream. */
function modelOf(tokens: number) {
  const usage = {
    inputTokens: { total: 3, noCache: 3, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: tokens, text: tokens, reasoning: 0 },
  };
  const finishReason = { unified: 'stop' as const, raw: undefined };
  return {
    specificationVersion: 'v3' as const,
    provider: 'test',
    modelId: 'answering',
    supportedUrls: {},
    doGenerate: async () => ({
      content: [{ type: 'text' as const, text: 'yes' }],
      finishReason,
      usage,
      warnings: [],
    }),
    doStream: async () => ({
      stream: new ReadableStream({
        start(controller) {
          controller.enqueue({ type: 'stream-start' as const, warnings: [] });
          controller.enqueue({ type: 'text-start' as const, id: '1' });
          controller.enqueue({ type: 'text-delta' as const, id: '1', delta: 'yes' });
          controller.enqueue({ type: 'text-end' as const, id: '1' });
          controller.enqueue({ type: 'finish' as const, finishReason, usage });
          controller.close();
        },
      }),
    }),
  };
}

test('calls of a language model are held before they are sent, and billed by their tokens, streams included', async () => {
  const { holds, customerId: customer_id, left } = await start({ policy: 'closed' });
  const held = holdsFor(holds, { customer_id, event_type: 'use', tokens: { output: 'tokens' } });
  const model = wrapLanguageModel({ model: modelOf(30), middleware: held });
  const asked = { model, prompt: 'Is it?', maxOutputTokens: 60, maxRetries: 0 };
  expect((await generateText(asked)).text).toBe('yes');
  expect(await left()).toBe(70);
  expect(await streamText(asked).text).toBe('yes');
  expect(await left()).toBe(40);
  await expect(generateText(asked)).rejects.toThrow('not granted: balance');
  expect(await left()).toBe(40);
});
