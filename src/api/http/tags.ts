/** The groups of the reference, in the order of the work: the first steps of a newcomer stand first. */

interface Tag {
  readonly name: string;
  readonly description: string;
}

export const TAGS: readonly Tag[] = [
  {
    name: 'Customers',
    description: 'The customers that you bill, and the names by which their events refer to them.',
  },
  { name: 'Usage', description: 'Usage events, and usage computed from them.' },
  {
    name: 'Billable metrics',
    description: 'Rules that turn events into quantities, by aggregations or in SQL.',
  },
  { name: 'Products', description: 'The products that you sell.' },
  { name: 'Pricing units', description: 'Currencies and custom units.' },
  { name: 'Rate cards', description: 'The prices of products, by groups and over time.' },
  { name: 'Token billing', description: 'Prices of models, which the service maintains, and margins.' },
  { name: 'Packages', description: 'Templates of contracts.' },
  {
    name: 'Contracts',
    description: 'The terms that a customer has agreed to: prices, commits, subscriptions, charges.',
  },
  { name: 'Balances', description: 'Commits and credits, the amounts left of them, and their ledgers.' },
  { name: 'Holds', description: 'Requests to reserve the cost of usage before it happens.' },
  { name: 'Invoices', description: 'Live drafts, issued invoices, breakdowns, explanations and previews.' },
  { name: 'Billing providers', description: 'The systems that invoices are delivered to and paid in.' },
  { name: 'Dashboards', description: 'Pages that you embed to show customers their own data.' },
  { name: 'Alerts', description: 'Thresholds of spend, usage and balances.' },
  {
    name: 'Notifications',
    description: 'Messages about lifecycle events, sent at, before or after the event.',
  },
  { name: 'Webhooks', description: 'Where messages are sent.' },
  { name: 'SQL', description: 'Queries across all customers.' },
  { name: 'Custom fields', description: 'Your own metadata.' },
  { name: 'Named schedules', description: 'Your own JSON values over time.' },
  { name: 'Audit log', description: 'Who changed what, and when.' },
  { name: 'Tokens', description: 'Who may call the API.' },
  { name: 'People', description: 'Who may sign in to the console, and with which role.' },
  { name: 'Console', description: 'The session of the web console.' },
  { name: 'Sandbox', description: 'A clock that you move, for tests.' },
  { name: 'Service', description: 'Health, metrics, and this reference.' },
  {
    name: 'Predecessors',
    description: 'Empty lists for clients that still request objects which contracts have replaced.',
  },
];
