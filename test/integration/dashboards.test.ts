/** Dashboards for the eyes of one customer: what their signed addresses allow, to whom, and until when. */
import { beforeAll, describe, expect, it } from 'vitest';
import { createDashboardLinks } from '../../src/access/dashboard-links.ts';
import { ADD_RATES, CONTRACTS, createdId, METRICS, PRODUCTS, RATE_CARDS } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';

const GET_URL = '/v1/dashboards/getEmbeddableUrl';
const ORIGIN = 'https://app.acme.example';
const FORBIDDEN = { of: 'the address is not signed' } as const;

const service = await serviceForFile({ dashboardOrigins: [ORIGIN, 'http://localhost:8080'] });
const { api } = service;

interface Customer {
  readonly id: string;
  readonly contract: string;
  readonly invoice: string;
}

let acme: Customer;
let other: Customer;
let metric: string;
let hidden: string;
let cards = 0;

async function customerWith(alias: string, card: string, tokens: string): Promise<Customer> {
  const id = await createdId(api, '/v1/customers', { name: `The ${alias}`, ingest_aliases: [alias] });
  const contract = await createdId(api, CONTRACTS, {
    customer_id: id,
    rate_card_id: card,
    starting_at: '2026-11-01T00:00:00Z',
  });
  await api.post('/v1/ingest', [
    {
      transaction_id: `${alias}-1`,
      customer_id: alias,
      event_type: 'completion',
      timestamp: '2026-11-05T10:00:00Z',
      properties: { model: 'large', tokens },
    },
  ]);
  const credit = { credit_type_id: '2714e483-4ff1-48e4-9e25-ac732e8f24f2' };
  await api.post('/v1/contracts/customerCredits/create', {
    customer_id: id,
    product_id: await createdId(api, PRODUCTS, { name: `Welcome to ${alias}`, type: 'FIXED' }),
    name: `Credit of ${alias}`,
    description: 'internal: they complained',
    priority: 1,
    access_schedule: {
      ...credit,
      schedule_items: [
        { amount: 0.1, starting_at: '2026-11-01T00:00:00Z', ending_before: '2027-01-01T00:00:00Z' },
      ],
    },
  });
  const invoice = (await api.get(`/v1/customers/${id}/invoices`)).text('data[0].id');
  return { id, contract, invoice };
}

async function newCard(name: string, metricId: string): Promise<string> {
  const card = await createdId(api, RATE_CARDS, { name: `${name} ${cards++}` });
  const product_id = await createdId(api, PRODUCTS, {
    name,
    type: 'USAGE',
    billable_metric_id: metricId,
    pricing_group_key: ['model'],
  });
  const rate = { starting_at: '2026-01-01T00:00:00Z', entitled: true, rate_type: 'FLAT', price: 0.1 };
  await api.post(ADD_RATES, {
    rate_card_id: card,
    rates: [{ ...rate, product_id, pricing_group_values: { model: 'large' } }],
  });
  return card;
}

beforeAll(async () => {
  metric = await createdId(api, METRICS, {
    name: 'Tokens',
    sql: "SELECT SUM(properties.tokens) AS value, properties.model AS model FROM events WHERE event_type = 'completion' GROUP BY model",
  });
  hidden = await createdId(api, METRICS, { name: 'Our own costs', aggregation_type: 'COUNT' });
  const card = await newCard('Tokens', metric);
  acme = await customerWith('acme', card, '0.123456789012');
  other = await customerWith('globex', card, '77777');
});

async function addressOf(body: Record<string, unknown>, token?: string): Promise<string> {
  const answer = await api.post(
    GET_URL,
    { customer_id: acme.id, dashboard: 'invoices', ...body },
    {
      ...(token === undefined ? {} : { token }),
    },
  );
  return answer.text('data.url');
}

const textOf = (url: string) => url.slice(url.lastIndexOf('/') + 1);

/** Reads with the token of a page that has this address. */
const read = (text: string, path: string, query: Record<string, string> = {}) =>
  api.send('GET', `/v1/dashboards/${path}`, undefined, {
    token: null,
    headers: { authorization: `Dashboard ${text}` },
    query,
  });

