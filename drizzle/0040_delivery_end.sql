ALTER TABLE "customers" ADD COLUMN "leave_invoices_in_draft" boolean;--> statement-breakpoint
ALTER TABLE "invoice_deliveries" ADD COLUMN "delivered_at" timestamp(3) with time zone;