CREATE TABLE "invoice_issue_dates" (
	"invoice_id" uuid PRIMARY KEY NOT NULL,
	"contract_id" uuid NOT NULL,
	"issue_date" timestamp(3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "professional_services" (
	"id" uuid PRIMARY KEY NOT NULL,
	"sequence" bigint GENERATED ALWAYS AS IDENTITY (sequence name "professional_services_sequence_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"contract_id" uuid NOT NULL,
	"product_id" uuid NOT NULL,
	"description" text,
	"unit_price" numeric NOT NULL,
	"quantity" numeric NOT NULL,
	"max_amount" numeric NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	"created_by" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "requested_items" (
	"id" uuid PRIMARY KEY NOT NULL,
	"sequence" bigint GENERATED ALWAYS AS IDENTITY (sequence name "requested_items_sequence_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"service_id" uuid NOT NULL,
	"invoice_id" uuid NOT NULL,
	"timestamp" timestamp(3) with time zone NOT NULL,
	"credit_type_id" uuid NOT NULL,
	"unit_price" numeric NOT NULL,
	"quantity" numeric NOT NULL,
	"amount" numeric NOT NULL,
	"metadata" text
);
--> statement-breakpoint
ALTER TABLE "invoice_line_items" ADD COLUMN "metadata" text;--> statement-breakpoint
ALTER TABLE "invoices" ADD COLUMN "is_historical" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "scheduled_charges" ADD COLUMN "kind" text DEFAULT 'CHARGE' NOT NULL;--> statement-breakpoint
ALTER TABLE "scheduled_charges" ADD COLUMN "description" text;--> statement-breakpoint
ALTER TABLE "scheduled_charges" ADD COLUMN "on_usage_invoice" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "invoice_issue_dates" ADD CONSTRAINT "invoice_issue_dates_contract_id_contracts_id_fk" FOREIGN KEY ("contract_id") REFERENCES "public"."contracts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "professional_services" ADD CONSTRAINT "professional_services_contract_id_contracts_id_fk" FOREIGN KEY ("contract_id") REFERENCES "public"."contracts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "professional_services" ADD CONSTRAINT "professional_services_product_id_products_id_fk" FOREIGN KEY ("product_id") REFERENCES "public"."products"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "requested_items" ADD CONSTRAINT "requested_items_service_id_professional_services_id_fk" FOREIGN KEY ("service_id") REFERENCES "public"."professional_services"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "invoice_issue_dates_contract" ON "invoice_issue_dates" USING btree ("contract_id");--> statement-breakpoint
CREATE INDEX "professional_services_contract" ON "professional_services" USING btree ("contract_id","sequence");--> statement-breakpoint
CREATE INDEX "requested_items_service" ON "requested_items" USING btree ("service_id","sequence");