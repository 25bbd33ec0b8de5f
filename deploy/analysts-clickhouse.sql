-- The views of docs/reference/sql.md on a ClickHouse server, for clients that connect to it directly. Apply it as the user of the
-- service, again after each upgrade. It needs deploy/analysts-postgres.sql and the named collection that docs/reference/sql.md
-- describes, which has the password of PostgreSQL. It changes no table.
--
-- The views run with the rights of the user who creates them, so analysts need rights on the database `analysts` alone.
CREATE DATABASE IF NOT EXISTS analysts;

CREATE OR REPLACE VIEW analysts.customers DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT p.customer_id AS customer_id, p.name AS name, fromUnixTimestamp64Milli(p.created_at, 'UTC') AS created_at,
  fromUnixTimestamp64Milli(p.archived_at, 'UTC') AS archived_at, p.country AS country
FROM postgresql(tallyhouse_postgres, schema = 'analysts', table = 'customers') AS p;

CREATE OR REPLACE VIEW analysts.contracts DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT p.contract_id AS contract_id, p.customer_id AS customer_id, p.name AS name, p.rate_card_id AS rate_card_id,
  fromUnixTimestamp64Milli(p.starting_at, 'UTC') AS starting_at,
  fromUnixTimestamp64Milli(p.ending_before, 'UTC') AS ending_before,
  fromUnixTimestamp64Milli(p.archived_at, 'UTC') AS archived_at
FROM postgresql(tallyhouse_postgres, schema = 'analysts', table = 'contracts') AS p;

CREATE OR REPLACE VIEW analysts.invoices DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT p.invoice_id AS invoice_id, p.customer_id AS customer_id, p.contract_id AS contract_id,
  p.status AS status, p.invoice_status AS invoice_status, p.type AS type,
  fromUnixTimestamp64Milli(p.start_timestamp, 'UTC') AS start_timestamp,
  fromUnixTimestamp64Milli(p.end_timestamp, 'UTC') AS end_timestamp,
  fromUnixTimestamp64Milli(p.issued_at, 'UTC') AS issued_at, p.invoice_number AS invoice_number,
  p.credit_type_id AS credit_type_id, p.credit_type AS credit_type, toDecimal256(p.total, 30) AS total,
  p.billing_provider AS billing_provider, p.external_invoice_id AS external_invoice_id,
  p.external_status AS external_status,
  fromUnixTimestamp64Milli(p.external_issued_at, 'UTC') AS external_issued_at,
  fromUnixTimestamp64Milli(p.external_paid_at, 'UTC') AS external_paid_at,
  p.external_payment_id AS external_payment_id, p.external_pdf_url AS external_pdf_url,
  toDecimal256(p.invoiced_sub_total, 30) AS invoiced_sub_total, toDecimal256(p.invoiced_total, 30) AS invoiced_total,
  toDecimal256(p.invoiced_tax, 30) AS invoiced_tax, toDecimal256(p.invoiced_taxable, 30) AS invoiced_taxable,
  p.tax_transaction_id AS tax_transaction_id, p.billing_provider_error AS billing_provider_error,
  fromUnixTimestamp64Milli(p.period_month, 'UTC') AS period_month,
  fromUnixTimestamp64Milli(p.due_at, 'UTC') AS due_at, fromUnixTimestamp64Milli(p.paid_at, 'UTC') AS paid_at
FROM postgresql(tallyhouse_postgres, schema = 'analysts', table = 'invoices') AS p;

CREATE OR REPLACE VIEW analysts.invoice_lines DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT p.invoice_id AS invoice_id, p.customer_id AS customer_id, p.contract_id AS contract_id,
  p.status AS status, p.invoice_status AS invoice_status,
  fromUnixTimestamp64Milli(p.issued_at, 'UTC') AS issued_at,
  p.position AS position, p.type AS type, p.name AS name, p.product_id AS product_id,
  toDecimal256(p.quantity, 30) AS quantity, toDecimal256(p.unit_price, 30) AS unit_price,
  toDecimal256(p.total, 30) AS total, p.credit_type_id AS credit_type_id,
  fromUnixTimestamp64Milli(p.starting_at, 'UTC') AS starting_at,
  fromUnixTimestamp64Milli(p.ending_before, 'UTC') AS ending_before, p.commit_id AS commit_id,
  p.pricing_group_values AS pricing_group_values, p.presentation_group_values AS presentation_group_values,
  CAST(p.counts_in_total, 'Nullable(Bool)') AS counts_in_total
FROM postgresql(tallyhouse_postgres, schema = 'analysts', table = 'invoice_lines') AS p;

