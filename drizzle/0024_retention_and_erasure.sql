CREATE TABLE "event_retention" (
	"id" integer PRIMARY KEY DEFAULT 1 NOT NULL,
	"kept_from" timestamp(3) with time zone NOT NULL,
	"announced_at" timestamp(3) with time zone NOT NULL,
	CONSTRAINT "event_retention_one_row" CHECK ("event_retention"."id" = 1)
);
--> statement-breakpoint
ALTER TABLE "customers" ADD COLUMN "erased_at" timestamp(3) with time zone;