describe('the address of a dashboard', () => {
  it('the address of a dashboard is one of this service, and shows a page that only the named origins may frame', async () => {
    const url = await addressOf({});
    expect(url).toMatch(new RegExp(`^${service.url}/dashboards/[\\w-]+[.][\\w-]{43}$`));
    const page = await fetch(url);
    expect(page.status).toBe(200);
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain(`frame-ancestors ${ORIGIN} http://localhost:8080`);
    expect(policy).toContain("default-src 'self'; script-src 'self';");
    expect(page.headers.get('x-frame-options')).toBe(null);
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    const html = await page.text();
    expect(html).not.toContain(service.token);
    expect(html).not.toContain('The acme');
    // Everything else of the service stays out of frames.
    for (const path of ['/console', '/docs', '/v1/dashboards/view']) {
      expect((await fetch(service.url + path)).headers.get('x-frame-options')).toBe('DENY');
    }
  });

  it.each([
    ['billing.example', 'billing.example'],
    ['billing.example:8443, proxy.internal', 'billing.example:8443'],
    ['[2001:db8::1]:443', '[2001:db8::1]:443'],
    // Values that are no host are ignored.
    ...[
      'evil.example/x?',
      'user@evil.example',
      'evil.example#',
      'a b',
      '[::1',
      'a:99999',
      '',
      `${'a.'.repeat(200)}x`,
    ].map((header): [string, string] => [header, new URL(service.url).host]),
  ])('the address of a dashboard, asked for with the forwarded host %j, is at %s', async (header, host) => {
    const { body } = await api.post(
      GET_URL,
      { customer_id: acme.id, dashboard: 'invoices' },
      { headers: { 'x-forwarded-host': header, 'x-forwarded-proto': 'https' } },
    );
    const { url } = (body as { data: { url: string } }).data;
    expect(url.slice(0, url.indexOf('/dashboards/'))).toBe(`https://${host}`);
  });

  it.each([
    ['cut', (text: string) => text.slice(0, -1)],
    ['without a signature', (text: string) => text.split('.')[0] ?? ''],
    ['with an empty signature', (text: string) => `${text.split('.')[0]}.`],
    ['with something behind it', (text: string) => `${text}.`],
    ['with another last character', (text: string) => text.slice(0, -1) + (text.endsWith('A') ? 'B' : 'A')],
    ['that is none', () => 'abc'],
  ])('the address of a dashboard is refused %s', async (_how, change) => {
    const text = change(textOf(await addressOf({})));
    expect(text).not.toBe('');
    const answers = [await fetch(`${service.url}/dashboards/${text}`), await read(text, 'invoices')];
    expect(
      answers.map(({ status }) => status),
      FORBIDDEN.of,
    ).toEqual([403, 403]);
  });

  it('the address of a dashboard is refused with any other character, the claims of another customer or the signature of another', async () => {
    const [mine, theirs] = [textOf(await addressOf({})), textOf(await addressOf({ customer_id: other.id }))];
    const [claims = '', signature = ''] = mine.split('.');
    const forged = Buffer.from(
      Buffer.from(claims, 'base64url').toString().replace(acme.id, other.id),
    ).toString('base64url');
    for (const text of [`${forged}.${signature}`, `${claims}.${theirs.split('.')[1]}`]) {
      expect((await read(text, 'view')).status).toBe(403);
    }
    for (let at = 0; at < mine.length; at += 7) {
      const changed = mine.slice(0, at) + (mine[at] === 'x' ? 'y' : 'x') + mine.slice(at + 1);
      expect((await read(changed, 'view')).status).toBe(403);
    }
  });

  it('the address of a dashboard ends after an hour, or when it says', async () => {
    const now = Date.parse((await api.get('/v1/sandbox/clock')).text('data.now'));
    const at = (minutes: number) =>
      createDashboardLinks({ db: service.db, clock: { now: () => now + minutes * 60_000 } });
    const hour = textOf(await addressOf({}));
    await expect(at(59).open(hour)).resolves.toMatchObject({ customerId: acme.id });
    await expect(at(60).open(hour)).rejects.toThrow('has ended');
    const short = textOf(await addressOf({ dashboard_options: [{ key: 'expires_in_minutes', value: '5' }] }));
    await expect(at(4).open(short)).resolves.toMatchObject({ dashboard: 'invoices' });
    await expect(at(5).open(short)).rejects.toThrow('has ended');
  });

  it('the address of a dashboard ends with the token that asked for it', async () => {
    const issued = await api.post('/v1/tokens/create', { name: 'portal', scope: 'read' });
    const text = textOf(await addressOf({}, issued.text('data.token')));
    expect((await read(text, 'view')).status).toBe(200);
    await api.post('/v1/tokens/revoke', { id: issued.text('data.id') });
    expect((await read(text, 'view')).status).toBe(403);
  });

  it('the address of a dashboard works in every process of the service, also after a restart', async () => {
    const text = textOf(await addressOf({}));
    const clock = { now: () => Date.parse('2026-11-10T00:00:00Z') };
    const elsewhere = createDashboardLinks({ db: service.db, clock });
    await expect(elsewhere.open(text)).resolves.toMatchObject({ customerId: acme.id });
    await service.restart();
    expect((await read(text, 'view')).status).toBe(200);
  });

  it('the address of a dashboard is given to tokens that read, and to nobody else', async () => {
    const sender = await api.post('/v1/tokens/create', { name: 'gateway', scope: 'ingest' });
    const body = { customer_id: acme.id, dashboard: 'usage' };
    const answers = [null, sender.text('data.token')].map((token) =>
      api.send('POST', GET_URL, body, { token }),
    );
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([401, 403]);
  });

  it.each<[string, object, RegExp]>([
    ['an unknown dashboard', { dashboard: 'costs' }, /^dashboard: /],
    [
      'an unknown option',
      { dashboard_options: [{ key: 'invoice_kind', value: 'x' }] },
      /^dashboard_options\[0\][.]key: .*not an option/,
    ],
    [
      'an option of another dashboard',
      { dashboard: 'usage', dashboard_options: [{ key: 'contract_id', value: 'x' }] },
      /^dashboard_options\[0\][.]key: contract_id is not an option of the dashboard usage/,
    ],
    [
      'an unknown language',
      { dashboard_options: [{ key: 'language', value: 'xx' }] },
      /^dashboard_options\[0\][.]value: must be one of en, de, es, fr/,
    ],
    [
      'too long a time',
      { dashboard_options: [{ key: 'expires_in_minutes', value: '1441' }] },
      /^dashboard_options\[0\][.]value: must be a whole number from 1 to 1440/,
    ],
    [
      'what is no colour',
      { color_overrides: [{ name: 'Gray_dark', value: 'url(x)' }] },
      /^color_overrides\[0\][.]value: .*hexadecimal/,
    ],
    [
      'an unknown colour',
      { color_overrides: [{ name: 'Pink', value: '#fff' }] },
      /^color_overrides\[0\][.]name: /,
    ],
    [
      'more than fits into an address',
      {
        bm_group_key_overrides: Array.from({ length: 50 }, (_, index) => ({
          group_key_name: `${index}`.padEnd(200, 'k'),
        })),
      },
      /too long for an address/,
    ],
  ])('the address of a dashboard is refused for %s, with the field', async (_what, change, message) => {
    const answer = await api.send('POST', GET_URL, {
      customer_id: acme.id,
      dashboard: 'invoices',
      ...change,
    });
    expect(answer.status).toBe(400);
    expect(answer.text('message')).toMatch(message);
  });

  it('the address of a dashboard needs a customer that exists', async () => {
    const nobody = { customer_id: 'c0000000-0000-4000-8000-000000000001', dashboard: 'usage' };
    expect((await api.send('POST', GET_URL, nobody)).status).toBe(404);
  });
});

