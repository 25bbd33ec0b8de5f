/** Every change of a contract has the same consequences: versions, history, rollovers and the next invoice's job. */
import { asc, eq, inArray } from 'drizzle-orm';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { loadRolloverTargets, rolloversOf } from '../../src/billing/balances/rollovers.ts';
import { loadWithheld } from '../../src/billing/balances/withheld.ts';
import { FINALIZATION_JOB } from '../../src/billing/invoice-queue/finalization.ts';
import type { FullContract } from '../../src/core/terms/contract.ts';
import { withTerms } from '../../src/store/contract-terms/contract-terms.ts';
import { contractEdits } from '../../src/store/contracts/contract-edits.tables.ts';
import { loadTransitions } from '../../src/store/contracts/contract-transitions.ts';
import { contractVersions } from '../../src/store/contracts/contracts.tables.ts';
import { loadContracts } from '../../src/store/contracts/contracts.ts';
import { jobs } from '../../src/store/jobs/jobs.tables.ts';
import {
  contractChangesDocument,
  contractVersionDocument,
} from '../../src/store/stored-documents/document-kinds.ts';
import { CONTRACTS, createdId } from '../support/catalogue-api.ts';
import { createTermsCatalogue, type TermsCatalogue } from '../support/contract-terms.ts';
import { onePrepaidCommit, PACKAGES } from '../support/package-terms.ts';
import { startTestService, type TestService } from '../support/service.ts';

const NOW = '2026-11-20T12:00:00Z';
const EDIT = '/v2/contracts/edit';
const UPDATE_END = '/v1/contracts/updateEndDate';
const ARCHIVE = '/v1/contracts/archive';
const CONFIGURE = '/v1/setCustomerBillingProviderConfigurations';

let service: TestService;
let catalogue: TermsCatalogue;

/** October of `older` is issued; `newer` will renew it in January, with half of its commit. */
interface Renewed {
  readonly customer_id: string;
  readonly configuration: string;
  readonly older: string;
  readonly newer: string;
}
let base: Renewed;

beforeAll(async () => {
  service = await startTestService({ usage: 'naive', sandboxNow: NOW });
  catalogue = await createTermsCatalogue(service.api);
});
afterAll(() => service.close());

beforeEach(async () => {
  const customer_id = await createdId(service.api, '/v1/customers', { name: 'Customer' });
  const provider = { billing_provider: 'stripe', delivery_method: 'direct_to_billing_provider' };
  const configured = await service.api.post(CONFIGURE, { data: [{ customer_id, ...provider }] });
  const configuration = configured.text('data[0].id');
  const older = await createdId(service.api, CONTRACTS, {
    ...newContract(customer_id, '2026-10-01T00:00:00Z'),
    billing_provider_configuration: { billing_provider_configuration_id: configuration },
    commits: [rollingCommit('2026-10-01T00:00:00Z')],
  });
  await service.moveClock(NOW);
  const newer = await renew(customer_id, older, '2027-01-01T00:00:00Z');
  base = { customer_id, configuration, older, newer };
});

function newContract(customer_id: string, starting_at: string) {
  return { customer_id, rate_card_id: catalogue.card, starting_at };
}

function rollingCommit(starting_at: string) {
  return {
    type: 'PREPAID',
    product_id: catalogue.fee,
    rollover_fraction: 0.5,
    access_schedule: {
      schedule_items: [{ amount: 100, starting_at, ending_before: '2028-01-01T00:00:00Z' }],
    },
  };
}

async function renew(
  customer_id: string,
  from_contract_id: string,
  starting_at: string,
  type = 'RENEWAL',
): Promise<string> {
  const transition = { type, from_contract_id };
  return createdId(service.api, CONTRACTS, { ...newContract(customer_id, starting_at), transition });
}

/** The stored objects of the contract besides itself. */
async function recordOf(contractId: string) {
  const { db } = service;
  const versions = await db
    .select({ document: contractVersions.document })
    .from(contractVersions)
    .where(eq(contractVersions.contractId, contractId))
    .orderBy(asc(contractVersions.sequence));
  const edits = await db.$count(contractEdits, eq(contractEdits.contractId, contractId));
  return { versions: versions.map(({ document }) => contractVersionDocument.read(document)), edits };
}

async function statesOfAll(): Promise<Map<string, FullContract>> {
  const filter = { customerIds: [base.customer_id], includeArchived: true };
  const states = await withTerms(service.db, await loadContracts(service.db, filter));
  return new Map(states.map((full) => [full.contract.id, full]));
}

