CREATE TABLE "subscription_billing_starts" (
	"subscription_id" uuid PRIMARY KEY NOT NULL,
	"billed_from" timestamp(3) with time zone NOT NULL
);--> statement-breakpoint
ALTER TABLE "invoice_line_items" ADD COLUMN "is_prorated" boolean;--> statement-breakpoint
ALTER TABLE "invoice_line_items" ADD COLUMN "billing_frequency" text;--> statement-breakpoint
ALTER TABLE "invoice_line_items" ADD COLUMN "priced_at" timestamp(3) with time zone;--> statement-breakpoint
ALTER TABLE "subscription_billing_starts" ADD CONSTRAINT "subscription_billing_starts_subscription_id_subscriptions_id_fk" FOREIGN KEY ("subscription_id") REFERENCES "public"."subscriptions"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "invoice_line_items_subscription" ON "invoice_line_items" USING btree ("source_id") WHERE "invoice_line_items"."type" = 'subscription';--> statement-breakpoint
INSERT INTO "subscription_billing_starts" ("subscription_id", "billed_from")
SELECT "subscriptions"."id", max("invoices"."period_end")
FROM "subscriptions"
JOIN "invoices" ON "invoices"."contract_id" = "subscriptions"."contract_id"
WHERE "invoices"."type" = 'USAGE' AND "invoices"."status" <> 'VOID' AND "invoices"."period_end" > "subscriptions"."starting_at"
GROUP BY "subscriptions"."id";
--> statement-breakpoint
INSERT INTO "jobs" ("kind", "key", "subject", "run_at", "payload")
SELECT 'issue_scheduled_invoice', "contracts"."id"::text, "contracts"."id"::text,
  min(greatest("subscriptions"."starting_at", "starts"."billed_from")), jsonb_build_object('contract_id', "contracts"."id")
FROM "subscriptions"
JOIN "contracts" ON "contracts"."id" = "subscriptions"."contract_id" AND "contracts"."archived_at" IS NULL
LEFT JOIN "subscription_billing_starts" AS "starts" ON "starts"."subscription_id" = "subscriptions"."id"
GROUP BY "contracts"."id"
ON CONFLICT ("kind", "key") DO UPDATE SET "run_at" = least("jobs"."run_at", excluded."run_at");
