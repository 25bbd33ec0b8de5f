/**
 * Dashboards of one customer, which an operator embeds in a frame on their pages (docs/how-to/dashboards.md): the kinds
 * of dashboards, and the options of their addresses.
 */
import { z } from 'zod';
import { isUuid } from './ids.ts';

export const DASHBOARDS = ['invoices', 'usage', 'commits_and_credits', 'credits'] as const;

export type Dashboard = (typeof DASHBOARDS)[number];

const DASHBOARD_LANGUAGES = ['en', 'de', 'es', 'fr'] as const;
const DASHBOARD_THEMES = ['light', 'dark', 'auto'] as const;
/** A page that is open all day requests a new address when one expires. */
export const DASHBOARD_MINUTES = { default: 60, max: 24 * 60 } as const;

interface DashboardOption {
  /** The dashboards that support the option. */
  readonly of: readonly Dashboard[];
  readonly value: z.ZodType<string>;
  readonly meaning: string;
}

const truth = z.enum(['true', 'false'], { error: 'must be true or false' });
const id = z.string().refine(isUuid, 'must be a UUID');
const oneOf = (values: readonly [string, ...string[]]) =>
  z.enum(values, { error: `must be one of ${values.join(', ')}` });
const minutes = z
  .string()
  .refine((text) => /^\d{1,4}$/.test(text) && Number(text) >= 1 && Number(text) <= DASHBOARD_MINUTES.max, {
    message: `must be a whole number from 1 to ${DASHBOARD_MINUTES.max}`,
  });

const BALANCES: readonly Dashboard[] = ['commits_and_credits', 'credits'];

export const DASHBOARD_OPTIONS = {
  show_zero_usage_line_items: {
    of: ['invoices'],
    value: truth,
    meaning: 'whether lines of quantity zero are shown, by default `false`',
  },
  contract_id: { of: ['invoices'], value: id, meaning: 'invoices of this contract only' },
  invoice_type: {
    of: ['invoices'],
    value: oneOf(['USAGE', 'SCHEDULED', 'USAGE_CONSOLIDATED']),
    meaning: '`USAGE`, `SCHEDULED` or `USAGE_CONSOLIDATED`: invoices of this type only',
  },
  invoice_status_filter: {
    of: ['invoices'],
    value: oneOf(['ALL', 'DRAFT', 'FINALIZED', 'FINALIZED_AND_DRAFT', 'VOID']),
    meaning: '`DRAFT`, `FINALIZED`, `FINALIZED_AND_DRAFT`, `VOID` or `ALL`, which is the default',
  },
  hide_voided_invoices: {
    of: ['invoices'],
    value: truth,
    meaning: '`true`: no voided invoices; the same as `invoice_status_filter` `FINALIZED_AND_DRAFT`',
  },
  hide_grant_name: {
    of: BALANCES,
    value: truth,
    meaning: '`true`: balances are called by their product, not by their name',
  },
  credit_ledger_credit_type_id: {
    of: BALANCES,
    value: id,
    meaning: 'balances in this pricing unit only',
  },
  language: {
    of: DASHBOARDS,
    value: oneOf(DASHBOARD_LANGUAGES),
    meaning: '`en`, which is the default, `de`, `es` or `fr`',
  },
  theme: {
    of: DASHBOARDS,
    value: oneOf(DASHBOARD_THEMES),
    meaning: '`light`, which is the default, `dark`, or `auto` for what the visitor’s system has',
  },
  expires_in_minutes: {
    of: DASHBOARDS,
    value: minutes,
    meaning: `how long the address works, by default ${DASHBOARD_MINUTES.default}, at most ${DASHBOARD_MINUTES.max}`,
  },
} as const satisfies Readonly<Record<string, DashboardOption>>;

export type DashboardOptionKey = keyof typeof DASHBOARD_OPTIONS;
export type DashboardOptions = Readonly<Partial<Record<DashboardOptionKey, string>>>;

export function isDashboardOption(key: string): key is DashboardOptionKey {
  return Object.hasOwn(DASHBOARD_OPTIONS, key);
}

/** Whether the dashboard supports the option. */
export function dashboardHas(dashboard: Dashboard, key: DashboardOptionKey): boolean {
  const { of }: DashboardOption = DASHBOARD_OPTIONS[key];
  return of.includes(dashboard);
}

/** The parts of a page with a configurable colour. */
export const DASHBOARD_COLORS = [
  ...['Gray_dark', 'Gray_medium', 'Gray_light', 'Gray_extralight', 'White'],
  ...['Primary_medium', 'Primary_light', 'Primary_green', 'Primary_red'],
  ...['UsageLine_0', 'UsageLine_1', 'UsageLine_2', 'UsageLine_3', 'UsageLine_4'],
  ...['UsageLine_5', 'UsageLine_6', 'UsageLine_7', 'UsageLine_8', 'UsageLine_9'],
  ...['Progress_bar', 'Progress_bar_background', 'Action', 'Action_hover'],
] as const;

/** The labels of a metric's group key and its values on the page. */
interface DashboardGroup {
  readonly key: string;
  readonly name?: string | undefined;
  readonly values?: Readonly<Record<string, string>> | undefined;
}

/** The content of a dashboard's page: the dashboard, its customer and its options. */
export interface DashboardView {
  readonly customerId: string;
  readonly dashboard: Dashboard;
  readonly options: DashboardOptions;
  /** By name, as hexadecimal colours. */
  readonly colors: Readonly<Record<string, string>>;
  readonly groups: readonly DashboardGroup[];
}
