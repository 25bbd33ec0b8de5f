/** The pages that the side leads to, in the order of work. A page that is not built yet is not in it. */
export const NAVIGATION = [
  { to: '/', title: 'Start' },
  { to: '/customers', title: 'Customers' },
  { to: '/month-end', title: 'Month end' },
  { to: '/system', title: 'System' },
] as const;
