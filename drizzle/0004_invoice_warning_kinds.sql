ALTER TABLE "invoice_warnings" ALTER COLUMN "product_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "invoice_warnings" ALTER COLUMN "product_name" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "invoice_warnings" ALTER COLUMN "billable_metric_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "invoice_warnings" ALTER COLUMN "pricing_group_values" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "invoice_warnings" ALTER COLUMN "presentation_group_values" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "invoice_warnings" ALTER COLUMN "quantity" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "invoice_warnings" ADD COLUMN "metric_name" text;--> statement-breakpoint
ALTER TABLE "invoice_warnings" ADD COLUMN "event_count" integer;--> statement-breakpoint
ALTER TABLE "invoice_warnings" ADD COLUMN "transaction_ids" text[];--> statement-breakpoint
ALTER TABLE "invoice_warnings" ADD COLUMN "line_count" integer;--> statement-breakpoint
ALTER TABLE "invoice_warnings" ADD COLUMN "line_count_max" integer;