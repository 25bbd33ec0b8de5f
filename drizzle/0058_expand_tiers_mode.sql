ALTER TABLE "overrides" ADD COLUMN "tiers_mode" text;--> statement-breakpoint
ALTER TABLE "rates" ADD COLUMN "tiers_mode" text;