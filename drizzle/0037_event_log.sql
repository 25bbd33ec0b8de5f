CREATE TABLE "event_log" (
	"id" integer PRIMARY KEY DEFAULT 1 NOT NULL,
	"acknowledged" bigint NOT NULL,
	"acknowledged_rows" bigint NOT NULL,
	"stored" bigint NOT NULL,
	"stored_rows" bigint NOT NULL,
	"is_open" boolean NOT NULL,
	"recorded_at" timestamp(3) with time zone NOT NULL,
	CONSTRAINT "event_log_one_row" CHECK ("event_log"."id" = 1)
);
