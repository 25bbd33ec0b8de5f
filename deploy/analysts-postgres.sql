-- What analysts may read of PostgreSQL, for the views of deploy/analysts-clickhouse.sql (docs/sql.md). Apply it to the
-- service's database as the owner of its tables, and again after each upgrade. It changes no table, but adds the row by
-- which the service begins to publish balances.
--
-- Numbers are texts, because ClickHouse would cut a numeric without a precision; instants are epoch milliseconds.
CREATE SCHEMA IF NOT EXISTS analysts;

CREATE OR REPLACE FUNCTION analysts.millis(at timestamptz) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT AS 'SELECT (extract(epoch FROM at) * 1000)::bigint';

CREATE OR REPLACE FUNCTION analysts.exact(value numeric) RETURNS text
LANGUAGE sql IMMUTABLE STRICT AS 'SELECT trim_scale(round(value, 30))::text';

CREATE OR REPLACE VIEW analysts.customers AS
SELECT id::text AS customer_id, name, analysts.millis(created_at) AS created_at,
  analysts.millis(archived_at) AS archived_at
FROM public.customers;

-- What the references in events mean: a customer's own id, or one of its ingest aliases.
CREATE OR REPLACE VIEW analysts.event_owners AS
SELECT id::text AS customer_ref, id::text AS customer_id FROM public.customers
UNION ALL
SELECT alias, customer_id::text FROM public.ingest_aliases
WHERE NOT EXISTS (SELECT 1 FROM public.customers WHERE customers.id::text = ingest_aliases.alias);

CREATE OR REPLACE VIEW analysts.contracts AS
SELECT id::text AS contract_id, customer_id::text AS customer_id, name, rate_card_id::text AS rate_card_id,
  analysts.millis(starting_at) AS starting_at, analysts.millis(ending_before) AS ending_before,
  analysts.millis(archived_at) AS archived_at
FROM public.contracts;

-- The currencies that every service knows, and the custom units.
CREATE OR REPLACE VIEW analysts.credit_types AS
SELECT id::text AS credit_type_id, name FROM public.credit_types
UNION ALL
VALUES
  ('2714e483-4ff1-48e4-9e25-ac732e8f24f2', 'USD (cents)'),
  ('58f0be15-cc47-4220-bdaf-072ab0e44f96', 'EUR'),
  ('86173fc2-db21-5925-ae1f-a400feacd03e', 'GBP'),
  ('1888d3f0-9098-5e1f-9644-620cddce74ea', 'AUD'),
  ('dccb165e-2b63-5a64-9e62-ff6ca5650938', 'BRL'),
  ('551a20e5-9ff0-5925-84d9-d0b4079245ca', 'CAD'),
  ('9d5944c5-6a4f-515f-a09a-2b9d0b63a13d', 'CHF'),
  ('06332c9e-5be2-5cb6-8d4c-fad687f6da79', 'CZK'),
  ('1e2f5163-60de-5e71-ac65-cb43bb0e036f', 'INR'),
  ('6b4677a2-5211-5013-96ed-b62ca4b1be9f', 'MXN'),
  ('b8625003-bedb-5fdc-b403-502fcddc6b14', 'NGN'),
  ('032a10f6-bf84-5952-84cd-47b08a75ecf7', 'NOK'),
  ('03a1802d-0866-52b1-bfc9-c37c61b74b9d', 'PLN'),
  ('01e66486-9a1e-5251-b182-45f4c887048e', 'SEK'),
  ('b6b26eb2-6206-5a99-9737-051c7244ca39', 'TRY'),
  ('30428824-b3ec-59e4-a816-9f70cebab5dc', 'ZAR'),
  ('a08e8756-9245-53a4-94d2-c4e3f28abad3', 'NZD'),
  ('bdcdd5e1-c96e-5622-bf99-dfa6cb173059', 'SGD');

CREATE OR REPLACE VIEW analysts.invoices AS
SELECT i.id::text AS invoice_id, i.customer_id::text AS customer_id, i.contract_id::text AS contract_id,
  i.status AS invoice_status, i.type,
  CASE WHEN i.type = 'USAGE' THEN analysts.millis(i.period_start) END AS start_timestamp,
  CASE WHEN i.type = 'USAGE' THEN analysts.millis(i.period_end) END AS end_timestamp,
  analysts.millis(i.issued_at) AS issued_at, n.number AS invoice_number,
  i.credit_type_id::text AS credit_type_id, c.name AS credit_type, analysts.exact(i.total) AS total
FROM public.invoices i
LEFT JOIN public.invoice_numbers n ON n.invoice_id = i.id
LEFT JOIN analysts.credit_types c ON c.credit_type_id = i.credit_type_id::text
WHERE i.type <> 'USAGE_CONSOLIDATED';

CREATE OR REPLACE VIEW analysts.invoice_lines AS
SELECT i.id::text AS invoice_id, i.customer_id::text AS customer_id, i.contract_id::text AS contract_id,
  i.status AS invoice_status, analysts.millis(i.issued_at) AS issued_at, l.position,
  CASE
    WHEN l.type IN ('applied', 'applied_conversion', 'applied_subscription') THEN 'applied_commit_or_credit'
    WHEN l.type = 'minimum' THEN 'usage'
    WHEN l.type = 'true_up' THEN 'commit_purchase'
    WHEN l.type IN ('discount', 'professional_service') THEN 'scheduled'
    ELSE l.type
  END AS type,
  CASE WHEN l.type = 'minimum' THEN l.name || ' (minimum)' ELSE l.name END AS name,
  l.product_id::text AS product_id,
  CASE WHEN l.type NOT LIKE 'applied%' THEN analysts.exact(l.quantity) END AS quantity,
  CASE WHEN l.type NOT LIKE 'applied%' THEN analysts.exact(l.unit_price) END AS unit_price,
  analysts.exact(l.total) AS total, l.credit_type_id::text AS credit_type_id,
  analysts.millis(l.starting_at) AS starting_at, analysts.millis(l.ending_before) AS ending_before,
  CASE WHEN l.type IN ('commit_purchase', 'true_up') THEN l.source_id ELSE l.payer_commit_id END::text AS commit_id,
  l.pricing_group_values::text AS pricing_group_values,
  l.presentation_group_values::text AS presentation_group_values,
  l.credit_type_id = i.credit_type_id
    AND NOT (l.type LIKE 'applied%' AND coalesce(l.payer_type = 'POSTPAID', false)) AS counts_in_total
FROM public.invoice_line_items l
JOIN public.invoices i ON i.id = l.invoice_id
WHERE i.type <> 'USAGE_CONSOLIDATED';

-- Whose the frozen hours in ClickHouse are.
CREATE OR REPLACE VIEW analysts.frozen_lines AS
SELECT i.breakdown_id::text AS breakdown_id, l.position, i.id::text AS invoice_id,
  i.customer_id::text AS customer_id, l.type LIKE 'applied%' AS is_applied
FROM public.invoice_line_items l
JOIN public.invoices i ON i.id = l.invoice_id
WHERE i.breakdown_id IS NOT NULL;

INSERT INTO public.balance_publication (id) VALUES (1) ON CONFLICT DO NOTHING;

-- Nothing until all balances were published once.
CREATE OR REPLACE VIEW analysts.balances AS
SELECT b.commit_id::text AS commit_id, b.customer_id::text AS customer_id, b.contract_id::text AS contract_id, b.type,
  b.credit_type_id::text AS credit_type_id, analysts.exact(b.balance) AS balance, analysts.millis(p.as_of) AS as_of
FROM public.published_balances b
JOIN public.balance_publication p ON p.as_of IS NOT NULL;
