import { generateKeyPairSync } from 'node:crypto';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { misspeltLine, misspeltSettings } from '../../src/app/failures/misspelt-settings.ts';
import { ConfigError, loadConfig, SETTINGS } from '../../src/config.ts';

const KEY = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();

const ED25519 = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

describe('the configuration', () => {
  test('works with nothing set', () => {
    expect(loadConfig({})).toEqual({
      port: 3000,
      host: '127.0.0.1',
      dataDir: resolve('.data'),
      backupDir: undefined,
      backupSchedule: undefined,
      backupKeep: 14,
      databaseUrl: undefined,
      clickhouseUrl: undefined,
      clickhouseCluster: undefined,
      apiToken: undefined,
      gracePeriodHours: 24,
      invoiceLinesMax: 200_000,
      subscriptionSeatsMax: 1_000,
      ingestWindowDays: 34,
      knownIdsRecent: 10_000_000,
      otlpCustomerAttributes: ['tallyhouse.customer'],
      otlpCachedBesideInput: [],
      cloudEventsIdentity: 'source-and-id',
      invoiceNumberPattern: 'INV-{year}-{number:6}',
      creditNoteNumberPattern: 'CN-{year}-{number:6}',
      seller: { name: null, address: [], taxId: null, email: null, note: [] },
      invoiceFont: undefined,
      invoiceDecimals: undefined,
      stripe: { apiKey: undefined, webhookSecret: undefined, apiBase: undefined, leavesInDraft: false },
      networkServices: [],
      dashboardOrigins: [],
      strictFields: true,
      requestRates: { ingest: 10_000, read: 1_000, write: 500 },
      sessionLimits: { hours: 12, idleHours: 8 },
      webhookAllowPrivate: false,
      alertLimits: { global: 300, perCustomer: 1_200 },
      logLevel: 'info',
      sandboxNow: undefined,
      workerThreads: 4,
    });
  });

  test('the configuration takes a schedule of backups with their directory, and for an embedded ClickHouse', () => {
    const env = { BACKUP_SCHEDULE: '30 2 * * *', BACKUP_DIR: '/backups' };
    expect(loadConfig(env)).toMatchObject({ backupSchedule: '30 2 * * *', backupDir: '/backups' });
    expect(() => loadConfig({ ...env, CLICKHOUSE_URL: 'http://ch/x' })).toThrow(/^BACKUP_SCHEDULE is for/);
  });

  test.each([
    "Disk('backups', 'of tallyhouse')",
    "File('/backups/')",
    "S3('https://s3/x', 'key', 'secret')",
    "S3('https://s3/x')",
  ])('the configuration takes %s as the place of backups of ClickHouse', (place) => {
    expect(loadConfig({ BACKUP_CLICKHOUSE: place })).toMatchObject({ backupClickhouse: place });
  });

  test('the configuration takes s3:// as the place of backups', () => {
    expect(loadConfig({ BACKUP_DIR: 's3://bucket/a' })).toMatchObject({ backupDir: 's3://bucket/a' });
  });

  describe('the settings of an identity provider', () => {
    const env = {
      OIDC_ISSUER: 'https://login.acme.example/',
      OIDC_CLIENT_ID: 'tallyhouse',
      OIDC_CLIENT_SECRET: 'a secret',
      OIDC_ROLES: 'cn=fin=finance , care team = support,',
    };

    test('the settings of an identity provider map values of a claim to roles, around which blanks are nothing', () => {
      expect(loadConfig({ ...env, OIDC_ADMINS: 'Ada@Acme.example, b@x.example' }).identityProvider).toEqual({
        issuer: 'https://login.acme.example/',
        clientId: 'tallyhouse',
        credential: { secret: 'a secret' },
        scopes: 'openid profile email',
        roles: {
          claim: 'groups',
          mapped: [
            { value: 'cn=fin', role: 'finance' },
            { value: 'care team', role: 'support' },
          ],
          defaultRole: undefined,
          admins: ['ada@acme.example', 'b@x.example'],
        },
      });
    });

    test('the settings of an identity provider take a private key instead of a secret, with \\n for line breaks', () => {
      const { identityProvider } = loadConfig({
        ...env,
        OIDC_CLIENT_SECRET: '',
        OIDC_PRIVATE_KEY: KEY.replaceAll('\n', '\\n'),
      });
      expect(identityProvider?.credential).toHaveProperty('privateKey.asymmetricKeyType', 'ec');
    });

    test.each([
      ['http://localhost:9', true],
      ['http://127.0.0.1:9/realm', true],
      ['http://[::1]:9', true],
      ['http://login.acme.example', false],
      ['http://localhost.evil.example', false],
      ['https://login.acme.example/?x=1', false],
      ['https://user:secret@login.acme.example', false],
      ['login.acme.example', false],
    ])('the settings of an identity provider with the issuer %s: %s', (issuer, isAccepted) => {
      const load = () => loadConfig({ ...env, OIDC_ISSUER: issuer }).identityProvider?.issuer;
      if (isAccepted) expect(load()).toBe(issuer);
      else expect(load).toThrow(/^OIDC_ISSUER must be a URL with https/);
    });

    test.each<readonly [change: Record<string, string>, message: string]>([
      [{ OIDC_CLIENT_ID: '' }, 'OIDC_ISSUER needs OIDC_CLIENT_ID'],
      [{ OIDC_CLIENT_SECRET: '' }, 'OIDC_ISSUER needs OIDC_CLIENT_SECRET or OIDC_PRIVATE_KEY'],
      [{ OIDC_PRIVATE_KEY: KEY }, 'OIDC_PRIVATE_KEY cannot be set beside OIDC_CLIENT_SECRET'],
      [{ OIDC_CLIENT_SECRET: '', OIDC_PRIVATE_KEY: 'secret' }, 'OIDC_PRIVATE_KEY must be a private key'],
      [{ OIDC_CLIENT_SECRET: '', OIDC_PRIVATE_KEY: ED25519 }, 'OIDC_PRIVATE_KEY must be a private key'],
      [{ OIDC_ISSUER: '' }, 'OIDC_CLIENT_ID needs OIDC_ISSUER'],
      [{ OIDC_ROLES: '' }, 'OIDC_ISSUER needs OIDC_ROLES, OIDC_DEFAULT_ROLE or OIDC_ADMINS'],
      [{ OIDC_ROLES: 'finance' }, 'OIDC_ROLES must be claim value=role'],
      [{ OIDC_ROLES: '=finance' }, 'OIDC_ROLES must be claim value=role'],
      [{ OIDC_ROLES: 'a=two words' }, 'OIDC_ROLES must be claim value=role'],
      [{ OIDC_ADMINS: 'ada' }, 'OIDC_ADMINS must be addresses'],
      [{ OIDC_SCOPES: 'profile email' }, 'OIDC_SCOPES must contain openid'],
    ])('the settings of an identity provider are refused with %j', (change, message) => {
      expect(() => loadConfig({ ...env, ...change })).toThrow(message);
    });
  });

  test('the configuration takes an empty value as unset', () => {
    expect(loadConfig({ DATABASE_URL: '', PORT: '' })).toMatchObject({ databaseUrl: undefined, port: 3000 });
  });

  test('reads every key', () => {
    const env = {
      PORT: '0',
      HOST: '0.0.0.0',
      DATA_DIR: '/data',
      BACKUP_DIR: '/backups',
      BACKUP_KEEP: '3',
      DATABASE_URL: 'postgres://u:p@db/x',
      CLICKHOUSE_URL: 'http://u:p@ch:8123/x',
      CLICKHOUSE_CLUSTER: 'prod',
      API_TOKEN: 'secret-of-16-or-more',
      RATE_LIMIT_INGEST: '0',
      RATE_LIMIT_READ: '7',
      RATE_LIMIT_WRITE: '8',
      DASHBOARD_ORIGINS: 'https://app.example, http://localhost:8080',
      SERVICES: '[{"name":"api","usage":"accepts_connections_at","ips":["198.51.100.7"]}]',
      GRACE_PERIOD_HOURS: '0',
      INGEST_WINDOW_DAYS: '35',
      KNOWN_IDS_RECENT: '16',
      OTLP_CUSTOMER_ATTRIBUTE: 'enduser.id',
      CLOUDEVENTS_IDENTITY: 'id',
      OTLP_CACHED_BESIDE_INPUT: 'scope:my.tracer, -resource:service.name=a=b',
      INVOICE_NUMBER_PATTERN: '{year}/{number:4}',
      CREDIT_NOTE_NUMBER_PATTERN: 'C{year}/{number:4}',
      SELLER_NAME: 'Tally Ltd',
      SELLER_ADDRESS: '1 High Street\\nLondon\nUnited Kingdom',
      SELLER_TAX_ID: 'GB123',
      SELLER_EMAIL: 'billing@tally.example',
      INVOICE_NOTE: 'IBAN GB00 0000',
      INVOICE_FONT: '/fonts/cjk.ttf',
      INVOICE_DECIMALS: '6',
      STRIPE_API_KEY: 'sk_live_of_the_test',
      STRIPE_WEBHOOK_SECRET: 'whsec_of_the_test',
      STRIPE_API_BASE: 'http://127.0.0.1:12111',
      STRIPE_LEAVE_IN_DRAFT: '1',
      SECRETS_KEY: '00'.repeat(32),
      PUBLIC_URL: 'https://billing.example/',
      SESSION_HOURS: '10',
      SESSION_IDLE_HOURS: '2',
      WEBHOOK_ALLOW_PRIVATE: '1',
      ALERTS_GLOBAL_MAX: '5',
      ALERTS_PER_CUSTOMER_MAX: '6',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
      LOG_LEVEL: 'debug',
      SANDBOX_NOW: '2026-11-20T01:00:00+01:00',
      UV_THREADPOOL_SIZE: '16',
      INVOICE_LINES_MAX: '5000',
      SUBSCRIPTION_SEATS_MAX: '100000',
    };
    expect(loadConfig(env)).toEqual({
      port: 0,
      host: '0.0.0.0',
      dataDir: '/data',
      backupDir: '/backups',
      backupSchedule: undefined,
      backupKeep: 3,
      databaseUrl: env.DATABASE_URL,
      clickhouseUrl: env.CLICKHOUSE_URL,
      clickhouseCluster: 'prod',
      apiToken: 'secret-of-16-or-more',
      gracePeriodHours: 0,
      invoiceLinesMax: 5_000,
      subscriptionSeatsMax: 100_000,
      ingestWindowDays: 35,
      knownIdsRecent: 16,
      otlpCustomerAttributes: ['enduser.id'],
      otlpCachedBesideInput: [
        { isBeside: true, by: 'scope', name: 'my.tracer' },
        { isBeside: false, by: 'resource', name: 'service.name', value: 'a=b' },
      ],
      cloudEventsIdentity: 'id',
      invoiceNumberPattern: '{year}/{number:4}',
      creditNoteNumberPattern: 'C{year}/{number:4}',
      seller: {
        name: 'Tally Ltd',
        address: ['1 High Street', 'London', 'United Kingdom'],
        taxId: 'GB123',
        email: 'billing@tally.example',
        note: ['IBAN GB00 0000'],
      },
      invoiceFont: '/fonts/cjk.ttf',
      invoiceDecimals: 6,
      strictFields: true,
      requestRates: { ingest: 0, read: 7, write: 8 },
      dashboardOrigins: ['https://app.example', 'http://localhost:8080'],
      networkServices: [{ name: 'api', usage: 'accepts_connections_at', ips: ['198.51.100.7'] }],
      paymentProvider: 'stripe',
      stripe: {
        apiKey: 'sk_live_of_the_test',
        webhookSecret: 'whsec_of_the_test',
        apiBase: 'http://127.0.0.1:12111',
        leavesInDraft: true,
      },
      secretsKey: Buffer.alloc(32),
      publicUrl: 'https://billing.example',
      sessionLimits: { hours: 10, idleHours: 2 },
      webhookAllowPrivate: true,
      alertLimits: { global: 5, perCustomer: 6 },
      tracesEndpoint: 'http://collector:4318',
      logLevel: 'debug',
      sandboxNow: Date.UTC(2026, 10, 20),
      workerThreads: 16,
    });
  });

  test('reads the attributes of customers in their order, presets among them', () => {
    const read = (OTLP_CUSTOMER_ATTRIBUTES: string) =>
      loadConfig({ OTLP_CUSTOMER_ATTRIBUTES }).otlpCustomerAttributes;
    expect(read('a, preset:openrouter ,b')).toEqual([
      'a',
      'user.id',
      'trace.metadata.openrouter.api_key_name',
      'b',
    ]);
    expect(read('user.id,preset:langfuse')).toEqual(['user.id', 'langfuse.user.id']);
    expect(read('')).toEqual(['tallyhouse.customer']);
    expect(() => loadConfig({ OTLP_CUSTOMER_ATTRIBUTES: 'a', OTLP_CUSTOMER_ATTRIBUTE: 'b' })).toThrow(
      'OTLP_CUSTOMER_ATTRIBUTES cannot be set beside OTLP_CUSTOMER_ATTRIBUTE',
    );
  });

  test('the configuration says in plain words which log levels there are', () => {
    expect(() => loadConfig({ LOG_LEVEL: 'loud' })).toThrow(
      'LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent',
    );
  });

  test.each([
    ['PORT', 'x'],
    ['CLOUDEVENTS_IDENTITY', 'source'],
    ['OTLP_CUSTOMER_ATTRIBUTES', 'preset:nobody'],
    ['OTLP_CUSTOMER_ATTRIBUTES', 'two words'],
    ['OTLP_CACHED_BESIDE_INPUT', 'my.tracer'],
    ['OTLP_CACHED_BESIDE_INPUT', 'scope:a,resource:service.name'],
    ['PORT', '-1'],
    ['PORT', '70000'],
    ['PORT', '1e3'],
    ['DATABASE_URL', 'mysql://db/x'],
    ['DATABASE_URL', 'db'],
    ['CLICKHOUSE_URL', 'clickhouse://db'],
    ['CLICKHOUSE_CLUSTER', "a'b"],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
    ['CLICKHOUSE_CLUSTER', 'prod'],
    ['API_TOKEN', 'two words but long'],
    ['DASHBOARD_ORIGINS', '*'],
    ['DASHBOARD_ORIGINS', 'app.example'],
    ['DASHBOARD_ORIGINS', 'https://app.example/'],
    ['DASHBOARD_ORIGINS', 'https://app.example,ftp://files.example'],
    ['SERVICES', 'webhooks'],
    ['SERVICES', '{}'],
    ['SERVICES', '[{"name":"x","usage":"makes_connections_from","ips":["localhost"]}]'],
    ['API_TOKEN', 'fifteen-letters'],
    ['GRACE_PERIOD_HOURS', '-1'],
    ['INGEST_WINDOW_DAYS', '0'],
    ['INGEST_WINDOW_DAYS', '3651'],
    ['INVOICE_NUMBER_PATTERN', 'INV-{number}'],
    ['INVOICE_NUMBER_PATTERN', 'INV-{year}'],
    ['CREDIT_NOTE_NUMBER_PATTERN', 'CN-{year}'],
    ['SELLER_NAME', 'two\nlines'],
    ['SELLER_ADDRESS', 'x\\n'.repeat(21)],
    ['SELLER_EMAIL', 'x'.repeat(201)],
    ['OTLP_CUSTOMER_ATTRIBUTE', 'customer id'],
    ['OTLP_CUSTOMER_ATTRIBUTE', 'x'.repeat(257)],
    ['LOG_LEVEL', 'loud'],
    ['SANDBOX_NOW', '2026-11-20'],
    ['SANDBOX_NOW', 'tomorrow'],
    ['SANDBOX_NOW', '2100-01-01T00:00:00Z'],
    ['SANDBOX_NOW', '1989-12-31T23:59:59Z'],
    ['BACKUP_SCHEDULE', 'daily'],
    ['BACKUP_SCHEDULE', '61 * * * *'],
    ['BACKUP_SCHEDULE', '0 0 30 2 *'],
    ['BACKUP_SCHEDULE', '0 0 0 1 1 *'],
    // Without BACKUP_DIR.
    ['BACKUP_SCHEDULE', '0 2 * * *'],
    ['BACKUP_DIR', '.data/backups'],
    ['BACKUP_KEEP', '0'],
    ['BACKUP_CLICKHOUSE', '/backups'],
    ['BACKUP_CLICKHOUSE', "Disk('backups')"],
    ['BACKUP_CLICKHOUSE', "File('a') ASYNC"],
    ['BACKUP_CLICKHOUSE', "Url('a')"],
    ['BACKUP_CLICKHOUSE', "S3('https://s3/x', 'secret-key')"],
    ['BACKUP_CLICKHOUSE', "File('a\\'')"],
  ])('the configuration refuses %s=%s in one line that names the key and not a secret', (key, value) => {
    let thrown: unknown;
    try {
      loadConfig({ [key]: value });
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(ConfigError);
    const { message } = thrown as ConfigError;
    expect(message).toMatch(new RegExp(`^${key} `));
    expect(message).not.toContain('\n');
  });
});

describe('a variable that is nearly called like a setting', () => {
  test.each([
    ['GRACE_PERIOD_HOUR', 'GRACE_PERIOD_HOURS'],
    ['SELLER_ADRESS', 'SELLER_ADDRESS'],
    ['RATE_LIMIT_REED', 'RATE_LIMIT_READ'],
    ['SANBOX_NOW', 'SANDBOX_NOW'],
    ['DATADIR', 'DATA_DIR'],
    ['PROT', 'PORT'],
    ['log_level', 'LOG_LEVEL'],
    ['INVOICE-NOTE', 'INVOICE_NOTE'],
  ])('%s is named with %s', (variable, nearest) => {
    const [misspelt, ...more] = misspeltSettings({ [variable]: 'secret-value' });
    expect([misspelt, more]).toEqual([{ variable, nearest }, []]);
    expect(misspelt === undefined ? '' : misspeltLine(misspelt)).toBe(
      `${variable} is not a setting and is ignored: did you mean ${nearest}?`,
    );
  });

  test('a variable that is nearly called like a setting is not reported where it is a setting, is empty, or is a variable of something else', () => {
    const settings = Object.fromEntries(SETTINGS.map(({ name }) => [name, 'x']));
    const others = {
      HOME: '/root',
      PATH: '/bin',
      HOSTNAME: 'a',
      PGHOST: 'db',
      TOKEN: 'x',
      XDG_DATA_DIRS: '/usr/share',
      OTEL_EXPORTER_OTLP_HEADERS: 'a=b',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://c',
      // Kubernetes sets them beside a service of this name.
      TALLYHOUSE_PORT: 'tcp://10.0.0.1:3000',
      TALLYHOUSE_SERVICE_HOST: '10.0.0.1',
      npm_config_port: '1',
    };
    expect(misspeltSettings({ ...settings, ...others, GRACE_PERIOD_HOUR: '', LOGLEVEL: undefined })).toEqual(
      [],
    );
  });
});
