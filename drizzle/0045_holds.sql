CREATE TABLE "hold_accounts" (
	"customer_id" uuid PRIMARY KEY NOT NULL,
	"version" bigint NOT NULL,
	"usage_mark" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "holds" (
	"id" uuid PRIMARY KEY NOT NULL,
	"customer_id" uuid NOT NULL,
	"transaction_id" text NOT NULL,
	"content_hash" text NOT NULL,
	"event_type" text,
	"properties" text,
	"timestamp" timestamp(3) with time zone NOT NULL,
	"amount" numeric NOT NULL,
	"credit_type_id" uuid NOT NULL,
	"remaining" numeric,
	"status" text NOT NULL,
	"settled_amount" numeric,
	"created_at" timestamp(3) with time zone NOT NULL,
	"expires_at" timestamp(3) with time zone NOT NULL,
	"ended_at" timestamp(3) with time zone
);
--> statement-breakpoint
CREATE TABLE "price_changes" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "price_changes_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1)
);
--> statement-breakpoint
ALTER TABLE "hold_accounts" ADD CONSTRAINT "hold_accounts_customer_id_customers_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."customers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "holds" ADD CONSTRAINT "holds_customer_id_customers_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."customers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "holds_one_of_transaction" ON "holds" USING btree ("transaction_id") WHERE "holds"."status" in ('active', 'settled');--> statement-breakpoint
CREATE INDEX "holds_transaction" ON "holds" USING btree ("transaction_id");--> statement-breakpoint
CREATE INDEX "holds_customer" ON "holds" USING btree ("customer_id","created_at","id");--> statement-breakpoint
CREATE INDEX "holds_active" ON "holds" USING btree ("customer_id") WHERE "holds"."status" = 'active';--> statement-breakpoint
CREATE INDEX "holds_ended" ON "holds" USING btree ("ended_at") WHERE "holds"."ended_at" is not null;--> statement-breakpoint
CREATE INDEX "customer_changes_customer" ON "customer_changes" USING btree ("customer_id","id");--> statement-breakpoint
-- Whoever has priced holds sees by these rows that prices may be others now. A row for each statement, not for each price.
CREATE FUNCTION "note_price_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO "price_changes" DEFAULT VALUES;
	RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE TRIGGER "rates_note_price_change" AFTER INSERT OR UPDATE OR DELETE ON "rates" FOR EACH STATEMENT EXECUTE FUNCTION "note_price_change"();--> statement-breakpoint
CREATE TRIGGER "rate_cards_note_price_change" AFTER INSERT OR UPDATE OR DELETE ON "rate_cards" FOR EACH STATEMENT EXECUTE FUNCTION "note_price_change"();--> statement-breakpoint
CREATE TRIGGER "rate_card_aliases_note_price_change" AFTER INSERT OR UPDATE OR DELETE ON "rate_card_aliases" FOR EACH STATEMENT EXECUTE FUNCTION "note_price_change"();--> statement-breakpoint
CREATE TRIGGER "rate_card_conversions_note_price_change" AFTER INSERT OR UPDATE OR DELETE ON "rate_card_conversions" FOR EACH STATEMENT EXECUTE FUNCTION "note_price_change"();--> statement-breakpoint
CREATE TRIGGER "rate_card_products_note_price_change" AFTER INSERT OR UPDATE OR DELETE ON "rate_card_products" FOR EACH STATEMENT EXECUTE FUNCTION "note_price_change"();--> statement-breakpoint
CREATE TRIGGER "products_note_price_change" AFTER INSERT OR UPDATE OR DELETE ON "products" FOR EACH STATEMENT EXECUTE FUNCTION "note_price_change"();--> statement-breakpoint
CREATE TRIGGER "product_versions_note_price_change" AFTER INSERT OR UPDATE OR DELETE ON "product_versions" FOR EACH STATEMENT EXECUTE FUNCTION "note_price_change"();--> statement-breakpoint
CREATE TRIGGER "managed_rate_cards_note_price_change" AFTER INSERT OR UPDATE OR DELETE ON "managed_rate_cards" FOR EACH STATEMENT EXECUTE FUNCTION "note_price_change"();--> statement-breakpoint
CREATE TRIGGER "managed_models_note_price_change" AFTER INSERT OR UPDATE OR DELETE ON "managed_models" FOR EACH STATEMENT EXECUTE FUNCTION "note_price_change"();
