ALTER TABLE "contracts" ADD COLUMN "spend_limit_amount" numeric;--> statement-breakpoint
ALTER TABLE "contracts" ADD COLUMN "spend_limit_credit_type_id" uuid;