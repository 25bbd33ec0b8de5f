-- What recurring commits and credits create, which earlier versions did not. The job of a contract finds out what is
-- missing; it is queued before all others of the contract.
INSERT INTO "jobs" ("kind", "key", "subject", "run_at", "payload")
SELECT 'create_recurring_commits', "contracts"."id"::text, "contracts"."id"::text,
  min(least("recurring"."starting_at", "contracts"."created_at")),
  jsonb_build_object('contract_id', "contracts"."id")
FROM "recurring_commits" AS "recurring"
JOIN "contracts" ON "contracts"."id" = "recurring"."contract_id" AND "contracts"."archived_at" IS NULL
GROUP BY "contracts"."id"
ON CONFLICT ("kind", "key") DO NOTHING;
