CREATE TABLE "managed_models" (
	"rate_card_id" uuid NOT NULL,
	"provider" text NOT NULL,
	"model" text NOT NULL,
	"kind" text NOT NULL,
	"product_id" uuid NOT NULL,
	"markup" numeric NOT NULL,
	"usd_per_token" numeric NOT NULL,
	"valid_from" timestamp(3) with time zone NOT NULL,
	"rates_from" timestamp(3) with time zone NOT NULL,
	"names" text[] NOT NULL,
	"is_removed" boolean NOT NULL,
	CONSTRAINT "managed_models_pkey" PRIMARY KEY("rate_card_id","provider","model","kind")
);--> statement-breakpoint
CREATE TABLE "managed_rate_cards" (
	"rate_card_id" uuid PRIMARY KEY NOT NULL,
	"default_markup" numeric,
	"custom_credit_type_id" uuid,
	"reprice" text NOT NULL,
	"synced_at" timestamp(3) with time zone NOT NULL
);--> statement-breakpoint
CREATE TABLE "token_metrics" (
	"kind" text PRIMARY KEY NOT NULL,
	"billable_metric_id" uuid NOT NULL
);--> statement-breakpoint
CREATE TABLE "token_model_aliases" (
	"provider" text NOT NULL,
	"alias" text NOT NULL,
	"model" text NOT NULL,
	CONSTRAINT "token_model_aliases_pkey" PRIMARY KEY("provider","alias")
);--> statement-breakpoint
CREATE TABLE "token_prices" (
	"provider" text NOT NULL,
	"model" text NOT NULL,
	"kind" text NOT NULL,
	"valid_from" timestamp(3) with time zone NOT NULL,
	"usd_per_token" numeric NOT NULL,
	"source" text NOT NULL,
	"recorded_at" timestamp(3) with time zone NOT NULL,
	CONSTRAINT "token_prices_pkey" PRIMARY KEY("provider","model","kind","valid_from")
);--> statement-breakpoint
ALTER TABLE "managed_models" ADD CONSTRAINT "managed_models_rate_card_id_managed_rate_cards_rate_card_id_fk" FOREIGN KEY ("rate_card_id") REFERENCES "public"."managed_rate_cards"("rate_card_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "managed_models" ADD CONSTRAINT "managed_models_product_id_products_id_fk" FOREIGN KEY ("product_id") REFERENCES "public"."products"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "managed_rate_cards" ADD CONSTRAINT "managed_rate_cards_rate_card_id_rate_cards_id_fk" FOREIGN KEY ("rate_card_id") REFERENCES "public"."rate_cards"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "token_metrics" ADD CONSTRAINT "token_metrics_billable_metric_id_billable_metrics_id_fk" FOREIGN KEY ("billable_metric_id") REFERENCES "public"."billable_metrics"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "managed_models_product" ON "managed_models" USING btree ("product_id");
