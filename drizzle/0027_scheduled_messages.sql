CREATE TABLE "offset_notifications" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"type" text NOT NULL,
	"offset" text NOT NULL,
	"uniqueness_key" text,
	"created_at" timestamp(3) with time zone NOT NULL,
	"created_by" text NOT NULL,
	"changed_at" timestamp(3) with time zone NOT NULL,
	"archived_at" timestamp(3) with time zone,
	CONSTRAINT "offset_notifications_uniqueness_key_unique" UNIQUE("uniqueness_key")
);--> statement-breakpoint
CREATE TABLE "scheduled_messages" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"sequence" bigint GENERATED ALWAYS AS IDENTITY (sequence name "scheduled_messages_sequence_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"type" text NOT NULL,
	"offset_id" uuid,
	"subject_id" uuid NOT NULL,
	"customer_id" uuid NOT NULL,
	"contract_id" uuid,
	"commit_id" uuid,
	"segment_id" uuid,
	"event_at" timestamp(3) with time zone NOT NULL,
	"fire_at" timestamp(3) with time zone NOT NULL,
	CONSTRAINT "scheduled_messages_once" UNIQUE NULLS NOT DISTINCT("subject_id","type","offset_id","event_at")
);--> statement-breakpoint
ALTER TABLE "scheduled_messages" ADD CONSTRAINT "scheduled_messages_offset_id_offset_notifications_id_fk" FOREIGN KEY ("offset_id") REFERENCES "public"."offset_notifications"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "offset_notifications_created" ON "offset_notifications" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "scheduled_messages_due" ON "scheduled_messages" USING btree ("fire_at","sequence");--> statement-breakpoint
CREATE INDEX "scheduled_messages_of_offset" ON "scheduled_messages" USING btree ("offset_id");--> statement-breakpoint
CREATE INDEX "scheduled_messages_of_customer" ON "scheduled_messages" USING btree ("customer_id");
