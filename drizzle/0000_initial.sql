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
CREATE TABLE "billing_connections" (
	"id" uuid PRIMARY KEY NOT NULL,
	"billing_provider" text NOT NULL,
	"delivery_method" text NOT NULL,
	"configuration" jsonb NOT NULL,
	"key" uuid NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	CONSTRAINT "billing_connections_key_unique" UNIQUE("key")
);
--> statement-breakpoint
CREATE TABLE "access_segments" (
	"id" uuid PRIMARY KEY NOT NULL,
	"sequence" bigint GENERATED ALWAYS AS IDENTITY (sequence name "access_segments_sequence_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"commit_id" uuid NOT NULL,
	"amount" numeric NOT NULL,
	"starting_at" timestamp(3) with time zone NOT NULL,
	"ending_before" timestamp(3) with time zone NOT NULL,
	CONSTRAINT "access_segments_end_after_start" CHECK ("access_segments"."ending_before" > "access_segments"."starting_at")
);
--> statement-breakpoint
CREATE TABLE "commits" (
	"id" uuid PRIMARY KEY NOT NULL,
	"sequence" bigint GENERATED ALWAYS AS IDENTITY (sequence name "commits_sequence_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"customer_id" uuid NOT NULL,
	"contract_id" uuid,
	"type" text NOT NULL,
	"name" text,
	"description" text,
	"product_id" uuid NOT NULL,
	"priority" numeric NOT NULL,
	"rate_type" text NOT NULL,
	"rollover_fraction" numeric,
	"access_credit_type_id" uuid NOT NULL,
	"invoice_credit_type_id" uuid,
	"do_not_invoice" boolean NOT NULL,
	"invoice_contract_id" uuid,
	"applicable_product_ids" uuid[] NOT NULL,
	"applicable_product_tags" text[] NOT NULL,
	"specifiers" jsonb NOT NULL,
	"applicable_contract_ids" uuid[] NOT NULL,
	"child_access" text,
	"child_contract_ids" uuid[] NOT NULL,
	"counts_as_discounted" boolean,
	"payment_gate" jsonb,
	"recurring_commit_id" uuid,
	"rolled_over_from_commit_id" uuid,
	"rolled_over_from_contract_id" uuid,
	"uniqueness_key" text,
	"created_at" timestamp(3) with time zone NOT NULL,
	"created_by" text,
	"archived_at" timestamp(3) with time zone,
	CONSTRAINT "commits_uniqueness_key_unique" UNIQUE("uniqueness_key")
);
--> statement-breakpoint
CREATE TABLE "invoice_schedule_items" (
	"id" uuid PRIMARY KEY NOT NULL,
	"sequence" bigint GENERATED ALWAYS AS IDENTITY (sequence name "invoice_schedule_items_sequence_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"commit_id" uuid,
	"scheduled_charge_id" uuid,
	"timestamp" timestamp(3) with time zone NOT NULL,
	"unit_price" numeric NOT NULL,
	"quantity" numeric NOT NULL,
	"amount" numeric NOT NULL,
	CONSTRAINT "invoice_schedule_items_one_owner" CHECK (num_nonnulls("invoice_schedule_items"."commit_id", "invoice_schedule_items"."scheduled_charge_id") = 1)
);
--> statement-breakpoint
CREATE TABLE "recurring_commits" (
	"id" uuid PRIMARY KEY NOT NULL,
	"sequence" bigint GENERATED ALWAYS AS IDENTITY (sequence name "recurring_commits_sequence_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"contract_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"name" text,
	"description" text,
	"product_id" uuid NOT NULL,
	"access_unit_price" numeric NOT NULL,
	"access_quantity" numeric,
	"access_credit_type_id" uuid NOT NULL,
	"invoice_unit_price" numeric,
	"invoice_quantity" numeric,
	"invoice_credit_type_id" uuid,
	"priority" numeric NOT NULL,
	"rate_type" text NOT NULL,
	"rollover_fraction" numeric,
	"applicable_product_ids" uuid[] NOT NULL,
	"applicable_product_tags" text[] NOT NULL,
	"specifiers" jsonb NOT NULL,
	"child_access" text,
	"child_contract_ids" uuid[] NOT NULL,
	"starting_at" timestamp(3) with time zone NOT NULL,
	"ending_before" timestamp(3) with time zone,
	"commit_duration_periods" integer NOT NULL,
	"recurrence_frequency" text,
	"proration" text NOT NULL,
	"access_rounding_method" text,
	"access_rounding_places" integer,
	"invoice_rounding_method" text,
	"invoice_rounding_places" integer,
	"subscription_id" uuid,
	"allocation" text,
	"prorate_seat_increases" boolean,
	"created_at" timestamp(3) with time zone NOT NULL,
	"created_by" text NOT NULL,
	CONSTRAINT "recurring_commits_quantity_or_subscription" CHECK (("recurring_commits"."access_quantity" is null) = ("recurring_commits"."subscription_id" is not null))
);
--> statement-breakpoint
CREATE TABLE "contract_edits" (
	"sequence" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "contract_edits_sequence_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"id" uuid NOT NULL,
	"contract_id" uuid NOT NULL,
	"timestamp" timestamp(3) with time zone NOT NULL,
	"uniqueness_key" text,
	"amendment_starting_at" timestamp(3) with time zone,
	"created_by" text NOT NULL,
	"changes" jsonb NOT NULL,
	CONSTRAINT "contract_edits_id_unique" UNIQUE("id"),
	CONSTRAINT "contract_edits_uniqueness_key_unique" UNIQUE("uniqueness_key")
);
--> statement-breakpoint
CREATE TABLE "prepaid_balance_thresholds" (
	"contract_id" uuid PRIMARY KEY NOT NULL,
	"is_enabled" boolean NOT NULL,
	"threshold_amount" numeric NOT NULL,
	"commit_product_id" uuid NOT NULL,
	"commit_name" text,
	"commit_description" text,
	"commit_priority" numeric,
	"payment_gate" jsonb NOT NULL,
	"discount_payment_fraction" numeric,
	"discount_cap_tracker_alias" text,
	"discount_cap_amount" numeric,
	"recharge_to_amount" numeric NOT NULL,
	"custom_credit_type_id" uuid,
	"applicable_product_ids" uuid[] NOT NULL,
	"applicable_product_tags" text[] NOT NULL,
	"specifiers" jsonb NOT NULL,
	"balance_specifiers" jsonb NOT NULL,
	CONSTRAINT "prepaid_balance_thresholds_recharge_above_threshold" CHECK ("prepaid_balance_thresholds"."recharge_to_amount" > "prepaid_balance_thresholds"."threshold_amount")
);
--> statement-breakpoint
CREATE TABLE "spend_thresholds" (
	"contract_id" uuid PRIMARY KEY NOT NULL,
	"is_enabled" boolean NOT NULL,
	"threshold_amount" numeric NOT NULL,
	"commit_product_id" uuid NOT NULL,
	"commit_name" text,
	"commit_description" text,
	"commit_priority" numeric,
	"payment_gate" jsonb NOT NULL,
	"discount_payment_fraction" numeric,
	"discount_cap_tracker_alias" text,
	"discount_cap_amount" numeric
);
--> statement-breakpoint
CREATE TABLE "spend_trackers" (
	"sequence" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "spend_trackers_sequence_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"contract_id" uuid NOT NULL,
	"alias" text NOT NULL,
	"credit_type_id" uuid NOT NULL,
	"specifiers" jsonb NOT NULL,
	"archived_at" timestamp(3) with time zone
);
--> statement-breakpoint
CREATE TABLE "contract_transitions" (
	"from_contract_id" uuid NOT NULL,
	"to_contract_id" uuid NOT NULL,
	"rolls_over" boolean NOT NULL,
	"trueup" text NOT NULL,
	CONSTRAINT "contract_transitions_pkey" PRIMARY KEY("to_contract_id"),
	CONSTRAINT "contract_transitions_from_unique" UNIQUE("from_contract_id")
);
--> statement-breakpoint
CREATE TABLE "contract_usage_filters" (
	"sequence" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "contract_usage_filters_sequence_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"contract_id" uuid NOT NULL,
	"group_key" text NOT NULL,
	"group_values" text[] NOT NULL,
	"starting_at" timestamp(3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "contract_versions" (
	"sequence" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "contract_versions_sequence_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"contract_id" uuid NOT NULL,
	"superseded_at" timestamp(3) with time zone NOT NULL,
	"document" jsonb NOT NULL
);
--> statement-breakpoint
CREATE TABLE "contracts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"customer_id" uuid NOT NULL,
	"package_id" uuid,
	"name" text,
	"rate_card_id" uuid,
	"starting_at" timestamp(3) with time zone NOT NULL,
	"ending_before" timestamp(3) with time zone,
	"statement_frequency" text NOT NULL,
	"statement_day" text NOT NULL,
	"statement_anchor" timestamp(3) with time zone,
	"invoice_generation_starting_at" timestamp(3) with time zone,
	"net_payment_terms_days" integer,
	"multiplier_prioritization" text NOT NULL,
	"scheduled_charges_on_usage_invoices" boolean NOT NULL,
	"billing_configuration_id" uuid,
	"parent_contract_id" uuid,
	"parent_customer_id" uuid,
	"payer" text,
	"usage_statement_behavior" text,
	"invoice_consolidation_type" text,
	"uniqueness_key" text,
	"created_at" timestamp(3) with time zone NOT NULL,
	"created_by" text NOT NULL,
	"archived_at" timestamp(3) with time zone,
	CONSTRAINT "contracts_uniqueness_key_unique" UNIQUE("uniqueness_key"),
	CONSTRAINT "contracts_anchor_for_custom_date" CHECK (("contracts"."statement_day" = 'CUSTOM_DATE') = ("contracts"."statement_anchor" is not null)),
	CONSTRAINT "contracts_end_after_start" CHECK ("contracts"."ending_before" is null or "contracts"."ending_before" > "contracts"."starting_at"),
	CONSTRAINT "contracts_parent_with_customer" CHECK (("contracts"."parent_contract_id" is null) = ("contracts"."parent_customer_id" is null))
);
--> statement-breakpoint
CREATE TABLE "credit_types" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	CONSTRAINT "credit_types_name_unique" UNIQUE("name")
);
--> statement-breakpoint
CREATE TABLE "custom_field_keys" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "custom_field_keys_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"entity" text NOT NULL,
	"key" text NOT NULL,
	"enforce_uniqueness" boolean NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	"removed_at" timestamp(3) with time zone,
	CONSTRAINT "custom_field_keys_id_uniqueness" UNIQUE("id","enforce_uniqueness")
);
--> statement-breakpoint
CREATE TABLE "custom_field_values" (
	"key_id" bigint NOT NULL,
	"entity_id" uuid NOT NULL,
	"value" text NOT NULL,
	"enforce_uniqueness" boolean NOT NULL,
	CONSTRAINT "custom_field_values_pkey" PRIMARY KEY("key_id","entity_id")
);
--> statement-breakpoint
CREATE TABLE "invoice_custom_fields" (
	"invoice_id" uuid PRIMARY KEY NOT NULL,
	"fields" jsonb NOT NULL
);
--> statement-breakpoint
CREATE TABLE "customer_billing_configurations" (
	"id" uuid PRIMARY KEY NOT NULL,
	"customer_id" uuid NOT NULL,
	"billing_provider" text NOT NULL,
	"delivery_method" text NOT NULL,
	"connection_id" uuid,
	"tax_provider" text,
	"configuration" jsonb NOT NULL,
	"sequence" bigint GENERATED ALWAYS AS IDENTITY (sequence name "customer_billing_configurations_sequence_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
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
	"product_id" uuid,
	"product_type" text,
	"product_tags" text[] NOT NULL,
	"converted_credit_type_id" uuid,
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
	CONSTRAINT "invoice_line_items_invoice_id_position_pk" PRIMARY KEY("invoice_id","position"),
	CONSTRAINT "invoice_line_items_conversion_has_no_product" CHECK (("invoice_line_items"."type" = 'cpu_conversion') = ("invoice_line_items"."product_id" is null)
        and ("invoice_line_items"."product_id" is null) = ("invoice_line_items"."product_type" is null)
        and ("invoice_line_items"."type" = 'cpu_conversion') = ("invoice_line_items"."converted_credit_type_id" is not null))
);
--> statement-breakpoint
CREATE TABLE "invoice_terms" (
	"id" uuid PRIMARY KEY NOT NULL,
	"terms" jsonb NOT NULL
);
--> statement-breakpoint
CREATE TABLE "invoice_warnings" (
	"invoice_id" uuid NOT NULL,
	"position" integer NOT NULL,
	"kind" text NOT NULL,
	"product_id" uuid NOT NULL,
	"product_name" text NOT NULL,
	"billable_metric_id" uuid NOT NULL,
	"pricing_group_values" jsonb NOT NULL,
	"presentation_group_values" jsonb NOT NULL,
	"starting_at" timestamp(3) with time zone NOT NULL,
	"ending_before" timestamp(3) with time zone NOT NULL,
	"quantity" numeric NOT NULL,
	CONSTRAINT "invoice_warnings_invoice_id_position_pk" PRIMARY KEY("invoice_id","position")
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
	"breakdown_id" uuid NOT NULL,
	"warning_count" integer NOT NULL,
	"card_terms_id" uuid NOT NULL,
	"contract_terms_id" uuid NOT NULL
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
CREATE TABLE "override_specifiers" (
	"override_id" uuid NOT NULL,
	"position" integer NOT NULL,
	"product_id" uuid,
	"product_tags" text[] NOT NULL,
	"pricing_group_values" jsonb NOT NULL,
	"presentation_group_values" jsonb NOT NULL,
	"billing_frequency" text,
	"commit_ids" uuid[] NOT NULL,
	"recurring_commit_ids" uuid[] NOT NULL,
	"any_commit_or_credit_ids" uuid[] NOT NULL,
	CONSTRAINT "override_specifiers_pkey" PRIMARY KEY("override_id","position")
);
--> statement-breakpoint
CREATE TABLE "overrides" (
	"id" uuid PRIMARY KEY NOT NULL,
	"sequence" bigint GENERATED ALWAYS AS IDENTITY (sequence name "overrides_sequence_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"contract_id" uuid NOT NULL,
	"starting_at" timestamp(3) with time zone NOT NULL,
	"ending_before" timestamp(3) with time zone,
	"entitled" boolean,
	"type" text,
	"multiplier" numeric,
	"priority" numeric,
	"overwrite_rate" jsonb,
	"tiers" jsonb NOT NULL,
	"product_id" uuid,
	"applicable_product_tags" text[] NOT NULL,
	"is_commit_specific" boolean NOT NULL,
	"target" text NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "package_aliases" (
	"sequence" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "package_aliases_sequence_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"name" text NOT NULL,
	"package_id" uuid NOT NULL,
	"starting_at" timestamp(3) with time zone,
	"ending_before" timestamp(3) with time zone
);
--> statement-breakpoint
CREATE TABLE "packages" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"uniqueness_key" text,
	"rate_card_id" uuid,
	"header" jsonb NOT NULL,
	"terms" jsonb NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	"created_by" text NOT NULL,
	"archived_at" timestamp(3) with time zone,
	CONSTRAINT "packages_uniqueness_key_unique" UNIQUE("uniqueness_key")
);
--> statement-breakpoint
CREATE TABLE "payment_outcomes" (
	"commit_id" uuid PRIMARY KEY NOT NULL,
	"outcome" text NOT NULL,
	"told_at" timestamp(3) with time zone NOT NULL,
	"told_by" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "product_versions" (
	"sequence" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "product_versions_sequence_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"product_id" uuid NOT NULL,
	"starting_at" timestamp(3) with time zone,
	"changed" text[],
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
	"created_at" timestamp(3) with time zone NOT NULL,
	"withdrawn_at" timestamp(3) with time zone
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
CREATE TABLE "rate_identities" (
	"sequence" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "rate_identities_sequence_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"rate_card_id" uuid NOT NULL,
	"product_id" uuid NOT NULL,
	"pricing_group_values" jsonb NOT NULL,
	"billing_frequency" text,
	"key" uuid NOT NULL,
	"ever_entitled" boolean NOT NULL,
	CONSTRAINT "rate_identities_key_unique" UNIQUE("rate_card_id","key")
);
--> statement-breakpoint
CREATE TABLE "rates" (
	"sequence" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "rates_sequence_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"id" uuid NOT NULL,
	"identity" bigint NOT NULL,
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
CREATE TABLE "scheduled_charges" (
	"id" uuid PRIMARY KEY NOT NULL,
	"sequence" bigint GENERATED ALWAYS AS IDENTITY (sequence name "scheduled_charges_sequence_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"contract_id" uuid NOT NULL,
	"product_id" uuid NOT NULL,
	"name" text,
	"credit_type_id" uuid NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	"created_by" text NOT NULL,
	"archived_at" timestamp(3) with time zone
);
--> statement-breakpoint
CREATE TABLE "service_clock" (
	"id" integer PRIMARY KEY DEFAULT 1 NOT NULL,
	"now" timestamp(3) with time zone NOT NULL,
	CONSTRAINT "service_clock_one_row" CHECK ("service_clock"."id" = 1)
);
--> statement-breakpoint
CREATE TABLE "subscription_quantity_changes" (
	"sequence" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "subscription_quantity_changes_sequence_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"subscription_id" uuid NOT NULL,
	"starting_at" timestamp(3) with time zone NOT NULL,
	"quantity" numeric,
	"quantity_delta" numeric,
	CONSTRAINT "subscription_quantity_changes_one_of_both" CHECK (num_nonnulls("subscription_quantity_changes"."quantity", "subscription_quantity_changes"."quantity_delta") = 1)
);
--> statement-breakpoint
CREATE TABLE "subscription_seat_changes" (
	"sequence" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "subscription_seat_changes_sequence_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"subscription_id" uuid NOT NULL,
	"starting_at" timestamp(3) with time zone NOT NULL,
	"kind" text NOT NULL,
	"seat_id" text,
	"count" integer,
	CONSTRAINT "subscription_seat_changes_seat_or_count" CHECK (("subscription_seat_changes"."seat_id" is not null) = ("subscription_seat_changes"."kind" in ('ADD', 'REMOVE')) and num_nonnulls("subscription_seat_changes"."seat_id", "subscription_seat_changes"."count") = 1)
);
--> statement-breakpoint
CREATE TABLE "subscriptions" (
	"id" uuid PRIMARY KEY NOT NULL,
	"sequence" bigint GENERATED ALWAYS AS IDENTITY (sequence name "subscriptions_sequence_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"contract_id" uuid NOT NULL,
	"product_id" uuid NOT NULL,
	"billing_frequency" text NOT NULL,
	"name" text,
	"description" text,
	"collection_schedule" text NOT NULL,
	"is_prorated" boolean NOT NULL,
	"invoice_behavior" text NOT NULL,
	"rounding_method" text,
	"rounding_places" integer,
	"quantity_management_mode" text NOT NULL,
	"seat_group_key" text,
	"starting_at" timestamp(3) with time zone NOT NULL,
	"ending_before" timestamp(3) with time zone,
	"anchor_date" timestamp(3) with time zone,
	"invoice_placement" text NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	"created_by" text NOT NULL,
	CONSTRAINT "subscriptions_seats_have_a_key" CHECK (("subscriptions"."quantity_management_mode" = 'SEAT_BASED') = ("subscriptions"."seat_group_key" is not null))
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
ALTER TABLE "access_segments" ADD CONSTRAINT "access_segments_commit_id_commits_id_fk" FOREIGN KEY ("commit_id") REFERENCES "public"."commits"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "commits" ADD CONSTRAINT "commits_customer_id_customers_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."customers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "commits" ADD CONSTRAINT "commits_contract_id_contracts_id_fk" FOREIGN KEY ("contract_id") REFERENCES "public"."contracts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "commits" ADD CONSTRAINT "commits_product_id_products_id_fk" FOREIGN KEY ("product_id") REFERENCES "public"."products"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "commits" ADD CONSTRAINT "commits_invoice_contract_id_contracts_id_fk" FOREIGN KEY ("invoice_contract_id") REFERENCES "public"."contracts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "commits" ADD CONSTRAINT "commits_recurring_commit_id_recurring_commits_id_fk" FOREIGN KEY ("recurring_commit_id") REFERENCES "public"."recurring_commits"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "commits" ADD CONSTRAINT "commits_rolled_over_from_commit_id_commits_id_fk" FOREIGN KEY ("rolled_over_from_commit_id") REFERENCES "public"."commits"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "commits" ADD CONSTRAINT "commits_rolled_over_from_contract_id_contracts_id_fk" FOREIGN KEY ("rolled_over_from_contract_id") REFERENCES "public"."contracts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invoice_schedule_items" ADD CONSTRAINT "invoice_schedule_items_commit_id_commits_id_fk" FOREIGN KEY ("commit_id") REFERENCES "public"."commits"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invoice_schedule_items" ADD CONSTRAINT "invoice_schedule_items_scheduled_charge_id_scheduled_charges_id_fk" FOREIGN KEY ("scheduled_charge_id") REFERENCES "public"."scheduled_charges"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "recurring_commits" ADD CONSTRAINT "recurring_commits_contract_id_contracts_id_fk" FOREIGN KEY ("contract_id") REFERENCES "public"."contracts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "recurring_commits" ADD CONSTRAINT "recurring_commits_product_id_products_id_fk" FOREIGN KEY ("product_id") REFERENCES "public"."products"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "recurring_commits" ADD CONSTRAINT "recurring_commits_subscription_id_subscriptions_id_fk" FOREIGN KEY ("subscription_id") REFERENCES "public"."subscriptions"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "contract_edits" ADD CONSTRAINT "contract_edits_contract_id_contracts_id_fk" FOREIGN KEY ("contract_id") REFERENCES "public"."contracts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "prepaid_balance_thresholds" ADD CONSTRAINT "prepaid_balance_thresholds_contract_id_contracts_id_fk" FOREIGN KEY ("contract_id") REFERENCES "public"."contracts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "prepaid_balance_thresholds" ADD CONSTRAINT "prepaid_balance_thresholds_commit_product_id_products_id_fk" FOREIGN KEY ("commit_product_id") REFERENCES "public"."products"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "spend_thresholds" ADD CONSTRAINT "spend_thresholds_contract_id_contracts_id_fk" FOREIGN KEY ("contract_id") REFERENCES "public"."contracts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "spend_thresholds" ADD CONSTRAINT "spend_thresholds_commit_product_id_products_id_fk" FOREIGN KEY ("commit_product_id") REFERENCES "public"."products"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "spend_trackers" ADD CONSTRAINT "spend_trackers_contract_id_contracts_id_fk" FOREIGN KEY ("contract_id") REFERENCES "public"."contracts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "contract_transitions" ADD CONSTRAINT "contract_transitions_from_contract_id_contracts_id_fk" FOREIGN KEY ("from_contract_id") REFERENCES "public"."contracts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "contract_transitions" ADD CONSTRAINT "contract_transitions_to_contract_id_contracts_id_fk" FOREIGN KEY ("to_contract_id") REFERENCES "public"."contracts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "contract_usage_filters" ADD CONSTRAINT "contract_usage_filters_contract_id_contracts_id_fk" FOREIGN KEY ("contract_id") REFERENCES "public"."contracts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "contract_versions" ADD CONSTRAINT "contract_versions_contract_id_contracts_id_fk" FOREIGN KEY ("contract_id") REFERENCES "public"."contracts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "contracts" ADD CONSTRAINT "contracts_customer_id_customers_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."customers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "contracts" ADD CONSTRAINT "contracts_package_id_packages_id_fk" FOREIGN KEY ("package_id") REFERENCES "public"."packages"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "contracts" ADD CONSTRAINT "contracts_rate_card_id_rate_cards_id_fk" FOREIGN KEY ("rate_card_id") REFERENCES "public"."rate_cards"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "contracts" ADD CONSTRAINT "contracts_billing_configuration_id_customer_billing_configurations_id_fk" FOREIGN KEY ("billing_configuration_id") REFERENCES "public"."customer_billing_configurations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "contracts" ADD CONSTRAINT "contracts_parent_contract_id_contracts_id_fk" FOREIGN KEY ("parent_contract_id") REFERENCES "public"."contracts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "contracts" ADD CONSTRAINT "contracts_parent_customer_id_customers_id_fk" FOREIGN KEY ("parent_customer_id") REFERENCES "public"."customers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "custom_field_values" ADD CONSTRAINT "custom_field_values_key_fk" FOREIGN KEY ("key_id","enforce_uniqueness") REFERENCES "public"."custom_field_keys"("id","enforce_uniqueness") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invoice_custom_fields" ADD CONSTRAINT "invoice_custom_fields_invoice_id_invoices_id_fk" FOREIGN KEY ("invoice_id") REFERENCES "public"."invoices"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "customer_billing_configurations" ADD CONSTRAINT "customer_billing_configurations_customer_id_customers_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."customers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "customer_billing_configurations" ADD CONSTRAINT "customer_billing_configurations_connection_id_billing_connections_id_fk" FOREIGN KEY ("connection_id") REFERENCES "public"."billing_connections"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ingest_aliases" ADD CONSTRAINT "ingest_aliases_customer_id_customers_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."customers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invoice_line_items" ADD CONSTRAINT "invoice_line_items_invoice_id_invoices_id_fk" FOREIGN KEY ("invoice_id") REFERENCES "public"."invoices"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invoice_warnings" ADD CONSTRAINT "invoice_warnings_invoice_id_invoices_id_fk" FOREIGN KEY ("invoice_id") REFERENCES "public"."invoices"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invoices" ADD CONSTRAINT "invoices_customer_id_customers_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."customers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invoices" ADD CONSTRAINT "invoices_contract_id_contracts_id_fk" FOREIGN KEY ("contract_id") REFERENCES "public"."contracts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invoices" ADD CONSTRAINT "invoices_card_terms_id_invoice_terms_id_fk" FOREIGN KEY ("card_terms_id") REFERENCES "public"."invoice_terms"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invoices" ADD CONSTRAINT "invoices_contract_terms_id_invoice_terms_id_fk" FOREIGN KEY ("contract_terms_id") REFERENCES "public"."invoice_terms"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "override_specifiers" ADD CONSTRAINT "override_specifiers_override_id_overrides_id_fk" FOREIGN KEY ("override_id") REFERENCES "public"."overrides"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "override_specifiers" ADD CONSTRAINT "override_specifiers_product_id_products_id_fk" FOREIGN KEY ("product_id") REFERENCES "public"."products"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "overrides" ADD CONSTRAINT "overrides_contract_id_contracts_id_fk" FOREIGN KEY ("contract_id") REFERENCES "public"."contracts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "overrides" ADD CONSTRAINT "overrides_product_id_products_id_fk" FOREIGN KEY ("product_id") REFERENCES "public"."products"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "package_aliases" ADD CONSTRAINT "package_aliases_package_id_packages_id_fk" FOREIGN KEY ("package_id") REFERENCES "public"."packages"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "packages" ADD CONSTRAINT "packages_rate_card_id_rate_cards_id_fk" FOREIGN KEY ("rate_card_id") REFERENCES "public"."rate_cards"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "payment_outcomes" ADD CONSTRAINT "payment_outcomes_commit_id_commits_id_fk" FOREIGN KEY ("commit_id") REFERENCES "public"."commits"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "product_versions" ADD CONSTRAINT "product_versions_product_id_products_id_fk" FOREIGN KEY ("product_id") REFERENCES "public"."products"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "product_versions" ADD CONSTRAINT "product_versions_billable_metric_id_billable_metrics_id_fk" FOREIGN KEY ("billable_metric_id") REFERENCES "public"."billable_metrics"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "rate_card_aliases" ADD CONSTRAINT "rate_card_aliases_rate_card_id_rate_cards_id_fk" FOREIGN KEY ("rate_card_id") REFERENCES "public"."rate_cards"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "rate_card_conversions" ADD CONSTRAINT "rate_card_conversions_rate_card_id_rate_cards_id_fk" FOREIGN KEY ("rate_card_id") REFERENCES "public"."rate_cards"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "rate_card_products" ADD CONSTRAINT "rate_card_products_rate_card_id_rate_cards_id_fk" FOREIGN KEY ("rate_card_id") REFERENCES "public"."rate_cards"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "rate_card_products" ADD CONSTRAINT "rate_card_products_product_id_products_id_fk" FOREIGN KEY ("product_id") REFERENCES "public"."products"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "rate_identities" ADD CONSTRAINT "rate_identities_rate_card_product_fk" FOREIGN KEY ("rate_card_id","product_id") REFERENCES "public"."rate_card_products"("rate_card_id","product_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "rates" ADD CONSTRAINT "rates_identity_rate_identities_sequence_fk" FOREIGN KEY ("identity") REFERENCES "public"."rate_identities"("sequence") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "scheduled_charges" ADD CONSTRAINT "scheduled_charges_contract_id_contracts_id_fk" FOREIGN KEY ("contract_id") REFERENCES "public"."contracts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "scheduled_charges" ADD CONSTRAINT "scheduled_charges_product_id_products_id_fk" FOREIGN KEY ("product_id") REFERENCES "public"."products"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "subscription_quantity_changes" ADD CONSTRAINT "subscription_quantity_changes_subscription_id_subscriptions_id_fk" FOREIGN KEY ("subscription_id") REFERENCES "public"."subscriptions"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "subscription_seat_changes" ADD CONSTRAINT "subscription_seat_changes_subscription_id_subscriptions_id_fk" FOREIGN KEY ("subscription_id") REFERENCES "public"."subscriptions"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "subscriptions" ADD CONSTRAINT "subscriptions_contract_id_contracts_id_fk" FOREIGN KEY ("contract_id") REFERENCES "public"."contracts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "subscriptions" ADD CONSTRAINT "subscriptions_product_id_products_id_fk" FOREIGN KEY ("product_id") REFERENCES "public"."products"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "billable_metrics_created" ON "billable_metrics" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "billing_connections_created" ON "billing_connections" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "access_segments_commit" ON "access_segments" USING btree ("commit_id","sequence");--> statement-breakpoint
CREATE INDEX "commits_contract" ON "commits" USING btree ("contract_id","sequence");--> statement-breakpoint
CREATE INDEX "commits_customer" ON "commits" USING btree ("customer_id","created_at","id");--> statement-breakpoint
CREATE INDEX "commits_recurring" ON "commits" USING btree ("recurring_commit_id");--> statement-breakpoint
CREATE INDEX "invoice_schedule_items_commit" ON "invoice_schedule_items" USING btree ("commit_id","timestamp");--> statement-breakpoint
CREATE INDEX "invoice_schedule_items_charge" ON "invoice_schedule_items" USING btree ("scheduled_charge_id","timestamp");--> statement-breakpoint
CREATE INDEX "recurring_commits_contract" ON "recurring_commits" USING btree ("contract_id","sequence");--> statement-breakpoint
CREATE UNIQUE INDEX "recurring_commits_daily_once" ON "recurring_commits" USING btree ("contract_id") WHERE "recurring_commits"."recurrence_frequency" = 'DAILY';--> statement-breakpoint
CREATE INDEX "contract_edits_contract" ON "contract_edits" USING btree ("contract_id","sequence");--> statement-breakpoint
CREATE UNIQUE INDEX "spend_trackers_alias_unique" ON "spend_trackers" USING btree ("contract_id","alias") WHERE "spend_trackers"."archived_at" is null;--> statement-breakpoint
CREATE INDEX "contract_usage_filters_contract" ON "contract_usage_filters" USING btree ("contract_id","starting_at");--> statement-breakpoint
CREATE INDEX "contract_versions_contract" ON "contract_versions" USING btree ("contract_id","sequence");--> statement-breakpoint
CREATE INDEX "contracts_customer" ON "contracts" USING btree ("customer_id","starting_at","id");--> statement-breakpoint
CREATE INDEX "contracts_rate_card" ON "contracts" USING btree ("rate_card_id");--> statement-breakpoint
CREATE INDEX "contracts_package" ON "contracts" USING btree ("package_id","starting_at","id");--> statement-breakpoint
CREATE INDEX "contracts_parent" ON "contracts" USING btree ("parent_contract_id");--> statement-breakpoint
CREATE UNIQUE INDEX "custom_field_keys_declared_once" ON "custom_field_keys" USING btree ("entity","key") WHERE "custom_field_keys"."removed_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "custom_field_values_one_holder" ON "custom_field_values" USING btree ("key_id","value") WHERE "custom_field_values"."enforce_uniqueness";--> statement-breakpoint
CREATE INDEX "custom_field_values_entity" ON "custom_field_values" USING btree ("entity_id");--> statement-breakpoint
CREATE INDEX "customer_billing_configurations_customer" ON "customer_billing_configurations" USING btree ("customer_id","sequence");--> statement-breakpoint
CREATE INDEX "customers_created" ON "customers" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "customers_crm_account" ON "customers" USING btree ("crm_account_id");--> statement-breakpoint
CREATE INDEX "ingest_aliases_customer" ON "ingest_aliases" USING btree ("customer_id","position");--> statement-breakpoint
CREATE UNIQUE INDEX "invoices_contract_period_once" ON "invoices" USING btree ("contract_id","type","period_start") WHERE "invoices"."status" <> 'VOID';--> statement-breakpoint
CREATE INDEX "invoices_customer_issued" ON "invoices" USING btree ("customer_id","issued_at","id");--> statement-breakpoint
CREATE INDEX "jobs_kind_run_at" ON "jobs" USING btree ("kind","run_at","id");--> statement-breakpoint
CREATE INDEX "overrides_contract" ON "overrides" USING btree ("contract_id","sequence");--> statement-breakpoint
CREATE INDEX "package_aliases_name" ON "package_aliases" USING btree ("name","sequence");--> statement-breakpoint
CREATE INDEX "package_aliases_package" ON "package_aliases" USING btree ("package_id");--> statement-breakpoint
CREATE INDEX "packages_created" ON "packages" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "product_versions_product" ON "product_versions" USING btree ("product_id","starting_at");--> statement-breakpoint
CREATE INDEX "product_versions_metric" ON "product_versions" USING btree ("billable_metric_id");--> statement-breakpoint
CREATE INDEX "products_created" ON "products" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "rate_card_aliases_name" ON "rate_card_aliases" USING btree ("name","sequence");--> statement-breakpoint
CREATE INDEX "rate_card_aliases_card" ON "rate_card_aliases" USING btree ("rate_card_id");--> statement-breakpoint
CREATE INDEX "rate_cards_created" ON "rate_cards" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "rate_identities_card" ON "rate_identities" USING btree ("rate_card_id","sequence");--> statement-breakpoint
CREATE INDEX "rate_identities_product" ON "rate_identities" USING btree ("rate_card_id","product_id","sequence");--> statement-breakpoint
CREATE UNIQUE INDEX "rates_id" ON "rates" USING btree ("id");--> statement-breakpoint
CREATE INDEX "rates_identity" ON "rates" USING btree ("identity","sequence");--> statement-breakpoint
CREATE INDEX "scheduled_charges_contract" ON "scheduled_charges" USING btree ("contract_id","sequence");--> statement-breakpoint
CREATE INDEX "subscription_quantity_changes_subscription" ON "subscription_quantity_changes" USING btree ("subscription_id","sequence");--> statement-breakpoint
CREATE INDEX "subscription_seat_changes_subscription" ON "subscription_seat_changes" USING btree ("subscription_id","sequence");--> statement-breakpoint
CREATE INDEX "subscriptions_contract" ON "subscriptions" USING btree ("contract_id","sequence");