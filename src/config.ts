/**
 * The configuration of the process. The only reader of `process.env`; every key is documented here
 * and in docs/reference/configuration.md. A value that is not understood refuses the start instead of being
 * replaced by a default.
 */
import { resolve } from 'node:path';
import { z } from 'zod';
import { ALERT_LIMITS_DEFAULT, type AlertLimits } from './core/alerts.ts';
import {
  type BackupConfig,
  backupConfig,
  backupSettings,
  checkBackupSettings,
} from './core/backup-settings.ts';
import type { NamedSender } from './core/cached-beside-input.ts';
import { isWithinClockBounds } from './core/clock.ts';
import { DEFAULT_CREDIT_NOTE_PATTERN } from './core/credit-note.ts';
import { INVOICE_LINES_MAX_DEFAULT } from './core/invoice.ts';
import { DEFAULT_NUMBER_PATTERN, numberPatternProblem } from './core/invoice-number.ts';
import type { NetworkService } from './core/network-services.ts';
import { paymentSettings, type StripeConfig } from './core/payment-settings.ts';
import {
  checkProviderSettings,
  type ProviderConfig,
  providerConfig,
  providerSettings,
} from './core/provider-settings.ts';
import type { Seller } from './core/seller.ts';
import {
  instant,
  namedSenders,
  networkServices,
  origins,
  sellerLines,
  sellerText,
  spanCustomers,
  url,
  wholeNumber,
} from './core/settings.ts';
import type { PaymentProvider } from './core/terms/payment-gate.ts';
import { SEATS_MAX_DEFAULT } from './core/terms/subscriptions.ts';
import type { Instant } from './core/time.ts';
import { SPAN_CUSTOMER_ATTRIBUTE } from './core/token-billing.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** A setting that cannot be used. The message is one line for the operator, naming the key. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Shorter ones can be guessed. */
const API_TOKEN_LENGTH_MIN = 16;

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

