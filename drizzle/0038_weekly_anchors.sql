-- Weeks of subscriptions are counted from the first billing date of the contract, which is the day of its start if that
-- is a boundary of its billing periods. Until now they were counted from the boundary after that. Subscriptions that have
-- been billed by such weeks keep them, so that no day is billed twice: the former anchor becomes one of their own.
UPDATE "subscriptions" AS s
SET "anchor_date" = (CASE c."statement_frequency"
    WHEN 'MONTHLY' THEN date_trunc('month', c."starting_at" AT TIME ZONE 'UTC') + interval '1 month'
    WHEN 'QUARTERLY' THEN date_trunc('quarter', c."starting_at" AT TIME ZONE 'UTC') + interval '3 months'
    ELSE date_trunc('year', c."starting_at" AT TIME ZONE 'UTC') + interval '1 year'
  END) AT TIME ZONE 'UTC'
FROM "contracts" AS c
WHERE c."id" = s."contract_id"
  AND s."billing_frequency" = 'WEEKLY'
  AND s."anchor_date" IS NULL
  AND c."statement_day" = 'FIRST_OF_MONTH'
  AND c."statement_frequency" <> 'WEEKLY'
  AND date_trunc('day', c."starting_at" AT TIME ZONE 'UTC') = date_trunc(
    CASE c."statement_frequency" WHEN 'MONTHLY' THEN 'month' WHEN 'QUARTERLY' THEN 'quarter' ELSE 'year' END,
    c."starting_at" AT TIME ZONE 'UTC'
  )
  AND EXISTS (
    SELECT 1 FROM "invoice_line_items" AS l WHERE l."source_id" = s."id" AND l."type" = 'subscription'
  );