/** The starts of the periods that wait for their invoice, by contract. */
async function queuedPeriods(contractIds: readonly string[]): Promise<Map<string, string[]>> {
  const rows = await service.db.select().from(jobs).where(eq(jobs.kind, FINALIZATION_JOB));
  return new Map(
    contractIds.map((id) => [
      id,
      rows.flatMap(({ key }) => (key.startsWith(`${id}:`) ? [key.slice(id.length + 1, -14)] : [])),
    ]),
  );
}

/** Each rollover equals the result of computing it again. */
async function expectRolloversUpToDate(states: ReadonlyMap<string, FullContract>): Promise<void> {
  const transitions = await loadTransitions(service.db, [...states.keys()]);
  const unique = new Map([...transitions.values()].flat().map((one) => [one.fromContractId, one]));
  for (const [id, { contract: target, heirs }] of await loadRolloverTargets(service.db, unique.values())) {
    const source = states.get(id);
    if (source === undefined || target.archivedAt !== null) continue;
    const isWithheld = await loadWithheld(service.db, source.terms.commits);
    const again = rolloversOf(source, target, isWithheld, heirs);
    expect(JSON.stringify(again)).toBe(JSON.stringify([...heirs.values()]));
    expect(again.length).toBeGreaterThan(0);
  }
}

interface Way {
  readonly name: string;
  /** Returns the contract that it makes, if it makes one. */
  act(): Promise<unknown>;
  /** The first open period of each contract, null where no invoice is to be issued. */
  readonly next: { older: string | null; newer: string | null; made?: string | null };
  /** Which contracts have changed. */
  readonly changed: readonly ('older' | 'newer')[];
}

const reference = () => ({ customer_id: base.customer_id, contract_id: base.older });
const edit = (changes: object) => service.api.post(EDIT, { ...reference(), ...changes });
const UNCHANGED = { older: '2026-11-01', newer: '2027-01-01' };

const WAYS: readonly Way[] = [
  {
    name: 'a new contract',
    act: () => createdId(service.api, CONTRACTS, newContract(base.customer_id, '2026-11-10T00:00:00Z')),
    next: { ...UNCHANGED, made: '2026-11-10' },
    changed: [],
  },
  {
    name: 'a new contract without prices',
    act: () =>
      createdId(service.api, CONTRACTS, {
        customer_id: base.customer_id,
        starting_at: '2026-11-10T00:00:00Z',
      }),
    next: { ...UNCHANGED, made: null },
    changed: [],
  },
  {
    name: 'a new contract of a package',
    act: async () => {
      const package_id = await createdId(service.api, PACKAGES, onePrepaidCommit(catalogue));
      const { customer_id } = base;
      return createdId(service.api, CONTRACTS, {
        customer_id,
        starting_at: '2026-11-10T00:00:00Z',
        package_id,
      });
    },
    next: { ...UNCHANGED, made: '2026-11-10' },
    changed: [],
  },
  {
    name: 'an edit of the name',
    act: () => edit({ update_contract_name: 'Other' }),
    next: UNCHANGED,
    changed: ['older'],
  },
  {
    name: 'an edit that adds what rolls over',
    act: () => edit({ add_commits: [rollingCommit('2026-10-01T00:00:00Z')] }),
    next: UNCHANGED,
    changed: ['older', 'newer'],
  },
  {
    name: 'an edit of the end',
    act: () => edit({ update_contract_end_date: '2026-11-01T00:00:00Z' }),
    next: { ...UNCHANGED, older: null },
    changed: ['older', 'newer'],
  },
  {
    name: 'an amendment that adds what rolls over',
    act: () =>
      service.api.post('/v1/contracts/amend', {
        ...reference(),
        starting_at: '2026-11-01T00:00:00Z',
        commits: [rollingCommit('2026-11-01T00:00:00Z')],
      }),
    next: UNCHANGED,
    changed: ['older', 'newer'],
  },
  {
    name: 'an earlier end, in an open period',
    act: () => service.api.post(UPDATE_END, { ...reference(), ending_before: '2026-12-15T00:00:00Z' }),
    next: UNCHANGED,
    changed: ['older', 'newer'],
  },
  {
    name: 'an end within what is issued',
    act: () => service.api.post(UPDATE_END, { ...reference(), ending_before: '2026-10-10T00:00:00Z' }),
    next: { ...UNCHANGED, older: null },
    changed: ['older', 'newer'],
  },
  {
    name: 'an end within what is issued, taken back',
    act: async () => {
      const ending_before = '2026-10-10T00:00:00Z';
      const { customer_id, newer: contract_id } = base;
      await service.api.post(ARCHIVE, { customer_id, contract_id, void_invoices: false });
      await service.api.post(UPDATE_END, { ...reference(), ending_before });
      await service.api.post(UPDATE_END, reference());
    },
    next: { older: '2026-11-01', newer: null },
    changed: ['older', 'older', 'older', 'newer'],
  },
  {
    name: 'a usage filter',
    act: () =>
      service.api.post('/v1/contracts/setUsageFilter', {
        ...reference(),
        group_key: 'model',
        group_values: ['a'],
        starting_at: '2026-11-01T00:00:00Z',
      }),
    next: UNCHANGED,
    changed: ['older'],
  },
  {
    name: 'archiving the contract',
    act: () => service.api.post(ARCHIVE, { ...reference(), void_invoices: false }),
    next: { ...UNCHANGED, older: null },
    changed: ['older', 'newer'],
  },
  {
    name: 'archiving the renewal',
    act: () => {
      const { customer_id, newer: contract_id } = base;
      return service.api.post(ARCHIVE, { customer_id, contract_id, void_invoices: false });
    },
    // The older contract is open again.
    next: { ...UNCHANGED, newer: null },
    changed: ['older', 'newer'],
  },
  {
    name: 'a renewal',
    act: () => renew(base.customer_id, base.newer, '2027-07-01T00:00:00Z'),
    next: { ...UNCHANGED, made: '2027-07-01' },
    changed: ['newer'],
  },
  {
    name: 'a contract that supersedes another',
    act: () => renew(base.customer_id, base.newer, '2027-07-01T00:00:00Z', 'SUPERSEDE'),
    next: { ...UNCHANGED, made: '2027-07-01' },
    changed: ['newer'],
  },
  {
    name: 'archiving the billing configuration',
    act: () =>
      service.api.post('/v1/archiveCustomerBillingProviderConfigurations', {
        customer_id: base.customer_id,
        customer_billing_provider_configuration_ids: [base.configuration],
      }),
    next: UNCHANGED,
    changed: ['older'],
  },
  {
    name: 'archiving the customer',
    act: () => service.api.post('/v1/customers/archive', { id: base.customer_id }),
    next: { older: null, newer: null },
    changed: ['older', 'newer'],
  },
];

