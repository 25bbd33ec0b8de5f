ALTER TABLE "prepaid_balance_thresholds" ADD COLUMN "count_holds" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "holds" ADD COLUMN "payers" text[];