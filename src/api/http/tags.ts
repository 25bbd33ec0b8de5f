/** The groups of the reference, in the order of the work: what a newcomer does first stands first. */

interface Tag {
  readonly name: string;
  readonly description: string;
}

export const TAGS: readonly Tag[] = [
  {
    name: 'Customers',
    description: 'The customers that you bill, and the names by which their events refer to them.',
  },
  { name: 'Usage', description: 'Sends usage events, and reads usage.' },
  {
    name: 'Billable metrics',
    description: 'Rules that turn events into quantities, by aggregations or in SQL.',
  },
  { name: 'Products', description: 'The things that you sell.' },
  { name: 'Pricing units', description: 'Currencies and custom units.' },
  { name: 'Rate cards', description: 'The prices of products, by groups and over time.' },
  { name: 'Token billing', description: 'Prices of models, which the service maintains, and margins.' },
  { name: 'Packages', description: 'Templates of contracts.' },
  {
    name: 'Contracts',
    description: 'The terms that a customer has agreed to: prices, commits, subscriptions, charges.',
  },
  { name: 'Balances', description: 'Commits and credits, the amounts left of them, and their ledgers.' },
  { name: 'Holds', description: 'Decisions whether usage is granted; its cost is held until it arrives.' },
  { name: 'Invoices', description: 'Live drafts, issued invoices, breakdowns, explanations and previews.' },
  { name: 'Billing providers', description: 'The systems that invoices are delivered to and paid in.' },
  { name: 'Dashboards', description: 'Pages about a customer, which you embed for that customer.' },
  { name: 'Alerts', description: 'Thresholds of spend, usage and balances.' },
  { name: 'Notifications', description: 'Which messages are sent, and how long before or after an event.' },
  { name: 'Webhooks', description: 'Where messages are sent.' },
  { name: 'SQL', description: 'Queries across all customers.' },
  { name: 'Custom fields', description: 'Your own metadata.' },
  { name: 'Named schedules', description: 'Your own JSON values over time.' },
  { name: 'Audit log', description: 'Who changed what, and when.' },
  { name: 'Tokens', description: 'Who may call the API.' },
  { name: 'Console', description: 'The session of the web console.' },
  { name: 'Sandbox', description: 'A clock that you move, for tests.' },
  { name: 'Service', description: 'Whether it works, its figures, and this reference.' },
  { name: 'Predecessors', description: 'Empty lists for clients that ask for what contracts have replaced.' },
];