CREATE OR REPLACE VIEW analysts.balances DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT p.commit_id AS commit_id, p.customer_id AS customer_id, p.contract_id AS contract_id, p.type AS type,
  p.credit_type_id AS credit_type_id, toDecimal256(p.balance, 30) AS balance,
  fromUnixTimestamp64Milli(p.as_of, 'UTC') AS as_of
FROM postgresql(tallyhouse_postgres, schema = 'analysts', table = 'balances') AS p;

CREATE OR REPLACE VIEW analysts.holds DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT p.hold_id AS hold_id, p.customer_id AS customer_id, p.transaction_id AS transaction_id, p.status AS status,
  p.event_type AS event_type, fromUnixTimestamp64Milli(p.timestamp, 'UTC') AS timestamp,
  toDecimal256(p.amount, 30) AS amount, p.credit_type_id AS credit_type_id,
  toDecimal256(p.settled_amount, 30) AS settled_amount,
  fromUnixTimestamp64Milli(p.created_at, 'UTC') AS created_at,
  fromUnixTimestamp64Milli(p.expires_at, 'UTC') AS expires_at,
  fromUnixTimestamp64Milli(p.ended_at, 'UTC') AS ended_at
FROM postgresql(tallyhouse_postgres, schema = 'analysts', table = 'holds') AS p;

CREATE OR REPLACE VIEW analysts.events DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT o.customer_id AS customer_id, e.transaction_id AS transaction_id,
  CAST(e.event_type, 'String') AS event_type, e.timestamp AS timestamp,
  toDateTime64(e.ingested_at, 3, 'UTC') AS ingested_at, e.properties AS properties
FROM (
  SELECT transaction_id, customer_ref, event_type, timestamp, properties, ingested_at
  FROM tallyhouse.usage_events FINAL
  WHERE (customer_ref, event_type, timestamp, transaction_id) GLOBAL NOT IN (
    SELECT customer_ref, event_type, timestamp, transaction_id FROM tallyhouse.corrected_events
    WHERE is_given = 0 AND of_attempt = '' AND toString(attempt) GLOBAL IN (
      SELECT attempt FROM postgresql(tallyhouse_postgres, schema = 'analysts', table = 'event_corrections')
    )
  )
  UNION ALL
  SELECT transaction_id, customer_ref, event_type, timestamp, properties, ingested_at
  FROM tallyhouse.corrected_events
  WHERE is_given = 1 AND toString(attempt) GLOBAL IN (
    SELECT attempt FROM postgresql(tallyhouse_postgres, schema = 'analysts', table = 'event_corrections')
  ) AND (toString(attempt), transaction_id) GLOBAL NOT IN (
    SELECT toString(of_attempt), transaction_id FROM tallyhouse.corrected_events
    WHERE is_given = 0 AND of_attempt != '' AND toString(attempt) GLOBAL IN (
      SELECT attempt FROM postgresql(tallyhouse_postgres, schema = 'analysts', table = 'event_corrections')
    )
  )
) AS e
GLOBAL INNER JOIN (
  SELECT customer_ref, customer_id
  FROM postgresql(tallyhouse_postgres, schema = 'analysts', table = 'event_owners')
) AS o ON e.customer_ref = o.customer_ref
SETTINGS do_not_merge_across_partitions_select_final = 1;

-- Texts of more than 30 places are rounded half away from zero, as in all other views.
CREATE OR REPLACE VIEW analysts.invoice_hours DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
WITH (text) -> toDecimal256(text, 30) + if(
  substring(splitByChar('.', text)[2], 31, 1) >= '5',
  toDecimal256('0.000000000000000000000000000001', 30) * if(startsWith(text, '-'), -1, 1), toDecimal256('0', 30)
) AS rounded
SELECT l.invoice_id AS invoice_id, l.customer_id AS customer_id, l.position AS position,
  toDateTime64(h.hour, 3, 'UTC') AS hour,
  if(l.is_applied, NULL, rounded(h.quantity)) AS quantity, rounded(h.amount) AS total
FROM (
  SELECT toString(breakdown_id) AS breakdown_id, line_index, hour, quantity, amount
  FROM tallyhouse.invoice_hourly_lines ARRAY JOIN hours AS hour, quantities AS quantity, amounts AS amount
) AS h
GLOBAL INNER JOIN (
  SELECT breakdown_id, position, invoice_id, customer_id, is_applied
  FROM postgresql(tallyhouse_postgres, schema = 'analysts', table = 'frozen_lines')
) AS l ON h.breakdown_id = l.breakdown_id AND h.line_index = l.position;
