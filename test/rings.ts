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
  'test/integration/{identity-provider-processes,invoice-uncounted-events}.test.ts',
  'test/scenarios/{seats,subscriptions,year}.test.ts',
];

/** More than five seconds of a core each, in November 2026. `npm test` keeps cheaper files of the same subjects. */
const COSTLY = [
  'test/compat/{documented-requests,filtered-lists}.test.ts',
  'test/e2e/{environment-file,first-token,start-settings,tutorials}.test.ts',
  'test/integration/{alert-values,alerts-killed,archive-configurations,archive-customers}.test.ts',
  'test/integration/{backfill-rows,canceled-purchases,changes-inside-a-period,charge-races}.test.ts',
  'test/integration/{client-terms,commit-edits,composites-of-subscriptions}.test.ts',
  'test/integration/{consolidated-invoices,contract-changes,contract-consequences}.test.ts',
  'test/integration/{contract-edit-history,contract-edit-updates,contract-invoices}.test.ts',
  'test/integration/{contract-ledgers,contract-links,contract-override-limits}.test.ts',
  'test/integration/{contract-rollover-changes,contract-rollovers,copied-tables}.test.ts',
  'test/integration/{creation-races,csv,custom-delivery,custom-fields-of-invoices}.test.ts',
  'test/integration/{damaged-parts,dashboards,dedup-hostile-requests,dedup-processes}.test.ts',
  'test/integration/{drafts-of-all-customers,drawdown-races,drawn-seat-shares}.test.ts',
  'test/integration/{edit-and-renewal,event-billing,event-retention,event-retention-races}.test.ts',
  'test/integration/{explain-invoices,historical-invoices,hold-client,hold-hours,hold-kinds}.test.ts',
  'test/integration/{hold-requests,holds-after-start,invoice-composites,invoice-conversions}.test.ts',
  'test/integration/{invoice-late-usage,invoice-months,invoice-pdf,invoice-road}.test.ts',
  'test/integration/{invoice-warnings,kept-overrides,many-metrics,otlp,own-rows}.test.ts',
  'test/integration/{paid-and-voided,preview-change,reconcile-command,reconcile-invoices}.test.ts',
  'test/integration/{reconcile-providers,recurring-child-races,recurring-commits}.test.ts',
  'test/integration/{reopened-contracts,rollover-source-ends,scheduled-messages}.test.ts',
  'test/integration/{shared-balance-races,shared-balances,sources,spend-before-balances}.test.ts',
  'test/integration/{spend-breakdowns,spend-limits,sql-command,sql-many-customers,sql-metric}.test.ts',
  'test/integration/{sql-moments,sql-streams,stored-id-filter,stripe-meetings}.test.ts',
  'test/integration/{subscription-invoices,threshold-holds,thresholds,token-margin}.test.ts',
  'test/integration/{token-margin-random,true-ups,upcoming-messages,usage-batch,usage-pages}.test.ts',
  'test/integration/{void-invoices,webhooks-killed,weekly-subscriptions}.test.ts',
  'test/property/{backfill-formats,composite-differential,composite-laws}.test.ts',
  'test/property/{contract-rate-schedule,delivery-faults,drawdown-differential}.test.ts',
  'test/property/{drawdown-laws,explain-lines,hold-places,hold-prices,holds,invoice-numbers}.test.ts',
  'test/property/{known-ids,money-collected,otlp-spans,preview-change,rating-differential}.test.ts',
  'test/property/{shared-balances,sql-metric-language,subscription-drawdown,usage-preview}.test.ts',
  'test/property/{usage-series,usage-spend}.test.ts',
  'test/scenarios/balances.test.ts',
  'test/unit/api/pdf/invoice-pdf.test.ts',
  'test/unit/app/backups/{backups,changed-backup,s3-place}.test.ts',
];

export const FURTHER: string[] = [...PROGRAMS, ...LIMITS, ...FAILURES_AND_RACES, ...COSTLY];