const environment = z
  .object({
    PORT: wholeNumber(0, 65_535)
      .default(3000)
      .describe('TCP port of the API. 0 takes any free port; the chosen one is printed.'),
    HOST: z
      .string()
      .default('127.0.0.1')
      .describe('Address to listen on. The default is reachable from this machine only.'),
    DATA_DIR: z
      .string()
      .default('.data')
      .describe('Directory of the embedded stores and of the API token. One process at a time may use it.'),
    ...backupSettings,
    DATABASE_URL: url('postgres', 'postgresql')
      .optional()
      .describe('PostgreSQL 15 or later. When unset, an embedded PostgreSQL runs in DATA_DIR.'),
    CLICKHOUSE_URL: url('http', 'https')
      .optional()
      .describe(
        'ClickHouse over HTTP, with user, password and database in the URL. When unset, chDB runs in this process.',
      ),
    CLICKHOUSE_CLUSTER: z
      .string()
      .regex(/^[A-Za-z_][A-Za-z0-9_-]*$/, 'must be the name of a cluster')
      .optional()
      .describe(
        'Name of the cluster at CLICKHOUSE_URL: tables are replicated and sharded. When unset, a single node.',
      ),
    API_TOKEN: z
      .string()
      .regex(/^[\x21-\x7e]{1,512}$/, 'must be printable ASCII without spaces, at most 512 characters')
      .min(API_TOKEN_LENGTH_MIN, `must have at least ${API_TOKEN_LENGTH_MIN} characters`)
      .optional()
      .describe(
        'An API token with all scopes, at least 16 characters, valid while the variable is set. When unset, the first start creates a token and keeps it in DATA_DIR/api-token.',
      ),
    GRACE_PERIOD_HOURS: wholeNumber(0, 24 * 365)
      .default(24)
      .describe(
        'Time after the end of a billing period in which the invoice still accepts late usage before it is finalized.',
      ),
    INVOICE_LINES_MAX: wholeNumber(100, 5_000_000)
      .default(INVOICE_LINES_MAX_DEFAULT)
      .describe(
        'Maximum lines of one invoice. Products beyond it are left out with a warning, the largest first.',
      ),
    SUBSCRIPTION_SEATS_MAX: wholeNumber(1, 1_000_000)
      .default(SEATS_MAX_DEFAULT)
      .describe('Maximum seats of one subscription, assigned and unassigned.'),
    INGEST_WINDOW_DAYS: wholeNumber(1, 3650)
      .default(34)
      .describe('How far back an event may be dated, and how long a transaction_id is remembered.'),
    KNOWN_IDS_RECENT: wholeNumber(1, 1_000_000_000)
      .default(10_000_000)
      .describe(
        'How many known ids memory holds exactly, the newest ones, at 19 to 23.5 bytes. Older ones take up to 2 bytes, and 16 bytes in DATA_DIR/known-ids.',
      ),
    OTLP_CUSTOMER_ATTRIBUTE: z
      .string()
      .regex(/^[\x21-\x7e]{1,256}$/, 'must be printable ASCII without spaces, at most 256 characters')
      .optional()
      .describe(
        `Attribute of OpenTelemetry spans, or of their resource, with the id or an ingest alias of the customer. When unset, ${SPAN_CUSTOMER_ATTRIBUTE}.`,
      ),
    OTLP_CUSTOMER_ATTRIBUTES: spanCustomers.describe(
      'Several such attributes, separated by commas: the first one that a span or its resource has counts. preset:litellm and the like stand for the attributes that a gateway sends.',
    ),
    OTLP_CACHED_BESIDE_INPUT: namedSenders.describe(
      'Senders of spans whose input tokens leave cached ones out, beside those that are known: provider:NAME, scope:NAME or resource:NAME=VALUE, separated by commas; a minus before one says that it includes them.',
    ),
    CLOUDEVENTS_IDENTITY: z
      .enum(['source-and-id', 'id'], { error: 'must be source-and-id or id' })
      .default('source-and-id')
      .describe(
        'What tells CloudEvents apart: `source-and-id`, as their specification has it, or `id`, which makes the same event by POST /v1/ingest the same.',
      ),
    EVENT_RETENTION_MONTHS: wholeNumber(1, 1200)
      .optional()
      .describe(
        'Number of whole months of events to keep before the current month. Older months are removed when no invoice needs them. When unset, all events are kept.',
      ),
    INVOICE_NUMBER_PATTERN: z
      .string()
      .superRefine((pattern, context) => {
        const problem = numberPatternProblem(pattern);
        if (problem !== null) context.addIssue(problem);
      })
      .default(DEFAULT_NUMBER_PATTERN)
      .describe('Pattern of invoice numbers, with {year} and {number}; {number:6} pads to six digits.'),
    CREDIT_NOTE_NUMBER_PATTERN: z
      .string()
      .superRefine((pattern, context) => {
        const problem = numberPatternProblem(pattern);
        if (problem !== null) context.addIssue(problem);
      })
      .default(DEFAULT_CREDIT_NOTE_PATTERN)
      .describe('Pattern of the numbers of credit notes, as INVOICE_NUMBER_PATTERN.'),
    SELLER_NAME: sellerText.optional().describe('The seller shown on PDFs of invoices.'),
    SELLER_ADDRESS: sellerLines.describe('Postal address of the seller; lines are separated by \\n.'),
    SELLER_TAX_ID: sellerText.optional().describe('Tax number of the seller, such as a VAT id.'),
    SELLER_EMAIL: sellerText.optional().describe('Whom to ask about an invoice.'),
    INVOICE_NOTE: sellerLines.describe(
      'Text below the total of a PDF, such as payment details; lines are separated by \\n.',
    ),
    INVOICE_FONT: z
      .string()
      .optional()
      .describe(
        'TrueType or OpenType file for characters that the font of PDFs, DejaVu Sans, does not have.',
      ),
    INVOICE_DECIMALS: wholeNumber(0, 30)
      .optional()
      .describe(
        'Most decimals of the amounts of lines on PDFs, instead of 4. Sums are of the exact amounts all the same.',
      ),
    PAYMENT_PROVIDER: z
      .enum(['simulated'], { error: 'must be simulated' })
      .optional()
      .describe(
        'Who collects payments of gate STRIPE. `simulated` collects nothing: it pays or fails by the amount. When ' +
          'unset, Stripe does with STRIPE_API_KEY; without that, such gates are refused.',
      ),
    ...paymentSettings,
    DASHBOARD_ORIGINS: origins.describe(
      'Origins whose pages may show dashboards of customers in frames, separated by commas. When unset, none may.',
    ),
    SERVICES: networkServices.describe(
      'Addresses for the allow-lists of others, as `GET /v1/services` shows them: JSON, a list of objects with name, usage and ips.',
    ),
    STRICT_FIELDS: z
      .enum(['0', '1'], { error: 'must be 0 or 1' })
      .default('1')
      .describe(
        '0: unknown fields in requests about money are ignored and named in the answer, as with `Prefer: handling=lenient`.',
      ),
    RATE_LIMIT_INGEST: wholeNumber(0, 1_000_000)
      .default(10_000)
      .describe(
        'Maximum requests with events per second, for one token in one process; bursts of ten times as many. 0: no limit.',
      ),
    RATE_LIMIT_READ: wholeNumber(0, 1_000_000)
      .default(1_000)
      .describe('The same for operations that only read.'),
    RATE_LIMIT_WRITE: wholeNumber(0, 1_000_000)
      .default(500)
      .describe('The same for operations that change something.'),
    SESSION_HOURS: wholeNumber(1, 24 * 30)
      .default(12)
      .describe('Time after its beginning in which a session of the console ends.'),
    SESSION_IDLE_HOURS: wholeNumber(1, 24 * 30)
      .default(8)
      .describe('Time without a request after which a session of the console ends.'),
    ...providerSettings,
    WEBHOOK_ALLOW_PRIVATE: z
      .enum(['0', '1'], { error: 'must be 0 or 1' })
      .default('0')
      .describe(
        '1: webhooks may be sent over http, to this machine and to private networks. For tests and trusted clients.',
      ),
    ALERTS_GLOBAL_MAX: wholeNumber(0, 100_000)
      .default(ALERT_LIMITS_DEFAULT.global)
      .describe('Most alerts of all customers that are not archived.'),
    ALERTS_PER_CUSTOMER_MAX: wholeNumber(0, 100_000)
      .default(ALERT_LIMITS_DEFAULT.perCustomer)
      .describe('Maximum active alerts of one customer, besides alerts of all customers.'),
    OTEL_EXPORTER_OTLP_ENDPOINT: url('http', 'https')
      .optional()
      .describe(
        'Base URL of an OpenTelemetry collector that traces are sent to. When unset, none are recorded. Its other variables, such as OTEL_TRACES_SAMPLER, count too.',
      ),
    LOG_LEVEL: z
      .enum(LOG_LEVELS, { error: `must be one of ${LOG_LEVELS.join(', ')}` })
      .default('info')
      .describe('Lowest level that is logged; logs are JSON lines on standard error.'),
    SANDBOX_NOW: instant
      .refine(isWithinClockBounds, 'must be between 1990 and 2100')
      .optional()
      .describe(
        'RFC 3339. When set, the clock starts there, stands still and is moved through /v1/sandbox/clock.',
      ),
    UV_THREADPOOL_SIZE: wholeNumber(1, 1024)
      .default(4)
      .describe(
        "Node's worker threads; queries to the embedded ClickHouse run on them. `npm start` sets 16.",
      ),
  })
  .refine((env) => env.CLICKHOUSE_CLUSTER === undefined || env.CLICKHOUSE_URL !== undefined, {
    path: ['CLICKHOUSE_CLUSTER'],
    message: 'needs CLICKHOUSE_URL',
  })
  .superRefine(checkBackupSettings)
  .superRefine(checkProviderSettings)
  .refine((env) => env.OTLP_CUSTOMER_ATTRIBUTE === undefined || env.OTLP_CUSTOMER_ATTRIBUTES.length === 0, {
    path: ['OTLP_CUSTOMER_ATTRIBUTES'],
    message: 'cannot be set beside OTLP_CUSTOMER_ATTRIBUTE',
  });

