CREATE TABLE "event_correction_entries" (
	"correction_id" uuid NOT NULL,
	"transaction_id" text NOT NULL,
	"action" text NOT NULL,
	"customer_ref" text,
	"event_type" text,
	"timestamp" timestamp(3) with time zone,
	"properties_json" text,
	"found_ref" text,
	CONSTRAINT "event_correction_entries_correction_id_transaction_id_pk" PRIMARY KEY("correction_id","transaction_id")
);
--> statement-breakpoint
CREATE TABLE "event_corrections" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"reason" text NOT NULL,
	"status" text DEFAULT 'open' NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	"created_by" text NOT NULL,
	"attempt" uuid,
	"applied_at" timestamp(3) with time zone,
	"applied_by" text,
	"applied_tick" bigint,
	"reverted_at" timestamp(3) with time zone,
	"reverted_by" text,
	"reverted_tick" bigint,
	"dropped_at" timestamp(3) with time zone,
	"dropped_by" text,
	"changes" integer DEFAULT 0 NOT NULL,
	"voided" integer DEFAULT 0 NOT NULL,
	"amended" integer DEFAULT 0 NOT NULL,
	"not_found" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "event_corrections_attempt" UNIQUE("attempt"),
	CONSTRAINT "event_corrections_applied_tick" UNIQUE("applied_tick"),
	CONSTRAINT "event_corrections_applied" CHECK (("event_corrections"."status" in ('applied', 'reverted')) = ("event_corrections"."applied_tick" is not null and "event_corrections"."attempt" is not null)),
	CONSTRAINT "event_corrections_reverted" CHECK (("event_corrections"."status" = 'reverted') = ("event_corrections"."reverted_tick" is not null))
);
--> statement-breakpoint
ALTER TABLE "event_correction_entries" ADD CONSTRAINT "event_correction_entries_correction_id_event_corrections_id_fk" FOREIGN KEY ("correction_id") REFERENCES "public"."event_corrections"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "event_correction_entries_transaction" ON "event_correction_entries" USING btree ("transaction_id");--> statement-breakpoint
CREATE INDEX "event_corrections_created" ON "event_corrections" USING btree ("created_at","id");