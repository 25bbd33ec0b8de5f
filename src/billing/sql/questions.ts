/**
 * Questions that a new installation has as saved queries (docs/reference/sql.md, "Saved questions"). Each installation
 * gets each of them once, an older one with its upgrade: a deleted one stays deleted, a changed one stays changed.
 */
import { newId } from '../../core/ids.ts';
import { giveQueries } from '../../store/sql/saved-queries.ts';
import type { RowContext } from '../billing-context.ts';

/** The name that is shown for who saved them. */
const SAVED_BY = 'Tallyhouse';

/** The sums of one currency; others are in separate rows. */
const ISSUED = "status = 'FINALIZED'";

export const QUESTIONS = [
  {
    name: 'Recurring revenue by month',
    sql: `SELECT period_month AS month, credit_type, SUM(total) AS revenue
FROM invoices WHERE ${ISSUED} AND type = 'USAGE'
GROUP BY month, credit_type ORDER BY month, credit_type`,
  },
  {
    name: 'Growth of the largest customers',
    sql: `SELECT customer, credit_type, last_month, month_before, last_month - month_before AS growth
FROM (SELECT c.name AS customer, i.credit_type AS credit_type,
    SUM(CASE WHEN i.period_month = DATE_TRUNC('month', now()) - INTERVAL 1 MONTH THEN i.total ELSE 0 END) AS last_month,
    SUM(CASE WHEN i.period_month = DATE_TRUNC('month', now()) - INTERVAL 2 MONTH THEN i.total ELSE 0 END) AS month_before
  FROM invoices i JOIN customers c ON i.customer_id = c.customer_id
  WHERE i.${ISSUED} GROUP BY i.customer_id, customer, credit_type)
ORDER BY last_month DESC LIMIT 20`,
  },
  {
    name: 'Margin by model',
    sql: `SELECT p.model AS model, SUM(h.total) AS revenue_cents, SUM(h.quantity * 1000000 * p.price) AS cost_cents,
  SUM(h.total) - SUM(h.quantity * 1000000 * p.price) AS margin_cents
FROM (SELECT i.line_id AS line_id, i.pricing_group_values ->> 'provider' AS provider, t.name AS product
  FROM invoice_lines i JOIN products t ON i.product_id = t.product_id
  WHERE i.${ISSUED} AND i.type = 'usage' AND i.counts_in_total) l
JOIN invoice_hours h ON l.line_id = h.line_id
JOIN (SELECT provider, model, CONCAT(model, ' ', REPLACE(kind, '_', ' ')) AS product, price, starting_at,
    LEAD(starting_at) OVER (PARTITION BY provider, model, kind ORDER BY starting_at) AS ending_before
  FROM provider_prices) p
ON l.provider = p.provider AND l.product = p.product
WHERE p.starting_at <= h.hour AND (p.ending_before IS NULL OR p.ending_before > h.hour)
GROUP BY model ORDER BY margin_cents`,
  },
  {
    name: 'Cohorts by month of the first invoice',
    sql: `SELECT f.first_month AS cohort, i.period_month AS month, i.credit_type AS credit_type,
  COUNT(DISTINCT i.customer_id) AS customers, SUM(i.total) AS revenue
FROM invoices i JOIN (SELECT customer_id, MIN(period_month) AS first_month FROM invoices
  WHERE ${ISSUED} GROUP BY customer_id) f ON i.customer_id = f.customer_id
WHERE i.${ISSUED} GROUP BY cohort, month, credit_type ORDER BY cohort, month, credit_type`,
  },
  {
    name: 'Forecast of this month',
    sql: `SELECT credit_type, so_far, so_far * days / NULLIF(passed, 0) AS forecast
FROM (SELECT credit_type, SUM(total) AS so_far, DATE_DIFF('day', DATE_TRUNC('month', now()), now()) AS passed,
    DATE_DIFF('day', DATE_TRUNC('month', now()), DATE_TRUNC('month', now()) + INTERVAL 1 MONTH) AS days
  FROM drafts WHERE type = 'USAGE' AND period_month = DATE_TRUNC('month', now()) GROUP BY credit_type)
ORDER BY credit_type`,
  },
  {
    name: 'Unbilled amounts by customer',
    sql: `SELECT c.name AS customer, d.credit_type AS credit_type, SUM(d.total) AS unbilled
FROM drafts d JOIN customers c ON d.customer_id = c.customer_id
WHERE d.start_timestamp <= now() OR d.issued_at <= now()
GROUP BY d.customer_id, customer, credit_type ORDER BY unbilled DESC LIMIT 100`,
  },
  {
    name: 'Burn-down of commits',
    sql: `SELECT commit_id, name, month, SUM(change) OVER (PARTITION BY commit_id ORDER BY month) AS remaining
FROM (SELECT l.commit_id AS commit_id, c.name AS name, DATE_TRUNC('month', l.timestamp) AS month, SUM(l.amount) AS change
  FROM ledger l JOIN commits c ON l.commit_id = c.commit_id
  WHERE c.type <> 'CREDIT' AND l.timestamp <= now() GROUP BY commit_id, name, month)
ORDER BY commit_id, month`,
  },
  {
    name: 'Credits outstanding by expiry',
    sql: `SELECT DATE_TRUNC('month', ends) AS expires, credit_type_id, SUM(balance) AS outstanding, COUNT(*) AS credits
FROM commits WHERE type = 'CREDIT' AND balance > 0
GROUP BY expires, credit_type_id ORDER BY expires, credit_type_id`,
  },
  {
    name: 'Revenue by product and country',
    sql: `SELECT p.name AS product, c.country AS country, l.credit_type_id AS credit_type_id, SUM(l.total) AS revenue
FROM invoice_lines l JOIN customers c ON l.customer_id = c.customer_id
LEFT JOIN products p ON l.product_id = p.product_id
WHERE l.${ISSUED} AND l.counts_in_total
GROUP BY product, country, credit_type_id ORDER BY revenue DESC LIMIT 1000`,
  },
  {
    name: 'Ageing of unpaid invoices',
    sql: `SELECT bucket, credit_type, COUNT(*) AS invoices, SUM(total) AS unpaid
FROM (SELECT credit_type, total, CASE WHEN due_at > now() THEN 'not yet due'
    WHEN DATE_DIFF('day', COALESCE(due_at, issued_at), now()) <= 30 THEN '0-30'
    WHEN DATE_DIFF('day', COALESCE(due_at, issued_at), now()) <= 60 THEN '31-60'
    WHEN DATE_DIFF('day', COALESCE(due_at, issued_at), now()) <= 90 THEN '61-90' ELSE 'above 90' END AS bucket
  FROM invoices WHERE ${ISSUED} AND paid_at IS NULL AND total > 0
    AND COALESCE(external_status, '') NOT IN ('PAID', 'SKIPPED', 'VOID', 'UNCOLLECTIBLE'))
GROUP BY bucket, credit_type ORDER BY bucket, credit_type`,
  },
] as const;

/** Saves the questions that this installation has not had before. */
export async function giveQuestions({ db, clock }: Pick<RowContext, 'db' | 'clock'>): Promise<void> {
  const now = clock.now();
  const queries = QUESTIONS.map((query) => ({
    ...query,
    ...{ id: newId(), savedBy: SAVED_BY, savedAt: now, createdAt: now },
  }));
  await db.transaction((tx) => giveQueries(tx, queries));
}
