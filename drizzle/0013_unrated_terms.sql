ALTER TABLE "invoice_warnings" ADD COLUMN "term_kind" text;--> statement-breakpoint
ALTER TABLE "invoice_warnings" ADD COLUMN "term_ids" text[];--> statement-breakpoint
ALTER TABLE "invoice_warnings" ADD COLUMN "term_count" integer;