ALTER TABLE "invoices" ADD COLUMN "terms_read_at" timestamp(3) with time zone;--> statement-breakpoint
ALTER TABLE "invoices" ADD COLUMN "counted_up_to" timestamp(6) with time zone;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "claimed_by" uuid;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "claimed_until" timestamp(3) with time zone;