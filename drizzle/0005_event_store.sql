CREATE TABLE "event_store_losses" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"table_name" text NOT NULL,
	"part" text NOT NULL,
	"kind" text NOT NULL,
	"rows" bigint,
	"found_at" timestamp(3) with time zone NOT NULL,
	"accepted_at" timestamp(3) with time zone,
	"settled_at" timestamp(3) with time zone
);
--> statement-breakpoint
CREATE TABLE "event_store_parts" (
	"table_name" text NOT NULL,
	"name" text NOT NULL,
	"table_id" text NOT NULL,
	"partition_id" text NOT NULL,
	"min_block" bigint NOT NULL,
	"max_block" bigint NOT NULL,
	"rows" bigint NOT NULL,
	CONSTRAINT "event_store_parts_table_name_name_pk" PRIMARY KEY("table_name","name")
);
--> statement-breakpoint
CREATE UNIQUE INDEX "event_store_losses_unsettled" ON "event_store_losses" USING btree ("table_name","part") WHERE "event_store_losses"."settled_at" is null;