ALTER TABLE "invoice_deliveries" ADD COLUMN "was_paid" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "invoice_deliveries" ADD COLUMN "refunded_at" timestamp(3) with time zone;--> statement-breakpoint
ALTER TABLE "invoice_deliveries" ADD COLUMN "collect_again" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "invoice_deliveries" ADD COLUMN "failing_since" timestamp(3) with time zone;--> statement-breakpoint
CREATE INDEX "invoice_deliveries_failing" ON "invoice_deliveries" USING btree ("invoice_id") WHERE "invoice_deliveries"."failing_since" is not null and "invoice_deliveries"."due_at" is not null;--> statement-breakpoint
CREATE INDEX "invoice_deliveries_voided" ON "invoice_deliveries" USING btree ("invoice_id") WHERE "invoice_deliveries"."void_wanted" and "invoice_deliveries"."refunded_at" is null;