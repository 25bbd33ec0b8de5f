/** Packages without contracts: the answer has what was sent, keys and aliases, lists, archiving. */
import { Validator } from '@seriousme/openapi-schema-validator';
import { beforeAll, describe, expect, test } from 'vitest';
import { openApiDocument } from '../../src/api/http/openapi.ts';
import { packageRoutes } from '../../src/api/routes/packages/routes.ts';
import { billingContext } from '../support/billing-context.ts';
import { ACTOR_NAME, createCatalogueApi, createdId, RATE_CARDS } from '../support/catalogue-api.ts';
import { createTermsCatalogue, type TermsCatalogue } from '../support/contract-terms.ts';
import { expectedPackage } from '../support/expected-package.ts';
import { catalogueForFile } from '../support/file-fixtures.ts';
import { days, everyTemplate, onePrepaidCommit, PACKAGES } from '../support/package-terms.ts';
import { createTestDatabase } from '../support/stores.ts';

const { pool, api } = await catalogueForFile();
let catalogue: TermsCatalogue;

beforeAll(async () => {
  catalogue = await createTermsCatalogue(api);
});

const GET = '/v1/packages/get';
const LIST = '/v1/packages/list';
const ARCHIVE = '/v1/packages/archive';
const UNKNOWN = '00000000-0000-4000-8000-000000000000';

async function get(package_id: string) {
  return api.post(GET, { package_id });
}

describe('a package', () => {
  test('a package with every kind of template is returned as it was sent, units in upper case', async () => {
    const body = { ...everyTemplate(catalogue), uniqueness_key: 'everything' };
    const created = await createdId(api, PACKAGES, body);
    const answer = await get(created);
    expect(answer.at('data')).toEqual(expectedPackage(catalogue, created, 'everything'));
    expect((await api.post(LIST, {}, { query: { limit: 100 } })).list('data')).toContainEqual(
      answer.at('data'),
    );
  });

  test('links its templates by their ids', async () => {
    const answer = await get(await createdId(api, PACKAGES, everyTemplate(catalogue)));
    const specifiers = 'data.overrides[1].override_specifiers';
    const monthly = answer.at('data.recurring_commits[0].id');
    expect(answer.at(`${specifiers}[0].commit_template_ids`)).toEqual([answer.at('data.commits[0].id')]);
    expect(answer.at(`${specifiers}[0].recurring_commit_template_ids`)).toEqual([monthly]);
    expect(answer.at(`${specifiers}[1].any_commit_or_credit_template_ids`)).toEqual([monthly]);
    const config = 'data.recurring_credits[0].subscription_config.subscription_template_id';
    expect(answer.at(config)).toBe(answer.at('data.subscriptions[0].id'));
  });

  test('a package of a name alone is a package; statements are monthly on the first unless said otherwise', async () => {
    const created = await createdId(api, PACKAGES, { name: 'Bare' });
    expect((await get(created)).at('data')).toEqual({
      id: created,
      name: 'Bare',
      aliases: [],
      usage_statement_schedule: { frequency: 'MONTHLY', day: 'FIRST_OF_MONTH' },
      multiplier_override_prioritization: 'LOWEST_MULTIPLIER',
      ...{ commits: [], credits: [], recurring_commits: [], recurring_credits: [], overrides: [] },
      ...{ scheduled_charges: [], subscriptions: [], spend_trackers: [] },
      created_at: '2026-11-20T12:34:56.789Z',
      created_by: ACTOR_NAME,
    });
  });

  test('a package may name a provider, an alias of a card, and amounts of any number of digits', async () => {
    await createdId(api, RATE_CARDS, { name: 'Aliased', aliases: [{ name: 'public' }] });
    const body = {
      ...onePrepaidCommit(catalogue),
      rate_card_id: null,
      rate_card_alias: 'public',
      billing_provider: 'aws_marketplace',
      delivery_method: 'aws_sqs',
      overrides: [
        {
          starting_at_offset: days(0),
          type: 'MULTIPLIER',
          multiplier: 0.5,
          override_specifiers: [{ product_id: catalogue.tokens }],
        },
      ],
    };
    const text = JSON.stringify(body).replace('"amount":100', '"amount":9007199254740993.0000000001');
    const created = await api.post(PACKAGES, undefined, { rawBody: text });
    const answer = await get(created.text('data.id'));
    expect(answer.digits('data.commits[0].access_schedule.schedule_items[0].amount')).toBe(
      '9007199254740993.0000000001',
    );
    expect(answer.at('data')).toMatchObject({
      rate_card_alias: 'public',
      billing_provider: 'aws_marketplace',
      delivery_method: 'aws_sqs',
      overrides: [{ multiplier: 0.5 }],
    });
  });

  test('a package takes a purchase as an amount too', async () => {
    const answer = await get(
      await createdId(api, PACKAGES, {
        name: 'Amount',
        scheduled_charges: [
          {
            product_id: catalogue.fee,
            schedule: { schedule_items: [{ amount: 12.5, date_offset: days(0) }] },
          },
        ],
      }),
    );
    expect(answer.at('data.scheduled_charges[0].schedule.schedule_items[0]')).toMatchObject({
      unit_price: 12.5,
      quantity: 1,
    });
  });

  test('a package is described by a valid OpenAPI document', async () => {
    const document = openApiDocument(
      packageRoutes(billingContext({ db: pool.db, clock: { now: () => 0 } })),
      '1',
    );
    const result = await new Validator().validate(JSON.parse(JSON.stringify(document)));
    expect(result.errors ?? []).toEqual([]);
    expect(document.components.schemas.CreatePackage).toMatchObject({ required: ['name'] });
  });
});

