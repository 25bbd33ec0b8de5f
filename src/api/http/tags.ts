/** The groups of the reference, in the order of work: what a newcomer does first stands first. */

interface Tag {
  readonly name: string;
  readonly description: string;
}

export const TAGS: readonly Tag[] = [
  { name: 'Customers', description: 'Whom you bill, and under which names their events come.' },
  { name: 'Usage', description: 'Events in, and their totals.' },
  { name: 'Billable metrics', description: 'What is counted of events: by aggregations or in SQL.' },
  { name: 'Products', description: 'What is sold.' },
  { name: 'Pricing units', description: 'Currencies and units of your own.' },
  { name: 'Rate cards', description: 'What products cost, by groups and over time.' },
  { name: 'Token billing', description: 'Prices of models that the service keeps, and margins.' },
  { name: 'Packages', description: 'Templates of contracts.' },
  {
    name: 'Contracts',
    description: 'What a customer has agreed to: prices, commits, subscriptions, charges.',
  },
  { name: 'Balances', description: 'Commits and credits, what is left of them, and their ledgers.' },
  { name: 'Holds', description: 'Whether something may be used, and what it costs held until it is.' },
  { name: 'Invoices', description: 'Live drafts, issued invoices, breakdowns, explanations and previews.' },
  { name: 'Billing providers', description: 'Where invoices are delivered to and paid.' },
  { name: 'Dashboards', description: 'Pages that customers see of themselves, in frames of yours.' },
  { name: 'Alerts', description: 'Thresholds of spend, usage and balances.' },
  { name: 'Notifications', description: 'Which messages are sent, and how long before or after an event.' },
  { name: 'Webhooks', description: 'Where messages are sent.' },
  { name: 'SQL', description: 'Questions across all customers.' },
  { name: 'Custom fields', description: 'Metadata of your own.' },
  { name: 'Named schedules', description: 'JSON of your own over time.' },
  { name: 'Audit log', description: 'Who has changed what.' },
  { name: 'Tokens', description: 'Who may call the API.' },
  { name: 'Console', description: 'The session of the web console.' },
  { name: 'Sandbox', description: 'A clock that you move, for tests.' },
  { name: 'Service', description: 'Whether it works, its figures, and this reference.' },
  { name: 'Predecessors', description: 'Empty lists for clients that ask for what contracts have replaced.' },
];
