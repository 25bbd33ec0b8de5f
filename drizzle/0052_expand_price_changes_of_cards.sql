ALTER TABLE "price_changes" ADD COLUMN "rate_card_id" uuid;--> statement-breakpoint
CREATE INDEX "price_changes_card" ON "price_changes" USING btree ("rate_card_id","id");--> statement-breakpoint
CREATE INDEX "rate_card_products_product" ON "rate_card_products" USING btree ("product_id");--> statement-breakpoint
-- A row for each card whose prices a statement changes, so that customers of other cards are not evaluated again. Contracts keep the
-- card that an alias meant at their creation, so aliases change no price.
DROP TRIGGER "rates_note_price_change" ON "rates";--> statement-breakpoint
DROP TRIGGER "rate_cards_note_price_change" ON "rate_cards";--> statement-breakpoint
DROP TRIGGER "rate_card_aliases_note_price_change" ON "rate_card_aliases";--> statement-breakpoint
DROP TRIGGER "rate_card_conversions_note_price_change" ON "rate_card_conversions";--> statement-breakpoint
DROP TRIGGER "rate_card_products_note_price_change" ON "rate_card_products";--> statement-breakpoint
DROP TRIGGER "products_note_price_change" ON "products";--> statement-breakpoint
DROP TRIGGER "product_versions_note_price_change" ON "product_versions";--> statement-breakpoint
DROP TRIGGER "managed_rate_cards_note_price_change" ON "managed_rate_cards";--> statement-breakpoint
DROP TRIGGER "managed_models_note_price_change" ON "managed_models";--> statement-breakpoint
DROP FUNCTION "note_price_change"();--> statement-breakpoint
CREATE FUNCTION "note_price_change_of_cards"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO "price_changes" ("rate_card_id") SELECT DISTINCT "rate_card_id" FROM "changed";
	RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE FUNCTION "note_price_change_of_card"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO "price_changes" ("rate_card_id") SELECT DISTINCT "id" FROM "changed";
	RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE FUNCTION "note_price_change_of_rates"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO "price_changes" ("rate_card_id") SELECT DISTINCT i."rate_card_id" FROM "changed" c JOIN "rate_identities" i ON i."sequence" = c."identity";
	RETURN NULL;
END
$$;
--> statement-breakpoint
-- A product of no card has no price. The lock waits for whoever is putting the product on a card, and then sees that card.
CREATE FUNCTION "note_price_change_of_products"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM FROM "products" WHERE "id" IN (SELECT "id" FROM "changed") ORDER BY "id" FOR UPDATE;
	INSERT INTO "price_changes" ("rate_card_id") SELECT DISTINCT p."rate_card_id" FROM "changed" c JOIN "rate_card_products" p ON p."product_id" = c."id";
	RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE FUNCTION "note_price_change_of_product_versions"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM FROM "products" WHERE "id" IN (SELECT "product_id" FROM "changed") ORDER BY "id" FOR UPDATE;
	INSERT INTO "price_changes" ("rate_card_id") SELECT DISTINCT p."rate_card_id" FROM "changed" c JOIN "rate_card_products" p ON p."product_id" = c."product_id";
	RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE TRIGGER "rates_note_price_insert" AFTER INSERT ON "rates" REFERENCING NEW TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "note_price_change_of_rates"();--> statement-breakpoint
CREATE TRIGGER "rates_note_price_update" AFTER UPDATE ON "rates" REFERENCING NEW TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "note_price_change_of_rates"();--> statement-breakpoint
CREATE TRIGGER "rates_note_price_delete" AFTER DELETE ON "rates" REFERENCING OLD TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "note_price_change_of_rates"();--> statement-breakpoint
CREATE TRIGGER "rate_cards_note_price_update" AFTER UPDATE ON "rate_cards" REFERENCING NEW TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "note_price_change_of_card"();--> statement-breakpoint
CREATE TRIGGER "rate_card_conversions_note_price_insert" AFTER INSERT ON "rate_card_conversions" REFERENCING NEW TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "note_price_change_of_cards"();--> statement-breakpoint
CREATE TRIGGER "rate_card_conversions_note_price_update" AFTER UPDATE ON "rate_card_conversions" REFERENCING NEW TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "note_price_change_of_cards"();--> statement-breakpoint
CREATE TRIGGER "rate_card_conversions_note_price_delete" AFTER DELETE ON "rate_card_conversions" REFERENCING OLD TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "note_price_change_of_cards"();--> statement-breakpoint
CREATE TRIGGER "rate_card_products_note_price_insert" AFTER INSERT ON "rate_card_products" REFERENCING NEW TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "note_price_change_of_cards"();--> statement-breakpoint
CREATE TRIGGER "rate_card_products_note_price_update" AFTER UPDATE ON "rate_card_products" REFERENCING NEW TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "note_price_change_of_cards"();--> statement-breakpoint
CREATE TRIGGER "rate_card_products_note_price_delete" AFTER DELETE ON "rate_card_products" REFERENCING OLD TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "note_price_change_of_cards"();--> statement-breakpoint
CREATE TRIGGER "managed_rate_cards_note_price_insert" AFTER INSERT ON "managed_rate_cards" REFERENCING NEW TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "note_price_change_of_cards"();--> statement-breakpoint
CREATE TRIGGER "managed_rate_cards_note_price_update" AFTER UPDATE ON "managed_rate_cards" REFERENCING NEW TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "note_price_change_of_cards"();--> statement-breakpoint
CREATE TRIGGER "managed_rate_cards_note_price_delete" AFTER DELETE ON "managed_rate_cards" REFERENCING OLD TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "note_price_change_of_cards"();--> statement-breakpoint
CREATE TRIGGER "managed_models_note_price_insert" AFTER INSERT ON "managed_models" REFERENCING NEW TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "note_price_change_of_cards"();--> statement-breakpoint
CREATE TRIGGER "managed_models_note_price_update" AFTER UPDATE ON "managed_models" REFERENCING NEW TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "note_price_change_of_cards"();--> statement-breakpoint
CREATE TRIGGER "managed_models_note_price_delete" AFTER DELETE ON "managed_models" REFERENCING OLD TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "note_price_change_of_cards"();--> statement-breakpoint
CREATE TRIGGER "products_note_price_update" AFTER UPDATE ON "products" REFERENCING NEW TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "note_price_change_of_products"();--> statement-breakpoint
CREATE TRIGGER "product_versions_note_price_insert" AFTER INSERT ON "product_versions" REFERENCING NEW TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "note_price_change_of_product_versions"();--> statement-breakpoint
CREATE TRIGGER "product_versions_note_price_update" AFTER UPDATE ON "product_versions" REFERENCING NEW TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "note_price_change_of_product_versions"();--> statement-breakpoint
CREATE TRIGGER "product_versions_note_price_delete" AFTER DELETE ON "product_versions" REFERENCING OLD TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "note_price_change_of_product_versions"();
