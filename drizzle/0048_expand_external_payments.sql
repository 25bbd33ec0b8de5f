ALTER TABLE "invoice_deliveries" ADD COLUMN "amount_paid" numeric;--> statement-breakpoint
ALTER TABLE "invoice_deliveries" ADD COLUMN "payment_error" text;