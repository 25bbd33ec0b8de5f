/**
 * A change of a contract and its renewal at the same time, both of which change a balance: whichever comes first, the
 * renewal rolls over what the change leaves, once.
 */
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase, type DatabasePool } from '../../src/store/base/database.ts';
import type { ApiAnswer, ApiClient } from '../support/api-client.ts';
import { CONTRACTS, createCatalogueApi, createdId } from '../support/catalogue-api.ts';
import { createTermsCatalogue, type TermsCatalogue } from '../support/contract-terms.ts';
import { clickhouseForFile, databaseForFile } from '../support/file-fixtures.ts';
import { day, ledgerOf } from '../support/renewals.ts';
import { runs } from '../support/shares-of-tests.ts';
import { waitingForLocks } from '../support/wait-for-lock.ts';

const pool = await databaseForFile();
const clickhouse = await clickhouseForFile();
/** Another process on the same database. */
let others: DatabasePool;
let editing: ApiClient;
let renewing: ApiClient;
let later: ApiClient;
let catalogue: TermsCatalogue;

beforeAll(async () => {
  others = createDatabase(pool.connection);
  const now = Date.parse(day(2));
  editing = createCatalogueApi(pool.db, { now, clickhouse });
  renewing = createCatalogueApi(others.db, { now, clickhouse });
  later = createCatalogueApi(pool.db, { now: Date.parse(day(8)), clickhouse });
  catalogue = await createTermsCatalogue(editing);
});
afterAll(() => others.close());

interface Older {
  readonly customer_id: string;
  readonly contract_id: string;
  readonly commit_id: string;
  readonly segment: string;
}

/** A contract from January on with a commit of 100 for the year, half of which rolls over. */
async function olderContract(): Promise<Older> {
  const customer_id = await createdId(editing, '/v1/customers', { name: 'Renewed' });
  const contract_id = await createdId(editing, CONTRACTS, {
    ...{ customer_id, rate_card_id: catalogue.card, starting_at: day(1) },
    commits: [
      {
        ...{ type: 'PREPAID', product_id: catalogue.fee, rollover_fraction: 0.5 },
        access_schedule: { schedule_items: [{ amount: 100, starting_at: day(1), ending_before: day(12) }] },
      },
    ],
  });
  const found = await read(editing, { customer_id, contract_id });
  return {
    ...{ customer_id, contract_id, commit_id: found.text('data.commits[0].id') },
    segment: found.text('data.commits[0].access_schedule.schedule_items[0].id'),
  };
}

function read(api: ApiClient, contract: Pick<Older, 'customer_id' | 'contract_id'>): Promise<ApiAnswer> {
  const { customer_id, contract_id } = contract;
  return api.post('/v2/contracts/get', {
    ...{ customer_id, contract_id, include_balance: true, include_ledgers: true },
  });
}

/** From July on. */
function renew({ customer_id, contract_id }: Older): Promise<ApiAnswer> {
  const transition = { type: 'RENEWAL', from_contract_id: contract_id };
  return renewing.send('POST', CONTRACTS, {
    ...{ customer_id, rate_card_id: catalogue.card, starting_at: day(7), transition },
  });
}

type Change = (older: Older) => Promise<ApiAnswer>;

const edit = ({ customer_id, contract_id }: Older, changes: object) =>
  editing.send('POST', '/v2/contracts/edit', { customer_id, contract_id, ...changes });
const grant = (amount: number) => (older: Older) =>
  edit(older, {
    update_commits: [
      {
        commit_id: older.commit_id,
        access_schedule: { update_schedule_items: [{ id: older.segment, amount }] },
      },
    ],
  });
const archive: Change = (older) => edit(older, { archive_commits: [{ id: older.commit_id }] });
const endInMay: Change = ({ customer_id, contract_id }) =>
  editing.send('POST', '/v1/contracts/updateEndDate', {
    ...{ customer_id, contract_id, ending_before: day(5) },
  });
const use80: Change = ({ customer_id, contract_id, commit_id, segment }) =>
  editing.send('POST', '/v1/contracts/addManualBalanceLedgerEntry', {
    ...{ customer_id, contract_id, id: commit_id, segment_id: segment, amount: -80, reason: 'used' },
  });

