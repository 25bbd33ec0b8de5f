/** Rollover at a renewal: the new commits, and the ledgers of their sources. */
import { describe, expect, test } from 'vitest';
import type { ApiAnswer } from '../support/api-client.ts';
import { CONTRACTS, createdId } from '../support/catalogue-api.ts';
import { day, ledgerOf, renewalBench, segmentsOf } from '../support/renewals.ts';

const { catalogue, customer, on, rolling, create, renew, read, edit } = renewalBench();

describe('a renewal', () => {
  test('a renewal makes one commit of each that rolls over, like its source but for time, amount and price', async () => {
    const invoice_schedule = { schedule_items: [{ timestamp: day(1), amount: 500 }] };
    const older = await create({
      commits: [{ ...rolling(0.25, [1000, 1, 12]), invoice_schedule }, rolling(0, [50, 1, 12])],
    });
    const newer = await renew(older, 7, { ending_before: day(10) });
    const before = await read(on(2), older);
    const after = await read(on(8), newer);
    expect(after.list('data.commits')).toHaveLength(1);
    expect(after.at('data.commits[0]')).toMatchObject({
      contract: { id: newer },
      type: 'PREPAID',
      name: 'Prepaid',
      priority: 7,
      rate_type: 'COMMIT_RATE',
      applicable_product_tags: ['llm'],
      rollover_fraction: 0.25,
      rolled_over_from: { commit_id: before.text('data.commits[0].id'), contract_id: older },
      created_at: day(7),
      cost_basis: 0.5,
      balance: 250,
    });
    expect(after.at('data.commits[0].invoice_schedule')).toBeUndefined();
    expect(after.at('data.commits[0].created_by')).toBeUndefined();
    expect(segmentsOf(after)).toEqual(['250 2026-07 2026-10']);
    expect(ledgerOf(after)).toEqual(['SEGMENT_START 250 07-01']);
  });

  test('a renewal is in the ledger of the source from its date on', async () => {
    const older = await create({ commits: [rolling(0.25, [1000, 1, 12])] });
    const newer = await renew(older, 7);
    expect(ledgerOf(await read(on(6), older))).toEqual(['SEGMENT_START 1000 01-01']);
    expect((await read(on(6), older)).at('data.commits[0].balance')).toBe(1000);
    const renewed = await read(on(7), older);
    expect(renewed.at('data.commits[0].balance')).toBe(0);
    expect(ledgerOf(renewed)).toEqual([
      'SEGMENT_START 1000 01-01',
      'ROLLOVER -250 07-01',
      'EXPIRATION -750 07-01',
    ]);
    expect(renewed.at('data.commits[0].ledger[1]')).toMatchObject({
      new_contract_id: newer,
      segment_id: renewed.text('data.commits[0].access_schedule.schedule_items[0].id'),
    });
  });

  test('a renewal takes open and future segments, and none that has ended by its date', async () => {
    const older = await create({ commits: [rolling(0.5, [10, 1, 7], [20, 2, 8], [40, 9, 11])] });
    const newer = await renew(older, 7);
    // Without an end, the new contract gives each as much time as its source had.
    expect(segmentsOf(await read(on(7), newer))).toEqual(['10 2026-07 2026-12', '20 2026-07 2026-08']);
    expect(ledgerOf(await read(on(12), older))).toEqual([
      'SEGMENT_START 10 01-01',
      'SEGMENT_START 20 02-01',
      'ROLLOVER -10 07-01',
      'EXPIRATION -10 07-01',
      'EXPIRATION -10 07-01',
      'SEGMENT_START 40 09-01',
      'ROLLOVER -20 09-01',
      'EXPIRATION -20 09-01',
    ]);
  });

  test('a renewal keeps every digit', async () => {
    const older = await create({ commits: [rolling(0.333, [0.0000001, 1, 12])] });
    const newer = await renew(older, 7);
    expect((await read(on(8), newer)).at('data.commits[0].balance')?.toString()).toBe('3.33e-8');
  });

  test('a renewal takes nothing of a contract that has ended before, of one that is superseded, and of what waits for a payment', async () => {
    const commits = [rolling(1, [100, 1, 12])];
    const ended = await create({ ending_before: day(6), commits });
    expect((await read(on(8), await renew(ended, 7))).at('data.commits')).toEqual([]);
    const superseded = await create({ commits });
    const transition = { type: 'SUPERSEDE', from_contract_id: superseded };
    expect((await read(on(8), await renew(superseded, 7, { transition }))).at('data.commits')).toEqual([]);
    const waiting = await create({});
    const payment_gate_config = { payment_gate_type: 'EXTERNAL' };
    const add_commits = [{ ...rolling(1, [100, 1, 12]), payment_gate_config }];
    expect((await edit(on(1), waiting, { add_commits })).status).toBe(200);
    expect((await read(on(3), await renew(waiting, 7))).at('data.commits')).toEqual([]);
  });

  test('a renewal takes what is left at an end that was the contract’s own', async () => {
    const older = await create({ ending_before: day(7), commits: [rolling(0.5, [100, 1, 12])] });
    const newer = await renew(older, 7);
    expect((await read(on(8), newer)).at('data.commits[0].balance')).toBe(50);
    expect(ledgerOf(await read(on(8), older)).slice(1)).toEqual([
      'ROLLOVER -50 07-01',
      'EXPIRATION -50 07-01',
    ]);
  });

  test('a renewal moves postpaid commits too, and hands the fraction down to the next renewal', async () => {
    const invoice_schedule = { schedule_items: [{ timestamp: day(12), amount: 400 }] };
    const older = await create({
      commits: [{ ...rolling(0.5, [400, 1, 12]), type: 'POSTPAID', invoice_schedule }],
    });
    const next = await renew(older, 5, { ending_before: day(12) });
    const last = await renew(next, 7);
    const first = await read(on(8), older);
    expect(first.at('data.commits[0].ledger[1].type')).toBe('POSTPAID_COMMIT_ROLLOVER');
    const second = await read(on(8), next);
    expect(second.at('data.commits[0].type')).toBe('POSTPAID');
    expect(second.at('data.commits[0].cost_basis')).toBe(1);
    const third = await read(on(8), last);
    expect(third.at('data.commits[0].balance')).toBe(100);
    expect(third.at('data.commits[0].cost_basis')).toBe(1);
    expect(third.at('data.commits[0].rolled_over_from.contract_id')).toBe(next);
  });

  test('a renewal by a package rolls over as well, and the answer to the creation shows it', async () => {
    const older = await create({ commits: [rolling(0.5, [100, 1, 12])] });
    const package_id = await createdId(on(1), '/v1/packages/create', {
      name: 'Package',
      rate_card_id: catalogue.card,
      commits: [
        {
          type: 'PREPAID',
          product_id: catalogue.fee,
          access_schedule: {
            schedule_items: [
              {
                amount: 9,
                starting_at_offset: { unit: 'DAYS', value: 0 },
                duration: { unit: 'MONTHS', value: 1 },
              },
            ],
          },
        },
      ],
    });
    const answer = await on(2).post(CONTRACTS, {
      customer_id: customer(),
      starting_at: day(7),
      package_id,
      transition: { type: 'RENEWAL', from_contract_id: older },
    });
    expect(answer.list('data.contract.commits')).toHaveLength(2);
    const newer = await read(on(7), answer.text('data.id'));
    expect(newer.at('data.commits[0].balance')).toBe(9);
    expect(newer.at('data.commits[1].balance')).toBe(50);
    expect(newer.at('data.commits[1].rolled_over_from.contract_id')).toBe(older);
  });

  test('a renewal that is refused rolls nothing over', async () => {
    const older = await create({ commits: [rolling(0.5, [100, 1, 12])] });
    const body = { customer_id: customer(), starting_at: day(7), uniqueness_key: `key of ${customer()}` };
    await on(2).post(CONTRACTS, body);
    const transition = { type: 'RENEWAL', from_contract_id: older };
    expect((await on(2).send('POST', CONTRACTS, { ...body, transition })).status).toBe(409);
    expect(ledgerOf(await read(on(8), older))).toEqual(['SEGMENT_START 100 01-01']);
  });
});

