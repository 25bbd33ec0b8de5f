/**
 * The tests that `npm test` leaves to the further ring: each takes many seconds of a core, and its guarantee is at an
 * edge. `npm run test:all` has both rings; CI runs one after the other. docs/notes/test-suite.md says what `npm test`
 * keeps for each of these guarantees.
 */

/** Started programs: kills, damage, backups and moves, other versions, the image, every page of the console. */
const PROGRAMS = [
  'test/e2e/{backup,console-,damaged,delivery,demo,move,removal}*.test.ts',
  'test/e2e/{backfill,dashboards,erased-bytes,examples,few-descriptors,full-disk,guide,image}.test.ts',
  'test/e2e/{older-program,overload,package,postgres-killed,process,reference,release}.test.ts',
  'test/e2e/{rolling-upgrade,stripe-accounts,traces,upgrade}.test.ts',
];

/** Limits, hostile and very large input, all operations and all texts. */
const LIMITS = [
  'test/integration/{custom-field-objects,frozen-states,fuzz,kept-card-terms,kept-drafts}.test.ts',
  'test/integration/{reference-examples,sql-metric-hostile,sql-metric-language,sql-windows}.test.ts',
  'test/integration/{shared-balance-terms,turns-at-limits}.test.ts',
  'test/unit/api/counted-answers.test.ts',
];

/** Stores that fail, other processes, races, and long random lives. */
const FAILURES_AND_RACES = [
  'test/integration/{clickhouse-remote-process,dedup-two-services,embedded-postgres,finalization-races}.test.ts',
  'test/integration/{finalization-run,hold-groups,holds-two-processes,known-id-files,known-id-lookups}.test.ts',
  'test/integration/{postgres-lost,postgres-tls,published-balances,reconcile-balances}.test.ts',
  'test/integration/{shared-balance-failures,sql-streams-lost,stripe-gates,thresholds-and-alerts}.test.ts',
  'test/integration/invoice-uncounted-events.test.ts',
  'test/scenarios/{seats,subscriptions,year}.test.ts',
];

export const FURTHER: string[] = [...PROGRAMS, ...LIMITS, ...FAILURES_AND_RACES];
