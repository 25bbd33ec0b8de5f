/**
 * The floors of src/ (docs/explanation/architecture.md) and the order of subjects in them: imports point down, and
 * nothing goes in circles. `npm run floors` checks them (imports.ts).
 *
 * A floor may import itself, the floors below it that stand in its list, and of some others their types
 * (`import type`). A new folder of src/ is refused until it has a list here.
 */
import type { ImportRule } from './imports.ts';

const FLOORS: Readonly<Record<string, { imports: readonly string[]; types?: readonly string[] }>> = {
  core: { imports: [] },
  runtime: { imports: ['core'] },
  rating: { imports: ['core'] },
  metering: { imports: ['runtime', 'core'] },
  store: { imports: ['runtime', 'core'] },
  notifications: { imports: ['store', 'runtime', 'core'] },
  payments: { imports: ['store', 'runtime', 'core'] },
  billing: { imports: ['notifications', 'payments', 'rating', 'metering', 'store', 'runtime', 'core'] },
  access: { imports: ['store', 'runtime', 'core'] },
  jobs: { imports: ['billing', 'payments', 'notifications', 'store', 'runtime', 'core'] },
  api: {
    imports: ['billing', 'notifications', 'payments', 'access', 'jobs', 'rating', 'runtime', 'core'],
    types: ['store', 'metering'],
  },
  // The embedded ClickHouse is reached through the same client code as a remote one.
  embedded: { imports: ['metering', 'runtime', 'core'], types: ['store'] },
};

/**
 * The order of the subjects in a folder: each imports itself and those before it. A new subject is refused until it
 * has a place here, as is a file that stands beside the subjects. docs/explanation/architecture.md says what each is.
 */
export const SUBJECTS: Readonly<Record<string, readonly string[]>> = {
  rating: [
    'periods',
    'quantities',
    'rates',
    'lines',
    'balances',
    'usage',
    'subscriptions',
    'scheduled',
    'composites',
    'historical',
    'invoices',
    'credit-notes',
    'explain',
    'thresholds',
    'alerts',
    'holds',
  ],
  metering: [
    'client',
    'schema',
    'stored-parts',
    'copies',
    'corrections',
    'ingest',
    'otlp',
    'frozen-lines',
    'query',
    'sql',
    'events',
    'usage',
  ],
  'metering/sql': ['values', 'functions', 'syntax', 'generate', 'read', 'run', 'reports'],
  billing: [
    'invoice-log',
    'billing-context.ts',
    'pace',
    'credit-types',
    'named-schedules',
    'invoice-queue',
    'custom-fields',
    'billing-providers',
    'customers',
    'metrics',
    'usage',
    'products',
    'rate-cards',
    'balances',
    'contracts',
    'packages',
    'payment-gates',
    'invoices',
    'balance-queries',
    'thresholds',
    'contract-views',
    'commits',
    'payments',
    'token-billing',
    'events',
    'sql',
    'alerts',
    'holds',
    'retention',
    'erasure',
  ],
  'billing/invoices': [
    'scheduled',
    'terms',
    'usage',
    'rate-target',
    'compute',
    'drafts',
    'freeze',
    'consolidated',
    'issue',
    'read',
    'breakdowns',
    'historical',
    'issued',
    'credit-notes',
    'previews',
    'explain',
    'reconcile',
  ],
  store: [
    'postgres-driver',
    'base',
    'migrations',
    'stored-documents',
    'service',
    'access',
    'events',
    'messages',
    'credit-types',
    'custom-fields',
    'billing-providers',
    'customers',
    'metrics',
    'products',
    'rate-cards',
    'contracts',
    'balances',
    'contract-terms',
    'lifecycle-messages',
    'jobs',
    'invoices',
    'thresholds',
    'token-billing',
    'alerts',
    'holds',
    'sql',
    'custom-field-objects',
    'erasure',
  ],
  api: ['base', 'wire', 'http', 'pdf', 'routes'],
  app: [
    'failures',
    'tracing',
    's3',
    'stores',
    'readiness',
    'backups',
    'move',
    'http',
    'events',
    'billing',
    'application',
    'service',
    'commands',
    'cli',
  ],
};

/** The composition, and the program that shows the service. They may import every floor. */
const ON_TOP = ['app', 'demo'];

/** Files directly in src/ start and configure the service; config.ts alone belongs to the ground floor. */
const GROUND_FILE = '^src/config[.]ts$';

/** The only file that sends traces. */
const TRACES_FILE = '^src/app/tracing/open-telemetry[.]ts$';

const folders = (names: readonly string[]) => `^src/(?:${names.join('|')})(?:/|$)`;
const OURS = '^(?:src|test|bench|scripts|console)/';

