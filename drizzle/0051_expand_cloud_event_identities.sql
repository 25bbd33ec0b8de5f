CREATE TABLE "cloud_event_identities" (
	"id" integer PRIMARY KEY DEFAULT 1 NOT NULL,
	"slashes_apart_from" timestamp(3) with time zone NOT NULL,
	CONSTRAINT "cloud_event_identities_one_row" CHECK ("cloud_event_identities"."id" = 1)
);
--> statement-breakpoint
INSERT INTO "cloud_event_identities" ("slashes_apart_from")
SELECT coalesce((SELECT "now" FROM "service_clock"), now())
WHERE EXISTS (SELECT 1 FROM "tokens") OR EXISTS (SELECT 1 FROM "customers");
