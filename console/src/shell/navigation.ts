/** The pages in the navigation, in the order of work. */
export const NAVIGATION = [
  { to: '/', title: 'Start' },
  { to: '/customers', title: 'Customers' },
  { to: '/month-end', title: 'Month end' },
  { to: '/metrics', title: 'Metrics' },
  { to: '/ask', title: 'Ask' },
  { to: '/prices', title: 'Prices' },
  { to: '/events', title: 'Events' },
  { to: '/system', title: 'System' },
] as const;