/** The imports that a floor may not have at all, and those that it may have by type only. */
const floorRules = Object.entries(FLOORS).flatMap(([floor, { imports, types = [] }]): ImportRule[] => [
  {
    name: `floor-${floor}`,
    comment: `src/${floor} imports ${['itself', ...imports].join(', ')} only${types.length > 0 ? `, and types of ${types.join(', ')}` : ''}.`,
    from: { path: folders([floor]) },
    to: { path: OURS, pathNot: folders([floor, ...imports, ...types]) },
  },
  ...types.map(
    (other): ImportRule => ({
      name: `floor-${floor}-types-of-${other}`,
      comment: `src/${floor} may import from src/${other} with \`import type\` only.`,
      from: { path: folders([floor]) },
      to: { path: folders([other]), forms: ['plain', 'dynamic'] },
    }),
  ),
]);

/** The imports that a subject may not have within its folder. Each subject has a place in the order. */
const subjectRules = Object.entries(SUBJECTS).flatMap(([folder, subjects]): ImportRule[] => [
  ...subjects.map((subject, index) => ({
    name: `order-${folder}-${subject}`,
    comment: `src/${folder}/${subject} imports no subject that comes after it in SUBJECTS of scripts/import-rules.ts.`,
    from: { path: folders([`${folder}/${subject}`]) },
    to: {
      path: folders([folder]),
      pathNot: folders(subjects.slice(0, index + 1).map((one) => `${folder}/${one}`)),
    },
  })),
  {
    name: `order-${folder}-without-a-place`,
    comment: `Give the subject of this file a place in SUBJECTS of scripts/import-rules.ts, under ${folder}.`,
    from: { path: folders([folder]), pathNot: folders(subjects.map((one) => `${folder}/${one}`)) },
  },
]);

export const RULES: readonly ImportRule[] = [
  ...floorRules,
  ...subjectRules,
  {
    name: 'config-on-the-ground',
    comment: 'src/config.ts is read by everything, so it imports core only.',
    from: { path: GROUND_FILE },
    to: { path: OURS, pathNot: folders(['core']) },
  },
  {
    name: 'nothing-from-demo',
    comment:
      'What is only shown is no part of the service. The command line knows it, and loads it when asked for.',
    from: { path: '^src/', pathNot: folders(['demo', 'app/cli']) },
    to: { path: folders(['demo']) },
  },
  {
    name: 'nothing-from-the-command-line',
    comment: 'Only the command line reads what was typed; what commands do takes it as values.',
    from: { path: '^src/', pathNot: ['^src/(?:main[.]ts|tallyhouse[.]cts)$', folders(['app/cli'])] },
    to: { path: folders(['app/cli']) },
  },
  {
    name: 'api-from-the-composition-only',
    comment: 'Only the composition knows the API; other programs speak to it over HTTP.',
    from: { path: '^src/', pathNot: folders(['api', 'app']) },
    to: { path: folders(['api']) },
  },
  {
    name: 'nothing-from-tests',
    comment: 'Tests, benchmarks and scripts are no part of the service.',
    from: { path: '^src/' },
    to: { path: '^(?:test|bench|scripts|console)/' },
  },
  {
    name: 'console-alone',
    comment: 'The console is a client of the public API like every other.',
    from: { path: '^console/' },
    to: { path: OURS, pathNot: '^console/' },
  },
  {
    name: 'no-development-packages',
    comment: 'The service is installed without development packages.',
    from: { path: '^src/' },
    to: { origins: ['development', 'undeclared'] },
  },
  {
    name: 'one-file-knows-opentelemetry',
    comment: 'Everything else uses the tracer of core/tracing.ts.',
    from: { path: '^src/', pathNot: TRACES_FILE },
    to: { path: '@opentelemetry/' },
  },
  {
    name: 'opentelemetry-is-loaded-when-needed',
    comment: 'A service that records no traces does not load the libraries: `await import()`.',
    from: { path: '^src/' },
    to: { path: TRACES_FILE, forms: ['plain'] },
  },
  {
    name: 'embedded-stores-are-loaded-when-used',
    comment: 'A service with servers by URL is installed without optional packages: `await import()`.',
    from: { path: '^src/' },
    to: { origins: ['optional'], forms: ['plain'] },
  },
  {
    name: 'folder-with-a-list',
    comment: 'Say in scripts/import-rules.ts what this folder may import.',
    from: { path: '^src/[^/]+/', pathNot: folders([...Object.keys(FLOORS), ...ON_TOP]) },
  },
  {
    name: 'imports-exist',
    comment: 'An import that is not found would escape every other rule.',
    from: { path: OURS },
    to: { origins: ['missing'] },
  },
];