describe('what an answer says of rollovers', () => {
  const take = async (contract_id: string, amount: number) => {
    const found = await read(on(2), contract_id);
    const entry = { customer_id: customer(), contract_id, amount, reason: 'Used', timestamp: day(3) };
    await on(3).post('/v1/contracts/addManualBalanceLedgerEntry', {
      ...entry,
      id: found.text('data.commits[0].id'),
      segment_id: found.text('data.commits[0].access_schedule.schedule_items[0].id'),
    });
  };

  test('a rollover has what has rolled over as its amount, and none is shown of nothing', async () => {
    const older = await create({ commits: [rolling(1, [1000, 1, 12])] });
    const newer = await renew(older, 7);
    const id = (await read(on(2), newer)).text('data.commits[0].id');
    const listed = async (month: number) =>
      (await on(month).post('/v1/contracts/customerBalances/list', { customer_id: customer(), id })).list(
        'data',
      );
    const bare = async (month: number) =>
      await on(month).post('/v2/contracts/get', { customer_id: customer(), contract_id: newer });
    expect(segmentsOf(await read(on(2), newer))).toEqual(['1000 2026-07 2027-05']);
    await take(older, -800);
    for (const month of [4, 8]) {
      expect(segmentsOf(await read(on(month), newer))).toEqual(['200 2026-07 2027-05']);
      expect(segmentsOf(await bare(month))).toEqual(['200 2026-07 2027-05']);
      expect(await listed(month)).toMatchObject([{ access_schedule: { schedule_items: [{ amount: 200 }] } }]);
    }
    await take(older, -200);
    expect((await read(on(8), newer)).at('data.commits')).toEqual([]);
    expect((await bare(8)).at('data.commits')).toEqual([]);
    expect(await listed(8)).toEqual([]);
    const order = await on(8).get(`/v1/customers/${customer()}/drawdownOrder`, {
      query: { contract_id: newer },
    });
    expect(JSON.stringify(order.at('data'))).not.toContain(id);
  });

  test('a rollover in whose ledger something is entered is shown with an amount of 0 when nothing is left of it', async () => {
    const older = await create({ commits: [rolling(1, [1000, 1, 12])] });
    const newer = await renew(older, 7);
    await take(newer, -50);
    await take(older, -1000);
    const shown = await read(on(8), newer);
    expect(segmentsOf(shown)).toEqual(['0 2026-07 2027-05']);
    expect(ledgerOf(shown)).toContain('MANUAL -50 03-01');
  });

  test('terms of which nothing will roll over are in the warnings of the answers that create, edit and renew a contract', async () => {
    const short = { ...rolling(0.5, [100, 1, 7]), name: 'Short' };
    const body = { customer_id: customer(), starting_at: day(1), rate_card_id: catalogue.card };
    const terms = {
      ending_before: day(7),
      commits: [
        short,
        { ...rolling(0.5, [100, 1, 12]), name: 'Long' },
        { ...rolling(0, [100, 1, 7]), name: 'None' },
      ],
    };
    const lenient = { headers: { prefer: 'handling=lenient' } };
    const created = await on(1).post(CONTRACTS, { ...body, ...terms, colour: 'red' }, lenient);
    expect(created.list('warnings')).toEqual([
      {
        code: 'no_rollover',
        message: expect.stringMatching(/^commit .* \("Short"\): its access ends when the contract ends/),
      },
      { field: 'colour', message: 'is accepted and ignored' },
    ]);
    const older = created.text('data.id');
    const edited = await edit(on(2), older, { add_commits: [{ ...short, name: 'Added' }] });
    expect(edited.text('warnings[0].message')).toContain('"Added"');
    expect(edited.list('warnings')).toHaveLength(1);
    expect((await edit(on(2), older, { update_contract_name: 'Other' })).at('warnings')).toBeUndefined();
    const renewed = await on(2).post(CONTRACTS, {
      ...body,
      starting_at: day(7),
      transition: { type: 'RENEWAL', from_contract_id: older },
    });
    expect(namedIn(renewed)).toEqual(['Added', 'Short']);
  });

  test('terms of which nothing will roll over are in the warnings of the answers that move the end of a contract or edit a commit', async () => {
    const older = await create({ commits: [{ ...rolling(0.5, [100, 1, 7]), name: 'Half' }] });
    const end = async (month: number) =>
      await on(2).post('/v1/contracts/updateEndDate', {
        ...{ customer_id: customer(), contract_id: older, ending_before: day(month) },
      });
    expect(namedIn(await end(9))).toEqual(['Half']);
    const commit_id = (await read(on(2), older)).text('data.commits[0].id');
    const change = async (rollover_fraction: number) =>
      await on(2).post('/v2/contracts/commits/edit', {
        customer_id: customer(),
        commit_id,
        rollover_fraction,
      });
    expect(namedIn(await change(0.25))).toEqual(['Half']);
    expect(namedIn(await change(0))).toEqual([]);
    expect(namedIn(await end(10))).toEqual([]);
  });

  const namedIn = (answer: ApiAnswer): string[] =>
    (answer.at('warnings') === undefined ? [] : answer.list('warnings'))
      .map((one) => /\("(.*?)"\)/.exec(String(Object(one).message))?.[1] ?? '')
      .toSorted();
});
