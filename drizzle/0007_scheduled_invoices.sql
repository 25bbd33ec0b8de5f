CREATE TABLE "invoiced_items" (
	"item_id" uuid PRIMARY KEY NOT NULL,
	"invoice_id" uuid NOT NULL
);
--> statement-breakpoint
DROP INDEX "invoices_contract_period_once";--> statement-breakpoint
ALTER TABLE "invoices" ALTER COLUMN "breakdown_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "invoices" ALTER COLUMN "card_terms_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "invoices" ALTER COLUMN "contract_terms_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "invoice_line_items" ADD COLUMN "schedule_item_id" uuid;--> statement-breakpoint
ALTER TABLE "invoice_line_items" ADD COLUMN "source_id" uuid;--> statement-breakpoint
ALTER TABLE "invoiced_items" ADD CONSTRAINT "invoiced_items_invoice_id_invoices_id_fk" FOREIGN KEY ("invoice_id") REFERENCES "public"."invoices"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "invoiced_items_invoice" ON "invoiced_items" USING btree ("invoice_id");--> statement-breakpoint
CREATE UNIQUE INDEX "invoices_contract_period_once" ON "invoices" USING btree ("contract_id","type","period_start") WHERE "invoices"."status" <> 'VOID' and "invoices"."type" = 'USAGE';--> statement-breakpoint
ALTER TABLE "invoices" ADD CONSTRAINT "invoices_usage_has_terms" CHECK (("invoices"."type" = 'USAGE') = ("invoices"."card_terms_id" is not null)
        and ("invoices"."card_terms_id" is null) = ("invoices"."contract_terms_id" is null)
        and ("invoices"."card_terms_id" is null) = ("invoices"."breakdown_id" is null));--> statement-breakpoint
-- Scheduled charges and purchases of earlier versions, which did not invoice them. The job of a contract finds out what
-- is due; it is queued at the first date.
INSERT INTO "jobs" ("kind", "key", "subject", "run_at", "payload")
SELECT 'issue_scheduled_invoice', "owners"."contract_id"::text, "owners"."contract_id"::text, min("items"."timestamp"),
  jsonb_build_object('contract_id', "owners"."contract_id")
FROM "invoice_schedule_items" AS "items"
JOIN (
  SELECT "id", "contract_id" FROM "scheduled_charges" WHERE "archived_at" IS NULL
  UNION ALL
  SELECT "id", "contract_id" FROM "commits"
  WHERE "archived_at" IS NULL AND "contract_id" IS NOT NULL AND "type" = 'PREPAID' AND NOT "do_not_invoice"
) AS "owners" ON "owners"."id" IN ("items"."scheduled_charge_id", "items"."commit_id")
JOIN "contracts" ON "contracts"."id" = "owners"."contract_id" AND "contracts"."archived_at" IS NULL
GROUP BY "owners"."contract_id"
ON CONFLICT DO NOTHING;
