-- True-ups of postpaid commits, which earlier versions did not invoice. The job of a contract finds out what is due; it
-- is queued at the first date, in place of a later one.
INSERT INTO "jobs" ("kind", "key", "subject", "run_at", "payload")
SELECT 'issue_scheduled_invoice', "contracts"."id"::text, "contracts"."id"::text, min("items"."timestamp"),
  jsonb_build_object('contract_id', "contracts"."id")
FROM "commits"
JOIN "invoice_schedule_items" AS "items" ON "items"."commit_id" = "commits"."id"
JOIN "contracts" ON "contracts"."id" = coalesce("commits"."contract_id", "commits"."invoice_contract_id")
  AND "contracts"."archived_at" IS NULL
WHERE "commits"."archived_at" IS NULL AND "commits"."type" = 'POSTPAID' AND NOT "commits"."do_not_invoice"
GROUP BY "contracts"."id"
ON CONFLICT ("kind", "key") DO UPDATE SET "run_at" = least("jobs"."run_at", excluded."run_at");
