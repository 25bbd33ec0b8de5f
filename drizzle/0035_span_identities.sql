CREATE TABLE "span_identities" (
	"id" integer PRIMARY KEY DEFAULT 1 NOT NULL,
	"response_ids_from" timestamp(3) with time zone NOT NULL,
	CONSTRAINT "span_identities_one_row" CHECK ("span_identities"."id" = 1)
);

--> statement-breakpoint
INSERT INTO "span_identities" ("response_ids_from")
SELECT coalesce((SELECT "now" FROM "service_clock"), now())
WHERE EXISTS (SELECT 1 FROM "tokens") OR EXISTS (SELECT 1 FROM "customers");
