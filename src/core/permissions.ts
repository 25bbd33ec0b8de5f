/**
 * Permissions of callers: what they are, which of them a scope of tokens and a built-in role have.
 *
 * Does not own: the permission that an operation needs (`api/http/permissions.ts`), custom roles (`access/roles.ts`).
 */
import type { TokenScope } from './token-scopes.ts';

const RESOURCES = [
  ...([
    'invoices',
    'contracts',
    'prices',
    'customers',
    'metrics',
    'events',
    'balances',
    'deliveries',
  ] as const),
  ...(['webhooks', 'alerts', 'sql', 'tokens', 'people', 'settings', 'holds', 'ingest', 'approvals'] as const),
] as const;
type Resource = (typeof RESOURCES)[number];

/** `write` does not contain `read`. */
export type Permission = `${Resource}:${'read' | 'write'}`;

export const PERMISSIONS = RESOURCES.flatMap((resource) => [
  `${resource}:read` as const,
  `${resource}:write` as const,
]) as unknown as readonly [Permission, ...Permission[]];

export function isPermission(text: string): text is Permission {
  return PERMISSIONS.some((permission) => permission === text);
}

export type Permissions = ReadonlySet<Permission>;

/** Webhooks, tokens and people are read by those alone who may change them: a token of scope `read` never could. */
const NOT_BY_SCOPE_READ = new Set<Permission>(['webhooks:read', 'tokens:read', 'people:read']);

const readsOf = (...left: readonly Permission[]): Permission[] =>
  PERMISSIONS.filter((permission) => permission.endsWith(':read') && !left.includes(permission));

export const SCOPE_PERMISSIONS: Readonly<Record<TokenScope, Permissions>> = {
  ingest: new Set<Permission>(['ingest:write', 'holds:write']),
  read: new Set(readsOf(...NOT_BY_SCOPE_READ)),
  write: new Set(PERMISSIONS),
};

interface BuiltInRole {
  readonly name: string;
  /** For people who choose one. */
  readonly meaning: string;
  readonly permissions: readonly Permission[];
}

/** The reads that every one of these roles has. */
const CUSTOMER_CARE: readonly Permission[] = [
  ...(['customers:read', 'invoices:read', 'events:read', 'balances:read', 'deliveries:read'] as const),
  ...(['metrics:read', 'holds:read', 'alerts:read', 'approvals:read'] as const),
];

export const BUILT_IN_ROLES = [
  { name: 'admin', meaning: 'Everything.', permissions: PERMISSIONS },
  {
    name: 'finance',
    meaning:
      'Invoices, credit notes, deliveries, contracts, balances and customers; reads prices and runs SQL; approves. No tokens, people or settings.',
    permissions: [
      ...CUSTOMER_CARE,
      ...(['contracts:read', 'prices:read', 'sql:read', 'sql:write'] as const),
      ...(['invoices:write', 'contracts:write', 'customers:write', 'balances:write'] as const),
      ...(['deliveries:write', 'approvals:write'] as const),
    ],
  },
  {
    name: 'support',
    meaning:
      'Reads customers, invoices, usage, balances and deliveries, and delivers invoices and webhook messages again. Sees prices only as they stand on invoices, and runs no SQL.',
    permissions: [...CUSTOMER_CARE, 'deliveries:write', 'webhooks:read'],
  },
  {
    name: 'analyst',
    meaning: 'Reads everything but tokens, people and webhooks, runs and saves SQL, and previews metrics.',
    permissions: [...readsOf('tokens:read', 'people:read', 'webhooks:read'), 'sql:write'],
  },
  {
    name: 'developer',
    meaning:
      'Metrics, events, webhooks, alerts, holds and saved SQL; reads everything but tokens and people. Changes no money.',
    permissions: [
      ...readsOf('tokens:read', 'people:read'),
      ...(['metrics:write', 'events:write', 'ingest:write', 'holds:write'] as const),
      ...(['webhooks:write', 'alerts:write', 'sql:write'] as const),
    ],
  },
] as const satisfies readonly BuiltInRole[];

export function builtInRole(name: string): BuiltInRole | undefined {
  return BUILT_IN_ROLES.find((role) => role.name === name);
}

/** The first permission of `wanted` that `held` lacks; null if it has all. */
export function missingOf(held: Permissions, wanted: Iterable<Permission>): Permission | null {
  for (const permission of wanted) if (!held.has(permission)) return permission;
  return null;
}