describe('what the page reads', () => {
  it('a dashboard reads the invoices of the API, without the parts that are not meant for the customer', async () => {
    const text = textOf(await addressOf({}));
    const list = await read(text, 'invoices');
    expect(list.list('data')).toHaveLength(1);
    const whole = await api.get(`/v1/customers/${acme.id}/invoices/${acme.invoice}`);
    const shown = await read(text, `invoices/${acme.invoice}`);
    for (const member of ['data.total', 'data.line_items[0].total', 'data.line_items[0].quantity']) {
      expect(shown.digits(member)).toBe(whole.digits(member));
    }
    expect(shown.digits('data.line_items[0].quantity')).toBe('0.123456789012');
    for (const secret of ['custom_fields', 'customer_id', 'external', 'warnings', 'contract_id']) {
      expect(JSON.stringify(shown.body)).not.toContain(secret);
    }
    expect((await read(text, `invoices/${acme.invoice}/pdf`)).status).toBe(200);
  });

  it('a dashboard reads nothing of another customer, whatever is asked for', async () => {
    const text = textOf(await addressOf({}));
    const asked = [
      read(text, `invoices/${other.invoice}`),
      read(text, `invoices/${other.invoice}/pdf`),
      api.send('GET', `/v1/customers/${other.id}`, undefined, {
        token: null,
        headers: { authorization: `Dashboard ${text}` },
      }),
    ];
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([404, 404, 401]);
    for (const query of [{ customer_id: other.id }, { contract_id: other.contract }]) {
      const list = await read(text, 'invoices', query);
      expect(JSON.stringify(list.body)).not.toContain(other.invoice);
    }
    const usage = textOf(await addressOf({ dashboard: 'usage' }));
    const rows = await read(usage, 'usage', { ...november(), customer_id: other.id });
    expect(rows.digits('data[4].value')).toBe('0.123456789012');
  });

  it('a dashboard reads only the data that it shows, and nothing of other dashboards', async () => {
    const paths = ['view', 'invoices', 'metrics', 'usage', 'balances'];
    const allowed = async (dashboard: string) => {
      const text = textOf(await addressOf({ dashboard }));
      const answers = paths.map((path) => read(text, path, path === 'usage' ? november() : {}));
      return (await Promise.all(answers)).map(({ status }) => status);
    };
    expect(await allowed('invoices')).toEqual([200, 200, 403, 403, 403]);
    expect(await allowed('usage')).toEqual([200, 403, 200, 200, 403]);
    expect(await allowed('commits_and_credits')).toEqual([200, 403, 403, 403, 200]);
    expect(await allowed('credits')).toEqual([200, 403, 403, 403, 200]);
  });

  const november = () => ({
    billable_metric_id: metric,
    window_size: 'DAY',
    starting_on: '2026-11-01T00:00:00Z',
    ending_before: '2026-12-01T00:00:00Z',
  });

  it('a dashboard reads the metrics that have a price, without their definition, and their usage', async () => {
    const text = textOf(await addressOf({ dashboard: 'usage' }));
    const metrics = await read(text, 'metrics');
    expect(metrics.body).toMatchObject({ data: [{ id: metric, name: 'Tokens' }] });
    expect(JSON.stringify(metrics.body)).not.toMatch(/SELECT|Our own costs/);
    const refused = await read(text, 'usage', { ...november(), billable_metric_id: hidden });
    expect(refused.status).toBe(404);
    const byModel = await read(text, 'usage', { ...november(), group_key: 'model' });
    expect(byModel.body).toMatchObject({ data: [{ group: { model: 'large' } }] });
  });

  it('a dashboard reads balances with their ledgers, exact, without notes for the operator', async () => {
    const text = textOf(await addressOf({ dashboard: 'credits' }));
    const balances = await read(text, 'balances');
    expect(balances.digits('data[0].access_schedule.schedule_items[0].amount')).toBe('0.1');
    // 0.123456789012 tokens at 0.1 cents, of 0.1 cents.
    expect(balances.digits('data[0].balance')).toBe('0.0876543210988');
    expect(balances.text('data[0].name')).toBe('Credit of acme');
    expect(JSON.stringify(balances.body)).not.toContain('complained');
    const hides = [{ key: 'hide_grant_name', value: 'true' }];
    const unnamed = textOf(await addressOf({ dashboard: 'credits', dashboard_options: hides }));
    expect((await read(unnamed, 'balances')).text('data[0].name')).toBe('Welcome to acme');
    const unit = [{ key: 'credit_ledger_credit_type_id', value: acme.id }];
    const elsewhere = textOf(await addressOf({ dashboard: 'credits', dashboard_options: unit }));
    expect((await read(elsewhere, 'balances')).list('data')).toEqual([]);
  });

  it.each([
    [[{ key: 'invoice_status_filter', value: 'FINALIZED' }], 0],
    [[{ key: 'invoice_status_filter', value: 'DRAFT' }], 1],
    [[{ key: 'invoice_status_filter', value: 'FINALIZED_AND_DRAFT' }], 1],
    [[{ key: 'invoice_type', value: 'SCHEDULED' }], 0],
    [[{ key: 'hide_voided_invoices', value: 'true' }], 1],
    [[{ key: 'contract_id', value: 'c0000000-0000-4000-8000-000000000007' }], 0],
  ])('a dashboard follows the options %j, in the list and for one invoice', async (options, shown) => {
    const text = textOf(await addressOf({ dashboard_options: options }));
    expect((await read(text, 'invoices')).list('data')).toHaveLength(shown);
    for (const path of [`invoices/${acme.invoice}`, `invoices/${acme.invoice}/pdf`]) {
      expect((await read(text, path)).status).toBe(shown === 1 ? 200 : 404);
    }
  });

  it('a dashboard reads how its page looks and the names of groups', async () => {
    const look = {
      color_overrides: [{ name: 'Gray_dark', value: '#ff0000' }],
      dashboard_options: [{ key: 'language', value: 'de' }],
      bm_group_key_overrides: [
        { group_key_name: 'model', display_name: 'Modell', value_display_names: { large: 'Groß' } },
      ],
    };
    const view = await read(textOf(await addressOf({ dashboard: 'usage', ...look })), 'view');
    expect(view.body).toMatchObject({
      data: {
        customer_name: 'The acme',
        dashboard: 'usage',
        options: { language: 'de' },
        colors: { Gray_dark: '#ff0000' },
        groups: [{ key: 'model', name: 'Modell', values: { large: 'Groß' } }],
        expires_at: '2026-11-10T01:00:00.000Z',
      },
    });
  });

  it('a request without the address of a dashboard is refused, naming what is missing', async () => {
    const answer = await api.send('GET', '/v1/dashboards/view', undefined, { token: null });
    expect([answer.status, answer.text('message')]).toEqual([
      401,
      'Missing address: send the header "Authorization: Dashboard <text>"',
    ]);
  });
});