/** A setting as help texts and the files of deployments name it. */
export interface Setting {
  readonly name: string;
  readonly meaning: string;
  /** Null where there is none, or where nothing is the default. */
  readonly defaultText: string | null;
}

export const SETTINGS: readonly Setting[] = Object.entries(environment.shape).map(([name, schema]) => ({
  name,
  meaning: schema.description ?? '',
  defaultText: defaultTextOf(schema.safeParse(undefined).data),
}));

function defaultTextOf(value: unknown): string | null {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : null;
}

export interface Config extends BackupConfig {
  readonly port: number;
  readonly host: string;
  /** Absolute. */
  readonly dataDir: string;
  readonly databaseUrl: string | undefined;
  readonly clickhouseUrl: string | undefined;
  readonly clickhouseCluster: string | undefined;
  readonly apiToken: string | undefined;
  readonly gracePeriodHours: number;
  readonly invoiceLinesMax: number;
  /** Seats of one subscription. */
  readonly subscriptionSeatsMax: number;
  readonly ingestWindowDays: number;
  readonly knownIdsRecent: number;
  /** Customer attributes of the spans that `POST /v1/ingest/otlp` takes: at least one. */
  readonly otlpCustomerAttributes: readonly string[];
  readonly otlpCachedBesideInput: readonly NamedSender[];
  readonly cloudEventsIdentity: 'source-and-id' | 'id';
  /** Whole months before the present one; undefined: without a limit. */
  readonly eventRetentionMonths: number | undefined;
  readonly invoiceNumberPattern: string;
  readonly creditNoteNumberPattern: string;
  readonly seller: Seller;
  /** Absolute. */
  readonly invoiceFont: string | undefined;
  /** Most decimals of the amounts of lines on PDFs. */
  readonly invoiceDecimals: number | undefined;
  readonly paymentProvider: PaymentProvider | undefined;
  readonly stripe: StripeConfig;
  /** 32 bytes. */
  readonly secretsKey: Buffer | undefined;
  /** Without a slash at the end. */
  readonly publicUrl: string | undefined;
  readonly networkServices: readonly NetworkService[];
  /** Origins of pages that may show dashboards in frames. */
  readonly dashboardOrigins: readonly string[];
  /** Whether requests about money with unknown fields are refused. */
  readonly strictFields: boolean;
  /** Requests in a second of one token; 0: no limit. */
  readonly requestRates: Readonly<Record<'ingest' | 'read' | 'write', number>>;
  readonly sessionLimits: { readonly hours: number; readonly idleHours: number };
  /** Undefined: persons do not sign in at an identity provider. */
  readonly identityProvider: ProviderConfig | undefined;
  readonly webhookAllowPrivate: boolean;
  readonly alertLimits: AlertLimits;
  /** Base URL of the collector for traces. */
  readonly tracesEndpoint: string | undefined;
  readonly logLevel: z.infer<typeof environment>['LOG_LEVEL'];
  readonly sandboxNow: Instant | undefined;
  readonly workerThreads: number;
}