describe('a uniqueness key of packages', () => {
  test('a uniqueness key of packages: of parallel requests with one key exactly one creates a package, and its aliases', async () => {
    const body = { name: 'Race', uniqueness_key: 'race', aliases: [{ name: 'racer' }] };
    const answers = await Promise.all(Array.from({ length: 8 }, () => api.send('POST', PACKAGES, body)));
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, ...Array(7).fill(409)]);
    const refused = answers.find((answer) => answer.status === 409);
    expect(refused?.headers.get('x-should-retry')).toBe('false');
    expect(refused?.text('message')).toBe('This uniqueness key has already been used.');
    const winner = answers.find((answer) => answer.status === 200)?.text('data.id') ?? '';
    expect((await get(winner)).at('data.aliases')).toEqual([{ name: 'racer' }]);
    expect((await api.send('POST', PACKAGES, body)).status).toBe(409);
  });

  test('a uniqueness key of packages stays used when its package is archived', async () => {
    const body = { name: 'Gone', uniqueness_key: 'gone' };
    await api.post(ARCHIVE, { package_id: await createdId(api, PACKAGES, body) });
    expect((await api.send('POST', PACKAGES, body)).status).toBe(409);
  });
});

describe('an alias of packages', () => {
  test('an alias of packages shows its end on the earlier package once a later one takes it over', async () => {
    const first = await createdId(api, PACKAGES, { name: 'One', aliases: [{ name: 'pro' }] });
    const second = await createdId(api, PACKAGES, {
      name: 'Two',
      aliases: [{ name: 'pro', starting_at: '2027-01-01T00:00:00Z' }],
    });
    expect((await get(first)).at('data.aliases')).toEqual([
      { name: 'pro', ending_before: '2027-01-01T00:00:00.000Z' },
    ]);
    expect((await get(second)).at('data.aliases')).toEqual([
      { name: 'pro', starting_at: '2027-01-01T00:00:00.000Z' },
    ]);
    const third = await createdId(api, PACKAGES, { name: 'Three', aliases: [{ name: 'pro' }] });
    expect((await get(first)).at('data.aliases')).toEqual([]);
    expect((await get(second)).at('data.aliases')).toEqual([]);
    expect((await get(third)).at('data.aliases')).toEqual([{ name: 'pro' }]);
  });

  test('an alias of packages has one holder, whichever of several packages created at once is the last', async () => {
    const ids = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        createdId(api, PACKAGES, { name: `Rival ${index}`, aliases: [{ name: 'contested' }] }),
      ),
    );
    const held = await Promise.all(ids.map(async (one) => (await get(one)).list('data.aliases')));
    expect(held.flat()).toEqual([{ name: 'contested' }]);
  });
});

describe('lists of packages', () => {
  test('lists of packages go page after page, ten at a time unless said otherwise, without archived ones', async () => {
    const own = await createTestDatabase();
    try {
      const fresh = createCatalogueApi(own.db);
      const ids: string[] = [];
      for (let index = 0; index < 12; index += 1) {
        ids.push(await createdId(fresh, PACKAGES, { name: `Package ${index}` }));
      }
      const [archived = ''] = ids;
      await fresh.post(ARCHIVE, { package_id: archived });
      const all = async (body: Record<string, unknown>, limit: number) => {
        const found: unknown[] = [];
        let next: string | undefined;
        do {
          const page = await fresh.post(LIST, body, { query: { limit, next_page: next } });
          found.push(...page.list('data').map((_, index) => page.at(`data[${index}].id`)));
          next = page.at('next_page') === null ? undefined : page.text('next_page');
        } while (next !== undefined);
        return found.sort();
      };
      expect((await fresh.post(LIST)).list('data')).toHaveLength(10);
      expect(await all({}, 4)).toEqual(ids.slice(1).sort());
      expect(await all({ archive_filter: 'archived' }, 5)).toEqual([archived]);
      expect(await all({ archive_filter: 'ALL' }, 12)).toEqual(ids.toSorted());
      expect((await fresh.send('POST', LIST, {}, { query: { limit: 101 } })).status).toBe(400);
      expect((await fresh.send('POST', LIST, { archive_filter: 'SOME' })).status).toBe(400);
    } finally {
      await own.close();
    }
  });
});

describe('archiving a package', () => {
  test('archiving a package is final, and done once', async () => {
    const package_id = await createdId(api, PACKAGES, { name: 'Old' });
    expect((await api.post(ARCHIVE, { package_id })).at('data')).toEqual({ id: package_id });
    expect((await get(package_id)).at('data.archived_at')).toBe('2026-11-20T12:34:56.789Z');
    const again = await api.send('POST', ARCHIVE, { package_id });
    expect(again.status).toBe(400);
    expect(again.text('message')).toContain('package_id: ');
  });

  test.each([GET, ARCHIVE, '/v1/packages/listContractsOnPackage'])(
    '%s answers 404 with PackageNotFound for an unknown package',
    async (path) => {
      const answer = await api.send('POST', path, { package_id: UNKNOWN });
      expect(answer.status).toBe(404);
      expect(answer.at('code')).toBe('PackageNotFound');
    },
  );
});
