CREATE TABLE "invoice_deliveries" (
	"invoice_id" uuid PRIMARY KEY NOT NULL,
	"customer_id" uuid NOT NULL,
	"billing_provider" text NOT NULL,
	"configuration_id" uuid,
	"connection_id" uuid,
	"gated_commit_id" uuid,
	"status" text DEFAULT 'QUEUED' NOT NULL,
	"method" text,
	"mapped_at" timestamp(3) with time zone,
	"is_doubtful" boolean DEFAULT false NOT NULL,
	"external_id" text,
	"number" text,
	"finalized_at" timestamp(3) with time zone,
	"sent_at" timestamp(3) with time zone,
	"paid_at" timestamp(3) with time zone,
	"pdf_url" text,
	"payment_url" text,
	"total" numeric,
	"sub_total" numeric,
	"tax_amount" numeric,
	"taxable_amount" numeric,
	"tax_transaction_id" text,
	"payment_id" text,
	"error" text,
	"void_wanted" boolean DEFAULT false NOT NULL,
	"void_ended" boolean DEFAULT false NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"failures" integer DEFAULT 0 NOT NULL,
	"due_at" timestamp(3) with time zone,
	"lease_owner" uuid,
	"lease_until" timestamp(3) with time zone,
	"created_at" timestamp(3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "provider_events" (
	"connection_id" uuid NOT NULL,
	"event_id" text NOT NULL,
	"received_at" timestamp(3) with time zone NOT NULL,
	CONSTRAINT "provider_events_pkey" PRIMARY KEY("connection_id","event_id")
);
--> statement-breakpoint
ALTER TABLE "billing_connections" ADD COLUMN "archived_at" timestamp(3) with time zone;--> statement-breakpoint
ALTER TABLE "customers" ADD COLUMN "billable_status" text DEFAULT 'billable' NOT NULL;--> statement-breakpoint
ALTER TABLE "invoice_deliveries" ADD CONSTRAINT "invoice_deliveries_invoice_id_invoices_id_fk" FOREIGN KEY ("invoice_id") REFERENCES "public"."invoices"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invoice_deliveries" ADD CONSTRAINT "invoice_deliveries_customer_id_customers_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."customers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invoice_deliveries" ADD CONSTRAINT "invoice_deliveries_connection_id_billing_connections_id_fk" FOREIGN KEY ("connection_id") REFERENCES "public"."billing_connections"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invoice_deliveries" ADD CONSTRAINT "invoice_deliveries_configuration_fk" FOREIGN KEY ("configuration_id") REFERENCES "public"."customer_billing_configurations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "provider_events" ADD CONSTRAINT "provider_events_connection_id_billing_connections_id_fk" FOREIGN KEY ("connection_id") REFERENCES "public"."billing_connections"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "invoice_deliveries_due" ON "invoice_deliveries" USING btree ("due_at","invoice_id") WHERE "invoice_deliveries"."due_at" is not null;--> statement-breakpoint
CREATE INDEX "invoice_deliveries_status" ON "invoice_deliveries" USING btree ("status","invoice_id");--> statement-breakpoint
CREATE UNIQUE INDEX "invoice_deliveries_external" ON "invoice_deliveries" USING btree ("connection_id","external_id");--> statement-breakpoint
CREATE INDEX "provider_events_received" ON "provider_events" USING btree ("received_at");