describe('what follows from', () => {
  test.each(WAYS)('$name', async ({ act, next, changed }) => {
    const { older, newer } = base;
    const before = await statesOfAll();
    const records = { older: await recordOf(older), newer: await recordOf(newer) };
    const made = await act();
    const after = await statesOfAll();
    for (const name of ['older', 'newer'] as const) {
      const times = changed.filter((one) => one === name).length;
      const record = await recordOf(base[name]);
      expect(record.edits - records[name].edits, `changes of the ${name} contract in its history`).toBe(
        times,
      );
      const kept = record.versions.slice(records[name].versions.length);
      expect(kept, `states of the ${name} contract that are kept`).toHaveLength(times);
      const states = [...kept, after.get(base[name])].map((state) => JSON.stringify(state));
      expect(JSON.parse(states[0] ?? '')).toEqual(JSON.parse(JSON.stringify(before.get(base[name]))));
      expect(new Set(states).size).toBe(times + 1);
    }
    const ids = typeof made === 'string' ? [older, newer, made] : [older, newer];
    const expected = [next.older, next.newer, next.made ?? null];
    const queued = await queuedPeriods(ids);
    expect([...queued.values()]).toEqual(
      ids.map((_, index) => [expected[index] ?? null].filter((start) => start !== null)),
    );
    await expectRolloversUpToDate(after);
  });
});

test('a change of many contracts follows each chain of renewals once it is done', async () => {
  const { customer_id, older, newer } = base;
  const last = await renew(customer_id, newer, '2027-07-01T00:00:00Z');
  await service.api.post('/v1/customers/archive', { id: customer_id });
  const edits = await service.db
    .select({ contractId: contractEdits.contractId, changes: contractEdits.changes })
    .from(contractEdits)
    .where(inArray(contractEdits.contractId, [older, newer, last]))
    .orderBy(asc(contractEdits.sequence));
  const archived = edits.filter(({ changes }) => contractChangesDocument.read(changes).archivedAt !== null);
  expect(archived.map(({ contractId }) => contractId).sort()).toEqual([older, newer, last].sort());
  // Two ends that the renewals brought, and nothing about rollovers that are archived themselves.
  expect(edits).toHaveLength(5);
});
