/**
 * The law of holds (docs/explanation/holds.md): whatever is asked, in any order and at once, what is held and what was
 * used is never more than there is, nothing is refused that there is room for, and in the end the balance is that of
 * the events alone. A model beside it counts in whole cents.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { serviceForFile } from '../support/file-fixtures.ts';
import { type Answered, createHolder } from '../support/holds.ts';
import { runs } from '../support/shares-of-tests.ts';

const BALANCE = 200;
const service = await serviceForFile({ sandboxNow: '2026-11-10T12:30:00Z' });
const { api } = service;

const tokens = fc.integer({ min: 0, max: 90 });
const pick = fc.nat(30);
const operation = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('reserve'), tokens }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('burst'), tokens, count: fc.integer({ min: 2, max: 8 }) }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('settle'), pick, tokens }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('ingest held'), pick, tokens }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('ingest'), tokens }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('release'), pick }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('settle again'), pick }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('top up'), tokens }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('read') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart') }) },
);
type Operation = { kind: string; tokens?: number; pick?: number; count?: number };

let customers = 0;

/** A customer beside its model: what there is, what was used, and what is held by transaction. */
async function start() {
  const holder = await createHolder(api, BALANCE);
  customers += 1;
  const model = {
    balance: BALANCE,
    used: 0,
    held: new Map<string, number>(),
    settled: new Map<string, number>(),
  };
  let sent = 0;
  const newId = () => {
    sent += 1;
    return `law ${customers} ${sent}`;
  };
  const left = () => model.balance - model.used - [...model.held.values()].reduce((sum, one) => sum + one, 0);
  const use = (id: string, count: number) => {
    model.held.delete(id);
    model.settled.set(id, count);
    model.used += count;
  };
  const reserve = async (holds: readonly object[]) =>
    (await api.post('/v1/holds/reserve', { holds })).list('data') as Answered[];
  const chosen = (of: ReadonlyMap<string, number>, at = 0) => [...of.keys()][at % Math.max(1, of.size)];

  /** Usage may exceed what was held, and then nothing is left. */
  const shown = () => Math.max(0, left());

  const actions: Record<string, (operation: Operation) => Promise<void>> = {
    async reserve({ tokens: count = 0 }) {
      const id = newId();
      const [answer] = await reserve([holder.hold(id, count)]);
      expect(answer).toMatchObject({ granted: count === 0 || count <= left() });
      if (answer?.granted) model.held.set(id, count);
      expect(answer?.remaining).toBe(shown());
    },
    async burst({ tokens: count = 0, count: requests = 2 }) {
      const ids = Array.from({ length: requests }, newId);
      const room = count === 0 ? requests : Math.floor(left() / count);
      const fitting = Math.min(requests, Math.max(0, room));
      const answers = await Promise.all(ids.map((id) => reserve([holder.hold(id, count)])));
      const granted = ids.filter((_, index) => answers[index]?.[0]?.granted);
      expect(granted).toHaveLength(fitting);
      for (const id of granted) model.held.set(id, count);
    },
    async settle({ pick: at, tokens: count = 0 }) {
      const id = chosen(model.held, at);
      if (id === undefined) return;
      const held = model.held.get(id) ?? 0;
      const settlements = [{ transaction_id: id, properties: { tokens: count } }];
      const answer = await api.post('/v1/holds/settle', { settlements });
      expect(answer.list('data')).toMatchObject([{ accepted: true, exceeded: Math.max(0, count - held) }]);
      use(id, count);
    },
    async 'settle again'({ pick: at }) {
      const id = chosen(model.settled, at);
      if (id === undefined) return;
      const settlements = [{ transaction_id: id, properties: { tokens: 77 } }];
      const answer = await api.post('/v1/holds/settle', { settlements });
      expect(answer.list('data')).toMatchObject([{ accepted: false, amount: model.settled.get(id) }]);
    },
    async 'ingest held'({ pick: at, tokens: count = 0 }) {
      const id = chosen(model.held, at);
      if (id === undefined) return;
      await ingest(id, count);
      use(id, count);
    },
    async ingest({ tokens: count = 0 }) {
      await ingest(newId(), count);
      model.used += count;
    },
    async release({ pick: at }) {
      const id = chosen(model.held, at);
      if (id === undefined) return;
      await api.post('/v1/holds/release', { holds: [{ transaction_id: id }] });
      model.held.delete(id);
    },
    async 'top up'({ tokens: count = 1 }) {
      const amount = Math.max(1, count);
      const access_schedule = {
        schedule_items: [
          { amount, starting_at: '2026-11-01T00:00:00Z', ending_before: '2027-11-01T00:00:00Z' },
        ],
      };
      await holder.edit({
        add_credits: [{ product_id: holder.catalogue.fee, priority: 2, access_schedule }],
      });
      model.balance += amount;
    },
    async read() {
      await holder.contract();
    },
    async restart() {
      await service.restart();
      // The first request of a customer lets the process know its holds.
      await actions.reserve?.({ kind: 'reserve', tokens: 0 });
    },
  };

  async function ingest(transaction_id: string, count: number): Promise<void> {
    const event = { customer_id: holder.customerId, event_type: 'use', timestamp: '2026-11-10T12:20:00Z' };
    await api.post('/v1/ingest', [{ transaction_id, ...event, properties: { tokens: count } }]);
  }

  async function balanceInTheEnd(): Promise<number> {
    const contract = await holder.contract();
    return contract
      .list('data.credits')
      .map((_, index) => Number(contract.digits(`data.credits[${index}].balance`)))
      .reduce((sum, one) => sum + one, 0);
  }

  return { actions, model, balanceInTheEnd };
}

test('the sum of holds and usage never exceeds what there is, and nothing is refused that there is room for', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 5, maxLength: 25 }), async (operations) => {
      const { actions, model, balanceInTheEnd } = await start();
      for (const one of operations as readonly Operation[]) await actions[one.kind]?.(one);
      expect(await balanceInTheEnd()).toBe(Math.max(0, model.balance - model.used));
    }),
    // Each step is a request: a failed sequence is shown as it is, because to shorten it would take minutes.
    { numRuns: runs(40), endOnFailure: true },
  );
});