/** The commits of the newer contract in August, and the ledger of the source. */
async function outcome(older: Older, renewed: ApiAnswer) {
  const contract_id = renewed.text('data.id');
  const newer = await read(later, { customer_id: older.customer_id, contract_id });
  const balances = newer
    .list('data.commits')
    .map((_, index) => Number(newer.digits(`data.commits[${index}].balance`)));
  return {
    rolledOver: balances.reduce((sum, one) => sum + one, 0),
    ledger: ledgerOf(await read(later, older)),
  };
}

const CHANGES: readonly [what: string, change: Change, rolledOver: number, ledger: string[]][] = [
  [
    'raises the amount',
    grant(300),
    150,
    ['SEGMENT_START 300 01-01', 'ROLLOVER -150 07-01', 'EXPIRATION -150 07-01'],
  ],
  [
    'lowers the amount',
    grant(40),
    20,
    ['SEGMENT_START 40 01-01', 'ROLLOVER -20 07-01', 'EXPIRATION -20 07-01'],
  ],
  ['ends the contract before', endInMay, 0, ['SEGMENT_START 100 01-01', 'EXPIRATION -100 05-01']],
  [
    'takes from the balance',
    use80,
    20,
    ['SEGMENT_START 100 01-01', 'MANUAL -80 01-01', 'ROLLOVER -20 07-01'],
  ],
];

/** Both wait for the contract, the first before the second. */
async function inOrder(
  { contract_id }: Older,
  first: () => Promise<ApiAnswer>,
  second: () => Promise<ApiAnswer>,
): Promise<[ApiAnswer, ApiAnswer]> {
  const started: Promise<ApiAnswer>[] = [];
  await pool.db.transaction(async (tx) => {
    await tx.execute(sql`select 1 from contracts where id = ${contract_id} for update`);
    for (const [index, start] of [first, second].entries()) {
      started.push(start());
      await expect.poll(() => waitingForLocks(pool.db)).toBe(index + 1);
    }
  });
  const [one, other] = await Promise.all(started);
  if (one === undefined || other === undefined) throw new Error('both were started');
  return [one, other];
}

describe('a renewal that meets a change which', () => {
  test.each(CHANGES)(
    '%s rolls over what it leaves, whichever is first',
    async (_, change, rolledOver, ledger) => {
      for (let round = 0; round < runs(9); round += 1) {
        const older = await olderContract();
        const start = [() => change(older), () => renew(older)];
        const answers = await Promise.all((round % 2 === 0 ? start : start.toReversed()).map((one) => one()));
        expect(answers.map(({ status }) => status)).toEqual([200, 200]);
        const renewed = answers[round % 2 === 0 ? 1 : 0];
        if (renewed === undefined) throw new Error('it was renewed');
        expect(await outcome(older, renewed)).toEqual({ rolledOver, ledger });
      }
    },
  );

  // An entry by hand waits for nothing.
  test.each(CHANGES.filter(([, change]) => change !== use80))(
    '%s waits for it and for nothing else',
    async (_, change, rolledOver, ledger) => {
      for (const isFirst of [true, false]) {
        const older = await olderContract();
        const [changing, renewal] = [() => change(older), () => renew(older)];
        const answers = isFirst
          ? await inOrder(older, changing, renewal)
          : await inOrder(older, renewal, changing);
        expect(answers.map(({ status }) => status)).toEqual([200, 200]);
        expect(await outcome(older, answers[isFirst ? 1 : 0])).toEqual({ rolledOver, ledger });
      }
    },
  );

  test('a renewal that meets a change which archives the commit leaves nothing to roll over', async () => {
    for (const isFirst of [true, false]) {
      const older = await olderContract();
      const [changing, renewal] = [() => archive(older), () => renew(older)];
      const answers = isFirst
        ? await inOrder(older, changing, renewal)
        : await inOrder(older, renewal, changing);
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      expect((await outcome(older, answers[isFirst ? 1 : 0])).rolledOver).toBe(0);
    }
  });
});
