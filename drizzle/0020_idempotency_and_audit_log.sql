CREATE TABLE "audit_log" (
	"id" uuid PRIMARY KEY NOT NULL,
	"recorded_at" timestamp(6) with time zone DEFAULT clock_timestamp() NOT NULL,
	"at" timestamp(3) with time zone NOT NULL,
	"actor_id" text NOT NULL,
	"actor_name" text NOT NULL,
	"request_id" text NOT NULL,
	"ip" text,
	"user_agent" text,
	"action" text NOT NULL,
	"resource_type" text NOT NULL,
	"resource_id" text,
	"status" text NOT NULL,
	"description" text NOT NULL
);--> statement-breakpoint
CREATE TABLE "idempotency_keys" (
	"operation" text NOT NULL,
	"key" text NOT NULL,
	"request_hash" text NOT NULL,
	"claimed_by" uuid NOT NULL,
	"claimed_until" timestamp(3) with time zone NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	"status" integer,
	"headers" jsonb,
	"body" text,
	CONSTRAINT "idempotency_keys_operation_key_pk" PRIMARY KEY("operation","key")
);--> statement-breakpoint
CREATE INDEX "audit_log_recorded_at" ON "audit_log" USING btree ("recorded_at","id");--> statement-breakpoint
CREATE INDEX "audit_log_resource" ON "audit_log" USING btree ("resource_type","resource_id","recorded_at","id");--> statement-breakpoint
CREATE INDEX "idempotency_keys_created_at" ON "idempotency_keys" USING btree ("created_at");
