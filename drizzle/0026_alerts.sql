CREATE TABLE "alert_states" (
	"alert_id" uuid NOT NULL,
	"customer_id" uuid NOT NULL,
	"target" text NOT NULL,
	"state" text NOT NULL,
	"is_told" boolean NOT NULL,
	"since" timestamp(3) with time zone,
	"updated_at" timestamp(3) with time zone NOT NULL,
	CONSTRAINT "alert_states_alert_id_customer_id_target_pk" PRIMARY KEY("alert_id","customer_id","target")
);
--> statement-breakpoint
CREATE TABLE "alerts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"type" text NOT NULL,
	"uniqueness_key" text,
	"threshold" numeric NOT NULL,
	"credit_type_id" uuid,
	"customer_id" uuid,
	"billable_metric_id" uuid,
	"evaluate_on_create" boolean NOT NULL,
	"filters" jsonb NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	"created_by" text NOT NULL,
	"archived_at" timestamp(3) with time zone,
	CONSTRAINT "alerts_uniqueness_key_unique" UNIQUE("uniqueness_key")
);
--> statement-breakpoint
ALTER TABLE "alert_states" ADD CONSTRAINT "alert_states_alert_id_alerts_id_fk" FOREIGN KEY ("alert_id") REFERENCES "public"."alerts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "alert_states" ADD CONSTRAINT "alert_states_customer_id_customers_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."customers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "alerts" ADD CONSTRAINT "alerts_customer_id_customers_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."customers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "alerts" ADD CONSTRAINT "alerts_billable_metric_id_billable_metrics_id_fk" FOREIGN KEY ("billable_metric_id") REFERENCES "public"."billable_metrics"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "alert_states_customer" ON "alert_states" USING btree ("customer_id");--> statement-breakpoint
CREATE INDEX "alerts_created" ON "alerts" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "alerts_customer" ON "alerts" USING btree ("customer_id");