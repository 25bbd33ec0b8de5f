/**
 * The floors of src/ (docs/architecture.md): imports point down, and nothing goes in circles. Run it with
 * `npm run floors`.
 *
 * A floor may import itself, the floors below it that stand in its list, and of some others their types
 * (`import type`). A new folder of src/ is refused until it has a list here.
 */
const FLOORS = {
  core: { imports: [] },
  rating: { imports: ['core'] },
  metering: { imports: ['core'] },
  store: { imports: ['core'] },
  notifications: { imports: ['store', 'core'] },
  payments: { imports: ['store', 'core'] },
  billing: { imports: ['notifications', 'payments', 'rating', 'metering', 'store', 'core'] },
  access: { imports: ['store', 'core'] },
  jobs: { imports: ['billing', 'payments', 'notifications', 'store', 'core'] },
  api: {
    imports: ['billing', 'notifications', 'payments', 'access', 'jobs', 'rating', 'core'],
    types: ['store', 'metering'],
  },
  // The embedded ClickHouse is reached through the same client code as a remote one.
  embedded: { imports: ['metering', 'core'], types: ['store'] },
};

/** The composition, and the program that shows the service. They may import every floor. */
const ON_TOP = ['app', 'demo'];

/** Files directly in src/ start and configure the service. Of them config.ts stands on the ground. */
const GROUND_FILE = '^src/config[.]ts$';

/** The only file that sends traces. */
const TRACES_FILE = '^src/app/tracing/open-telemetry[.]ts$';

const folders = (names) => `^src/(?:${names.join('|')})/`;
const OURS = '^(?:src|test|bench|scripts|console)/';

/** What a floor may not import at all, and what it may import by type only. */
const floorRules = Object.entries(FLOORS).flatMap(([floor, { imports, types = [] }]) => [
  {
    name: `floor-${floor}`,
    comment: `src/${floor} imports ${['itself', ...imports].join(', ')} only${types.length > 0 ? `, and types of ${types.join(', ')}` : ''}.`,
    severity: 'error',
    from: { path: folders([floor]) },
    to: { path: OURS, pathNot: folders([floor, ...imports, ...types]) },
  },
  ...types.map((other) => ({
    name: `floor-${floor}-types-of-${other}`,
    comment: `src/${floor} may import from src/${other} with \`import type\` only.`,
    severity: 'error',
    from: { path: folders([floor]) },
    to: { path: folders([other]), dependencyTypesNot: ['type-only'] },
  })),
]);

export default {
  forbidden: [
    ...floorRules,
    {
      name: 'config-on-the-ground',
      comment: 'src/config.ts is read by everything, so it imports core only.',
      severity: 'error',
      from: { path: GROUND_FILE },
      to: { path: OURS, pathNot: folders(['core']) },
    },
    {
      name: 'nothing-from-demo',
      comment: 'What is only shown is no part of the service.',
      severity: 'error',
      from: { path: '^src/', pathNot: folders(['demo']) },
      to: { path: folders(['demo']) },
    },
    {
      name: 'api-from-the-composition-only',
      comment: 'Only the composition knows the API; other programs speak to it over HTTP.',
      severity: 'error',
      from: { path: '^src/', pathNot: folders(['api', 'app']) },
      to: { path: folders(['api']) },
    },
    {
      name: 'nothing-from-tests',
      comment: 'Tests, benchmarks and scripts are no part of the service.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(?:test|bench|scripts|console)/' },
    },
    {
      name: 'console-alone',
      comment: 'The console is a client of the public API like every other.',
      severity: 'error',
      from: { path: '^console/' },
      to: { path: OURS, pathNot: '^console/' },
    },
    {
      name: 'no-development-packages',
      comment: 'The service is installed without development packages.',
      severity: 'error',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'] },
    },
    {
      name: 'one-file-knows-opentelemetry',
      comment: 'Everything else uses the tracer of core/tracing.ts.',
      severity: 'error',
      from: { path: '^src/', pathNot: TRACES_FILE },
      to: { path: '@opentelemetry/' },
    },
    {
      name: 'opentelemetry-is-loaded-when-needed',
      comment: 'A service that records no traces does not load the libraries: `await import()`.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: TRACES_FILE, dependencyTypesNot: ['dynamic-import'] },
    },
    {
      name: 'embedded-stores-are-loaded-when-used',
      comment: 'A service with servers by URL is installed without optional packages: `await import()`.',
      severity: 'error',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-optional'], dependencyTypesNot: ['dynamic-import', 'type-only'] },
    },
    {
      name: 'folder-with-a-list',
      comment: 'Say in .dependency-cruiser.mjs what this folder may import.',
      severity: 'error',
      from: { path: '^src/[^/]+/', pathNot: folders([...Object.keys(FLOORS), ...ON_TOP]) },
      to: {},
    },
    {
      name: 'no-circles',
      comment: 'Files that import each other, by type too, cannot be understood one at a time.',
      severity: 'error',
      from: { path: OURS },
      to: { circular: true },
    },
    {
      name: 'imports-exist',
      comment: 'An import that is not found would escape every other rule.',
      severity: 'error',
      from: { path: OURS },
      to: { couldNotResolve: true },
    },
  ],
  options: {
    // TypeScript 7 has no interface for tools to parse with.
    parser: 'swc',
    doNotFollow: { path: '(?:^|/)node_modules/' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  },
};
