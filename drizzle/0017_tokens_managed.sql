ALTER TABLE "tokens" ADD COLUMN "origin" text DEFAULT 'issued' NOT NULL;--> statement-breakpoint
ALTER TABLE "tokens" ADD COLUMN "last_used_at" timestamp(3) with time zone;--> statement-breakpoint
CREATE INDEX "tokens_created_at" ON "tokens" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "tokens_of_api_token" ON "tokens" USING btree ("origin") WHERE "tokens"."origin" = 'api_token';--> statement-breakpoint
UPDATE "tokens" SET "origin" = 'api_token' WHERE "name" = 'API_TOKEN';