/**
 * Reads the configuration. An empty value counts as unset, because that is how container files
 * spell "not given". Throws `ConfigError` for the first value that cannot be used.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one entry for each setting.
export function loadConfig(env: Environment): Config {
  const given = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ''),
  );
  const parsed = environment.safeParse(given);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const [key = 'environment', ...inside] = issue?.path ?? [];
    const place = inside.length === 0 ? '' : `${inside.join('.')}: `;
    throw new ConfigError(`${String(key)} ${place}${issue?.message ?? 'is not valid'}`);
  }
  const values = parsed.data;
  return {
    port: values.PORT,
    host: values.HOST,
    dataDir: resolve(values.DATA_DIR),
    ...backupConfig(values),
    databaseUrl: values.DATABASE_URL,
    clickhouseUrl: values.CLICKHOUSE_URL,
    clickhouseCluster: values.CLICKHOUSE_CLUSTER,
    apiToken: values.API_TOKEN,
    gracePeriodHours: values.GRACE_PERIOD_HOURS,
    invoiceLinesMax: values.INVOICE_LINES_MAX,
    subscriptionSeatsMax: values.SUBSCRIPTION_SEATS_MAX,
    ingestWindowDays: values.INGEST_WINDOW_DAYS,
    knownIdsRecent: values.KNOWN_IDS_RECENT,
    otlpCustomerAttributes:
      values.OTLP_CUSTOMER_ATTRIBUTES.length > 0
        ? values.OTLP_CUSTOMER_ATTRIBUTES
        : [values.OTLP_CUSTOMER_ATTRIBUTE ?? SPAN_CUSTOMER_ATTRIBUTE],
    otlpCachedBesideInput: values.OTLP_CACHED_BESIDE_INPUT,
    cloudEventsIdentity: values.CLOUDEVENTS_IDENTITY,
    eventRetentionMonths: values.EVENT_RETENTION_MONTHS,
    invoiceNumberPattern: values.INVOICE_NUMBER_PATTERN,
    creditNoteNumberPattern: values.CREDIT_NOTE_NUMBER_PATTERN,
    seller: {
      name: values.SELLER_NAME ?? null,
      address: values.SELLER_ADDRESS,
      taxId: values.SELLER_TAX_ID ?? null,
      email: values.SELLER_EMAIL ?? null,
      note: values.INVOICE_NOTE,
    },
    invoiceDecimals: values.INVOICE_DECIMALS,
    invoiceFont: values.INVOICE_FONT === undefined ? undefined : resolve(values.INVOICE_FONT),
    paymentProvider: values.PAYMENT_PROVIDER ?? (values.STRIPE_API_KEY === undefined ? undefined : 'stripe'),
    stripe: {
      apiKey: values.STRIPE_API_KEY,
      webhookSecret: values.STRIPE_WEBHOOK_SECRET,
      apiBase: values.STRIPE_API_BASE,
      leavesInDraft: values.STRIPE_LEAVE_IN_DRAFT === '1',
    },
    secretsKey: values.SECRETS_KEY,
    publicUrl: values.PUBLIC_URL?.replace(/\/+$/, ''),
    networkServices: values.SERVICES,
    dashboardOrigins: values.DASHBOARD_ORIGINS,
    strictFields: values.STRICT_FIELDS === '1',
    requestRates: {
      ingest: values.RATE_LIMIT_INGEST,
      read: values.RATE_LIMIT_READ,
      write: values.RATE_LIMIT_WRITE,
    },
    sessionLimits: { hours: values.SESSION_HOURS, idleHours: values.SESSION_IDLE_HOURS },
    identityProvider: providerConfig(values),
    webhookAllowPrivate: values.WEBHOOK_ALLOW_PRIVATE === '1',
    alertLimits: { global: values.ALERTS_GLOBAL_MAX, perCustomer: values.ALERTS_PER_CUSTOMER_MAX },
    tracesEndpoint: values.OTEL_EXPORTER_OTLP_ENDPOINT,
    logLevel: values.LOG_LEVEL,
    sandboxNow: values.SANDBOX_NOW,
    workerThreads: values.UV_THREADPOOL_SIZE,
  };
}

/** The environment of this process, for its entry points. */
export function processEnvironment(): Environment {
  return process.env;
}
