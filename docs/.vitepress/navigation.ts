/** The pages of docs/ by their kind: lessons, tasks, facts to look up, and explanations. A test finds pages in no list. */

const TUTORIALS = [
  { text: 'Your first invoice', link: '/tutorials/first-invoice' },
  { text: 'Your first SQL metric', link: '/tutorials/first-sql-metric' },
  { text: 'Your first paid invoice', link: '/tutorials/first-paid-invoice' },
];

const HOW_TO = [
  { text: 'For engineers', link: '/how-to/engineers' },
  { text: 'For finance', link: '/how-to/finance' },
  { text: 'For analysts', link: '/how-to/analysts' },
  { text: 'For operators', link: '/how-to/operators' },
  { text: 'See it with data', link: '/how-to/demo' },
  { text: 'Use the official client', link: '/how-to/official-client' },
  {
    text: 'Send usage',
    collapsed: true,
    items: [
      { text: 'Sources', link: '/sources/README' },
      { text: 'SDKs of providers', link: '/sources/sdk' },
      { text: 'Vercel AI SDK', link: '/sources/vercel-ai-sdk' },
      { text: 'LiteLLM', link: '/sources/litellm' },
      { text: 'OpenRouter', link: '/sources/openrouter' },
      { text: 'Portkey', link: '/sources/portkey' },
      { text: 'Kong', link: '/sources/kong' },
      { text: 'Langfuse', link: '/sources/langfuse' },
      { text: 'OpenMeter', link: '/sources/openmeter' },
      { text: 'Prometheus', link: '/sources/prometheus' },
      { text: 'Segment', link: '/sources/segment' },
      { text: 'Files and history', link: '/backfill' },
    ],
  },
  {
    text: 'Bill',
    collapsed: true,
    items: [
      { text: 'Preview a change', link: '/previews' },
      { text: 'Deliver and get paid', link: '/payments' },
      { text: 'PDF, CSV', link: '/exports' },
      { text: 'Reconcile', link: '/reconciliation' },
      { text: 'Show dashboards to customers', link: '/dashboards' },
      { text: 'Erase a customer', link: '/erasure' },
    ],
  },
  {
    text: 'Run the service',
    collapsed: true,
    items: [
      { text: 'Operations', link: '/operations' },
      { text: 'Backups', link: '/backups' },
      { text: 'Move to servers', link: '/how-to/move-to-servers' },
      { text: 'Scaling', link: '/scaling' },
      { text: 'Access and tokens', link: '/access' },
      { text: 'Security', link: '/security' },
    ],
  },
];

const REFERENCE = [
  { text: 'Operations of the API', link: '/reference/operations' },
  { text: 'Configuration', link: '/reference/configuration' },
  { text: 'Limits', link: '/limits' },
  { text: 'Figures of /metrics', link: '/reference/metrics' },
  { text: 'Warnings of invoices', link: '/reference/warnings' },
  { text: 'Errors', link: '/reference/errors' },
  { text: 'Webhook messages', link: '/reference/webhooks' },
  { text: 'SQL across customers', link: '/sql' },
  { text: 'Compatibility', link: '/compatibility' },
  { text: 'Glossary', link: '/glossary' },
  { text: 'Changelog', link: '/changelog' },
];

const EXPLANATION = [
  {
    text: 'Usage',
    collapsed: true,
    items: [
      { text: 'Metering', link: '/metering' },
      { text: 'Events', link: '/events' },
      { text: 'Deduplication', link: '/deduplication' },
      { text: 'SQL metrics', link: '/sql-metrics' },
      { text: 'Token billing', link: '/token-billing' },
    ],
  },
  {
    text: 'Prices and contracts',
    collapsed: true,
    items: [
      { text: 'Catalogue', link: '/catalogue' },
      { text: 'Contracts', link: '/contracts' },
      { text: 'Packages', link: '/packages' },
      { text: 'Subscriptions', link: '/subscriptions' },
      { text: 'Custom fields', link: '/custom-fields' },
    ],
  },
  {
    text: 'Invoices and balances',
    collapsed: true,
    items: [
      { text: 'Rating', link: '/rating' },
      { text: 'Invoices', link: '/invoices' },
      { text: 'Balances and drawdown', link: '/drawdown' },
      { text: 'Thresholds', link: '/thresholds' },
      { text: 'Holds', link: '/holds' },
      { text: 'Spend by properties', link: '/spend-breakdowns' },
      { text: 'Notifications and webhooks', link: '/notifications' },
    ],
  },
  {
    text: 'The service',
    collapsed: true,
    items: [
      { text: 'Decisions', link: '/decisions' },
      { text: 'Jobs', link: '/jobs' },
      { text: 'Architecture', link: '/architecture' },
      { text: 'Subjects and their files', link: '/subjects' },
      { text: 'Upgrades of stored data', link: '/upgrades' },
      { text: 'Releases', link: '/releases' },
      { text: 'Dependencies', link: '/dependencies' },
      { text: 'Figures', link: '/figures' },
    ],
  },
  {
    text: 'Notes: what was measured',
    collapsed: true,
    items: [
      { text: 'Reading numbers', link: '/notes/reading-numbers' },
      { text: 'Finding an event', link: '/notes/finding-events' },
      { text: 'Known ids', link: '/notes/known-ids' },
      { text: 'Where ingest stops', link: '/notes/ingest' },
      { text: 'Invoice runs', link: '/notes/invoice-runs' },
      { text: 'Ten million events a second', link: '/notes/ten-million-events' },
      { text: 'The suite', link: '/notes/test-suite' },
    ],
  },
];

export const NAVIGATION = [
  { text: 'Tutorials', link: '/tutorials/first-invoice', activeMatch: '/tutorials/' },
  { text: 'How-to', link: '/how-to/engineers', activeMatch: '/how-to/' },
  { text: 'Reference', link: '/reference/operations', activeMatch: '/reference/' },
  { text: 'Explanation', link: '/rating' },
];

export const SIDEBAR = [
  { text: 'Tutorials', items: TUTORIALS },
  { text: 'How-to', items: HOW_TO },
  { text: 'Reference', items: REFERENCE },
  { text: 'Explanation', items: EXPLANATION },
];
