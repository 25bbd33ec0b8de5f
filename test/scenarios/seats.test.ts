/** Companies with seats live through three months of the sandbox clock; their invoices and credits are hand-computed. */
import { beforeAll, describe, expect, test } from 'vitest';
import { serviceForFile } from '../support/file-fixtures.ts';
import { reconcile } from '../support/reconciled.ts';
import {
  createSeatCatalogue,
  createSeatCompany,
  editSubscription,
  type SeatCompany,
  sendCalls,
} from '../support/seat-company.ts';
import { day, SEAT_LIVES, type SeatLife } from './seat-lives.ts';

const service = await serviceForFile({ sandboxNow: day('01-01') });
const { api } = service;

const living = new Map<SeatLife, SeatCompany>();

beforeAll(async () => {
  const catalogue = await createSeatCatalogue(api);
  for (const life of SEAT_LIVES) {
    const { name: alias, start = '01-01', seats, allowance = 100, proratesIncreases = false } = life;
    const terms = { alias, start: day(start), seats, allowance, proratesIncreases };
    living.set(life, await createSeatCompany(api, catalogue, terms));
  }
  const instants = SEAT_LIVES.flatMap(({ changes, calls }) => [
    ...Object.keys(changes),
    ...calls.map(([on]) => day(on)),
  ]);
  for (const now of [...new Set(instants)].sort()) {
    await service.moveClock(now);
    for (const [life, company] of living) {
      const change = life.changes[now];
      if (change !== undefined) expect((await editSubscription(api, company, change)).status).toBe(200);
      for (const [on, user, count] of life.calls) {
        if (day(on) === now) await sendCalls(api, company, { user, at: now, count });
      }
    }
  }
  await service.moveClock(day('04-03'));
}, 120_000);

function companyOf(life: SeatLife): SeatCompany {
  const found = living.get(life);
  if (found === undefined) throw new Error(`${life.name} has not begun`);
  return found;
}

/** By month; lines that cost and take nothing are left out. */
async function invoicesOf({ customer }: SeatCompany): Promise<Record<string, string[]>> {
  const path = `/v1/customers/${customer}/invoices`;
  const answer = await api.get(path, { query: { status: 'FINALIZED', type: 'USAGE', limit: 100 } });
  const months = answer.list('data').map((_, index): [string, string[]] => {
    const invoice = `data[${index}]`;
    const lines = answer.list(`${invoice}.line_items`).flatMap((_line, position) => {
      const line = `${invoice}.line_items[${position}]`;
      const user = answer.at(`${line}.presentation_group_values.user`);
      const who = typeof user === 'string' ? `${user} ` : '';
      if (answer.at(`${line}.quantity`) === undefined) return [who + answer.digits(`${line}.total`)];
      const [quantity, price] = ['quantity', 'unit_price'].map((name) => answer.digits(`${line}.${name}`));
      return quantity === '0' ? [] : [`${who}${quantity} × ${price}`];
    });
    const month = answer.text(`${invoice}.start_timestamp`).slice(5, 7);
    return [month, [answer.digits(`${invoice}.total`), ...lines]];
  });
  return Object.fromEntries(months);
}

/** By month; what has not begun on 3 April is left out. */
async function ledgersOf({ customer, contract }: SeatCompany): Promise<Record<string, string[]>> {
  const answer = await api.post('/v2/contracts/get', {
    ...{ customer_id: customer, contract_id: contract, include_ledgers: true },
  });
  const months = answer.list('data.credits').map((_, index): [string, string[]] => {
    const credit = `data.credits[${index}]`;
    const entries = answer.list(`${credit}.ledger`).map((_entry, position) => {
      const entry = `${credit}.ledger[${position}]`;
      const kind = answer.text(`${entry}.type`).replace(/^CREDIT_(AUTOMATED_INVOICE_)?/, '');
      return `${kind} ${answer.digits(`${entry}.amount`)}`;
    });
    return [answer.text(`${credit}.access_schedule.schedule_items[0].starting_at`).slice(5, 7), entries];
  });
  return Object.fromEntries(months.filter(([month]) => month < '04'));
}

describe.each(SEAT_LIVES)('$name', (life) => {
  test('the invoices are those computed by hand', async () => {
    const found = await invoicesOf(companyOf(life));
    const sorted = (all: Readonly<Record<string, readonly string[]>>) =>
      Object.entries(all).map(([month, [total, ...lines]]) => [month, total, lines.toSorted()]);
    expect(sorted(found).toSorted()).toEqual(sorted(life.invoices));
  });

  test('the credits have the entries computed by hand', async () => {
    expect(await ledgersOf(companyOf(life))).toEqual(life.ledgers);
  });
});

test('all invoices and ledgers agree with each other', async () => {
  const found = await reconcile(api, { starting_on: day('01-01'), ending_before: day('04-03') });
  expect(found.customers).toHaveLength(SEAT_LIVES.length);
  expect([...found.differences, ...found.unchecked]).toEqual([]);
});
