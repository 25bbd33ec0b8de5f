CREATE TABLE "billable_metrics" (
	"id" uuid PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"name" text NOT NULL,
	"event_type_filter" jsonb,
	"property_filters" jsonb NOT NULL,
	"aggregation" text,
	"aggregation_key" text,
	"group_keys" jsonb NOT NULL,
	"sql" text,
	"created_at" timestamp(3) with time zone NOT NULL,
	"archived_at" timestamp(3) with time zone,
	CONSTRAINT "billable_metrics_one_definition" CHECK (case "billable_metrics"."kind" when 'streaming' then "billable_metrics"."aggregation" is not null and "billable_metrics"."sql" is null else "billable_metrics"."aggregation" is null and "billable_metrics"."sql" is not null end)
);
--> statement-breakpoint
CREATE TABLE "contracts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"customer_id" uuid NOT NULL,
	"name" text,
	"rate_card_id" uuid,
	"starting_at" timestamp(3) with time zone NOT NULL,
	"ending_before" timestamp(3) with time zone,
	"statement_frequency" text NOT NULL,
	"statement_day" text NOT NULL,
	"statement_anchor" timestamp(3) with time zone,
	"invoice_generation_starting_at" timestamp(3) with time zone,
	"net_payment_terms_days" integer,
	"uniqueness_key" text,
	"created_at" timestamp(3) with time zone NOT NULL,
	"created_by" text NOT NULL,
	"archived_at" timestamp(3) with time zone,
	CONSTRAINT "contracts_uniqueness_key_unique" UNIQUE("uniqueness_key"),
	CONSTRAINT "contracts_anchor_for_custom_date" CHECK (("contracts"."statement_day" = 'CUSTOM_DATE') = ("contracts"."statement_anchor" is not null)),
	CONSTRAINT "contracts_end_after_start" CHECK ("contracts"."ending_before" is null or "contracts"."ending_before" > "contracts"."starting_at")
);
--> statement-breakpoint
CREATE TABLE "credit_types" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	CONSTRAINT "credit_types_name_unique" UNIQUE("name")
);
--> statement-breakpoint
CREATE TABLE "customer_billing_configurations" (
	"id" uuid PRIMARY KEY NOT NULL,
	"customer_id" uuid NOT NULL,
	"billing_provider" text NOT NULL,
	"delivery_method" text,
	"delivery_method_id" uuid,
	"tax_provider" text,
	"configuration" jsonb NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	"archived_at" timestamp(3) with time zone
);
--> statement-breakpoint
CREATE TABLE "customers" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"crm_account_id" text,
	"created_at" timestamp(3) with time zone NOT NULL,
	"updated_at" timestamp(3) with time zone NOT NULL,
	"archived_at" timestamp(3) with time zone
);
--> statement-breakpoint
CREATE TABLE "ingest_aliases" (
	"alias" text NOT NULL,
	"customer_id" uuid NOT NULL,
	"position" integer NOT NULL,
	CONSTRAINT "ingest_aliases_pkey" PRIMARY KEY("alias")
);
--> statement-breakpoint
CREATE TABLE "invoice_line_items" (
	"invoice_id" uuid NOT NULL,
	"position" integer NOT NULL,
	"type" text NOT NULL,
	"product_id" uuid NOT NULL,
	"product_type" text NOT NULL,
	"product_tags" text[] NOT NULL,
	"name" text NOT NULL,
	"credit_type_id" uuid NOT NULL,
	"starting_at" timestamp(3) with time zone NOT NULL,
	"ending_before" timestamp(3) with time zone NOT NULL,
	"quantity" numeric NOT NULL,
	"unit_price" numeric NOT NULL,
	"total" numeric NOT NULL,
	"pricing_group_values" jsonb NOT NULL,
	"presentation_group_values" jsonb NOT NULL,
	"tier" jsonb,
	CONSTRAINT "invoice_line_items_invoice_id_position_pk" PRIMARY KEY("invoice_id","position")
);
--> statement-breakpoint
CREATE TABLE "invoices" (
	"id" uuid PRIMARY KEY NOT NULL,
	"customer_id" uuid NOT NULL,
	"contract_id" uuid NOT NULL,
	"type" text NOT NULL,
	"status" text NOT NULL,
	"period_start" timestamp(3) with time zone NOT NULL,
	"period_end" timestamp(3) with time zone NOT NULL,
	"issued_at" timestamp(3) with time zone NOT NULL,
	"credit_type_id" uuid NOT NULL,
	"total" numeric NOT NULL,
	"net_payment_terms_days" integer,
	"breakdown_id" uuid NOT NULL
);
--> statement-breakpoint
CREATE TABLE "jobs" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "jobs_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"kind" text NOT NULL,
	"key" text NOT NULL,
	"run_at" timestamp(3) with time zone NOT NULL,
	"payload" jsonb NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"retry_at" timestamp(3) with time zone DEFAULT 'epoch' NOT NULL,
	"last_error" text,
	CONSTRAINT "jobs_kind_key" UNIQUE("kind","key")
);
--> statement-breakpoint
CREATE TABLE "product_versions" (
	"sequence" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "product_versions_sequence_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"product_id" uuid NOT NULL,
	"starting_at" timestamp(3) with time zone,
	"name" text NOT NULL,
	"tags" text[] NOT NULL,
	"billable_metric_id" uuid,
	"sql_breakdown_granularity" text,
	"conversion_name" text,
	"conversion_operation" text,
	"conversion_factor" numeric,
	"rounding_method" text,
	"rounding_decimal_places" integer,
	"pricing_group_key" text[] NOT NULL,
	"presentation_group_key" text[] NOT NULL,
	"composite_product_ids" uuid[] NOT NULL,
	"composite_tags" text[] NOT NULL,
	"exclude_free_usage" boolean NOT NULL,
	"include_composite_spend" boolean NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	"created_by" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "products" (
	"id" uuid PRIMARY KEY NOT NULL,
	"type" text NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	"archived_at" timestamp(3) with time zone
);
--> statement-breakpoint
CREATE TABLE "rate_card_aliases" (
	"sequence" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "rate_card_aliases_sequence_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"name" text NOT NULL,
	"rate_card_id" uuid NOT NULL,
	"starting_at" timestamp(3) with time zone,
	"ending_before" timestamp(3) with time zone,
	"created_at" timestamp(3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "rate_card_conversions" (
	"rate_card_id" uuid NOT NULL,
	"custom_credit_type_id" uuid NOT NULL,
	"fiat_per_custom_credit" numeric NOT NULL,
	CONSTRAINT "rate_card_conversions_pkey" PRIMARY KEY("rate_card_id","custom_credit_type_id")
);
--> statement-breakpoint
CREATE TABLE "rate_card_products" (
	"rate_card_id" uuid NOT NULL,
	"product_id" uuid NOT NULL,
	"credit_type_id" uuid NOT NULL,
	"position" integer,
	"sequence" bigint GENERATED ALWAYS AS IDENTITY (sequence name "rate_card_products_sequence_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	CONSTRAINT "rate_card_products_pkey" PRIMARY KEY("rate_card_id","product_id")
);
--> statement-breakpoint
CREATE TABLE "rate_cards" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"description" text,
	"fiat_credit_type_id" uuid NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	"created_by" text NOT NULL,
	"archived_at" timestamp(3) with time zone
);
--> statement-breakpoint
CREATE TABLE "rates" (
	"sequence" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "rates_sequence_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"id" uuid NOT NULL,
	"rate_card_id" uuid NOT NULL,
	"product_id" uuid NOT NULL,
	"pricing_group_values" jsonb NOT NULL,
	"billing_frequency" text,
	"starting_at" timestamp(3) with time zone NOT NULL,
	"ending_before" timestamp(3) with time zone,
	"entitled" boolean NOT NULL,
	"rate_type" text NOT NULL,
	"price" numeric,
	"tiers" jsonb,
	"minimum" numeric,
	"quantity" numeric,
	"is_prorated" boolean,
	"commit_rate" jsonb,
	"credit_type_id" uuid NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	"created_by" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "service_clock" (
	"id" integer PRIMARY KEY DEFAULT 1 NOT NULL,
	"now" timestamp(3) with time zone NOT NULL,
	CONSTRAINT "service_clock_one_row" CHECK ("service_clock"."id" = 1)
);
--> statement-breakpoint
CREATE TABLE "tokens" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"sha256" text NOT NULL,
	"scope" text NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	"expires_at" timestamp(3) with time zone,
	"revoked_at" timestamp(3) with time zone,
	CONSTRAINT "tokens_sha256_unique" UNIQUE("sha256")
);
--> statement-breakpoint
ALTER TABLE "contracts" ADD CONSTRAINT "contracts_customer_id_customers_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."customers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "contracts" ADD CONSTRAINT "contracts_rate_card_id_rate_cards_id_fk" FOREIGN KEY ("rate_card_id") REFERENCES "public"."rate_cards"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "customer_billing_configurations" ADD CONSTRAINT "customer_billing_configurations_customer_id_customers_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."customers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ingest_aliases" ADD CONSTRAINT "ingest_aliases_customer_id_customers_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."customers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invoice_line_items" ADD CONSTRAINT "invoice_line_items_invoice_id_invoices_id_fk" FOREIGN KEY ("invoice_id") REFERENCES "public"."invoices"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invoices" ADD CONSTRAINT "invoices_customer_id_customers_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."customers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invoices" ADD CONSTRAINT "invoices_contract_id_contracts_id_fk" FOREIGN KEY ("contract_id") REFERENCES "public"."contracts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "product_versions" ADD CONSTRAINT "product_versions_product_id_products_id_fk" FOREIGN KEY ("product_id") REFERENCES "public"."products"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "product_versions" ADD CONSTRAINT "product_versions_billable_metric_id_billable_metrics_id_fk" FOREIGN KEY ("billable_metric_id") REFERENCES "public"."billable_metrics"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "rate_card_aliases" ADD CONSTRAINT "rate_card_aliases_rate_card_id_rate_cards_id_fk" FOREIGN KEY ("rate_card_id") REFERENCES "public"."rate_cards"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "rate_card_conversions" ADD CONSTRAINT "rate_card_conversions_rate_card_id_rate_cards_id_fk" FOREIGN KEY ("rate_card_id") REFERENCES "public"."rate_cards"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "rate_card_products" ADD CONSTRAINT "rate_card_products_rate_card_id_rate_cards_id_fk" FOREIGN KEY ("rate_card_id") REFERENCES "public"."rate_cards"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "rate_card_products" ADD CONSTRAINT "rate_card_products_product_id_products_id_fk" FOREIGN KEY ("product_id") REFERENCES "public"."products"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "rates" ADD CONSTRAINT "rates_rate_card_product_fk" FOREIGN KEY ("rate_card_id","product_id") REFERENCES "public"."rate_card_products"("rate_card_id","product_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "billable_metrics_created" ON "billable_metrics" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "contracts_customer" ON "contracts" USING btree ("customer_id","starting_at","id");--> statement-breakpoint
CREATE INDEX "contracts_rate_card" ON "contracts" USING btree ("rate_card_id");--> statement-breakpoint
CREATE INDEX "customer_billing_configurations_customer" ON "customer_billing_configurations" USING btree ("customer_id");--> statement-breakpoint
CREATE INDEX "customers_created" ON "customers" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "customers_crm_account" ON "customers" USING btree ("crm_account_id");--> statement-breakpoint
CREATE INDEX "ingest_aliases_customer" ON "ingest_aliases" USING btree ("customer_id","position");--> statement-breakpoint
CREATE UNIQUE INDEX "invoices_contract_period_once" ON "invoices" USING btree ("contract_id","type","period_start") WHERE "invoices"."status" <> 'VOID';--> statement-breakpoint
CREATE INDEX "invoices_customer_issued" ON "invoices" USING btree ("customer_id","issued_at","id");--> statement-breakpoint
CREATE INDEX "jobs_kind_run_at" ON "jobs" USING btree ("kind","run_at","id");--> statement-breakpoint
CREATE INDEX "product_versions_product" ON "product_versions" USING btree ("product_id","starting_at");--> statement-breakpoint
CREATE INDEX "product_versions_metric" ON "product_versions" USING btree ("billable_metric_id");--> statement-breakpoint
CREATE INDEX "products_created" ON "products" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "rate_card_aliases_name" ON "rate_card_aliases" USING btree ("name","sequence");--> statement-breakpoint
CREATE INDEX "rate_card_aliases_card" ON "rate_card_aliases" USING btree ("rate_card_id");--> statement-breakpoint
CREATE INDEX "rate_cards_created" ON "rate_cards" USING btree ("created_at","id");--> statement-breakpoint
CREATE UNIQUE INDEX "rates_id" ON "rates" USING btree ("id");--> statement-breakpoint
CREATE INDEX "rates_card_product" ON "rates" USING btree ("rate_card_id","product_id","sequence");